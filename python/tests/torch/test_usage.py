# SPDX-License-Identifier: MIT
"""What users do around a step gives the same numbers as without a plan."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import harness
import pytest
import torch
from torch import Tensor, nn

import remat_plan
from remat_plan.torch import Refused
from remat_plan.torch.api import Step

Run = Callable[..., Any]


def net() -> nn.Module:
    torch.manual_seed(0)
    layers = [
        layer
        for _ in range(3)
        for layer in (nn.Linear(32, 32), nn.BatchNorm1d(32), nn.Tanh(), nn.Dropout(0.1))
    ]
    return nn.Sequential(*layers).train()


def batch(n: int = 64) -> Tensor:
    return torch.randn(n, 32, generator=torch.Generator().manual_seed(1))


def squares(model: nn.Module, x: Tensor) -> Tensor:
    return model(x).square().mean()


def planned(model: nn.Module, loss: Run = squares) -> Step:
    return remat_plan.compile(
        model, loss, activation_budget="60%", times=harness.fixed_costs, **harness.WORK
    )


def state(model: nn.Module) -> list[Tensor]:
    gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    return [*gradients, *(b.clone() for b in model.buffers())]


def assert_same(use: Callable[[nn.Module, Run], list[Any]], loss: Run = squares) -> Step:
    """`use` a model with the plain step and with a planned one."""
    results = []
    for make in (harness.plain_step, planned):
        model = net()
        step = make(model, loss)
        torch.manual_seed(5)
        results.append(use(model, step))
    assert len(results[0]) == len(results[1])
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other) if isinstance(one, Tensor) else one == other
    assert isinstance(step, Step)
    assert all(
        p.plan.claims["time_ns"] > p.plan.claims["baseline_time_ns"] for p in step.planned
    )
    return step


def test_gradients_add_up_are_clipped_and_scaled() -> None:
    def use(model: nn.Module, step: Run) -> list[Any]:
        seen = []
        optimizer = torch.optim.AdamW(model.parameters())
        scaler = torch.amp.GradScaler("cpu")
        for parameter in model.parameters():
            parameter.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.sum()))
        for _ in range(2):
            optimizer.zero_grad(set_to_none=False)
            scaler.scale(step(batch())).backward()
            scaler.scale(step(batch(48)) + step(batch(48))).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            scaler.step(optimizer)
            scaler.update()
        return seen + state(model) + [p.detach().clone() for p in model.parameters()]

    assert len(assert_same(use).planned) == 2


def test_a_loss_may_come_with_other_outputs_and_take_keywords() -> None:
    def loss(model: nn.Module, batch: dict[str, Tensor], *, weight: Tensor) -> dict[str, Any]:
        hidden = model[:8](batch["x"])
        return {"loss": model[8:](hidden).square().mean() * weight, "h": hidden, "n": 3}

    def use(model: nn.Module, step: Run) -> list[Any]:
        out = []
        for i in range(3):
            got = step({"x": batch()}, weight=torch.tensor(i / 2))
            (got["loss"] + got["h"].abs().mean()).backward()
            out += [got["loss"].detach(), got["h"].detach().clone(), got["n"]]
        return out + state(model)

    assert len(assert_same(use, loss).planned) == 1


def test_training_and_evaluation_take_turns() -> None:
    def use(model: nn.Module, step: Run) -> list[Any]:
        out = []
        for _ in range(2):
            with torch.no_grad():
                out.append(step(batch()))
            step(batch()).backward()
            with torch.inference_mode():
                out.append(step(batch(16)).clone())
        model.load_state_dict({k: v / 2 for k, v in model.state_dict().items()})
        model[0].requires_grad_(False)
        step(batch()).backward()
        return out + state(model)

    assert_same(use)


def test_checkpointed_regions_update_statistics_once() -> None:
    """PyTorch's own partitions fail here, because a re-run reads new statistics."""
    from torch.utils.checkpoint import checkpoint

    class Checkpointed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = net()

        def forward(self, x: Tensor) -> Tensor:
            for i in range(0, len(self.blocks), 4):
                x = checkpoint(self.blocks[i : i + 4], x, use_reentrant=False)
            return x

    results = []
    for model in (net(), Checkpointed()):
        torch.manual_seed(5)
        planned(model)(batch()).backward()
        results.append(state(model))
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(32, 32) for _ in range(4)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            y = layer(x)
            x = torch.cond(y.sum() > 0, torch.sin, torch.cos, (y,)).tanh()
        return x


def test_conditions_run_again() -> None:
    model = Branches()
    args = (torch.randn(256, 32),)
    wanted = harness.train(model, harness.plain_step(model, squares), args)
    step = planned(model)
    assert harness.differences(wanted, harness.train(model, step, args)) == []
    assert "cond" in step.report().recomputed


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss", "soft_margin_loss"])
def test_a_loss_takes_the_memory_that_it_shows(name: str, reduction: str) -> None:
    model = nn.Linear(32, 32)

    def loss(model: nn.Module, x: Tensor) -> Tensor:
        function = getattr(nn.functional, name)
        return function(model(x), x.sign(), reduction=reduction)

    step = remat_plan.compile(model, loss, budget="100%", times=harness.fixed_costs)
    got = step(batch())
    assert got.untyped_storage().nbytes() == 4
    assert torch.equal(got, loss(model, batch()))
    got.backward()
    report = step.report()
    assert report.measured_peak_bytes == pytest.approx(report.planned_peak_bytes, rel=0.01)


def test_peaks_are_measured_in_the_first_step_with_both_passes() -> None:
    step = planned(net())
    step(batch())
    assert step.report().measured_peak_bytes is None
    first, second = step(batch()), step(batch())
    second.backward()
    first.backward()
    report = step.report()
    assert report.measured_time_ns is None
    assert report.measured_peak_bytes is not None
    assert report.measured_peak_bytes <= report.planned_peak_bytes * 1.01


def test_the_report_is_of_the_plan_that_ran_most() -> None:
    step = planned(net())
    for n in (64, 64, 48):
        step(batch(n)).backward()
    assert step.report().planned is step.planned[0]
    assert "KiB" in str(step.report())


def test_a_step_is_not_copied() -> None:
    with pytest.raises(Refused, match="compile the copy of the model"):
        copy.deepcopy(planned(net()))
