# SPDX-License-Identifier: MIT
"""A step as `jax.checkpoint` sees it: between forward and backward pass only named values
and arguments can stay, and all else that the backward pass reads is computed again.

Its graph has three kinds of ops. One op for each named value (and result) computes it from
other named values and arguments, so a plan can keep it, run that op again, or swap it. The
backward pass has its own copy of what it reads besides. Its own equations are one op each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..graph import Graph, Kind, Op
from . import costs
from .capture import op, tensor
from .trace import Equation, Trace, Value


@dataclass(frozen=True)
class Split:
    """A trace of forward and backward pass, divided.

    `targets` are the values that have an op of their own: named values and results of the
    forward pass. `makers` has for each value the equation of the forward pass that makes it.
    """

    targets: Sequence[Value]
    backward: Sequence[Equation]
    makers: dict[Value, Equation]

    def closure(self, wanted: Iterable[Value], known: Iterable[Value]) -> list[Equation]:
        """The equations of the forward pass that make `wanted` from `known` and sources, in
        an order that respects data."""
        done = set(known)
        found: list[Equation] = []
        stack = [(v, False) for v in reversed(list(wanted))]
        while stack:
            value, ready = stack.pop()
            equation = self.makers.get(value)
            if equation is None or value in done:
                continue
            if ready:
                found.append(equation)
                done.update(equation.outputs)
            else:
                stack.append((value, True))
                stack.extend((v, False) for v in reversed(equation.reads))
        return found


def split(traced: Trace, cotangents: Sequence[Value]) -> Split:
    """Divide a trace: the backward pass is what depends on the cotangents."""
    from_backward = set(cotangents)
    backward, makers = [], {}
    for equation in traced.equations:
        if from_backward.isdisjoint(equation.reads):
            makers.update(dict.fromkeys(equation.outputs, equation))
        else:
            from_backward.update(equation.outputs)
            backward.append(equation)
    results = set(traced.results)
    targets = [v for v in makers if v.name is not None or v in results]
    return Split(targets, backward, makers)


def to_graph(traced: Trace, parts: Split, fine: Graph, name: str) -> Graph:
    """The graph. `fine` is that of the whole trace, with the time of each equation."""
    times = {e: o.time_ns for e, o in zip(traced.equations, fine.ops, strict=True)}
    builder = _Builder(traced.sources, parts, times)
    for target in parts.targets:
        builder.forward(target)
    for equation in parts.backward:
        for again in parts.closure(equation.reads, builder.index):
            builder.equation(again, "again")
        builder.equation(equation, "backward")
    made = {v for e in traced.equations for v in e.outputs}
    keep = [builder.index[v] for v in dict.fromkeys(traced.results) if v in made]
    return Graph(name, fine.time_source, builder.tensors, builder.ops, keep, fine.device)


class _Builder:
    """The tensors and ops so far. `index` has the tensor of each value that is there."""

    def __init__(
        self, sources: Sequence[Value], parts: Split, times_ns: dict[Equation, int]
    ) -> None:
        self.parts, self.times_ns = parts, times_ns
        self.tensors = [tensor(v, f"source.{i}", "input") for i, v in enumerate(sources)]
        self.ops: list[Op] = []
        self.index = {v: i for i, v in enumerate(sources)}

    def add(self, value: Value, name: str, kind: Kind) -> int:
        self.tensors.append(tensor(value, name, kind))
        return self.index.setdefault(value, len(self.tensors) - 1)

    def forward(self, target: Value) -> None:
        """One op that makes a target from other targets and sources."""
        equations = self.parts.closure([target], set(self.parts.targets) - {target})
        inside = {v for e in equations for v in e.outputs}
        reads = dict.fromkeys(v for e in equations for v in e.reads if v not in inside)
        name = target.name or "result"
        self.ops.append(
            Op(
                name,
                "lax.forward",
                inputs=[self.index[v] for v in reads],
                outputs=[self.add(target, name, "activation")],
                time_ns=sum(self.times_ns[e] for e in equations),
                workspace_bytes=_workspace(equations, target),
                phase="forward",
            )
        )

    def equation(self, equation: Equation, prefix: str) -> None:
        """One op of the backward pass. Outputs that are targets too are further copies."""
        name = f"{prefix}.{equation.kind}.{len(self.ops)}"
        copies = len(self.tensors)
        for v in equation.outputs:
            self.add(v, name, "gradient" if prefix == "backward" else "activation")
        made = op(equation, len(self.ops), self.index)
        outputs = list(range(copies, len(self.tensors)))
        time_ns = self.times_ns[equation]
        self.ops.append(
            replace(made, name=name, outputs=outputs, time_ns=time_ns, phase="backward")
        )


def _workspace(equations: Sequence[Equation], target: Value) -> int:
    """The most bytes of values that are live at once within an op, beside its output."""
    inside = {v: costs.n_bytes(v.aval) for e in equations for v in e.outputs if v is not target}
    last_use = {v: i for i, e in enumerate(equations) for v in e.reads}
    live = peak = 0
    for i, e in enumerate(equations):
        live += sum(inside.get(v, 0) for v in e.outputs)
        peak = max(peak, live)
        over = {v for v in (*e.reads, *e.outputs) if last_use.get(v, i) == i}
        live -= sum(inside.get(v, 0) for v in over)
    return peak
