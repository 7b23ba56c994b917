# SPDX-License-Identifier: MIT
"""Small networks as losses of (parameters, data), with named values, and fixed op times."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.ad_checkpoint import checkpoint_name

from remat_plan import Device, Graph, Plan, solve

Loss = Callable[..., Any]
LINK = Device("test", 0, 10**9, 10**9, 1000)


def normal(i: int, *shape: int) -> Any:
    """Random numbers that depend on `i` only."""
    return jax.random.normal(jax.random.key(i), shape) / shape[0] ** 0.5


def norm(x: Any) -> Any:
    """Layer normalisation without parameters."""
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


def transformer(layers: int = 2, d: int = 32, heads: int = 4, dropout: bool = True) -> Any:
    """A transformer with dropout. Names: qkv, w, x, g and y with the layer's number."""
    shapes = {"qkv": (d, 3 * d), "o": (d, d), "up": (d, 4 * d), "down": (4 * d, d)}
    parameters = [
        {key: normal(9 * i + k, *shape) for k, (key, shape) in enumerate(shapes.items())}
        for i in range(layers)
    ]

    def attention(x: Any, p: Any, i: int) -> Any:
        qkv = checkpoint_name(norm(x) @ p["qkv"], f"qkv{i}")
        parts = jnp.split(qkv, 3, -1)
        q, k, v = (t.reshape(*t.shape[:2], heads, -1).swapaxes(1, 2) for t in parts)
        w = jax.nn.softmax(q @ k.swapaxes(2, 3) / (d / heads) ** 0.5)
        w = checkpoint_name(w, f"w{i}")
        if dropout:
            w = w * jax.random.bernoulli(jax.random.key(i), 0.9, w.shape) / 0.9
        return (w @ v).swapaxes(1, 2).reshape(x.shape) @ p["o"]

    def loss(parameters: Any, x: Any) -> Any:
        for i, p in enumerate(parameters):
            x = checkpoint_name(x + attention(x, p, i), f"x{i}")
            g = checkpoint_name(norm(x) @ p["up"], f"g{i}")
            x = checkpoint_name(x + jax.nn.gelu(g) @ p["down"], f"y{i}")
        return (x**2).mean()

    return loss, parameters, normal(99, 4, 16, d)


def convolutions(layers: int = 4, c: int = 8) -> Any:
    """Residual convolutions."""

    def loss(parameters: Any, x: Any) -> Any:
        for w in parameters:
            layout = ("NHWC", "HWIO", "NHWC")
            y = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout)
            x = x + jax.nn.relu(y)
        return (x**2).mean()

    return loss, [normal(i, 3, 3, c, c) for i in range(layers)], normal(99, 2, 8, 8, c)


def recurrent(d: int = 16) -> Any:
    """An embedding and a scan: one op each way, which makes several outputs."""

    def loss(parameters: Any, tokens: Any) -> Any:
        def cell(h: Any, x: Any) -> Any:
            h = jnp.tanh(h @ parameters["h"] + x)
            return h, h

        x = parameters["embedding"][tokens]
        last, all_ = lax.scan(cell, jnp.zeros(x.shape[1:]), x)
        return (all_ @ parameters["h"]).mean() + last.sum()

    parameters = {"embedding": normal(0, 50, d), "h": normal(1, d, d)}
    return loss, parameters, jnp.arange(24).reshape(6, 4)


def fixed_times(graph: Graph, device: Device = LINK) -> Graph:
    """The graph with times that depend on nothing but its figures."""

    def time_ns(i: int) -> int:
        op = graph.ops[i]
        moved = sum(graph.tensors[x].bytes for x in (*op.inputs, *op.outputs))
        return 1000 + moved // 100 + int(op.attrs.get("flops", 0)) // 500

    timed = graph.with_times("imported:test", [time_ns(i) for i in range(len(graph.ops))])
    return dataclasses.replace(timed, device=device)


# Searches that end by work that is counted, not by the clock.
WORK: dict[str, Any] = {"time_limit": 0.2, "options": ("--ignore-clock",)}


def plan(graph: Graph, share: float, *options: str) -> Plan:
    """A plan for a share of the memory above sources and kept tensors."""
    kept = graph.fixed_bytes + sum(graph.tensors[x].bytes for x in graph.keep)
    unplaced = (*WORK["options"], "--no-addresses")
    peak = solve(graph, budget="100%", **(WORK | {"options": unplaced})).budget_bytes
    budget = kept + int((peak - kept) * share)
    given = WORK | {"time_limit": 2, "options": (*unplaced, *options)}
    return solve(graph, budget=budget, **given)
