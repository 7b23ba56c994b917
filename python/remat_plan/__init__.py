# SPDX-License-Identifier: MIT
"""Plans keep, recompute and swap for training steps of PyTorch and JAX.

Neither framework is imported before one of its functions is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .graph import Device, FormatError, Graph, Op, Tensor
from .plan import Plan, PlanError, check
from .program import ProgramError, profile_device, solve

if TYPE_CHECKING:
    from . import jax as jax
    from .torch import compile as compile
    from .torch import export as export
    from .torch import nvtx as nvtx

__all__ = [
    "Device",
    "FormatError",
    "Graph",
    "Op",
    "Plan",
    "PlanError",
    "ProgramError",
    "Tensor",
    "check",
    "compile",
    "export",
    "jax",
    "nvtx",
    "profile_device",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name in ("compile", "export", "nvtx"):
        return getattr(import_module(".torch", __name__), name)
    if name in ("jax", "torch"):
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
