# SPDX-License-Identifier: MIT
"""Kinds that work element by element, and broadcasts."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from .case import Draw, Oracle, Parts, oracle

aten = torch.ops.aten


def edges(draw: Draw, *values: float) -> Tensor:
    """Numbers of several sizes, some of them equal to one of the values."""
    x = draw.real(*draw.shape(), scale=draw.choice(0.1, 1, 4))
    at = draw.below(4 + len(values), *x.shape)
    for i, value in enumerate(values):
        x[at == i] = value
    return x


# ---- comparisons ----


@oracle("relu")
def _(draw: Draw) -> Parts:
    x = edges(draw, 0, -0.0)
    return Parts({}, [x], [draw.exactly(torch.relu(x))])


@oracle("relu_grad")
def _(draw: Draw) -> Parts:
    y = torch.relu(edges(draw, 0))
    gy = draw.real(*y.shape)
    return Parts({}, [gy, y], [draw.exactly(aten.threshold_backward(gy, y, 0))])


@oracle("relu6")
def _(draw: Draw) -> Parts:
    x = edges(draw, 0, 6, 7)
    return Parts({}, [x], [draw.exactly(F.relu6(x))])


@oracle("relu6_grad")
def _(draw: Draw) -> Parts:
    y = F.relu6(edges(draw, 0, 6, 7))
    gy = draw.real(*y.shape)
    return Parts({}, [gy, y], [draw.exactly(aten.hardtanh_backward(gy, y, 0, 6))])


# ---- functions: `size` bounds what a rounding within the function amounts to ----


def function(f: Callable[[Tensor], Tensor], size: Callable[[Tensor], Tensor]) -> Oracle:
    def forward(draw: Draw) -> Parts:
        x = edges(draw, 0, 30, -30)
        return Parts({}, [x], [draw.near(f(x.double()), size(x.double()), 12)])

    return forward


oracle("tanh")(function(torch.tanh, torch.tanh))
oracle("gelu")(function(F.gelu, torch.abs))
oracle("gelu_tanh")(function(lambda x: F.gelu(x, approximate="tanh"), torch.abs))
oracle("silu")(function(F.silu, torch.abs))


def slope(backward: Callable[[Tensor, Tensor], Tensor]) -> Oracle:
    """Gradients (gy, x). Roundings of x matter by the slope of the slope."""

    def grad(draw: Draw) -> Parts:
        x = edges(draw, 0, 9, -9)
        gy = draw.real(*x.shape)
        value = backward(gy.double(), x.double())
        return Parts({}, [gy, x], [draw.near(value, gy.double() * (1 + x.double().abs()), 16)])

    return grad


def tanh_gelu_backward(gy: Tensor, x: Tensor) -> Tensor:
    gx: Tensor = aten.gelu_backward(gy, x, approximate="tanh")
    return gx


oracle("gelu_grad")(slope(aten.gelu_backward))
oracle("gelu_tanh_grad")(slope(tanh_gelu_backward))
oracle("silu_grad")(slope(aten.silu_backward))


@oracle("tanh_grad")
def _(draw: Draw) -> Parts:
    y = torch.tanh(edges(draw, 0, 30))
    gy = draw.real(*y.shape)
    value = aten.tanh_backward(gy.double(), y.double())
    return Parts({}, [gy, y], [draw.near(value, gy.double(), 3)])


# ---- arithmetic: one rounding to f32 and one to the type, as in PyTorch ----


@oracle("add")
def _(draw: Draw) -> Parts:
    x = draw.real(*draw.shape(), scale=draw.scale())
    y = draw.real(*x.shape, scale=draw.scale())
    return Parts({}, [x, y], [draw.exactly(x + y)])


@oracle("mul")
def _(draw: Draw) -> Parts:
    x = draw.real(*draw.shape(), scale=draw.scale())
    y = draw.real(*x.shape, scale=draw.scale())
    return Parts({}, [x, y], [draw.exactly(x * y)])


@oracle("scale")
def _(draw: Draw) -> Parts:
    x = draw.real(*draw.shape(), scale=draw.scale())
    factor = draw.choice(2.0, -0.7, 1 / 3, 1e5)
    return Parts({"factor": factor}, [x], [draw.exactly(x * factor)])


def uniform(seed: int, n: int) -> Tensor:
    """The numbers that docs/ops.md compares with p, in Python's integers."""
    numbers = []
    for i in range(n):
        z = seed * 0x9E3779B97F4A7C15 + i
        for _ in range(2):
            z = (z + 0x9E3779B97F4A7C15) % 2**64
            z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
            z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
            z ^= z >> 31
        numbers.append((z >> 40) / 2**24)
    return torch.tensor(numbers, dtype=torch.float64)


@oracle("dropout")
def _(draw: Draw) -> Parts:
    x, seed = edges(draw, 0), draw.choice(0, 1, draw.between(0, 2**63 - 1))
    u = uniform(seed, x.numel()).reshape(x.shape)
    p = draw.choice(0.0, 0.1, 0.5, u.flatten()[0].item())  # an element that is just kept
    factor = torch.tensor(1 / (1 - p), dtype=torch.float32)
    y = (x.float() * factor).to(x.dtype) * (u >= p)
    return Parts({"p": p, "seed": seed}, [x], [draw.exactly(y)])


# ---- broadcasts ----


def broadcast(f: Callable[[Tensor, Tensor], Tensor]) -> Oracle:
    def forward(draw: Draw) -> Parts:
        x = draw.real(*draw.shape())
        axis = draw.between(0, x.dim() - 1)
        end = draw.between(axis + 1, x.dim())
        v = draw.real(*x.shape[axis:end])
        y = f(x, v.reshape(*v.shape, *[1] * (x.dim() - end)))
        return Parts({"axis": axis}, [x, v], [draw.exactly(y)])

    return forward


oracle("add_broadcast")(broadcast(torch.add))
oracle("mul_broadcast")(broadcast(torch.mul))


@oracle("repeat")
def _(draw: Draw) -> Parts:
    x, n = draw.real(*draw.shape()), draw.between(1, 4)
    return Parts({}, [x], [draw.exactly(x.expand(n, *x.shape))])
