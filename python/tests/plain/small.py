# SPDX-License-Identifier: MIT
"""A small graph, worked out by hand: a chain of three ops and their backward ops."""

from __future__ import annotations

import dataclasses
from typing import Any

from remat_plan import Device, Graph, Op, Plan, Tensor
from remat_plan.plan import Free, Run, Step, SwapIn, SwapOut

# A search that ends by work that is counted, not by the clock.
WORK: dict[str, Any] = {"time_limit": 1, "options": ("--ignore-clock",)}

LINK = Device("test", 10**9, 10**9, 10**9, 0, 16)


def graph(device: Device | None = LINK, **changes: Any) -> Graph:
    """x -> a -> b -> c, then gc, gb from (c, b), ga from (gb, a). Each tensor has 16 bytes,
    the source x has 32."""
    tensors = [Tensor("x", 32, "input")]
    tensors += [Tensor(name, 16, "activation") for name in ("a", "b", "c", "gb", "ga")]
    reads = [
        ("a", [0], [1]),
        ("b", [1], [2]),
        ("c", [2], [3]),
        ("gb", [3, 2], [4]),
        ("ga", [4, 1], [5]),
    ]
    ops = [Op(name, "test", ins, outs, 100) for name, ins, outs in reads]
    made = Graph("small", "imported:test", tensors, ops, [5], device)
    return dataclasses.replace(made, **changes)


def change_op(g: Graph, i: int, **changes: Any) -> Graph:
    """The graph with another op number i."""
    ops = [dataclasses.replace(op, **changes) if j == i else op for j, op in enumerate(g.ops)]
    return dataclasses.replace(g, ops=ops)


def change_tensor(g: Graph, i: int, **changes: Any) -> Graph:
    """The graph with another tensor number i."""
    tensors = list(g.tensors)
    tensors[i] = dataclasses.replace(tensors[i], **changes)
    return dataclasses.replace(g, tensors=tensors)


KEEP_ALL: list[Step] = [
    *(Run(0), Run(1), Run(2), Run(3), Free(2), Free(3), Run(4), Free(1), Free(4)),
]
# a is freed early and made again; b is swapped.
BOTH: list[Step] = [
    *(Run(0), Run(1), Free(1), SwapOut(2), Run(2), Free(2), SwapIn(2), Run(3)),
    *(Free(2), Free(3), Run(0), Run(4), Free(1), Free(4)),
]


def plan(g: Graph, steps: list[Step], budget: int = 1000) -> Plan:
    """A plan without addresses."""
    return Plan(g.sha256, budget, False, 0, 0, steps)


ADDRESSED: list[Step] = [
    *(Run(0, [0]), Run(1, [16]), Run(2, [32]), Run(3, [48]), Free(2), Free(3)),
    *(Run(4, [16]), Free(1), Free(4)),
]


def addressed(g: Graph, steps: list[Step], arena: int = 64, budget: int = 96) -> Plan:
    """A plan with addresses."""
    return Plan(g.sha256, budget, True, arena, 0, steps)
