# SPDX-License-Identifier: MIT
"""Plans carried out in PyTorch.

    step = remat_plan.compile(model, loss_fn, budget="12GiB")
    loss = step(*args)
    loss.backward()
    print(step.report())

The same as a backend: `torch.compile(fn, backend="remat_plan", options={"budget": "12GiB"})`.
"""

from .api import Step, compile, export
from .errors import Refused
from .planner import Options, backend, register
from .ranges import nvtx
from .report import Report

__all__ = ["Options", "Refused", "Report", "Step", "backend", "compile", "export", "nvtx"]

register()
