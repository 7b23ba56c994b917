# SPDX-License-Identifier: MIT
"""Plans for JAX: `export` a step, `run` a plan op by op, or plan a checkpoint `policy`."""

from __future__ import annotations

from .capture import export
from .execute import run
from .policy import Policy, policy
from .trace import TraceError

__all__ = ["Policy", "TraceError", "export", "policy", "run"]
