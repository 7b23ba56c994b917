# SPDX-License-Identifier: MIT
"""What this package does not carry out, in one line each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import fx

from ..plan import PlanError
from ..program import ProgramError

_NOT_THE_USERS = (str(Path(torch.__file__).parent), str(Path(__file__).parents[1]))


class Refused(RuntimeError):
    """The step cannot be captured or planned. The message says why, and what to do.

    `of_a_size`: because a size of the graph depends on a number among the inputs.
    """

    of_a_size = False


# By file of PyTorch: wrappers whose hooks communicate and are not traced.
_WRAPPERS = {
    "nn/parallel/distributed.py": (
        "DistributedDataParallel",
        "compile the module inside and let DDP reduce its gradients: wrap a module whose "
        "forward calls the compiled step",
    ),
    "distributed/_composable/replicate": (
        "replicate",
        "compile the module inside, and apply replicate to a module whose forward calls the "
        "compiled step",
    ),
    "distributed/fsdp/fully_sharded_data_parallel.py": (
        "FullyShardedDataParallel",
        "compile the modules inside, each with a plan of its own, before you wrap them",
    ),
    "distributed/fsdp": (
        "fully_shard (FSDP2)",
        "call compile(backend='remat_plan') of the modules inside, each with a plan of its "
        "own, or gather the shards in the step with functional collectives",
    ),
}


def wrapper(text: str) -> Refused | None:
    """A refusal if this stack or message is from inside of a wrapper that communicates."""
    text = text.replace("\\", "/")
    for place, (name, advice) in _WRAPPERS.items():
        if f"torch/{place}" in text:
            return Refused(f"{name} communicates in hooks that cannot be traced; {advice}")
    return None


def graph_break(reason: Any) -> Refused:
    """For a `GraphCompileReason` of Dynamo: where the user's code broke the graph, and why."""
    if "DDPOptimizer" in str(getattr(reason, "reason", "")):
        return Refused(
            "DDP splits the step into several graphs, one for each bucket of gradients; set "
            "torch._dynamo.config.optimize_ddp = False"
        )
    frames = getattr(reason, "user_stack", None) or []
    if wrapped := wrapper(" ".join(frame.filename for frame in frames)):
        return wrapped
    place = _at((frame.filename, str(frame.lineno)) for frame in frames)
    what = str(getattr(reason, "reason", reason)).strip().splitlines()[0]
    return Refused(
        f"graph break{place}: {what}; a plan needs the whole step in one graph, so change "
        "that line or move it out of the function"
    )


def unsupported(error: BaseException) -> Refused:
    """For what Dynamo raises with `fullgraph=True` at a graph break or an exception."""
    text = str(error)
    if wrapped := wrapper(text):
        return wrapped
    place = _at(re.findall(r'^ *File "(.*)", line (\d+)', text, re.MULTILINE))
    explained = re.search(r"^ *Explanation: *(.*\S)", text, re.MULTILINE)
    why = explained[1] if explained else ""
    what = text.strip().partition("\n")[0] or type(error).__name__
    if isinstance(error, torch._dynamo.exc.TorchRuntimeError):
        raised = why.partition("): got ")[2] or why
        return Refused(f"the step raises an exception{place}: {raised}")
    if what.startswith("Observed exception"):
        return Refused(
            f"the step raises an exception{place}; call the function without compiling it to "
            "see which"
        )
    return Refused(f"graph break{place}: {what}" + (f" ({why})" if why else ""))


def _at(frames: Iterable[tuple[str, str]]) -> str:
    """The innermost frame outside of PyTorch and this package, as " at FILE:LINE"."""
    places = list(frames)
    users = [p for p in places if not p[0].startswith(_NOT_THE_USERS)] or places
    return f" at {':'.join(users[-1])}" if users else ""


def user_line(node: fx.Node) -> str:
    """Where the user's code asks for an op, as " at FILE:LINE"; empty if that is not known."""
    trace = str(node.meta.get("stack_trace") or "")
    return _at(re.findall(r'^ *File "(.*)", line (\d+)', trace, re.MULTILINE))


def too_many_compilations(reason: str) -> Refused:
    """For a function that Dynamo will not compile again; `reason` is why it would, in
    Dynamo's words: "0/0: model.t == 0.5  # self.t += 1  # net.py:21 in forward"."""
    limit = torch._dynamo.config.recompile_limit
    condition, _, comment = re.sub(r"^\d+/\d+: ", "", reason.partition("\n")[0]).partition("#")
    line = re.search(r"([^/\s]+:\d+) in ", comment)
    why = f": {condition.strip()} no longer holds" if condition.strip() else ""
    return Refused(
        f"the step was compiled {limit} times, and is not the same again{why}"
        f"{f' ({line[1]})' if line else ''}; pad tensors to fewer shapes, keep numbers that "
        "change in tensors, and leave lists, texts and flags as they are from step to step, "
        "or raise torch._dynamo.config.recompile_limit"
    )


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
        return too_many_compilations("")
    if isinstance(error, exc.Unsupported | exc.UserError | exc.TorchRuntimeError):
        return unsupported(error)
    return None
