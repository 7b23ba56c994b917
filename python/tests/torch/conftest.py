# SPDX-License-Identifier: MIT
from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

# pytest would keep millions of lines of it.
logging.getLogger("torch.__trace").addFilter(lambda _: False)
sys.path.insert(0, str(Path(__file__).parent))

# Without these, kernels on a GPU may add in another order each time.
if torch.cuda.is_available():
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.use_deterministic_algorithms(True, warn_only=True)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A cache of its own for each test, one thread, and nothing compiled before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    torch.set_num_threads(1)
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()
