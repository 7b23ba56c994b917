# SPDX-License-Identifier: MIT
"""What this package does not carry out, in one line each."""

from __future__ import annotations

from typing import Any

import torch

from ..plan import PlanError
from ..program import ProgramError


class Refused(RuntimeError):
    """The step cannot be captured or planned. The message says why, and what to do."""


def graph_break(reason: Any) -> Refused:
    """For a `GraphCompileReason` of Dynamo: where the user's code broke the graph, and why."""
    frames = getattr(reason, "user_stack", None) or []
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    what = str(getattr(reason, "reason", reason)).strip().splitlines()[0]
    return Refused(
        f"graph break{place}: {what}; a plan needs the whole step in one graph, so change "
        "that line or move it out of the function"
    )


def unsupported(error: BaseException) -> Refused:
    """For what Dynamo raises with `fullgraph=True` at a graph break."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    marked = "Explanation:"
    why = next(
        (
            f" ({line.removeprefix(marked).strip()})"
            for line in lines
            if line.startswith(marked)
        ),
        "",
    )
    place = next((f" at {_place(line)}" for line in reversed(lines) if _is_place(line)), "")
    what = lines[0] if lines else type(error).__name__
    return Refused(f"graph break{place}: {what}{why}")


def _is_place(line: str) -> bool:
    return line.startswith('File "') and ", line " in line


def _place(line: str) -> str:
    path, rest = line.removeprefix('File "').split('", line ', 1)
    return f"{path}:{rest.split(',')[0]}"


def translate(error: BaseException) -> Exception | None:
    """Our error for an error of `torch.compile`: what our backend raised, or a refusal for
    what Dynamo cannot trace. None if it is something else."""
    exc = torch._dynamo.exc
    if isinstance(error, exc.BackendCompilerFailed):
        inner = error.inner_exception
        return (
            inner if isinstance(inner, Refused | ProgramError | PlanError) else translate(inner)
        )
    if isinstance(error, exc.FailOnRecompileLimitHit):
        return Refused(
            "the arguments had more shapes or values than Dynamo compiles for one function "
            "(torch._dynamo.config.recompile_limit); pad them to fewer shapes"
        )
    if isinstance(error, exc.Unsupported | exc.UserError):
        return unsupported(error)
    return None
