# SPDX-License-Identifier: MIT
"""Plans carried out in PyTorch.

    step = remat_plan.compile(model, loss_fn, budget="12GiB")
    loss = step(*args)
    loss.backward()
    print(step.report())

The same as a backend: `torch.compile(fn, backend="remat_plan", options={"budget": "12GiB"})`.
With Inductor's fused code, which saves what the plan keeps (`partitioner.py`):

    planner = remat_plan.torch.inductor(budget="12GiB")
    step = torch.compile(loss_fn, options=planner.options)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .api import Step, compile, export
from .errors import Refused
from .planner import Options, backend, register
from .purity import pure
from .ranges import nvtx
from .report import Report

if TYPE_CHECKING:
    from .partitioner import Partitioner

__all__ = [
    "Options",
    "Refused",
    "Report",
    "Step",
    "backend",
    "compile",
    "export",
    "inductor",
    "nvtx",
    "pure",
]

register()


def inductor(**options: Any) -> Partitioner:
    """A partitioner for `torch.compile(loss_fn, options=planner.options)`: Inductor's code
    saves what the plan keeps. The options are the fields of `Options`; `partitioner.py` says
    what of a plan is lost."""
    from .partitioner import Partitioner

    return Partitioner(Options(**{"swap": False, **options}))
