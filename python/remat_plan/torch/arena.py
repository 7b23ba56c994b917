# SPDX-License-Identifier: MIT
"""Plans carried out in one buffer: every tensor lies at the address that the plan gives it.

The forward pass begins with one allocation, the arena. The output of an op is a view into
it. Ops with a kernel that writes to a given tensor (the `out` overload, registered for the
device itself) write there. The others make their result as usual, and it is copied: they
include those whose `out` overload is generated, since that makes a copy as well.

Outside of the arena lies what the caller gets or what is kept at the end, since the next
step, or a loss that somebody stores, must not share memory with this step. What an op
allocates for itself, and a result until it is copied, are outside too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch

from ..graph import Graph, Tensor
from ..plan import Plan, Run
from .captured import Captured, CapturedOp, tensors_in
from .describe import kept
from .errors import Refused

OUTSIDE = "outside of the arena"
ALIGNMENT = 16  # of any element, in bytes
CONVERSIONS = (torch.ops.aten._to_copy.default, torch.ops.aten.clone.default)


# ---- what the modules call ----


def place(
    arena: torch.Tensor,
    address: int,
    shape: Sequence[int],
    stride: Sequence[int],
    offset: int,
    dtype: torch.dtype,
) -> torch.Tensor:
    """The tensor whose storage begins at `address`, in bytes; `offset` is in elements."""
    elements = arena.view(dtype)
    return elements.as_strided(shape, stride, address // dtype.itemsize + offset)


def put(place: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Copy a result to its place."""
    return place.copy_(value)


def convert(value: torch.Tensor, *_: Any, out: torch.Tensor, **__: Any) -> torch.Tensor:
    """A conversion or a clone that writes to `out`."""
    return out.copy_(value)


# ---- what the planner is told ----


def in_arena(captured: Captured, graph: Graph) -> Graph:
    """The graph of which the arena is planned.

    What lies outside takes no bytes in it, and a source for the whole step stands for it
    all: the outside tensors and the largest memory that one op takes for itself. So the
    budget covers sources, arena and what is outside. Raises Refused.
    """
    alignment = graph.device.alignment_bytes if graph.device else ALIGNMENT
    if alignment % ALIGNMENT or alignment == 0:
        raise Refused(f"an arena needs an alignment of {ALIGNMENT} bytes, not {alignment}")
    outside = outside_arena(captured)
    tensors = [replace(t, bytes=0) if x in outside else t for x, t in enumerate(graph.tensors)]
    ops = [replace(op, workspace_bytes=0) for op in graph.ops]
    n_bytes = sum(graph.tensors[x].bytes for x in outside)
    n_bytes += max(
        op.workspace_bytes + _to_be_copied(captured, captured.ops[i], outside)
        for i, op in enumerate(graph.ops)
    )
    return replace(graph, tensors=[*tensors, Tensor(OUTSIDE, n_bytes, "state")], ops=ops)


def outside_bytes(graph: Graph) -> int:
    """The bytes of that source; 0 if no arena is planned."""
    return sum(t.bytes for t in graph.tensors[-1:] if t.name == OUTSIDE)


def outside_arena(captured: Captured) -> frozenset[int]:
    """Storages outside: what is kept, and what cannot be a place. That is memory of another
    device, and tensors that overlap themselves."""
    outside = set(kept(captured))
    for x, storage in enumerate(captured.storages):
        values = [carrier.meta["val"] for carrier in storage.carriers]
        if storage.bytes == 0 or any(map(_overlaps_itself, values)):
            outside.add(x)
    made = {x for op in captured.ops for x in op.makes}
    return frozenset(outside & made)


def _overlaps_itself(value: torch.Tensor) -> bool:
    return any(n > 1 and s == 0 for n, s in zip(value.shape, value.stride(), strict=True))


def _to_be_copied(captured: Captured, op: CapturedOp, outside: frozenset[int]) -> int:
    """The most bytes of an op's results that are made outside and then copied or dropped.

    Who makes several tensors may run again for some of them only.
    """
    if len(op.makes) == 1 and (op.makes[0] in outside or find_writer(op)):
        return 0
    return sum(captured.storages[x].bytes for x in op.makes) if op.node else 0


# ---- who writes where ----


@dataclass(frozen=True)
class Writer:
    """A function that writes all outputs of an op: `outs` are the names of its arguments
    for them, in order."""

    function: Callable[..., Any]
    outs: tuple[str, ...]


def find_writer(op: CapturedOp) -> Writer | None:
    """What writes the outputs of an op to given tensors, without another copy of them."""
    if op.node is None or not isinstance(op.node.target, torch._ops.OpOverload):
        return None
    tensors = tensors_in(op.node.meta["val"])
    if op.node.target in CONVERSIONS:
        return Writer(convert, ("out",))
    writer = _out_overload(op.node.target, tensors[0].device.type.upper()) if tensors else None
    return writer if writer and len(writer.outs) == len(tensors) == len(op.makes) else None


@cache
def _out_overload(target: Any, backend: str) -> Writer | None:
    """The overload with the same arguments and `out` that has a kernel for the backend."""
    wanted = [(a.name, str(a.type)) for a in target._schema.arguments]
    for name in target.overloadpacket.overloads():
        overload = getattr(target.overloadpacket, name)
        arguments = overload._schema.arguments
        outs = tuple(a.name for a in arguments if a.is_out)
        given = [(a.name, str(a.type)) for a in arguments if not a.is_out]
        if outs and given == wanted and _has_kernel(overload, backend):
            return Writer(overload, outs)
    return None


def _has_kernel(overload: Any, backend: str) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(overload.name(), backend))


class Arena:
    """The places of a plan's tensors."""

    def __init__(self, captured: Captured, plan: Plan) -> None:
        self.captured = captured
        self.bytes = plan.arena_bytes
        self.outside = outside_arena(captured)

    def addresses(self, op: CapturedOp, at: Sequence[int | None] | None) -> dict[int, int]:
        """By storage, the addresses that a run writes to. `at` is that of the step."""
        places = zip(op.makes, at or [None] * len(op.makes), strict=True)
        return {x: a for x, a in places if a is not None and x not in self.outside}

    def writer(self, op: CapturedOp, addresses: dict[int, int]) -> Writer | None:
        """What writes all of the op's outputs to these addresses, if anything does."""
        return find_writer(op) if len(addresses) == len(op.makes) else None


def count_runs(captured: Captured, plan: Plan) -> tuple[int, Counter[str]]:
    """How many runs write to the arena directly, and by kind how many are copied."""
    arena = Arena(captured, plan)
    direct, copied = 0, Counter[str]()
    for step in plan.steps:
        if isinstance(step, Run):
            op = captured.ops[step.op]
            addresses = arena.addresses(op, step.at)
            if addresses and arena.writer(op, addresses):
                direct += 1
            elif addresses:
                copied[op.kind] += 1
    return direct, copied
