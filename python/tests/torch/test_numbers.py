# SPDX-License-Identifier: MIT
"""Numbers and other values outside of tensors that change from step to step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness
import pytest
import torch
from torch import Tensor, nn

import remat_plan
from remat_plan.torch import Refused

Change = Callable[["Changing", Tensor, int], Tensor]
everywhere = 0


class Changing(nn.Module):
    """Does to itself what `change` says."""

    def __init__(self, change: Change) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
        self.calls, self.part, self.name = 0, 0.5, "x"
        self.counts = {"n": 0}
        self.log: list[int] = []
        self.change = change

    def forward(self, x: Tensor, step: int) -> Tensor:
        y = self.b(self.b(self.b(self.a(x).tanh()).tanh()).tanh()).tanh()
        return self.change(self, y, step).square().mean()

    def count(self) -> int:
        self.calls += 1
        return self.calls


def unused(m: Changing, y: Tensor, step: int) -> Tensor:
    m.count()
    return y


def factor(m: Changing, y: Tensor, step: int) -> Tensor:
    return y * m.count()


def warm_up(m: Changing, y: Tensor, step: int) -> Tensor:
    return y * min(1.0, m.count() / 10) * 0.9**m.calls


def schedule(m: Changing, y: Tensor, step: int) -> Tensor:
    return y.sin() if m.count() % 3 == 0 else y


def in_a_dict(m: Changing, y: Tensor, step: int) -> Tensor:
    m.counts["n"] += 1
    return y


def global_counter(m: Changing, y: Tensor, step: int) -> Tensor:
    global everywhere
    everywhere += 1
    return y


def argument(m: Changing, y: Tensor, step: int) -> Tensor:
    return y / (1 + step)


def new_tensor(m: Changing, y: Tensor, step: int) -> Tensor:
    return y + torch.full((8,), m.count()) * torch.tensor(step)


PLANS: dict[Change, int] = {
    unused: 2,
    factor: 2,
    warm_up: 2,
    schedule: 3,
    in_a_dict: 2,
    global_counter: 1,
    argument: 2,
    new_tensor: 2,
}


def planned(model: nn.Module) -> Any:
    options = harness.WORK | {"time_limit": 0.2}
    return remat_plan.compile(
        model,
        lambda m, x, step: m(x, step),
        activation_budget="85%",
        times=harness.fixed_costs,
        **options,
    )


@pytest.mark.parametrize("change", PLANS, ids=lambda f: f.__name__)
def test_a_number_that_changes_is_planned_as_an_input(change: Change) -> None:
    x = torch.randn(64, 8)
    history = []
    for eager in (True, False):
        model = Changing(change)
        step: Any = model if eager else planned(model)
        seen: list[Any] = []
        for i in range(10):
            model.zero_grad()
            loss = step(x, i)
            loss.backward()
            seen += [loss.detach(), *(p.grad.clone() for p in model.parameters())]
        history.append([*seen, model.calls, dict(model.counts)])
    for one, other in zip(*history, strict=True):
        assert torch.equal(one, other) if isinstance(one, Tensor) else one == other
    assert len(step.planned) == PLANS[change]
    assert step.report().recomputed


def test_a_number_that_a_size_depends_on_remains_a_constant() -> None:
    def narrower(m: Changing, y: Tensor, step: int) -> Tensor:
        return y[:, : 1 + m.count() % 2]

    x = torch.randn(64, 8)
    model, other = Changing(narrower), Changing(narrower)
    step = planned(model)
    for i in range(4):
        assert torch.equal(step(x, i), other(x, i))
    sizes = [p.captured.outputs[0].meta["val"].shape for p in step.planned]
    assert len(sizes) == 4


def float_counter(m: Changing, y: Tensor, step: int) -> Tensor:
    m.part += 0.25
    return y * m.part


def growing_list(m: Changing, y: Tensor, step: int) -> Tensor:
    m.log.append(step)
    return y


def text(m: Changing, y: Tensor, step: int) -> Tensor:
    m.name += "x"
    return y


WORDS: dict[Change, str] = {
    float_counter: r"model\.part == ",
    growing_list: r"model\.log",
    text: r"model\.name == 'x",
}


@pytest.mark.parametrize("change", WORDS, ids=lambda f: f.__name__)
def test_what_changes_too_often_is_named(change: Change) -> None:
    step, x = planned(Changing(change)), torch.randn(64, 8)
    with torch._dynamo.config.patch(recompile_limit=2):
        step(x, 0).backward()
        step(x, 0).backward()
        with pytest.raises(Refused, match=WORDS[change]) as error:
            step(x, 0)
    message = str(error.value)
    assert "\n" not in message
    assert f"({Path(__file__).name}:" in message
    assert "numbers that change in tensors" in message


def test_shapes_that_change_too_often_are_named() -> None:
    step = planned(Changing(unused))
    with torch._dynamo.config.patch(recompile_limit=1):
        step(torch.randn(64, 8), 0)
        with pytest.raises(Refused, match=r"args\[0\].* no longer holds; pad tensors"):
            step(torch.randn(48, 8), 0)


def test_a_step_with_a_counter_runs_in_ranges() -> None:
    class Nothing:
        def range_push(self, name: str) -> None: ...
        def range_pop(self) -> None: ...
        def range_start(self, name: str) -> int:
            return 0

        def range_end(self, handle: int) -> None: ...

    model = Changing(factor)
    remat_plan.nvtx(model, lambda m, x: m(x, 0), [torch.randn(4, 8)], ranges=Nothing())
    assert model.calls == 21


def test_times_are_measured_with_the_number_of_the_step() -> None:
    model, x = Changing(warm_up), torch.randn(64, 8)
    step = remat_plan.compile(
        model,
        lambda m, x: m(x, 0),
        budget="100%",
        times="measure",
        **(harness.WORK | {"time_limit": 0.2}),
    )
    other = Changing(warm_up)
    for _ in range(3):
        assert torch.equal(step(x), other(x, 0))
    assert len(step.planned) == 2
