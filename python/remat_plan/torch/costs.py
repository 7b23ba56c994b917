# SPDX-License-Identifier: MIT
"""What the ops of a captured step cost: measured here, or by a device model.

A measurement runs the step op by op, in the order of the graph, on the values of the call
that is being compiled: each op once and then a few times more. Ops that may have hidden
state, such as custom ones, run once, and those that only have an effect not at all. Random
generators are as before afterwards. On CUDA values wait in host memory between their
uses where the device may not have room for them all, so a step is measured that does not fit
it; the temporaries that a kernel allocates become the op's workspace, and the speed of the
host link is measured too.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from .. import cache
from ..graph import Device, Graph
from ..program import profile_device
from . import collectives, purity, runtime
from .captured import Captured, CapturedOp, Role, allocated, tensors_in
from .errors import Refused, user_line
from .meter import timing_event
from .values import empty_like, input_value, invented

Times = str | Callable[[Graph], Graph]
Run = Callable[[], Any]

RUNS = 3
LINK_BYTES = 64 << 20
LINK_COPIES = 9  # in each direction


@dataclass(frozen=True)
class Measurement:
    """One entry for each op of the graph, and the bytes of each tensor's real storage, which
    can be larger than the traced one; `device` if its host link was measured."""

    times_ns: Sequence[int]
    workspace_bytes: Sequence[int]
    storage_bytes: Sequence[int]
    device: Device | None


def add_costs(
    captured: Captured, graph: Graph, times: Times, inputs: Sequence[Any] = ()
) -> Graph:
    """The graph with times. `times` is "measure", a device of `remat-plan profile`, "none",
    or a function of the graph. Measurements are cached for the same graph, device and
    version of torch, so that a second process gets the same times and the same plan.
    `inputs` are the arguments of the graph that Dynamo compiles, to measure with. Raises
    Refused if an op fails while it is measured."""
    if callable(times):
        return times(graph)
    if times == "none":
        return graph
    if times == "measure":
        measured = _with_measurement(captured, graph, inputs)
        return collectives.with_model_times(captured, measured)
    modelled = profile_device(graph, times)
    free = {captured.boundary: 0}  # nothing is launched there
    nanoseconds = [free.get(i, op.time_ns) for i, op in enumerate(modelled.ops)]
    modelled = modelled.with_times(modelled.time_source, nanoseconds)
    return collectives.with_model_times(captured, modelled)


def _with_measurement(captured: Captured, graph: Graph, inputs: Sequence[Any]) -> Graph:
    name = _device_name(captured.device)
    key = [graph.sha256, name, torch.__version__, str(torch.get_num_threads())]
    entry = cache.Entry("times", key)
    measured = _read(entry, graph)
    if measured is None:
        measured = measure(captured, inputs)
        entry.write(asdict(measured))
    timed = graph.with_times(f"imported:torch on {name}", measured.times_ns)
    ops = [
        replace(op, workspace_bytes=n)
        for op, n in zip(timed.ops, measured.workspace_bytes, strict=True)
    ]
    tensors = [
        replace(t, bytes=max(t.bytes, n))
        for t, n in zip(timed.tensors, measured.storage_bytes, strict=True)
    ]
    return replace(timed, tensors=tensors, ops=ops, device=measured.device)


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device.type)


def _read(entry: cache.Entry, graph: Graph) -> Measurement | None:
    data = entry.read()
    try:
        device = data.pop("device") if data else None
        measured = Measurement(**(data or {}), device=Device(**device) if device else None)
    except (TypeError, KeyError):
        return None
    n = (len(measured.times_ns), len(measured.workspace_bytes), len(measured.storage_bytes))
    n_ops = len(graph.ops)
    return measured if n == (n_ops, n_ops, len(graph.tensors)) else None


# ---- measuring ----


def measure(captured: Captured, inputs: Sequence[Any]) -> Measurement:
    """Run every op of the step by itself. Random generators and inputs are as before."""
    from torch.utils._python_dispatch import _disable_current_modes

    if captured.device.type == "meta":
        raise Refused("nothing can be measured on the device meta: name a device model")
    run = _OneByOne(captured, inputs)
    with (
        _disable_current_modes(),
        torch._C._DisableAutocast(),
        torch.no_grad(),
        _same_random_state(captured.device),
    ):
        run.all()
        device = _link(captured.device) if captured.device.type == "cuda" else None
    return Measurement(
        times_ns=[run.times_ns.get(op, 0) for op in captured.ops],
        workspace_bytes=[run.workspace_bytes.get(op, 0) for op in captured.ops],
        storage_bytes=run.storage_bytes,
        device=device,
    )


@contextmanager
def _same_random_state(device: torch.device) -> Iterator[None]:
    """Restore PyTorch's generators, and those of Python and NumPy, which custom ops use."""
    devices = {torch.device("cpu"), device}
    states = {d: runtime.random_state(d) for d in devices}
    numpy = sys.modules.get("numpy")
    others = random.getstate(), numpy and numpy.random.get_state()
    try:
        yield
    finally:
        for d, state in states.items():
            runtime.set_random_state(state, d)
        random.setstate(others[0])
        if numpy:
            numpy.random.set_state(others[1])


class _OneByOne:
    """Runs the ops of a joint graph; values are dropped after their last reader.

    Views are not kept, but made again from the values that they are views of.
    """

    def __init__(self, captured: Captured, inputs: Sequence[Any]) -> None:
        self.c = captured
        self.inputs = inputs
        self.op_of = {op.node: op for op in captured.ops}
        self.on_cuda = captured.device.type == "cuda"
        self.parks = self.on_cuda and not _has_room(captured)
        self.values: dict[fx.Node, Any] = {}
        self.times_ns: dict[CapturedOp, int] = {}
        self.workspace_bytes: dict[CapturedOp, int] = {}
        self.storage_bytes = [storage.bytes for storage in captured.storages]

    def all(self) -> None:
        nodes = [n for n in self.c.module.graph.nodes if n in self.c.role]
        nodes = [n for n in nodes if self.c.role[n] is not Role.VIEW]
        last = {a: n for n in nodes for a in self.bases(n)}
        for node in nodes:
            self.take(node)
            for a in {node, *self.bases(node)}:
                if last.get(a, node) is node:
                    del self.values[a]

    def bases(self, node: fx.Node) -> set[fx.Node]:
        """The nodes with values that a node reads, also through views."""
        read: set[fx.Node] = set()
        for a in node.all_input_nodes:
            read |= self.bases(a) if self.c.role[a] is Role.VIEW else {a}
        return read

    def take(self, node: fx.Node) -> None:
        role = self.c.role[node]
        if role is Role.INPUT:
            self.values[node] = input_value(self.c.module, node, self.inputs)
        elif role is Role.ITEM:
            self.values[node] = self.values[node.args[0]][node.args[1]]  # type: ignore[index]
        else:
            self.values[node] = self.op(self.op_of[node], node)

    def op(self, op: CapturedOp, node: fx.Node) -> Any:
        """The result of an op, which is timed."""
        if _has_only_an_effect(node):
            return pytree.tree_map_only(torch.Tensor, empty_like, node.meta.get("val"))
        if collectives.is_collective(node):  # one rank cannot run it
            made = pytree.tree_map_only(torch.Tensor, invented, node.meta.get("val"))
            return self.park(made)
        args, kwargs = fx.map_arg((node.args, node.kwargs), self.fetch)
        repeats = not op.effect or purity.is_own_random(node)
        draws_on = {torch.device("cpu"), self.c.device} if op.effect and repeats else set()
        states = {device: runtime.random_state(device) for device in draws_on}

        def rewind() -> None:
            """Runs after the first draw the same again."""
            for device, state in states.items():
                runtime.set_random_state(state, device)

        def run() -> Any:
            return node.target(*args, **kwargs)  # type: ignore[operator]

        time_run = self.time_on_cuda if self.on_cuda else self.time_on_cpu
        try:
            result = time_run(op, run, rewind, RUNS if repeats else 0)
        except Exception as error:
            raise _failed(node, error) from error
        self.note_storages(op, result)
        return self.park(result)

    def park(self, value: Any) -> Any:
        """Tensors wait in host memory where the device may not have room for them all."""
        if not self.parks:
            return value
        return pytree.tree_map_only(torch.Tensor, lambda t: t.cpu(), value)

    def fetch(self, node: fx.Node) -> Any:
        if (waited := collectives.awaited(node)) is not None:
            return self.fetch(waited)
        if self.c.role[node] is Role.VIEW:
            args, kwargs = fx.map_arg((node.args, node.kwargs), self.fetch)
            return node.target(*args, **kwargs)  # type: ignore[operator]
        value, example = self.values[node], node.meta.get("val")
        return value.to(example.device) if isinstance(example, torch.Tensor) else value

    def time_on_cpu(self, op: CapturedOp, run: Run, rewind: Run, more: int) -> Any:
        """The result of a run, and the median of some more or else the time of that one."""
        times = []
        for _ in range(1 + more):
            result = None
            rewind()
            begin = time.perf_counter_ns()
            result = run()
            times.append(time.perf_counter_ns() - begin)
        self.times_ns[op] = int(median(times[1:] or times))
        return result

    def time_on_cuda(self, op: CapturedOp, run: Run, rewind: Run, more: int) -> Any:
        """The same with runs that are queued together, and the extra memory of one."""
        result = run() if more else None
        result = None
        torch.cuda.synchronize(self.c.device)
        torch.cuda.reset_peak_memory_stats(self.c.device)
        events = [timing_event() for _ in range(1 + max(more, 1))]
        events[0].record()
        for event in events[1:]:
            result = None
            rewind()
            result = run()
            event.record()
        torch.cuda.synchronize(self.c.device)
        pairs = pairwise(events)
        self.times_ns[op] = int(median(a.elapsed_time(b) for a, b in pairs) * 1e6)
        peak = torch.cuda.max_memory_allocated(self.c.device)
        self.workspace_bytes[op] = peak - torch.cuda.memory_allocated(self.c.device)
        return result

    def note_storages(self, op: CapturedOp, result: Any) -> None:
        """What the storages that an op made really take."""
        made = {t.untyped_storage()._cdata: t for t in tensors_in(result)}
        if len(made) == len(op.makes):  # else we cannot tell which is which
            for x, tensor in zip(op.makes, made.values(), strict=True):
                if tensor.device == self.c.device:
                    self.storage_bytes[x] = max(self.storage_bytes[x], allocated(tensor))


def _has_only_an_effect(node: fx.Node) -> bool:
    """True for what makes no tensor but a token, such as asserts and custom ops that print.
    It is not run here, since the user would see it twice."""
    results = node.meta.get("val")
    has_token = node.target is torch.ops.higher_order.with_effects
    return not tensors_in(results[1:] if has_token and results else results)


def _failed(node: fx.Node, error: Exception) -> Refused:
    said = str(error).strip().partition("\n")[0] or type(error).__name__
    return Refused(
        f"{node.target} ({node.name}){user_line(node)} fails when it is measured: {said}"
    )


def _has_room(captured: Captured) -> bool:
    """Is half of the free memory enough for all that the ops make at once?"""
    free, _ = torch.cuda.mem_get_info(captured.device)
    made = {x for op in captured.ops for x in op.makes}
    return sum(captured.storages[x].bytes for x in made) <= free // 2


def _link(device: torch.device) -> Device:
    """The speed of copies between pinned memory and the device, in each direction while
    the other one copies too, as a plan does."""
    host = [torch.empty(LINK_BYTES, dtype=torch.uint8, pin_memory=True) for _ in range(2)]
    there = [torch.empty(LINK_BYTES, dtype=torch.uint8, device=device) for _ in range(2)]
    pairs = ((there[0], host[0]), (host[1], there[1]))
    new_stream: Any = torch.cuda.Stream
    streams = [new_stream(device) for _ in pairs]
    torch.cuda.synchronize(device)
    ends: list[list[Any]] = [[], []]
    for _ in range(LINK_COPIES):
        for (target, source), stream, events in zip(pairs, streams, ends, strict=True):
            with torch.cuda.stream(stream):
                target.copy_(source, non_blocking=True)
                events.append(timing_event())
                events[-1].record()
    torch.cuda.synchronize(device)
    into, out = (median(a.elapsed_time(b) for a, b in pairwise(e)) for e in ends)
    properties = torch.cuda.get_device_properties(device)
    return Device(
        name=properties.name,
        memory_bytes=properties.total_memory,
        h2d_bytes_per_s=int(LINK_BYTES / into * 1000),
        d2h_bytes_per_s=int(LINK_BYTES / out * 1000),
        copy_latency_ns=10_000,
    )
