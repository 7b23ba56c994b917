# SPDX-License-Identifier: MIT
"""Plans carried out in one buffer: every tensor lies at the address that the plan gives it.

The forward pass begins with one allocation, the arena. The output of an op lies in it, in a
storage of its own that begins at the tensor's address, has the tensor's bytes and holds the
arena. So ops that address a storage and not a tensor (`as_strided`, `slice_scatter`) see
what they see without an arena.

Ops of the table in `out_forms.py` write to their places. The others make their result as
usual, and it is copied.

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
from . import runtime
from .captured import Captured, CapturedOp, tensors_in
from .describe import kept
from .errors import Refused
from .out_forms import may_write

OUTSIDE = "outside of the arena"
ALIGNMENT = 16  # of any element, in bytes
CONVERSIONS = (torch.ops.aten._to_copy.default, torch.ops.aten.clone.default)


# ---- what the modules call ----


def place(
    arena: torch.Tensor,
    address: int,
    n_bytes: int,
    shape: Sequence[int],
    stride: Sequence[int],
    offset: int,
    dtype: torch.dtype,
) -> torch.Tensor:
    """A tensor with a storage of its own in the arena: `n_bytes` from `address` on, in bytes.
    `offset`, in that storage, is in elements.

    The storage holds the arena. What is written there counts as a change of the arena, so
    that autograd refuses a second backward pass, which would read what the first wrote over.
    """
    torch.autograd.graph.increment_version(arena)
    storage = arena.untyped_storage()[address : address + n_bytes]
    empty = torch.empty(0, dtype=dtype, device=arena.device)
    return empty.set_(storage, offset, shape, stride)


def put(place: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Copy a result to its place, and keep its type and strides."""
    place = runtime.laid_out(place, value, int(value.storage_offset()))
    runtime.distinct(place, place).copy_(runtime.distinct(value, place))
    return place


def write(
    op: Any, out_form: Any, outs: Sequence[str], layouts: list[Any], *args: Any, **kwargs: Any
) -> Any:
    """Run an op so that it writes to the places named `outs`, by its out form or else by a
    conversion. If what it reads has another type or layout than was traced, its result may
    too: then it is copied."""
    if layouts_of(args) == layouts:
        return (out_form or convert)(*args, **kwargs)
    places = [kwargs.pop(name) for name in outs]
    made = tensors_in(op(*args, **kwargs))
    put_there = [put(*pair) for pair in zip(places, made, strict=True)]
    return put_there if len(put_there) > 1 else put_there[0]


def layouts_of(args: Sequence[Any]) -> list[Any]:
    """Types and strides of the tensors among arguments, also of those in lists; a stride is 0
    where there is one element."""
    each = (a if isinstance(a, list | tuple) else (a,) for a in args)
    tensors = [t for group in each for t in group if isinstance(t, torch.Tensor)]
    return [
        (t.dtype, tuple(s if n > 1 else 0 for n, s in zip(t.shape, t.stride(), strict=True)))
        for t in tensors
    ]


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
    made = {x for op in captured.ops for x in op.makes}
    places = {x: 0 if x in outside else captured.storages[x].bytes for x in made}
    tensors = [replace(t, bytes=places.get(x, t.bytes)) for x, t in enumerate(graph.tensors)]
    ops = [replace(op, workspace_bytes=0) for op in graph.ops]
    n_bytes = sum(graph.tensors[x].bytes for x in outside)
    n_bytes += max(
        timed.workspace_bytes + _to_be_copied(graph, op, outside)
        for timed, op in zip(graph.ops, captured.ops, strict=True)
    )
    return replace(graph, tensors=[*tensors, Tensor(OUTSIDE, n_bytes, "state")], ops=ops)


def outside_bytes(graph: Graph) -> int:
    """The bytes of that source; 0 if no arena is planned."""
    return sum(t.bytes for t in graph.tensors[-1:] if t.name == OUTSIDE)


def outside_arena(captured: Captured) -> frozenset[int]:
    """Storages outside: what is kept, and what takes no memory of the device."""
    none = {x for x, storage in enumerate(captured.storages) if storage.bytes == 0}
    made = {x for op in captured.ops for x in op.makes}
    return frozenset(made & {*kept(captured), *none})


def _to_be_copied(graph: Graph, op: CapturedOp, outside: frozenset[int]) -> int:
    """The most bytes of an op's results that are made outside and then copied or dropped.

    Who makes several tensors may run again for some of them only.
    """
    if len(op.makes) == 1 and (op.makes[0] in outside or find_writer(op)):
        return 0
    return sum(graph.tensors[x].bytes for x in op.makes) if op.node else 0


# ---- who writes where ----


@dataclass(frozen=True)
class Writer:
    """The overload that writes all outputs of an op, or None for a conversion: `outs` are
    the names of its arguments for them, in order."""

    out_form: Callable[..., Any] | None
    outs: tuple[str, ...]


def find_writer(op: CapturedOp) -> Writer | None:
    """What writes the outputs of an op to given tensors, without another copy of them."""
    tensors = tensors_in(op.node.meta.get("val")) if op.node else []
    if op.node is None or not tensors or any(map(runtime.repeats, tensors)):
        return None
    if op.node.target in CONVERSIONS:
        return Writer(None, ("out",))
    if not may_write(op.kind, all(t.is_contiguous() for t in tensors)):
        return None
    writer = out_form(op.node.target, tensors[0].device.type.upper())
    return writer if writer and len(writer.outs) == len(tensors) == len(op.makes) else None


@cache
def out_form(target: Any, backend: str) -> Writer | None:
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
