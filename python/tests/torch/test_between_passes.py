# SPDX-License-Identifier: MIT
"""What the caller changes between the passes is not computed from unseen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import harness
import pytest
import torch
from torch import Tensor, nn

import remat_plan
from remat_plan.torch.api import Step


class Net(nn.Module):
    """The gradients need no bias and no shift, but to make activations again needs them."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(nn.Linear(32, 32) for _ in range(6))
        self.register_buffer("shift", torch.full((32,), 0.1))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = torch.tanh(layer(x) + self.shift)
        return x


def squares(model: nn.Module, x: Tensor) -> Tensor:
    return model(x).square().mean()


def planned(model: nn.Module, loss: Any = squares, share: str = "50%") -> Step:
    options = harness.WORK | {"activation_budget": share}
    return remat_plan.compile(model, loss, times=harness.fixed_costs, **options)


def in_place(net: Net) -> None:
    with torch.no_grad():
        for layer in net.layers:
            layer.bias.add_(1)


def buffer(net: Net) -> None:
    net.shift.mul_(2)


def optimizer_step(net: Net) -> None:
    for p in net.parameters():
        p.grad = torch.ones_like(p)
    torch.optim.SGD(net.parameters(), lr=0.1).step()


def other_data(net: Net) -> None:
    for layer in net.layers:
        layer.bias.data = torch.zeros(32)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (in_place, "modified by an inplace operation"),
        (buffer, "modified by an inplace operation"),
        (optimizer_step, "modified by an inplace operation"),
        (other_data, r"a parameter of shape \[32\] got other data .*between"),
    ],
)
def test_a_change_that_is_computed_from_again_is_an_error(
    change: Callable[[Net], None], words: str
) -> None:
    net = Net()
    step = planned(net)
    loss = step(torch.randn(64, 32))
    assert step.report().recomputed["aten.addmm.default"] > 0
    change(net)
    with pytest.raises(RuntimeError, match=words):
        loss.backward()


class Held(torch.autograd.Function):
    """Keeps its weight as an attribute, where autograd does not look for changes."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.weight = weight
        return x * weight

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        return g * ctx.weight, None


class Holding(Net):
    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = torch.tanh(layer(Held.apply(x, self.shift)))
        return x


def test_what_a_function_keeps_unchecked_is_checked_if_it_is_computed_from_again() -> None:
    net = Holding()
    step = planned(net)
    loss = step(torch.randn(64, 32))
    assert "aten.mul.Tensor" in step.report().recomputed
    buffer(net)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_an_optimizer_in_the_backward_pass_changes_nothing_that_is_still_read() -> None:
    def train(net: nn.Module, step: Any) -> list[Tensor]:
        for p in net.parameters():
            p.register_post_accumulate_grad_hook(update)
        for _ in range(3):
            step(x).backward()
        return [p.detach().clone() for p in net.parameters()]

    def update(p: Tensor) -> None:
        with torch.no_grad():
            p.sub_(p.grad, alpha=0.1)
        p.grad = None

    x = torch.randn(64, 32)
    nets = [Net(), Net()]
    wanted = train(nets[0], harness.plain_step(nets[0], squares))
    step = planned(nets[1])
    got = train(nets[1], step)
    assert all(torch.equal(a, b) for a, b in zip(wanted, got, strict=True))
    assert step.report().recomputed


def test_saved_tensors_may_come_back_as_copies() -> None:
    net, x = Net(), torch.randn(64, 32)
    gradients = []
    for step in (harness.plain_step(net, squares), planned(net)):
        net.zero_grad()
        with torch.autograd.graph.saved_tensors_hooks(torch.clone, lambda t: t):
            step(x).backward()
        gradients.append([p.grad for p in net.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))
