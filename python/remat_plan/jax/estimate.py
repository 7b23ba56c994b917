# SPDX-License-Identifier: MIT
"""Peak and time of a step if some names are saved, and sets of names that are better.

The estimate is of what `jax.checkpoint` does on a trace without it: each value that is not
saved and that the backward pass needs is computed again once, just before its first reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from . import costs
from .named import Split, changes_nothing
from .trace import Equation, Trace, Value

Names = frozenset[str]
# Memory of a value; those that name it share it. None: that of a source.
Buffer = tuple[Value, int] | None
# Sets that one search may look at. Each takes time linear in the step's equations.
MAX_TRIES = 2000


@dataclass
class Estimate:
    """A step, and the time of each of its equations."""

    traced: Trace
    parts: Split
    times_ns: dict[Equation, int]

    def __post_init__(self) -> None:
        self.sources = set(self.traced.sources)
        self.fixed = sum(costs.n_bytes(v.aval) for v in self.traced.sources)
        self.results = {v for v in self.traced.results if isinstance(v, Value)}

    def __call__(self, saved: Names) -> tuple[int, int]:
        """The peak in bytes, and the time of what is computed again in ns."""
        stay = {v for v in self.parts.targets if v.name in saved and v not in self.sources}
        done = set(stay)
        for v in stay:
            done.update(self.parts.again.get(v, ()))
        later: list[Equation] = []
        time_ns = 0
        for equation in self.parts.backward:
            again = self.parts.closure(equation.reads, done)
            time_ns += sum(self.times_ns[e] for e in again)
            later += [*again, equation]
            done.update(v for e in (*again, equation) for v in e.outputs)
        crossing = stay & {v for e in later for v in e.reads}
        forward, peak = self.live(self.parts.forward, {}, crossing | self.results)
        _, second = self.live(later, forward, self.results)
        return self.fixed + max(peak, second), time_ns

    def live(
        self, steps: Sequence[Equation], before: dict[Value, Buffer], stay: set[Value]
    ) -> tuple[dict[Value, Buffer], int]:
        """Run equations one by one and drop what is read no more, except what is to stay.
        Returns the buffers of what is to stay, and the most bytes at once."""
        buffer = dict(before)
        for e in steps:
            for v in e.outputs:
                alias = changes_nothing(e) and bool(e.reads)
                made = None if alias and e.reads[0] in self.sources else (v, len(before))
                buffer[v] = buffer.get(e.reads[0]) if alias and made else made
        kept = {buffer.get(v) for v in stay}
        last = {buffer.get(v): i for i, e in enumerate(steps) for v in (*e.outputs, *e.reads)}
        there = set(before.values()) - {None}
        now = peak = sum(costs.n_bytes(b[0].aval) for b in there if b)
        for i, e in enumerate(steps):
            for b in {buffer[v] for v in e.outputs} - there - {None}:
                there.add(b)
                now += costs.n_bytes(b[0].aval) if b else 0
            peak = max(peak, now)
            for b in {buffer.get(v) for v in (*e.outputs, *e.reads)} & there:
                if b and last[b] <= i and b not in kept:
                    there.remove(b)
                    now -= costs.n_bytes(b[0].aval)
        return {v: buffer[v] for v in stay if v in buffer}, peak


def improve(
    estimate: Callable[[Names], tuple[int, int]],
    names: Sequence[str],
    starts: Iterable[Names],
    budget: int,
) -> list[Names]:
    """Sets of names, the best first, that changes of one name or two lead to: first what is
    too much for the budget gets less, then the time. The best of the starts comes first."""
    known: dict[Names, tuple[int, int, int]] = {}

    def cost(saved: Names) -> tuple[int, int, int]:
        if saved not in known:
            peak, time_ns = estimate(saved)
            known[saved] = max(peak - budget, 0), time_ns, peak
        return known[saved]

    best = min(starts, key=cost)
    better = True
    while better and len(known) < MAX_TRIES:
        better = False
        pairs = [frozenset((a, b)) for a in names for b in names]
        for change in sorted(set(pairs), key=lambda c: (len(c), sorted(c))):
            if len(known) >= MAX_TRIES:
                break
            if cost(best ^ change) < cost(best):
                best, better = best ^ change, True
    return sorted(known, key=lambda saved: (*known[saved], sorted(saved)))
