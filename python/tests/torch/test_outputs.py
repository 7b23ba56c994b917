# SPDX-License-Identifier: MIT
"""A step returns what the function returns, and gradients are None where they are None in
eager mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import harness
import pytest
import torch
from torch import Tensor, nn

import remat_plan


class Heads(nn.Module):
    """Two heads on a trunk, a layer that nothing uses and one that is frozen."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.trunk = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Tanh())
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
        self.idle = nn.Linear(8, 8)
        self.frozen = nn.Linear(8, 8).requires_grad_(False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = self.frozen(self.trunk(x))
        return self.a(h).square().mean(), self.b(h)


def planned(model: nn.Module, loss: Callable[..., Any]) -> Any:
    return remat_plan.compile(
        model, loss, budget="100%", times=harness.fixed_costs, **harness.WORK
    )


def eager(model: nn.Module, loss: Callable[..., Any]) -> Any:
    return lambda *args: loss(model, *args)


Use = Callable[[Any], Tensor]
USES: dict[str, Use] = {
    "the first": lambda got: got[0],
    "the second": lambda got: got[1].square().sum(),
    "both": lambda got: got[0] + got[1].sum(),
    "a view of the second": lambda got: got[1][:2].sum(),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_an_optimizer_leaves_heads_alone_that_the_loss_does_not_use(use: Use) -> None:
    trained = []
    for make in (eager, planned):
        model = Heads()
        optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.1)
        step = make(model, lambda m, x: m(x))
        for i in range(3):
            optimizer.zero_grad()
            use(step(torch.full((4, 8), float(i)) + torch.eye(4, 8))).backward()
            optimizer.step()
        trained.append([(n, p.grad, p) for n, p in model.named_parameters()])
    for (name, gradient, p), (_, other, q) in zip(*trained, strict=True):
        assert (gradient is None) == (other is None), name
        assert gradient is None or torch.allclose(gradient, other, atol=1e-6), name
        assert torch.allclose(p, q, atol=1e-6), name


def test_each_loss_of_several_goes_back_by_itself() -> None:
    gradients = []
    for make in (eager, planned):
        model = Heads()
        first, second = make(model, lambda m, x: m(x))(torch.eye(8))
        first.backward(retain_graph=True)
        seen = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
        second.sum().backward()
        gradients.append([*seen, *(p.grad for p in model.parameters())])
    for one, other in zip(*gradients, strict=True):
        assert (one is None) == (other is None)
        assert one is None or torch.allclose(one, other, atol=1e-6)


def test_outputs_without_gradients_and_inputs_are_returned_as_they_are() -> None:
    def loss(m: Heads, x: Tensor) -> Any:
        first, second = m(x)
        return first, second.detach(), x, x.view(-1), m.a.weight, second.argmax(1), None, 3

    model, x = Heads(), torch.randn(4, 8)
    wanted, got = loss(model, x), planned(model, loss)(x)
    for one, other in zip(wanted, got, strict=True):
        if isinstance(one, Tensor):
            assert one.requires_grad == other.requires_grad
            assert one.dtype == other.dtype
        else:
            assert one == other
    assert got[2] is x
    assert got[3].data_ptr() == x.data_ptr()
    assert got[4] is model.a.weight
    (got[0] + got[4].sum()).backward()
    assert model.b.weight.grad is None


def test_a_loss_that_requires_no_gradient_says_so_as_pytorch_does() -> None:
    step = planned(Heads(), lambda m, x: m(x)[0].detach())
    with pytest.raises(RuntimeError, match="does not require grad"):
        step(torch.eye(8)).backward()
