# SPDX-License-Identifier: MIT
"""Which names to save: chosen on a graph that has every choice, and judged by JAX.

A plan for the graph of choices says which named values are worth their memory. It may run an
op again as often as it likes, which `jax.checkpoint` does not. So each set of names is traced
under its policy, and counts only if what JAX then does fits the budget. If it does not, the
choice is made again for less memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import jax

from ..graph import Graph, Op, Tensor
from ..plan import Plan, Run, SwapIn, SwapOut
from ..program import ProgramError, solve
from . import capture, named
from .estimate import Estimate, Names, improve
from .trace import Trace, trace

# What the choice may take of the budget above sources and kept tensors, one after the other.
SHARES = (1.0, 0.95, 0.85, 0.7, 0.5)
# How many of the sets that an estimate likes best are tried.
MAX_JUDGED = 8


@dataclass(frozen=True)
class Asked:
    """What is to be planned, as in `policy`."""

    step: Callable[..., Any]
    args: Sequence[Any]
    argnums: int | Sequence[int]
    times: str

    @property
    def name(self) -> str:
        return str(getattr(self.step, "__name__", "step"))

    def trace(self, saved: frozenset[str] | None) -> tuple[Trace, named.Split]:
        """The trace of forward and backward pass, whose first arguments are the cotangents:
        under the policy that saves these names, or without any."""
        argnums = self.argnums
        wanted = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        step = self.step
        if saved is not None:
            policy = jax.checkpoint_policies.save_only_these_names(*sorted(saved))
            step = jax.checkpoint(step, policy=policy)

        def both(cotangents: Any, *args: Any) -> Any:
            def of_wanted(*some: Any) -> Any:
                given = dict(zip(wanted, some, strict=True))
                return step(*(given.get(i, a) for i, a in enumerate(args)))

            out, pull_back = jax.vjp(of_wanted, *(args[i] for i in wanted))
            return out, pull_back(cotangents)

        cotangents = jax.eval_shape(self.step, *self.args)
        traced = trace(both, (cotangents, *self.args), names=True)
        n = len(jax.tree.leaves(cotangents))
        return traced, named.split(traced, traced.arguments[:n])

    def timed(self, traced: Trace) -> Graph:
        """The graph of a trace with one op for each equation, and their times."""
        fine = capture.to_graph(traced, self.name)
        ones = jax.tree.map(_ones, jax.eval_shape(self.step, *self.args))
        return capture.with_times(fine, traced, (ones, *self.args), self.times)


def _ones(shape: Any) -> Any:
    return jax.numpy.ones(shape.shape, shape.dtype)


@dataclass(frozen=True)
class Found:
    """A plan that JAX carries out if it saves and offloads these names."""

    graph: Graph
    plan: Plan
    saved: frozenset[str]  # those that are offloaded as well
    offloaded: frozenset[str]


@dataclass
class Search:
    """The search for the names of a step that has these, all in all."""

    asked: Asked
    traced: Trace
    parts: named.Split
    names: Names
    offload: bool
    time_limit: float
    options: Sequence[str]
    progress: bool | None

    def run(self, budget: str | int | None, activation_budget: str | None) -> Found:
        """The best that was found. Raises ProgramError if nothing fits."""
        graph, saved = self.under(self.names)
        limit = self.limit(graph, budget, activation_budget)
        try:
            return self.judge(graph, saved, limit, swap=False)
        except ProgramError as error:
            refused = _no_plan(error)
        for chosen in self.choices(limit):
            try:
                return self.judge(*self.under(chosen), limit, self.offload)
            except ProgramError as error:
                refused = _no_plan(error)
        raise refused

    def choices(self, limit: int) -> Iterator[Names]:
        """Sets of names to try, the most promising first."""
        fine = self.asked.timed(self.traced)
        graph = named.choices(self.traced, self.parts, fine, self.asked.name)
        planned = list(self.planned(graph, limit))
        if self.offload:
            yield from planned
        times = named.times(self.traced, fine)
        estimate = Estimate(self.traced, self.parts, times)
        starts = [*planned, self.names, frozenset()]
        yield from improve(estimate, sorted(self.names), starts, limit)[:MAX_JUDGED]

    def planned(self, graph: Graph, limit: int) -> Iterator[Names]:
        """The names that plans for parts of the budget keep, the largest part first."""
        last: Names | None = None
        for share in SHARES:
            part = _floor(graph) + int((limit - _floor(graph)) * share)
            try:
                plan = self.solve(graph, part, self.offload)
            except ProgramError as error:
                _no_plan(error)
                return
            kept = _kept(graph, plan, self.parts)
            if kept != last:
                yield kept
            last = kept
            if not self.offload:  # the estimate goes on from here
                return

    def under(self, names: Names) -> tuple[Graph, named.Saved]:
        """The graph under the policy that saves these names, and what it saves."""
        traced, parts = self.asked.trace(names)
        fine = self.asked.timed(traced)
        return named.under_policy(traced, parts, fine, self.asked.name)

    def judge(self, graph: Graph, saved: named.Saved, limit: int, swap: bool) -> Found:
        """The plan under a policy. Only what is saved may wait on the host, and all values
        of a name do so if one does. Raises ProgramError if there is no such plan."""
        plan = self.solve(graph, limit, swap)
        swapped = {step.tensor for step in plan.steps if isinstance(step, SwapIn)}
        offloaded = frozenset(n for n, tensors in saved.items() if tensors & swapped)
        if swapped != {x for n in offloaded for x in saved[n]}:
            raise ProgramError("the plan that was found swaps more than a policy can", 4)
        return Found(graph, plan, frozenset(saved), offloaded)

    def solve(self, graph: Graph, limit: str | int, swap: bool) -> Plan:
        return solve(
            graph,
            budget=limit,
            time_limit=self.time_limit,
            options=["--no-addresses", *([] if swap else ["--no-swap"]), *self.options],
            progress=self.progress,
        )

    def limit(self, graph: Graph, budget: str | int | None, activations: str | None) -> int:
        """The budget in bytes; its N% are shares of the peak of this graph."""
        if (budget is None) == (activations is None):
            raise ValueError("policy: give either budget or activation_budget")
        text = str(budget if activations is None else activations)
        base = 0 if activations is None else _floor(graph)
        share = _share(text)
        if share is not None:
            peak = self.solve(graph, "100%", swap=False).budget_bytes
            return base + int(share * (peak - base) / 100)
        op = Op("size", "size", [], [0], 1)  # a plan for it says how much a size is
        size = Graph("size", "imported:size", [Tensor("size", 0, "activation")], [op], [])
        return base + self.solve(size, text, swap=False).budget_bytes


def _no_plan(error: ProgramError) -> ProgramError:
    """The error, if it says that no plan was found; raises it if it is another one."""
    if error.code not in (1, 4):
        raise error
    return error


def _floor(graph: Graph) -> int:
    """The bytes of sources and kept tensors."""
    return graph.fixed_bytes + sum(graph.tensors[x].bytes for x in graph.keep)


def _share(text: str) -> Decimal | None:
    """The N of "N%"."""
    try:
        share = Decimal(text.strip().removesuffix("%"))
    except InvalidOperation:
        return None
    return share if text.strip().endswith("%") and share.is_finite() and share > 0 else None


def _kept(graph: Graph, plan: Plan, parts: named.Split) -> Names:
    """The names of which a plan keeps a value, on the device or on the host, between the
    forward and the backward pass."""
    live: set[int] = set()
    for step in plan.steps:
        if isinstance(step, Run):
            if graph.ops[step.op].phase == "backward":
                break
            live.update(graph.ops[step.op].outputs)
        elif isinstance(step, SwapIn):
            live.add(step.tensor)
        elif not isinstance(step, SwapOut):
            live.discard(step.tensor)
    live.update(step.tensor for step in plan.steps if isinstance(step, SwapIn))
    made = zip(graph.ops, parts.targets, strict=False)  # op i makes target i
    return frozenset(str(v.name) for o, v in made if v.name and o.outputs[0] in live)
