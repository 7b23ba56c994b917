# SPDX-License-Identifier: MIT
"""What a plan does at the boundary of the forward and the backward pass."""

from __future__ import annotations

from dataclasses import dataclass

from ..plan import Free, Plan, Run, Step, SwapOut
from .captured import Captured, CapturedOp


@dataclass(frozen=True)
class Crossing:
    """`saved` are the storages that the backward pass gets from the forward pass, `late` the
    ops that run in the backward pass, for the first time or again."""

    saved: frozenset[int]
    late: frozenset[CapturedOp]


def crossing(captured: Captured, plan: Plan) -> Crossing:
    """What crosses the boundary in a plan, on the device or on the host.

    An op that runs again later for one of its outputs makes all of them, so then none of
    them counts as saved.
    """
    boundary = next(i for i, s in enumerate(plan.steps) if _runs(s, captured.boundary))
    before, after = plan.steps[:boundary], plan.steps[boundary + 1 :]
    values = _Values(captured)
    for step in before:
        values.take(step)
    saved, made_late = set[int](), set[int]()
    for step in after:
        if isinstance(step, Run):
            reads = set(captured.ops[step.op].reads)
            saved |= reads & values.there
            made_late |= reads - values.there
        else:
            values.take(step)
    saved |= values.there.intersection(captured.made_by_ops(captured.late_outputs))
    late = frozenset(captured.ops[step.op] for step in after if isinstance(step, Run))
    for op in late:
        if made_late.intersection(op.makes):
            saved -= set(op.makes)
    return Crossing(frozenset(saved), late)


def _runs(step: Step, op: int) -> bool:
    return isinstance(step, Run) and step.op == op


class _Values:
    """The storages whose values are there, on the device or on the host."""

    def __init__(self, captured: Captured) -> None:
        self.captured = captured
        self.there: set[int] = set()
        self.on_host: set[int] = set()

    def take(self, step: Step) -> None:
        if isinstance(step, Run):
            self.there.update(self.captured.ops[step.op].makes)
        elif isinstance(step, SwapOut):
            self.on_host.add(step.tensor)
        elif isinstance(step, Free) and step.tensor not in self.on_host:
            self.there.discard(step.tensor)
