# SPDX-License-Identifier: MIT
"""A step as `jax.checkpoint` sees it: between forward and backward pass only named values
and arguments can stay, and all else that the backward pass reads is computed again.

There are two graphs of it. `choices` is for choosing names. It has one op for each named
value (and result), which computes it from other named values and arguments, so a plan can keep
it, run that op again, or swap it. The backward pass has its own copy of what it reads besides,
whose ops run once.
`under_policy` is of a trace of `jax.checkpoint` itself, for names that were chosen. Its ops
are the primitives that JAX runs, and none is to run again: what JAX computes anew are ops
of their own, named "again.".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import jax

from ..graph import Graph, Kind, Op
from . import costs
from .capture import op, tensor
from .trace import Equation, Trace, Value


@dataclass(frozen=True)
class Split:
    """A trace of forward and backward pass, divided.

    `targets` are the named values and the results of the forward pass. `makers` has for each
    value that depends on no cotangent the equation that makes it. `again` has values that the
    backward pass of an inner `jax.checkpoint` names as a target is named: it would have the
    target instead, if that is saved.
    """

    targets: Sequence[Value]
    forward: Sequence[Equation]
    backward: Sequence[Equation]
    makers: dict[Value, Equation]
    again: dict[Value, list[Value]]

    def closure(self, wanted: Iterable[Value], known: Container[Value]) -> list[Equation]:
        """The equations of the forward pass that make `wanted` from `known` and sources, in
        an order that respects data."""
        done: set[Value] = set()
        found: list[Equation] = []
        stack = [(v, False) for v in reversed(list(wanted))]
        while stack:
            value, ready = stack.pop()
            equation = self.makers.get(value)
            if equation is None or value in done or value in known:
                continue
            if ready:
                found.append(equation)
                done.update(equation.outputs)
            else:
                stack.append((value, True))
                stack.extend((v, False) for v in reversed(equation.reads))
        return found


def split(traced: Trace, cotangents: Sequence[Value]) -> Split:
    """Divide a trace: the backward pass is what depends on the cotangents, and what it reads
    of equations of the backward part of a `jax.checkpoint`."""
    from_backward = set(cotangents)
    forward, backward, makers = [], [], {}
    for equation in traced.equations:
        if from_backward.isdisjoint(equation.reads):
            makers.update(dict.fromkeys(equation.outputs, equation))
            if not equation.again:
                forward.append(equation)
        else:
            from_backward.update(equation.outputs)
            backward.append(equation)
    results = set(traced.results)
    first = [v for e in forward for v in e.outputs]
    targets = [v for v in first if v.name is not None or v in results]
    count = Counter(v.name for v in targets)
    by_name = {v.name: v for v in targets if v.name is not None and count[v.name] == 1}
    again: dict[Value, list[Value]] = {}
    for v, equation in makers.items():
        if equation.again and v.name in by_name:
            again.setdefault(by_name[v.name], []).append(v)
    return Split(targets, forward, backward, makers, again)


def choices(traced: Trace, parts: Split, fine: Graph, name: str) -> Graph:
    """The graph for choosing names: op i makes target i. `fine` is that of the whole trace,
    with the time of each equation."""
    builder = _Builder(traced, parts, fine)
    for target in parts.targets:
        builder.forward(target)
    builder.backward()
    return builder.graph(name)


def under_policy(traced: Trace, parts: Split, fine: Graph, name: str) -> tuple[Graph, Saved]:
    """The graph of a step under a policy, whose ops run once each, and what is saved."""
    builder = _Builder(traced, parts, fine)
    for equation in parts.forward:
        if not builder.is_alias(equation):
            builder.equation(equation, "forward")
    builder.backward()
    return builder.graph(name), _saved(parts, builder)


Saved = dict[str, set[int]]  # by name, the tensors that JAX saves for its sake


def _saved(parts: Split, builder: _Builder) -> Saved:
    later = [e for e in parts.makers.values() if e.again] + list(parts.backward)
    forward = set(parts.forward)
    saved: Saved = {}
    for value in dict.fromkeys(v for e in later for v in e.reads):
        maker = parts.makers.get(value)
        while maker in forward and maker.kind == "reduce_precision" and changes_nothing(maker):
            value = maker.reads[0]
            maker = parts.makers.get(value)
        if maker in forward and maker.kind == "name":
            saved.setdefault(str(value.name), set()).add(builder.index[value])
    return saved


def changes_nothing(equation: Equation) -> bool:
    """True if its output is its input: a name, or a rounding to the precision that is there,
    which JAX puts behind what it saves."""
    if equation.kind == "name":
        return True
    if equation.kind != "reduce_precision":
        return False
    params, info = equation.eqn.params, jax.numpy.finfo(equation.outputs[0].aval.dtype)
    bits = params["exponent_bits"], params["mantissa_bits"]
    return bits == (info.nexp, info.nmant)


def times(traced: Trace, fine: Graph) -> dict[Equation, int]:
    """The time in ns of each equation, which has an op in `fine`."""
    pairs = zip(traced.equations, fine.ops, strict=True)
    return {e: 0 if changes_nothing(e) else o.time_ns for e, o in pairs}


class _Builder:
    """The tensors and ops so far. `index` has the tensor of each value that is there."""

    def __init__(self, traced: Trace, parts: Split, fine: Graph) -> None:
        self.traced, self.parts, self.device = traced, parts, fine.device
        self.time_source = fine.time_source
        self.times_ns = times(traced, fine)
        sources = traced.sources
        self.tensors = [tensor(v, f"source.{i}", "input") for i, v in enumerate(sources)]
        self.ops: list[Op] = []
        self.index = {v: i for i, v in enumerate(sources)}

    def add(self, value: Value, name: str, kind: Kind) -> int:
        self.tensors.append(tensor(value, name, kind))
        return self.index.setdefault(value, len(self.tensors) - 1)

    def is_alias(self, equation: Equation) -> bool:
        """Note that the output of an equation is the tensor of its input, if it is."""
        if not (changes_nothing(equation) and equation.reads):
            return False
        self.index.setdefault(equation.outputs[0], self.index[equation.reads[0]])
        return True

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
                inputs=list(dict.fromkeys(self.index[v] for v in reads)),
                outputs=[self.add(target, name, "activation")],
                time_ns=sum(self.times_ns[e] for e in equations),
                workspace_bytes=_workspace(equations, target),
                phase="forward",
            )
        )
        for v in self.parts.again.get(target, ()):
            self.index[v] = self.index[target]

    def backward(self) -> None:
        """The backward pass: each equation, and before it what it reads and is not there."""
        for equation in self.parts.backward:
            for again in self.parts.closure(equation.reads, self.index):
                if not self.is_alias(again):
                    self.equation(again, "again")
            if not self.is_alias(equation):
                self.equation(equation, "backward")

    def equation(self, equation: Equation, prefix: str) -> None:
        """One op for an equation. Outputs that are targets too are further copies."""
        name = f"{prefix}.{equation.kind}.{len(self.ops)}"
        copies = len(self.tensors)
        for v in equation.outputs:
            self.add(v, name, "gradient" if prefix == "backward" else "activation")
        made = op(equation, len(self.ops), self.index)
        outputs = list(range(copies, len(self.tensors)))
        phase: Literal["forward", "backward"] = "forward" if prefix == "forward" else "backward"
        time_ns = self.times_ns[equation]
        inputs = list(dict.fromkeys(made.inputs))
        self.ops.append(
            replace(
                made,
                name=name,
                inputs=inputs,
                outputs=outputs,
                time_ns=time_ns,
                phase=phase,
                recompute=False,
            )
        )

    def graph(self, name: str) -> Graph:
        n, results = len(self.traced.sources), self.traced.results
        found = dict.fromkeys(self.index[v] for v in results if isinstance(v, Value))
        keep = [x for x in found if x >= n]
        for x in keep:  # no policy copies a result to the host
            self.tensors[x] = replace(self.tensors[x], held=True)
        return Graph(name, self.time_source, self.tensors, self.ops, keep, self.device)


def _workspace(equations: Sequence[Equation], target: Value) -> int:
    """The most bytes of values that are live at once within an op, beside its output."""
    output = {target}
    for e in reversed(equations):
        if e.kind == "name" and e.outputs[0] in output:
            output.update(e.reads)
    inside = {v: costs.n_bytes(v.aval) for e in equations for v in e.outputs if v not in output}
    last_use = {v: i for i, e in enumerate(equations) for v in e.reads}
    live = peak = 0
    for i, e in enumerate(equations):
        live += sum(inside.get(v, 0) for v in e.outputs)
        peak = max(peak, live)
        over = {v for v in (*e.reads, *e.outputs) if last_use.get(v, i) == i}
        live -= sum(inside.get(v, 0) for v in over)
    return peak
