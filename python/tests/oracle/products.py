# SPDX-License-Identifier: MIT
"""Matrix products, and the sums that are bias gradients."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor

from .case import Draw, Parts, oracle


@oracle("matmul")
def _(draw: Draw) -> Parts:
    batch, m, n, k = draw.ints(4, 1, 6)
    left, right, single = draw.coin(), draw.coin(), draw.coin()
    alpha = draw.choice(1.0, 0.7, -2.0)
    a = draw.real(batch, *((k, m) if left else (m, k)))
    b = draw.real(*(() if single else (batch,)), *((n, k) if right else (k, n)))
    bias = [draw.real(n)] if draw.coin() else []

    def product(v: Tensor, w: Tensor, factor: float) -> Tensor:
        return factor * ((v.mT if left else v) @ (w.mT if right else w))

    c = product(a.double(), b.double(), alpha)
    size = product(a.double().abs(), b.double().abs(), abs(alpha))
    for v in bias:
        c, size = c + v.double(), size + v.double().abs()
    attrs = {"batch": batch, "m": m, "n": n, "k": k, "alpha": alpha}
    attrs.update(transpose_a=left, transpose_b=right)
    return Parts(attrs, [a, b, *bias], [draw.near(c, size, k + 3)])


@dataclass(frozen=True)
class Layout:
    """Where the elements of a product's operand lie: three batch dimensions, row, column.

    A batch dimension outside `own` has stride 0: the operand lacks it.
    """

    sizes: list[int]
    strides: list[int]
    own: list[bool]

    @property
    def count(self) -> int:
        return prod(n for n, own in zip(self.sizes, self.own, strict=True) if own)

    def spread(self, flat: Tensor) -> Tensor:
        """The operand with all five dimensions."""
        return torch.as_strided(flat, self.sizes, self.strides)

    def store(self, full: Tensor) -> Tensor:
        """The sum over the dimensions that the operand lacks, as it lies in memory."""
        for d in range(5):
            if not self.own[d]:
                full = full.sum(d, keepdim=True)
        flat = torch.empty(self.count, dtype=full.dtype)
        torch.as_strided(flat, full.shape, self.strides).copy_(full)
        return flat


def draw_layout(draw: Draw, sizes: list[int], lacks: float) -> Layout:
    """The dimensions in any order. A batch dimension is lacking with this probability."""
    own = [d > 2 or draw.random.random() >= lacks for d in range(5)]
    strides, step = [0] * 5, 1
    for d in draw.random.sample(range(5), 5):
        if own[d]:
            strides[d], step = step, step * sizes[d]
    return Layout(sizes, strides, own)


@oracle("bmm")
def _(draw: Draw) -> Parts:
    batch, (m, n, k) = draw.ints(3, 1, 3), draw.ints(3, 1, 5)
    a, b = draw_layout(draw, [*batch, m, k], 0.2), draw_layout(draw, [*batch, k, n], 0.2)
    c = draw_layout(draw, [*batch, m, n], 0.3)
    alpha = draw.choice(1.0, 0.125, -1.5)
    x, y = draw.real(a.count), draw.real(b.count)

    def product(v: Tensor, w: Tensor, factor: float) -> Tensor:
        return c.store(factor * (a.spread(v) @ b.spread(w)))

    value = product(x.double(), y.double(), alpha)
    size = product(x.double().abs(), y.double().abs(), abs(alpha))
    attrs = {"batch": batch, "m": m, "n": n, "k": k, "alpha": alpha}
    attrs.update(strides_a=a.strides, strides_b=b.strides, strides_c=c.strides)
    return Parts(attrs, [x, y], [draw.near(value, size, k * prod(batch) + 3)])


@oracle("bias_grad")
def _(draw: Draw) -> Parts:
    g = draw.real(*draw.shape(1, 4, 6))
    axis = draw.between(0, g.dim() - 1)
    others = [d for d in range(g.dim()) if d != axis]
    wide = g.double()
    value, size = (v.sum(others) if others else v for v in (wide, wide.abs()))
    return Parts({"axis": axis}, [g], [draw.near(value, size, g.numel())])
