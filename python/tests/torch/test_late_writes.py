# SPDX-License-Identifier: MIT
"""Buffers that a custom backward pass writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import harness
import pytest
import torch
from torch import Tensor, nn

import remat_plan
from remat_plan.torch import Refused, partitioner


class Note(torch.autograd.Function):
    """Notes the largest gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, amax: Tensor) -> Tensor:
        ctx.amax = amax
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        ctx.amax.copy_(g.abs().amax())
        return g, None


class Follow(torch.autograd.Function):
    """Reads what it noted before, and scales by it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, amax: Tensor) -> Tensor:
        ctx.amax = amax
        return x * 1

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        ctx.amax.mul_(0.5).add_(g.abs().amax())
        return g * ctx.amax, None


class Scaled(nn.Module):
    """The forward pass reads the buffers too, and may do so again."""

    def __init__(self, note: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))
        self.note = note
        for i in range(4):
            self.register_buffer(f"amax{i}", torch.ones(()))

    def forward(self, x: Tensor) -> Tensor:
        for i, layer in enumerate(self.layers):
            amax = getattr(self, f"amax{i}")
            x = self.note.apply(layer(x) + amax, amax).tanh()
        return x.square().mean()


def planned(model: nn.Module, loss: Any, storage: str = "allocator") -> Any:
    return remat_plan.compile(
        model,
        loss,
        activation_budget="60%",
        times=harness.fixed_costs,
        storage=storage,
        **harness.WORK,
    )


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("storage", ["allocator", "arena"])
@pytest.mark.parametrize("note", [Note, Follow])
def test_buffers_are_written_at_the_end_of_the_backward_pass(
    note: Any, storage: str, interleaved: bool
) -> None:
    x = torch.randn(256, 16)
    history = []
    for eager in (True, False):
        model = Scaled(note)
        step: Any = model if eager else planned(model, lambda m, x: m(x), storage)
        seen: list[Tensor] = []
        for _ in range(2):
            model.zero_grad()
            first = step(x)
            second = step(x * 2) if interleaved else None
            first.backward()
            second = step(x * 2) if second is None else second
            second.backward()
            seen += [first.detach(), second.detach(), *(b.clone() for b in model.buffers())]
            seen += [p.grad.clone() for p in model.parameters()]
        history.append(seen)
    assert all(torch.equal(a, b) for a, b in zip(*history, strict=True))
    assert step.report().recomputed


def test_a_buffer_that_both_passes_write_is_refused() -> None:
    def loss(m: Scaled, x: Tensor) -> Tensor:
        y = m(x)
        m.amax0.mul_(0.5)
        return y

    model, x = Scaled(Note), torch.randn(256, 16)
    line = rf"write to the same buffer at .*{Path(__file__).name}:\d+; use a buffer for each"
    with pytest.raises(Refused, match=line):
        planned(model, loss)(x)


def test_partitions_for_inductor_have_the_writes_too() -> None:
    from test_inductor import unfused

    x = torch.randn(256, 16)
    results = []
    for eager in (True, False):
        model: Any = Scaled(Note)
        planner: partitioner.Partitioner = remat_plan.torch.inductor(
            budget="100%", times=harness.fixed_costs, **harness.WORK
        )
        step = model if eager else unfused(model, lambda m, x: m(x), planner)
        step(x).backward()
        results.append([*model.buffers(), *(p.grad for p in model.parameters())])
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))
