# SPDX-License-Identifier: MIT
"""JAX on two devices of the CPU, before any test uses it, and a cache of plans per run."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_num_cpu_devices", 2)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
