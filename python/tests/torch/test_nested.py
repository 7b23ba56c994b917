# SPDX-License-Identifier: MIT
"""Compiled regions inside of a step are planned like the rest of it."""

from __future__ import annotations

from typing import Any

import harness
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import remat_plan


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(16, 16)

    @torch.compiler.nested_compile_region
    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(self.linear(x).tanh(), 0.1).t().t()


class Outer(nn.Module):
    """A region in a region."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Block(), Block()

    @torch.compiler.nested_compile_region
    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x)).sin()


class Inner(nn.Module):
    """A compiled function inside, which Dynamo traces through."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(16, 16)
        self.compiled = torch.compile(lambda x: self.linear(x).tanh().sin(), backend="eager")

    def forward(self, x: Tensor) -> Tensor:
        return self.compiled(x)


def squares(model: nn.Module, x: Tensor) -> Tensor:
    return model(x).square().mean()


@pytest.mark.parametrize("times", [harness.fixed_costs, "measure"], ids=["fixed", "measured"])
@pytest.mark.parametrize("layer", [Block, Outer, Inner])
def test_nested_regions_are_planned(layer: Any, times: Any) -> None:
    x = torch.randn(256, 16)
    history = []
    for eager in (True, False):
        torch.manual_seed(0)
        model: Any = nn.Sequential(*(layer() for _ in range(4)))
        step = model
        if not eager:
            step = remat_plan.compile(
                model, squares, activation_budget="85%", times=times, **harness.WORK
            )
        torch.manual_seed(1)
        loss = squares(model, x) if eager else step(x)
        loss.backward()
        history.append([loss.detach(), *(p.grad for p in model.parameters())])
    assert all(torch.equal(a, b) for a, b in zip(*history, strict=True))
    kinds = {op.kind for op in step.planned[0].graph.ops}
    assert "aten.tanh.default" in kinds
    assert not any("invoke_subgraph" in kind for kind in kinds)
    assert step.report().recomputed
