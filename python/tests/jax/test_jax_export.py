# SPDX-License-Identifier: MIT
"""What the graph of a step holds."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import networks
import remat_plan
from remat_plan.jax import TraceError, export

X = jax.ShapeDtypeStruct((3, 4), jnp.float32)


def kinds(step: Any, *args: Any) -> list[str]:
    return [op.kind.removeprefix("lax.") for op in export(step, *args).ops]


@jax.custom_vjp
def sine(x: Any) -> Any:
    return jnp.sin(x)


sine.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (g * jnp.cos(x),))


def test_calls_are_inlined() -> None:
    assert kinds(jax.jit(jax.nn.relu), X) == ["max"]
    assert kinds(jax.jit(jax.jit(lambda x: x + 1)), X) == ["add"]
    twice = jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))
    assert kinds(lambda x: jax.vjp(twice, x)[1](x)[0], X).count("sin") == 1
    assert kinds(lambda x: sine(x) + jax.vjp(sine, x)[1](x)[0], X) == [
        "sin",
        "cos",
        "mul",
        "add",
    ]


def test_loops_and_branches_are_one_op() -> None:
    turn = lambda c, _: (c @ c, c)  # noqa: E731
    square = jax.ShapeDtypeStruct((8, 8), jnp.float32)
    graph = export(lambda x: lax.scan(turn, x, None, length=5), square)
    assert [op.kind for op in graph.ops] == ["lax.scan"]
    assert graph.ops[0].attrs["flops"] == 5 * 2 * 8**3
    assert not graph.ops[0].rewrites
    graph = export(lambda x: lax.cond(x[0, 0] > 0, jnp.sin, lambda y: y @ y, x), square)
    assert [op.attrs["flops"] for op in graph.ops if op.kind == "lax.cond"] == [2 * 8**3]
    assert kinds(lambda x: lax.while_loop(lambda c: c.sum() < 9, jnp.exp, x), X) == ["while"]


def test_names_and_stopped_gradients_are_no_ops() -> None:
    name = jax.ad_checkpoint.checkpoint_name
    graph = export(lambda x: jnp.sin(lax.stop_gradient(name(jnp.cos(x), "c"))), X)
    assert [op.kind for op in graph.ops] == ["lax.cos", "lax.sin"]
    assert [t.name for t in graph.tensors] == ["source.0", "c", "sin.1"]


def test_what_nobody_needs_is_left_out() -> None:
    assert kinds(lambda x: (jnp.sin(x), jnp.cos(x))[0], X) == ["sin"]
    graph = export(lambda x, y: x * 2, X, X)
    assert len(graph.tensors) == 3


def test_effects_run_once_and_in_order() -> None:
    def step(x: Any) -> Any:
        jax.debug.print("sum {}", x.sum())
        return x * 2

    graph = export(step, X)
    (printed,) = [op for op in graph.ops if not op.recompute]
    assert printed.ordered
    assert printed.outputs == []


def test_references_are_refused() -> None:
    def step(x: Any) -> Any:
        ref = jax.new_ref(x)
        ref[...] = x * 2
        return ref[...]

    with pytest.raises(TraceError, match="only arrays can be planned"):
        export(step, X)


def test_figures() -> None:
    def step(w: Any, k: Any, x: Any) -> Any:
        layout = ("NHWC", "HWIO", "NHWC")
        y = lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=layout)
        return y.reshape(2, -1).astype(jnp.bfloat16) @ w

    shapes = (
        ((5 * 5 * 8, 7), jnp.bfloat16),
        ((3, 3, 4, 8), jnp.float32),
        ((2, 5, 5, 4), jnp.float32),
    )
    graph = export(step, *(jax.ShapeDtypeStruct(s, d) for s, d in shapes))
    flops = {op.kind: op.attrs["flops"] for op in graph.ops}
    assert flops == {
        "conv": 2 * (2 * 5 * 5 * 8) * (3 * 3 * 4),
        "lax.reshape": 0,
        "lax.convert_element_type": 0,
        "matmul": 2 * 2 * 200 * 7,
    }
    assert [(t.dtype, t.bytes) for t in graph.tensors] == [
        *(("bf16", 2800), ("f32", 1152), ("f32", 800)),
        *(("f32", 1600), ("f32", 1600), ("bf16", 800), ("bf16", 28)),
    ]
    assert graph.keep == [6]
    assert graph.order == "free"


def test_a_training_step_has_two_phases() -> None:
    loss, *args = networks.transformer()
    graph = export(jax.value_and_grad(loss), *args)
    phases = [op.phase for op in graph.ops]
    assert set(phases) == {"forward", "backward"}
    assert len(graph.keep) == 1 + len(jax.tree.leaves(args[0]))
    assert export(jax.value_and_grad(loss), *args).to_json() == graph.to_json()


def test_times() -> None:
    x = jnp.ones((64, 64))
    step = lambda x: jnp.tanh(x @ x)  # noqa: E731
    assert {op.time_ns for op in export(step, x).ops} == {0}
    measured = export(step, x, times="measure")
    assert measured.time_source == "measured:jax"
    assert min(op.time_ns for op in measured.ops) > 0
    modelled = export(step, X.update(shape=(64, 64)), times="v100-16g")
    assert modelled.time_source == "analytic:v100-16g"
    assert modelled.device is not None
    assert modelled.device.h2d_bytes_per_s > 0
    with pytest.raises(TraceError, match="running ops needs arrays"):
        export(step, X.update(shape=(64, 64)), times="measure")
    with pytest.raises(remat_plan.ProgramError, match="unknown device 'abacus'"):
        export(step, x, times="abacus")
