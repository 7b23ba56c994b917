# SPDX-License-Identifier: MIT
"""Random plans that are valid: any order that the rules allow, with re-runs and swaps."""

from __future__ import annotations

import random

from remat_plan import Graph, Plan
from remat_plan.plan import Free, Run, Step, SwapIn, SwapOut
from remat_plan.torch.captured import Captured


def random_plan(captured: Captured, graph: Graph, seed: int) -> Plan:
    maker = _Maker(captured, graph, random.Random(seed))
    maker.make()
    return Plan(graph.sha256, 1 << 60, False, 1 << 60, 0, maker.steps)


class _Maker:
    """What only one run can make is freed only if it has a copy on the host."""

    def __init__(self, captured: Captured, graph: Graph, rng: random.Random) -> None:
        self.graph, self.rng = graph, rng
        self.steps: list[Step] = []
        self.live: set[int] = set()
        self.on_host: set[int] = set()
        self.ran: set[int] = set()
        self.held = {*captured.returned, *captured.ops[captured.boundary].makes}
        self.ordered = [
            i for i, op in enumerate(captured.ops) if op.effect or i == captured.boundary
        ]

    def make(self) -> None:
        while len(self.ran) < len(self.graph.ops):
            self.run(self.rng.choice([i for i in range(len(self.graph.ops)) if self.ready(i)]))
            for x in sorted(self.live):
                if self.rng.random() < 0.1:
                    self.free(x)
        for x in self.graph.keep:
            self.bring(x)

    def ready(self, i: int) -> bool:
        following = next((j for j in self.ordered if j not in self.ran), i)
        makers = (self.graph.producers[x] for x in self.graph.ops[i].inputs)
        return (
            i not in self.ran
            and (i not in self.ordered or i == following)
            and all(m is None or m in self.ran for m in makers)
        )

    def run(self, i: int) -> None:
        for x in self.graph.ops[i].inputs:
            self.bring(x)
        self.steps.append(Run(i))
        self.ran.add(i)
        self.live.update(self.graph.ops[i].outputs)

    def bring(self, x: int) -> None:
        """Put a tensor on the device that was there before."""
        maker = self.graph.producers[x]
        if maker is None or x in self.live:
            return
        again = self.graph.ops[maker].recompute
        if x in self.on_host and (not again or self.rng.random() < 0.5):
            self.steps.append(SwapIn(x))
            self.live.add(x)
        else:
            self.run(maker)

    def free(self, x: int) -> None:
        maker = self.graph.producers[x]
        assert maker is not None
        if x in self.held:
            return
        if x not in self.on_host and self.rng.random() < 0.3:
            self.steps.append(SwapOut(x))
            self.on_host.add(x)
        if x in self.on_host or self.graph.ops[maker].recompute:
            self.steps.append(Free(x))
            self.live.remove(x)
