# SPDX-License-Identifier: MIT
"""Updates of parameters, and the sums of their gradients."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .case import Draw, Parts, Want, oracle


@oracle("count_step")
def _(draw: Draw) -> Parts:
    step = draw.below(1000, 1)
    return Parts({}, [], [draw.exactly(step + 1)], [step])


def draw_gradient(draw: Draw, *shape: int) -> Tensor:
    """In the network's type or in f32."""
    return draw.real(*shape) if draw.coin() else draw.real(*shape).float() * (1 + 2**-13)


@oracle("accumulate")
def _(draw: Draw) -> Parts:
    g = draw_gradient(draw, *draw.shape())
    if draw.coin():
        return Parts({}, [g], [draw.exactly(g.float())])
    total = draw.stat(*g.shape, low=-5, high=5)
    return Parts({}, [g, total], [draw.exactly(total + g.float())])


class Parameter:
    """W, with an f32 copy if it has 16 bits, and its gradient."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.gradient = draw_gradient(draw, *draw.shape())
        full = draw.stat(*self.gradient.shape, low=-2, high=2)
        self.weight = full.to(draw.dtype)
        self.master = [] if draw.dtype == torch.float32 else [full]
        self.leaf = full.double().requires_grad_()
        self.leaf.grad = self.gradient.double()

    def parts(
        self, attrs: dict[str, Any], inputs: list[Tensor], kept: list[Tensor], new: list[Want],
        size: Tensor,
    ) -> Parts:  # fmt: skip
        """The optimizer has changed the leaf. What it keeps has become `new`."""
        value, size = self.leaf.detach(), size + self.leaf.detach().abs()
        results = [self.draw.near(value, size, 16), *new]
        results += [self.draw.stat_near(value, size, 16) for _ in self.master]
        updates = [self.weight, *kept, *self.master]
        return Parts(attrs, [self.gradient, *inputs], results, updates)


def draw_rates(draw: Draw) -> dict[str, Any]:
    return {"lr": draw.choice(0.001, 0.1), "weight_decay": draw.choice(0.0, 0.01, 0.3)}


def decayed(p: Parameter, rates: dict[str, Any]) -> Tensor:
    """The size of a gradient to which the decay of weights was added."""
    decay: float = rates["weight_decay"]
    return p.gradient.double().abs() + 2 * decay


@oracle("sgd")
def _(draw: Draw) -> Parts:
    p, rates = Parameter(draw), draw_rates(draw)
    torch.optim.SGD([p.leaf], **rates).step()
    return p.parts(rates, [], [], [], decayed(p, rates) * rates["lr"])


@oracle("momentum")
def _(draw: Draw) -> Parts:
    p, rates, momentum = Parameter(draw), draw_rates(draw), draw.choice(0.9, 0.5)
    buffer = draw.stat(*p.weight.shape)
    sgd = torch.optim.SGD([p.leaf], momentum=momentum, **rates)
    sgd.state[p.leaf]["momentum_buffer"] = buffer.double()
    sgd.step()
    size = decayed(p, rates) + buffer.double().abs()
    new = draw.stat_near(sgd.state[p.leaf]["momentum_buffer"], size, 4)
    attrs = {**rates, "momentum": momentum}
    return p.parts(attrs, [], [buffer], [new], size * rates["lr"])


def adam(draw: Draw, make: type[torch.optim.Adam]) -> Parts:
    """The first step, whose averages are 0 before it, or a later one."""
    p, rates, eps = Parameter(draw), draw_rates(draw), draw.choice(1e-8, 1e-3)
    betas = draw.choice((0.9, 0.999), (0.5, 0.95))
    step = draw.choice(1, draw.between(2, 2000))
    first = 0 if step == 1 else 1
    averages = [draw.stat(*p.weight.shape) * first, draw.stat(*p.weight.shape).square() * first]
    optimizer = make([p.leaf], betas=betas, eps=eps, **rates)
    state = optimizer.state[p.leaf]
    state["step"] = torch.tensor(step - 1.0)
    state["exp_avg"], state["exp_avg_sq"] = (v.double() for v in averages)
    optimizer.step()
    d, m = decayed(p, rates), averages[0].double().abs()
    new = [
        draw.stat_near(state["exp_avg"], m + d, 4),
        draw.stat_near(state["exp_avg_sq"], averages[1].double() + d * d, 8),
    ]
    deviation = (state["exp_avg_sq"] / (1 - betas[1] ** step)).sqrt() + eps
    size = rates["lr"] / (1 - betas[0] ** step) * (m + d) / deviation
    attrs = {**rates, "beta1": betas[0], "beta2": betas[1], "eps": eps}
    inputs = [torch.tensor([step], dtype=torch.int32)]
    return p.parts(attrs, inputs, averages, new, size)


@oracle("adam")
def _(draw: Draw) -> Parts:
    return adam(draw, torch.optim.Adam)


@oracle("adamw")
def _(draw: Draw) -> Parts:
    return adam(draw, torch.optim.AdamW)
