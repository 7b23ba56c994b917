# SPDX-License-Identifier: MIT
"""Plans carried out: results bit for bit as without recomputation, memory as planned."""

from __future__ import annotations

import gc
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import networks
import remat_plan
from remat_plan import Graph, Plan
from remat_plan.jax import machine
from remat_plan.plan import Free, Run, Step, SwapIn, SwapOut


def same(a: Any, b: Any) -> bool:
    """Equal bit for bit."""
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return all(np.array_equal(x, y) for x, y in pairs)


class Meter:
    """The most bytes of arrays on the device after an op, above what was there before."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.most = 0
        real = machine.Machine.run

        def run(self_: machine.Machine, equation: Any) -> None:
            real(self_, equation)
            self.most = max(self.most, self.now())

        monkeypatch.setattr(machine.Machine, "run", run)

    def now(self) -> int:
        return sum(x.nbytes for x in jax.live_arrays())

    def run(self, plan: Plan, graph: Graph, *step: Any) -> tuple[Any, int]:
        gc.collect()
        before = self.most = self.now()
        result = remat_plan.jax.run(plan, graph, *step)
        return result, self.most - before


# With the share of the activations' memory to plan for. A scan is one op and needs its room.
CASES = [
    (networks.transformer, 0.6, "--no-swap"),
    (networks.transformer, 0.6, "--no-recompute"),
    (networks.convolutions, 0.8, "--no-swap"),
    (networks.recurrent, 0.9, "--no-recompute"),
]


@pytest.mark.parametrize(("network", "share", "option"), CASES)
def test_results_are_the_same_and_memory_is_as_planned(
    network: Any, share: float, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss, *args = network()
    step = jax.value_and_grad(loss)
    graph = networks.fixed_times(remat_plan.jax.export(step, *args))
    meter = Meter(monkeypatch)
    expected, _ = meter.run(networks.plan(graph, 1.0, "--no-swap"), graph, step, *args)
    jitted = jax.tree.leaves(jax.jit(step)(*args))
    for x, y in zip(jax.tree.leaves(expected), jitted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-6)
    plan = networks.plan(graph, share, option)
    assert sum(isinstance(s, Run) for s in plan.steps) > len(graph.ops) or any(
        isinstance(s, SwapIn) for s in plan.steps
    )
    result, peak = meter.run(plan, graph, step, *args)
    assert same(result, expected)
    planned = plan.claims["peak_bytes"] - graph.fixed_bytes
    assert 0.9 * planned < peak <= planned


def by_hand(graph: Graph, steps: list[Step]) -> Plan:
    return Plan(graph.sha256, 2**40, False, 0, 0, steps)


def swap_all(graph: Graph) -> Plan:
    """Every tensor goes to the host when it is made and comes back for each use."""
    steps: list[Step] = []
    for i, op in enumerate(graph.ops):
        inputs = [x for x in op.inputs if graph.producers[x] is not None]
        steps += [SwapIn(x) for x in inputs]
        steps += [Run(i), *(SwapOut(x) for x in op.outputs)]
        steps += [Free(x) for x in (*inputs, *op.outputs)]
    return by_hand(graph, [*steps, *(SwapIn(x) for x in graph.keep)])


def recompute_all(graph: Graph) -> Plan:
    """Before every op, all that its inputs depend on runs again."""
    steps: list[Step] = []
    live: set[int] = set()

    def make(x: int) -> None:
        op = graph.producers[x]
        if op is not None and x not in live:
            for y in graph.ops[op].inputs:
                make(y)
            steps.append(Run(op))
            live.update(graph.ops[op].outputs)

    for i, op in enumerate(graph.ops):
        for x in op.inputs:
            make(x)
        steps += [Run(i)]
        live.update(op.outputs)
        steps += [Free(x) for x in sorted(live)]
        live.clear()
    for x in graph.keep:
        make(x)
    return by_hand(graph, steps)


def few_ops(p: Any, x: Any) -> Any:
    """With random keys, two outputs of one op, and an argument as a result."""
    key = jax.random.fold_in(jax.random.key(3), 1)
    a, b = jnp.split(jnp.tanh(x @ p), 2, -1)
    return (a * jax.random.normal(key, a.shape) + b).sum(), x


@pytest.mark.parametrize("plan", [swap_all, recompute_all])
def test_plans_by_hand(plan: Any) -> None:
    args = networks.normal(0, 8, 8), networks.normal(1, 4, 8)
    step = jax.value_and_grad(few_ops, has_aux=True)
    graph = networks.fixed_times(remat_plan.jax.export(step, *args))
    keep_all = by_hand(graph, [Run(i) for i in range(len(graph.ops))])
    expected = remat_plan.jax.run(keep_all, graph, step, *args)
    assert same(remat_plan.jax.run(plan(graph), graph, step, *args), expected)


def test_plan_graph_and_step_belong_together() -> None:
    x = jnp.ones((4, 4))
    graph = networks.fixed_times(remat_plan.jax.export(jnp.tanh, x))
    plan = by_hand(graph, [Run(0)])
    assert same(remat_plan.jax.run(plan, graph, jnp.tanh, x), jnp.tanh(x))
    for step, arg in ((jnp.sin, x), (jnp.tanh, jnp.ones((4, 5)))):
        with pytest.raises(remat_plan.PlanError, match="not that of this step"):
            remat_plan.jax.run(plan, graph, step, arg)
    other = networks.fixed_times(remat_plan.jax.export(jnp.sin, x))
    with pytest.raises(remat_plan.PlanError, match="another graph"):
        remat_plan.jax.run(plan, other, jnp.sin, x)


def test_one_device_only() -> None:
    mesh = jax.make_mesh((2,), ("i",))
    spread = jax.NamedSharding(mesh, jax.sharding.PartitionSpec("i"))
    x = jnp.ones((4, 4))
    graph = networks.fixed_times(remat_plan.jax.export(jnp.tanh, x))
    plan = by_hand(graph, [Run(0)])
    with pytest.raises(remat_plan.jax.TraceError, match="spread over several devices"):
        remat_plan.jax.run(plan, graph, jnp.tanh, jax.device_put(x, spread))
