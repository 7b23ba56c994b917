# SPDX-License-Identifier: MIT
"""Policies are tested by the residuals that JAX says it saves, not by the memory of compiled
programs: XLA on the CPU merges recomputation with the first run, so its temporary memory
does not shrink whatever is recomputed."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.ad_checkpoint import checkpoint_name, print_saved_residuals

import networks
import remat_plan
from remat_plan.jax import Policy, TraceError, capture, policy


@pytest.fixture(autouse=True)
def _fixed_times(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_times(graph: Any, *_: Any) -> Any:
        return networks.fixed_times(graph)

    monkeypatch.setattr(capture, "with_times", with_times)


def residuals(chosen: Policy, step: Any, args: Any, capsys: Any) -> tuple[set[str], list[str]]:
    """The names that JAX saves on the device, and the shapes that it saves on the host."""
    print_saved_residuals(jax.checkpoint(step, policy=chosen.policy), *args)
    lines = [line for line in capsys.readouterr().out.splitlines() if "argument" not in line]
    names = {m[1] for line in lines if (m := re.search(r"named '(\w+)'", line))}
    on_host = [m[1] for line in lines if (m := re.match(r"(\S+<host>\S+)", line))]
    assert len(names) + len(on_host) == len(lines)
    return names, on_host


@pytest.mark.parametrize("share", [100, 90, 80])
def test_jax_saves_what_was_planned(share: int, capsys: Any) -> None:
    loss, *args = networks.transformer(layers=3)
    chosen = policy(loss, *args, budget=f"{share}%", **networks.WORK)
    assert residuals(chosen, loss, args, capsys) == (set(chosen.saved), [])
    names = {f"{n}{i}" for i in range(3) for n in ("qkv", "w", "x", "g", "y")}
    assert {*chosen.saved, *chosen.recomputed} == names
    assert not set(chosen.saved) & set(chosen.recomputed)
    assert bool(chosen.recomputed) == (share < 100)
    assert chosen.plan.claims["peak_bytes"] <= chosen.plan.budget_bytes


def test_jax_offloads_what_was_planned(capsys: Any) -> None:
    loss, *args = networks.transformer(layers=3)
    chosen = policy(loss, *args, budget="75%", offload=True, **networks.WORK)
    assert chosen.offloaded
    names, on_host = residuals(chosen, loss, args, capsys)
    assert names == set(chosen.saved)
    assert len(on_host) == len(chosen.offloaded)


def test_gradients_stay_what_they_are() -> None:
    loss, *args = networks.transformer()
    chosen = policy(loss, *args, budget="85%", **networks.WORK)
    expected = jax.tree.leaves(jax.jit(jax.grad(loss))(*args))
    again = jax.checkpoint(loss, policy=chosen.policy)
    found = jax.tree.leaves(jax.jit(jax.grad(again))(*args))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-7)


def test_what_is_cheap_is_recomputed_first() -> None:
    def step(w: Any, x: Any) -> Any:
        for i in range(4):
            h = checkpoint_name(x @ w, f"product{i}")
            x = checkpoint_name(jax.nn.gelu(h), f"gelu{i}")
        return (x**2).sum()

    w, x = (jax.ShapeDtypeStruct((n, 1024), jnp.float32) for n in (1024, 512))
    chosen = policy(step, w, x, budget="95%", **networks.WORK)
    assert chosen.recomputed
    assert all(name.startswith("gelu") for name in chosen.recomputed)


def test_arguments_that_are_differentiated_are_chosen() -> None:
    def step(tokens: Any, table: Any, w: Any) -> Any:
        x = checkpoint_name(jnp.tanh(table[tokens] @ w), "x")
        return (x**2).sum(), x.mean()

    args = jnp.arange(6), networks.normal(0, 10, 8), networks.normal(1, 8, 8)
    chosen = policy(step, *args, argnums=(1, 2), budget="100%", **networks.WORK)
    assert chosen.saved == ("x",)
    assert len(chosen.graph.keep) == 4


def test_no_plan_is_an_error() -> None:
    loss, *args = networks.transformer()
    with pytest.raises(remat_plan.ProgramError, match="infeasible") as caught:
        policy(loss, *args, budget="20%", **networks.WORK)
    assert caught.value.code == 1


def test_names_must_be_there() -> None:
    x = jnp.ones((4, 4))
    with pytest.raises(
        TraceError, match=r"no value is named.*4,4\] of tanh at .*test_jax_policy"
    ):
        policy(lambda x: jnp.tanh(x).sum(), x, budget="100%")
