# SPDX-License-Identifier: MIT
"""Runs a step with the NVTX ranges that `remat-plan profile` measures by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import fx

from ..plan import Plan, Run
from .api import Loss, check_arguments, one_line_errors, step_function
from .capture import capture
from .captured import Captured
from .modules import FIRST, RUN, lower
from .numbers import CompiledStep
from .planner import as_boxed, boxed, compile_with


class Ranges(Protocol):
    """The functions of `torch.cuda.nvtx` that are called."""

    def range_push(self, name: str) -> Any: ...
    def range_pop(self) -> Any: ...
    def range_start(self, name: str) -> Any: ...
    def range_end(self, handle: Any) -> Any: ...


def nvtx(
    model: Any,
    loss_fn: Loss,
    args: Sequence[Any],
    *,
    kwargs: Mapping[str, Any] | None = None,
    steps: int = 21,
    ranges: Ranges | None = None,
) -> None:
    """Train `steps` steps without recomputation, each op in a range "rp:NAME OF THE OP".

    For a graph file of `export` with the same arguments:

        remat-plan profile --graph g.json -o measured.json -- python this_program.py

    The first step warms up and is not measured. Gradients are thrown away, but buffers
    change. Raises Refused, and TypeError if `args` is no list.
    """
    check_arguments(args)
    marks: Any = torch.cuda.nvtx if ranges is None else ranges
    boundary = ""

    def partition(joint: fx.GraphModule, _: Any, *, num_fwd_outputs: int, **kw: Any) -> Any:
        nonlocal boundary
        captured = capture(joint, num_fwd_outputs, frozenset())
        boundary = captured.ops[captured.boundary].name
        passes = lower(captured, keep_all_plan(captured))
        for module in passes:
            _mark(module, captured, marks)
        return passes

    def compile_pass(module: fx.GraphModule, _: Any) -> Callable[[list[Any]], Any]:
        return as_boxed(boxed(module))

    step = CompiledStep(
        step_function(model, loss_fn), compile_with(partition, compile_pass, compile_pass)
    )
    for _ in range(steps):
        handle = marks.range_start("rp:step")
        with one_line_errors():
            loss = step(*args, **(kwargs or {}))
            marks.range_push(f"rp:{boundary}")  # nothing is launched there
            marks.range_pop()
            loss.backward()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        marks.range_end(handle)
        model.zero_grad(set_to_none=True)


def keep_all_plan(captured: Captured) -> Plan:
    """Every op once, in the order of the graph. Modules free what is not read any more."""
    return Plan(
        graph_sha256="",
        budget_bytes=0,
        addressed=False,
        arena_bytes=0,
        host_bytes=0,
        steps=[Run(op) for op in range(len(captured.ops))],
    )


def _mark(module: fx.GraphModule, captured: Captured, ranges: Ranges) -> None:
    """Put each first run of an op into a range with its name."""
    for node in module.graph.nodes:
        which, op = node.meta.get(RUN, (None, -1))
        if which == FIRST:
            node.target = _in_range(ranges, f"rp:{captured.ops[op].name}", node.target)


def _in_range(ranges: Ranges, name: str, op: Callable[..., Any]) -> Callable[..., Any]:
    def in_range(*args: Any, **kwargs: Any) -> Any:
        ranges.range_push(name)
        try:
            return op(*args, **kwargs)
        finally:
            ranges.range_pop()

    return in_range
