# SPDX-License-Identifier: MIT
"""Plans carried out op by op, without jit: memory is what the plan says, time is not.

Under jit XLA schedules and merges ops by itself, so a list of steps has no meaning there;
`policy` is for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from ..graph import Graph
from ..plan import Free, Plan, PlanError, Run, SwapOut, check
from .capture import to_graph
from .machine import Machine
from .trace import trace


def run(plan: Plan, graph: Graph, step: Callable[..., Any], *args: Any) -> Any:
    """`step(*args)` with the ops, frees and swaps of a plan for its graph.

    `graph` is what `export` gave for this step and for arguments of these shapes. Addresses
    are not used. The results are bit for bit those of every other plan for this graph.
    Raises PlanError if the plan, the graph and the step do not belong together.
    """
    check(graph, plan)
    traced = trace(step, args)
    if _shape(graph) != _shape(to_graph(traced, graph.name)):
        raise PlanError("the graph is not that of this step with arguments of these shapes")
    machine = Machine(traced, args)
    for item in plan.steps:
        if isinstance(item, Run):
            machine.run(traced.equations[item.op])
        elif isinstance(item, Free):
            machine.free(machine.values[item.tensor])
        elif isinstance(item, SwapOut):
            machine.swap_out(machine.values[item.tensor])
        else:
            machine.swap_in(machine.values[item.tensor])
    return jax.tree.unflatten(traced.out_tree, [machine.read(v) for v in traced.results])


def _shape(graph: Graph) -> Any:
    """What two graphs of the same step have in common, whatever their times."""
    ops = [(op.kind, op.inputs, op.outputs) for op in graph.ops]
    return [(t.bytes, t.dtype, list(t.shape or ())) for t in graph.tensors], ops, graph.keep
