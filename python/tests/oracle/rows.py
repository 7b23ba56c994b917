# SPDX-License-Identifier: MIT
"""Softmax, losses, normalizations, rotary positions and LSTM cells."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .case import Draw, Parts, oracle

aten = torch.ops.aten

# ---- softmax ----


def draw_softmax(draw: Draw) -> tuple[Tensor, int, bool]:
    x, causal = draw.real(*draw.shape(2, 4), scale=draw.choice(1, 5, 40)), draw.coin()
    axis = x.dim() - 1 if causal else draw.between(0, x.dim() - 1)
    return x, axis, causal


def softmax(x: Tensor, axis: int, causal: bool) -> Tensor:
    if causal:
        future = torch.ones(x.shape[-2:], dtype=torch.bool).triu(1)
        x = x.masked_fill(future, -torch.inf)
    return x.softmax(axis)


@oracle("softmax")
def _(draw: Draw) -> Parts:
    x, axis, causal = draw_softmax(draw)
    y = softmax(x.double(), axis, causal)
    exponent = x.double().amax(axis, keepdim=True) - x.double()
    want = draw.near(y, y * (1 + exponent), x.shape[axis] + 8)
    return Parts({"axis": axis, "causal": causal}, [x], [want])


@oracle("softmax_grad")
def _(draw: Draw) -> Parts:
    x, axis, causal = draw_softmax(draw)
    gy, y = draw.real(*x.shape), softmax(x.double(), axis, causal).to(draw.dtype)
    wide, p = gy.double(), y.double()
    value = aten._softmax_backward_data(wide, p, axis, torch.float64)
    size = p * (wide.abs() + (wide * p).abs().sum(axis, keepdim=True))
    want = draw.near(value, size, x.shape[axis] + 4)
    return Parts({"axis": axis, "causal": causal}, [gy, y], [want])


# ---- cross entropy ----


def draw_logits(draw: Draw) -> tuple[dict[str, Any], Tensor, Tensor]:
    logits = draw.real(*draw.shape(1, 4), scale=draw.choice(1, 5, 40))
    axis = draw.between(0, logits.dim() - 1)
    shape = [n for d, n in enumerate(logits.shape) if d != axis]
    labels = draw.below(logits.shape[axis], *shape)
    return {"axis": axis, "weight": draw.choice(1.0, 0.3)}, logits, labels


def loss_of(attrs: dict[str, Any], logits: Tensor, labels: Tensor) -> Tensor:
    by_rows = logits.movedim(attrs["axis"], -1).reshape(-1, logits.shape[attrs["axis"]])
    weight: float = attrs["weight"]
    return weight * F.cross_entropy(by_rows, labels.flatten().long())


@oracle("softmax_cross_entropy")
def _(draw: Draw) -> Parts:
    attrs, logits, labels = draw_logits(draw)
    z, axis = logits.double(), attrs["axis"]
    loss, logsumexp = loss_of(attrs, z, labels), z.logsumexp(axis)
    size = 1 + logsumexp.abs() + z.abs().amax(axis)
    n = z.shape[axis] + labels.numel() + 8
    return Parts(attrs, [logits, labels], [
        draw.stat_near(loss, size.mean(), n),
        draw.stat_near(logsumexp, size, n),
    ])  # fmt: skip


@oracle("softmax_cross_entropy_grad")
def _(draw: Draw) -> Parts:
    attrs, logits, labels = draw_logits(draw)
    z, axis = logits.double().requires_grad_(), attrs["axis"]
    (value,) = torch.autograd.grad(loss_of(attrs, z, labels), z)
    logsumexp = z.detach().logsumexp(axis)
    range_ = 2 + z.detach().abs() + logsumexp.abs().unsqueeze(axis)
    each = attrs["weight"] / labels.numel()
    one_hot = F.one_hot(labels.long(), z.shape[axis]).movedim(-1, axis)
    size = each * (z.detach().softmax(axis) * range_ + one_hot)
    return Parts(attrs, [logits, labels, logsumexp.float()], [draw.near(value, size, 8)])


# ---- normalization ----


def spread(x: Tensor, mean: Tensor, invstd: Tensor) -> Tensor:
    """How much a rounding of x amounts to in (x - mean) * invstd, for the row of x."""
    return (x.abs().amax() + mean.abs()) * invstd


@oracle("batch_norm")
def _(draw: Draw) -> Parts:
    affine, eps = draw.coin(), draw.choice(1e-5, 1e-3)
    x = draw.real(*draw.shape(2, 5, 4)) + draw.choice(0, 2, 50)
    c = x.shape[1]
    gamma, beta = draw.stat(c, low=0.5, high=1.5), draw.stat(c)
    scales = [gamma.double(), beta.double()] if affine else [None, None]
    wide = x.double()
    y, mean, invstd = aten.native_batch_norm(wide, *scales, None, None, True, 0.1, eps)
    n, sizes = x.numel() // c, [-1] + [1] * (x.dim() - 2)
    lost = 1 + spread(wide, mean, invstd)
    g = gamma.double() if affine else torch.ones(c, dtype=torch.float64)
    b = beta.double() if affine else torch.zeros(c, dtype=torch.float64)
    h = (wide - mean.reshape(sizes)) * invstd.reshape(sizes)
    size = (1 + h.abs()) * (g * lost).reshape(sizes) + b.abs().reshape(sizes)
    wants = [
        draw.near(y, size, n + 8),
        draw.stat_near(mean, wide.abs().amax().expand(c), n + 2),
        draw.stat_near(invstd, invstd * lost, n + 8),
    ]
    return Parts({"eps": eps, "affine": affine}, [x, gamma, beta] if affine else [x], wants)


def normalized_grads(
    gy: Tensor, x: Tensor, mean: Tensor, invstd: Tensor, weight: Tensor, over: list[int]
) -> tuple[Tensor, Tensor, Tensor]:
    """Sizes of gx, gweight and gbias: the terms of their formulas, all positive."""
    h = (x - mean).abs() * invstd  # the mean is given, so a rounding counts little here
    u = (gy * weight).abs()
    gx = invstd * (u + u.mean(over, keepdim=True) + h * (u * h).mean(over, keepdim=True))
    return gx, gy.abs() * h, gy.abs()


@oracle("batch_norm_grad")
def _(draw: Draw) -> Parts:
    affine, eps = draw.coin(), 1e-5
    x = draw.real(*draw.shape(2, 5, 4)) + draw.choice(0, 2, 50)
    c, others = x.shape[1], [d for d in range(x.dim()) if d != 1]
    gy, gamma, wide = draw.real(*x.shape), draw.stat(c, low=0.5, high=1.5), x.double()
    mean = wide.mean(others).float()
    invstd = (wide.var(others, unbiased=False) + eps).rsqrt().float()
    g = gamma.double() if affine else torch.ones(c, dtype=torch.float64)
    m, s = mean.double(), invstd.double()
    gx, ggamma, gbeta = aten.native_batch_norm_backward(
        gy.double(), wide, g, None, None, m, s, True, eps, [True, True, True]
    )
    sizes = [-1] + [1] * (x.dim() - 2)
    size = normalized_grads(
        gy.double(), wide, m.reshape(sizes), s.reshape(sizes), g.reshape(sizes), others
    )
    n = x.numel() // c
    inputs, wants = [gy, x, mean, invstd], [draw.near(gx, size[0], n + 12)]
    if affine:
        inputs.append(gamma)
        wants.append(draw.stat_near(ggamma, size[1].sum(others), n + 4))
        wants.append(draw.stat_near(gbeta, size[2].sum(others), n))
    return Parts({"eps": eps, "affine": affine}, inputs, wants)


@oracle("bn_update_stats")
def _(draw: Draw) -> Parts:
    """PyTorch's batch norm updates the statistics of an x that has the given ones. The op
    makes new ones, or replaces them.
    """
    n, c = draw.between(2, 20), draw.between(1, 5)
    eps, momentum = draw.choice(1e-5, 1e-3), draw.choice(0.1, 0.01, 1.0)
    x = draw.stat(n, c, low=-2, high=3).double()
    running = [draw.stat(c), draw.stat(c, low=0.5, high=1.5)]
    mean, var = x.mean(0), x.var(0, unbiased=False)
    new = [v.double() for v in running]
    F.batch_norm(x, new[0], new[1], training=True, momentum=momentum, eps=eps)
    invstd = (var + eps).rsqrt()
    attrs = {"eps": eps, "momentum": momentum, "count": n}
    wants = [
        draw.stat_near(new[0], running[0].double().abs() + mean.abs(), 2),
        draw.stat_near(new[1], running[1].double() + 2 * var + eps, 4),
    ]
    given = [mean.float(), invstd.float()]
    if draw.coin():
        return Parts(attrs, given, wants, running)
    return Parts(attrs, [*given, *running], wants)


def draw_rows(draw: Draw) -> tuple[Tensor, Tensor, Tensor, float]:
    """x, a weight, a bias and eps."""
    x = draw.real(*draw.shape(1, 4, 6)) + draw.choice(0, 2, 50)
    d = x.shape[-1]
    return x, draw.stat(d, low=0.5, high=1.5), draw.stat(d), draw.choice(1e-5, 1e-3)


@oracle("layer_norm")
def _(draw: Draw) -> Parts:
    x, weight, bias, eps = draw_rows(draw)
    wide, w, b = x.double(), weight.double(), bias.double()
    y, mean, invstd = aten.native_layer_norm(wide, [x.shape[-1]], w, b, eps)
    lost = 1 + spread(wide, mean, invstd)
    h = (wide - mean) * invstd
    n = x.shape[-1] + 8
    wants = [
        draw.near(y, (1 + h.abs()) * lost * w + b.abs(), n),
        draw.stat_near(mean.squeeze(-1), wide.abs().amax(-1), n),
        draw.stat_near(invstd.squeeze(-1), (invstd * lost).squeeze(-1), n),
    ]
    return Parts({"eps": eps}, [x, weight, bias], wants)


@oracle("layer_norm_grad")
def _(draw: Draw) -> Parts:
    x, weight, bias, eps = draw_rows(draw)
    gy, wide, w, b = draw.real(*x.shape), x.double(), weight.double(), bias.double()
    mean = wide.mean(-1, keepdim=True).float()
    invstd = (wide.var(-1, unbiased=False, keepdim=True) + eps).rsqrt().float()
    m, s = mean.double(), invstd.double()
    values = aten.native_layer_norm_backward(
        gy.double(), wide, [x.shape[-1]], m, s, w, b, [True, True, True]
    )
    size = normalized_grads(gy.double(), wide, m, s, w, [-1])
    rows, n = list(range(x.dim() - 1)), x.numel()
    wants = [
        draw.near(values[0], size[0], x.shape[-1] + 12),
        draw.stat_near(values[1], size[1].sum(rows) if rows else size[1], n + 4),
        draw.stat_near(values[2], size[2].sum(rows) if rows else size[2], n),
    ]
    return Parts({"eps": eps}, [gy, x, mean.squeeze(-1), invstd.squeeze(-1), weight], wants)


@oracle("rms_norm")
def _(draw: Draw) -> Parts:
    x, weight, _bias, eps = draw_rows(draw)
    wide, w, n = x.double(), weight.double(), x.shape[-1]
    y = F.rms_norm(wide, [n], w, eps)
    invrms = (wide.square().mean(-1) + eps).rsqrt()
    wants = [draw.near(y, y, n + 8), draw.stat_near(invrms, invrms, n + 8)]
    return Parts({"eps": eps}, [x, weight], wants)


@oracle("rms_norm_grad")
def _(draw: Draw) -> Parts:
    x, weight, _bias, eps = draw_rows(draw)
    gy, wide, w = draw.real(*x.shape), x.double().requires_grad_(), weight.double()
    w.requires_grad_()
    y = F.rms_norm(wide, [x.shape[-1]], w, eps)
    gx, gweight = torch.autograd.grad(y, [wide, w], gy.double())
    wide, w = wide.detach(), w.detach()
    invrms = (wide.square().mean(-1) + eps).rsqrt()
    s, rows = invrms.unsqueeze(-1), list(range(x.dim() - 1))
    h, u = (wide * s).abs(), (gy.double() * w).abs()
    size = s * (u + h * (u * h).mean(-1, keepdim=True))
    terms = gy.double().abs() * h
    wants = [
        draw.near(gx, size, x.shape[-1] + 12),
        draw.stat_near(gweight, terms.sum(rows) if rows else terms, x.numel() + 4),
    ]
    return Parts({"eps": eps}, [gy, x, invrms.float(), weight], wants)


@oracle("weight_norm")
def _(draw: Draw) -> Parts:
    v, g = draw.real(*draw.shape()), draw.real(1)
    w = aten._weight_norm(v.double(), g.double(), -1)
    return Parts({}, [v, g], [draw.near(w, w, v.numel() + 6)])


@oracle("weight_norm_grad")
def _(draw: Draw) -> Parts:
    v, g = draw.real(*draw.shape()), draw.real(1)
    gw, wide, size = draw.real(*v.shape), v.double(), v.double().norm()
    leaves = [wide.requires_grad_(), g.double().requires_grad_()]
    gv, gg = torch.autograd.grad(aten._weight_norm(*leaves, -1), leaves, gw.double())
    u, n = (wide.detach() / size).abs(), v.numel() + 8
    terms = gw.double().abs() * u
    wants = [
        draw.near(gv, g.double().abs() / size * (gw.double().abs() + u * terms.sum()), n),
        draw.near(gg, terms.sum(), n),
    ]
    return Parts({}, [gw, v, g], wants)


# ---- rotary positions: a rotation is a product of complex numbers ----


@oracle("rotary")
def _(draw: Draw) -> Parts:
    batch, tokens, heads, pairs = draw.ints(4, 1, 5)
    base, inverse = draw.choice(10000, 500000.0, 100), draw.coin()
    x = draw.real(batch, tokens, heads, 2 * pairs)
    turns = base ** (-torch.arange(pairs, dtype=torch.float64) / pairs)
    angle = torch.arange(tokens, dtype=torch.float64)[:, None, None] * turns
    turned = torch.polar(torch.ones_like(angle), -angle if inverse else angle)
    z = torch.view_as_complex(x.double().reshape(batch, tokens, heads, pairs, 2))
    y = torch.view_as_real(z * turned).reshape(x.shape)
    size = z.abs().repeat_interleave(2, -1)
    return Parts({"base": base, "inverse": inverse}, [x], [draw.near(y, size, 4)])


# ---- LSTM: PyTorch's cell with gates as input and the identity as its weight ----


@oracle("lstm_cell")
def _(draw: Draw) -> Parts:
    batch, hidden = draw.between(1, 4), draw.between(1, 4)
    gates, c = draw.real(batch, 4 * hidden, scale=2), draw.real(batch, hidden)
    eye = torch.eye(4 * hidden, dtype=torch.float64)
    nothing = torch.zeros(batch, hidden, dtype=torch.float64)
    state = [nothing, c.double()]
    h, new = torch.lstm_cell(gates.double(), state, eye, eye[:, :hidden] * 0)
    return Parts({}, [gates, c], [draw.near(h, 1 + c.double().abs(), 8),
                            draw.near(new, 1 + c.double().abs(), 8)])  # fmt: skip


@oracle("lstm_cell_grad")
def _(draw: Draw) -> Parts:
    """c' is rounded, and the gradient of h is taken at what was stored."""
    batch, hidden = draw.between(1, 4), draw.between(1, 4)
    gates, c = draw.real(batch, 4 * hidden, scale=2), draw.real(batch, hidden)
    wide, old = gates.double().requires_grad_(), c.double().requires_grad_()
    i, f, g, o = wide.chunk(4, 1)
    new = f.sigmoid() * old + i.sigmoid() * g.tanh()
    stored = new.detach().to(draw.dtype)
    new = new + (stored.double() - new).detach()
    h = o.sigmoid() * new.tanh()
    grad_h, grad_c = draw.choice((True, True), (True, False), (False, True))
    inputs, gh, gc = [gates, c, stored], draw.real(*c.shape), draw.real(*c.shape)
    total = torch.zeros((), dtype=torch.float64)
    if grad_h:
        inputs.append(gh)
        total = total + (h * gh.double()).sum()
    if grad_c:
        inputs.append(gc)
        total = total + (new * gc.double()).sum()
    ggates, gold = torch.autograd.grad(total, [wide, old])
    size = (1 + c.double().abs()) * (1 + gh.double().abs() + gc.double().abs())
    wants = [draw.near(ggates, size.repeat(1, 4), 12)]
    if draw.coin():
        wants.append(draw.near(gold, size, 12))
    return Parts({"grad_h": grad_h, "grad_c": grad_c}, inputs, wants)
