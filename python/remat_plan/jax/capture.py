# SPDX-License-Identifier: MIT
"""A step of JAX as a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..graph import Graph, Kind, Op, Tensor
from ..program import profile_device
from . import costs
from .machine import measure
from .trace import Equation, Trace, Value, trace

# Kinds whose names tell a device model that they are products. All others are "lax.NAME".
PRODUCTS = {"dot_general": "matmul", "conv_general_dilated": "conv"}


def export(
    step: Callable[..., Any], *args: Any, times: str | None = None, name: str | None = None
) -> Graph:
    """The graph of `step(*args)`: one op for each primitive, as `run` carries it out.

    `step` is a function of trees of arrays, for example `jax.value_and_grad(loss)`, and its
    results are what the graph keeps. Inner jaxprs of jit, checkpoint and custom derivatives
    are inlined; a scan, while or cond is one op. `times` is a device model ("v100-16g") or
    "measure" (medians of running op by op on JAX's default device, which needs arrays in
    `args`); without it all times are 0 and only the structure is exported.

    Raises TraceError for a step that cannot be planned, ProgramError for a device model.
    """
    traced = trace(step, args)
    graph = to_graph(traced, name or str(getattr(step, "__name__", "step")))
    return with_times(graph, traced, args, times)


def with_times(graph: Graph, traced: Trace, args: tuple[Any, ...], times: str | None) -> Graph:
    """The graph with op times from `times`, as `export` describes it."""
    if times is None:
        return graph
    if times == "measure":
        return graph.with_times("measured:jax", measure(traced, args))
    return profile_device(graph, times)


def to_graph(traced: Trace, name: str) -> Graph:
    """The graph of a trace, without times. Tensor i is the i-th of `traced.values`."""
    index = {v: i for i, v in enumerate(traced.values)}
    made = {v for e in traced.equations for v in e.outputs}
    results = dict.fromkeys(v for v in traced.results if isinstance(v, Value))
    tensors = [
        tensor(v, v.name or f"source.{i}", "input") for i, v in enumerate(traced.sources)
    ]
    ops = []
    for i, equation in enumerate(traced.equations):
        ops.append(op(equation, i, index))
        for k, v in enumerate(equation.outputs):
            label = v.name or (ops[-1].name if k == 0 else f"{ops[-1].name}:{k}")
            tensors.append(tensor(v, label, "gradient" if equation.backward else "activation"))
    keep = [index[v] for v in results if v in made]
    return Graph(name, "none", tensors, ops, keep, order="free", attrs={"framework": "jax"})


def tensor(value: Value, name: str, kind: Kind) -> Tensor:
    """The tensor of an array."""
    aval = value.aval
    return Tensor(name, costs.n_bytes(aval), kind, costs.dtype(aval), aval.shape)


def op(equation: Equation, number: int, index: dict[Value, int]) -> Op:
    """The op of an equation.

    Ops with effects run once and in their order. JAX cannot write into arrays that exist,
    so an op with several outputs does not rewrite those that are there.
    """
    attrs = {"flops": costs.flops(equation.eqn)}
    if "feature_group_count" in equation.eqn.params:
        attrs["groups"] = equation.eqn.params["feature_group_count"]
    label = f"{equation.kind}.{number}"
    effects = bool(equation.eqn.effects)
    return Op(
        f"{equation.path}/{label}" if equation.path else label,
        PRODUCTS.get(equation.kind, f"lax.{equation.kind}"),
        inputs=[index[v] for v in equation.reads],
        outputs=[index[v] for v in equation.outputs],
        time_ns=0,
        phase="backward" if equation.backward else "forward",
        recompute=not effects,
        ordered=effects,
        rewrites=len(equation.outputs) < 2,
        attrs=attrs,
    )
