# SPDX-License-Identifier: MIT
"""Convolutions and pooling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .case import Draw, Oracle, Parts, oracle

aten = torch.ops.aten


@dataclass(frozen=True)
class Window:
    """A window with the sizes of the side that it slides over (x) and of the other (y)."""

    kernel: list[int]
    stride: list[int]
    pad: list[int]
    dilation: list[int]
    x: list[int]
    y: list[int]

    @property
    def attrs(self) -> dict[str, Any]:
        layout = "NCHW" if len(self.kernel) == 2 else "NCDHW"
        sizes = {"kernel": self.kernel, "stride": self.stride, "pad": self.pad}
        return {**sizes, "layout": layout}


def draw_window(draw: Draw, n: int, pooling: bool) -> Window:
    """PyTorch pools with at most half a kernel of padding. Positions of x may be left over."""
    kernel, stride, y = draw.ints(n, 1, 4), draw.ints(n, 1, 3), draw.ints(n, 1, 4)
    pad = [draw.choice(0, k // 2) if pooling else draw.between(0, 2) for k in kernel]
    dilation = [1] * n if pooling else draw.ints(n, 1, 3)
    x: list[int] = []
    for d in range(n):
        span = (y[d] - 1) * stride[d] + dilation[d] * (kernel[d] - 1) + 1
        if span - 2 * pad[d] < 1:
            pad[d] = 0
        x.append(span - 2 * pad[d] + draw.between(0, stride[d] - 1))
    return Window(kernel, stride, pad, dilation, x, y)


# ---- convolution ----


@dataclass(frozen=True)
class Convolution:
    """x and y are the sides of the window: a transposed convolution goes from y to x."""

    window: Window
    x: Tensor
    y: Tensor
    weight: Tensor
    groups: int
    transposed: bool

    @property
    def attrs(self) -> dict[str, Any]:
        more = {"dilation": self.window.dilation, "groups": self.groups}
        return {**self.window.attrs, **more}

    @property
    def left_over(self) -> list[int]:
        """Positions of x behind the last window: PyTorch's output_padding."""
        w = self.window
        return [
            x - ((y - 1) * s - 2 * p + d * (k - 1) + 1)
            for x, y, s, p, d, k in zip(
                w.x, w.y, w.stride, w.pad, w.dilation, w.kernel, strict=True
            )
        ]

    def forward(self, source: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        w = self.window
        padding = self.left_over if self.transposed else [0] * len(w.kernel)
        y: Tensor = aten.convolution(
            source, weight, bias, w.stride, w.pad, w.dilation, self.transposed, padding,
            self.groups,
        )  # fmt: skip
        return y

    def backward(self, gy: Tensor, source: Tensor, weight: Tensor, which: int) -> Tensor:
        """The gradient of the source (0) or of the weight (1)."""
        w = self.window
        padding = self.left_over if self.transposed else [0] * len(w.kernel)
        mask = [which == 0, which == 1, False]
        grads = aten.convolution_backward(
            gy, source, weight, None, w.stride, w.pad, w.dilation, self.transposed, padding,
            self.groups, mask,
        )  # fmt: skip
        grad: Tensor = grads[which]
        return grad

    @property
    def per_group(self) -> tuple[int, int]:
        return self.x.shape[1] // self.groups, self.y.shape[1] // self.groups


def draw_convolution(draw: Draw, n: int, transposed: bool) -> Convolution:
    window = draw_window(draw, n, pooling=False)
    groups, batch = draw.between(1, 3), draw.between(1, 2)
    channels, filters = groups * draw.between(1, 3), groups * draw.between(1, 3)
    x = draw.real(batch, channels, *window.x)
    y = draw.real(batch, filters, *window.y)
    weight = draw.real(filters, channels // groups, *window.kernel)
    return Convolution(window, x, y, weight, groups, transposed)


def convolution(n: int, transposed: bool) -> Oracle:
    def forward(draw: Draw) -> Parts:
        c = draw_convolution(draw, n, transposed)
        source, target = (c.y, c.x) if transposed else (c.x, c.y)
        inputs = [source, c.weight]
        if draw.coin():
            inputs.append(draw.real(target.shape[1]))
        wide = [v.double() for v in inputs]
        bias = wide[2] if len(wide) > 2 else None
        y = c.forward(wide[0], wide[1], bias)
        size = c.forward(wide[0].abs(), wide[1].abs(), None if bias is None else bias.abs())
        terms = c.per_group[1 if transposed else 0] * c.weight[0, 0].numel()
        return Parts(c.attrs, inputs, [draw.near(y, size, terms + 1)])

    return forward


def convolution_grad(n: int, transposed: bool, which: int) -> Oracle:
    def backward(draw: Draw) -> Parts:
        c = draw_convolution(draw, n, transposed)
        source, gy = (c.y, c.x) if transposed else (c.x, c.y)
        wide = (gy.double(), source.double(), c.weight.double())
        g = c.backward(*wide, which)
        gy_abs, source_abs, weight_abs = (v.abs() for v in wide)
        size = c.backward(gy_abs, source_abs, weight_abs, which)
        terms = c.per_group[0 if transposed else 1] * c.weight[0, 0].numel()
        if which == 1:
            terms = gy.numel()
        inputs = [gy, c.weight if which == 0 else source]
        return Parts(c.attrs, inputs, [draw.near(g, size, terms + 1)])

    return backward


for _n in (2, 3):
    for _kind, _transposed in (("conv", False), ("conv_transpose", True)):
        oracle(f"{_kind}{_n}d")(convolution(_n, _transposed))
        oracle(f"{_kind}{_n}d_grad_input")(convolution_grad(_n, _transposed, 0))
        oracle(f"{_kind}{_n}d_grad_weight")(convolution_grad(_n, _transposed, 1))


# ---- maximum: small whole numbers, so that most windows have several maxima ----


def planes(draw: Draw) -> list[int]:
    return [draw.between(1, 2), draw.between(1, 3)]


def pooled(x: Tensor, w: Window) -> Tensor:
    pool = F.max_pool2d if len(w.kernel) == 2 else F.max_pool3d
    y: Tensor = pool(x, w.kernel, w.stride, w.pad)
    return y


def max_pool(n: int) -> Oracle:
    def forward(draw: Draw) -> Parts:
        w = draw_window(draw, n, pooling=True)
        x = draw.whole(*planes(draw), *w.x)
        return Parts(w.attrs, [x], [draw.exactly(pooled(x, w))])

    return forward


def max_pool_grad(n: int) -> Oracle:
    """Sums of whole numbers are exact."""

    def backward(draw: Draw) -> Parts:
        w = draw_window(draw, n, pooling=True)
        x = draw.whole(*planes(draw), *w.x)
        wide = x.double().requires_grad_()
        y = pooled(wide, w)
        gy = draw.whole(*y.shape, limit=9)
        (gx,) = torch.autograd.grad(y, wide, gy.double())
        return Parts(w.attrs, [gy, x, y.detach().to(draw.dtype)], [draw.exactly(gx)])

    return backward


for _n in (2, 3):
    oracle(f"max_pool{_n}d")(max_pool(_n))
    oracle(f"max_pool{_n}d_grad")(max_pool_grad(_n))


def draw_indices(draw: Draw) -> tuple[Window, Tensor, Tensor, Tensor]:
    """x, its maxima and their indices, for windows that do not overlap."""
    w = draw_window(draw, 2, pooling=True)
    stride = [max(k, s) for k, s in zip(w.kernel, w.stride, strict=True)]
    x_size = [(y - 1) * s + k for y, s, k in zip(w.y, stride, w.kernel, strict=True)]
    w = Window(w.kernel, stride, [0, 0], [1, 1], x_size, w.y)
    if draw.coin():
        w = Window(w.kernel, w.stride, [k // 2 for k in w.kernel], [1, 1], w.x, w.y)
    x = draw.whole(*planes(draw), *w.x)
    y, index = F.max_pool2d(x, w.kernel, w.stride, w.pad, return_indices=True)
    return w, x, y, index


@oracle("max_pool2d_index")
def _(draw: Draw) -> Parts:
    w, x, y, index = draw_indices(draw)
    return Parts(w.attrs, [x], [draw.exactly(y), draw.exactly(index.int())])


@oracle("max_unpool2d")
def _(draw: Draw) -> Parts:
    _w, x, y, index = draw_indices(draw)
    y = draw.real(*y.shape)
    return Parts({}, [y, index.int()], [draw.exactly(aten.max_unpool2d(y, index, x.shape[2:]))])


@oracle("max_unpool2d_grad")
def _(draw: Draw) -> Parts:
    _w, x, y, index = draw_indices(draw)
    gy, leaf = draw.real(*x.shape), torch.zeros(y.shape, dtype=torch.float64).requires_grad_()
    spread = aten.max_unpool2d(leaf, index, x.shape[2:])
    (gx,) = torch.autograd.grad(spread, leaf, gy.double())
    return Parts({}, [gy, index.int()], [draw.exactly(gx)])


# ---- average ----


@oracle("avg_pool2d")
def _(draw: Draw) -> Parts:
    w, count_pad = draw_window(draw, 2, pooling=True), draw.coin()
    x = draw.real(*planes(draw), *w.x)

    def mean(v: Tensor) -> Tensor:
        return F.avg_pool2d(v, w.kernel, w.stride, w.pad, count_include_pad=count_pad)

    want = draw.near(mean(x.double()), mean(x.double().abs()), 17)
    return Parts({**w.attrs, "count_pad": count_pad}, [x], [want])


@oracle("avg_pool2d_grad")
def _(draw: Draw) -> Parts:
    w, count_pad = draw_window(draw, 2, pooling=True), draw.coin()
    front = planes(draw)
    gy, x = draw.real(*front, *w.y), torch.zeros(*front, *w.x, dtype=torch.float64)

    def spread(g: Tensor) -> Tensor:
        gx: Tensor = aten.avg_pool2d_backward(
            g, x, w.kernel, w.stride, w.pad, False, count_pad, None
        )
        return gx

    want = draw.near(spread(gy.double()), spread(gy.double().abs()), 32)
    return Parts({**w.attrs, "count_pad": count_pad}, [gy], [want])


@oracle("adaptive_avg_pool2d")
def _(draw: Draw) -> Parts:
    x = draw.real(*planes(draw), *draw.ints(2, 1, 7))
    y_size = (draw.between(1, 7), draw.between(1, 7))
    wide = x.double()
    y, size = (F.adaptive_avg_pool2d(v, y_size) for v in (wide, wide.abs()))
    return Parts({"layout": "NCHW"}, [x], [draw.near(y, size, 51)])


@oracle("adaptive_avg_pool2d_grad")
def _(draw: Draw) -> Parts:
    front, x_size, y_size = planes(draw), draw.ints(2, 1, 7), draw.ints(2, 1, 7)
    gy, x = draw.real(*front, *y_size), torch.zeros(*front, *x_size, dtype=torch.float64)
    wide = gy.double()
    gx, size = (aten._adaptive_avg_pool2d_backward(v, x) for v in (wide, wide.abs()))
    return Parts({"layout": "NCHW"}, [gy], [draw.near(gx, size, 100)])
