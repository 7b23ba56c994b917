# SPDX-License-Identifier: MIT
"""The user's settings of PyTorch change no results, or are refused by name."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from typing import Any

import harness
import pytest
import torch
import torch.nn.functional as F
from test_inductor import plan_at, unfused
from torch import Tensor, nn
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.utils._python_dispatch import TorchDispatchMode

import remat_plan
from remat_plan.torch import Refused, partitioner, settings

AOT, DYNAMO = torch._functorch.config, torch._dynamo.config


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(32, 32)

    def forward(self, x: Tensor) -> Tensor:
        return x + F.dropout(torch.tanh(self.linear(x)), 0.3)


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(*(Block() for _ in range(4)))


def squares(model: nn.Module, x: Tensor) -> Tensor:
    return model(x).square().mean()


def test_every_setting_exists() -> None:
    tables = ((AOT, settings._AOT), (DYNAMO, settings._DYNAMO), (DYNAMO, settings._REFUSED))
    for config, table in tables:
        assert [name for name in table if not hasattr(config, name)] == []


def test_the_memory_budget_of_pytorch_is_not_the_planners() -> None:
    net, args = model(), (torch.randn(64, 32),)
    wanted = harness.train(net, harness.plain_step(net, squares), args, steps=2)
    planner = plan_at(0.8, net, squares, args)
    with AOT.patch(activation_memory_budget=0.0), warnings.catch_warnings():
        warnings.simplefilter("error")
        got = harness.train(net, unfused(net, squares, planner), args, steps=2)
    assert harness.differences(wanted, got) == []
    assert planner.report().recomputed


def test_nor_is_that_of_a_region() -> None:
    def loss(model: nn.Module, x: Tensor) -> Tensor:
        with torch.autograd.graph.region_activation_memory_budget(0.0):
            return squares(model, x)

    net, args = model(), (torch.randn(64, 32),)
    wanted = harness.train(net, harness.plain_step(net, loss), args, steps=2)
    planner = plan_at(0.8, net, loss, args)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = harness.train(net, unfused(net, loss, planner), args, steps=2)
    assert harness.differences(wanted, got) == []
    assert planner.report().recomputed


def test_a_partitioner_that_draws_again_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def saves_nothing(joint: Any, inputs: Any, **facts: Any) -> Any:
        for node in joint.graph.nodes:
            node.meta.pop(partitioner.POLICY, None)
        with AOT.patch(activation_memory_budget=0.0):
            return min_cut_rematerialization_partition(joint, inputs, **facts)

    monkeypatch.setattr(partitioner, "min_cut_rematerialization_partition", saves_nothing)
    net, args = model(), (torch.randn(64, 32),)
    planner = plan_at(0.8, net, squares, args)
    with pytest.raises(Refused, match=r"PyTorch's partitioner runs \w+ again"):
        unfused(net, squares, planner)(*args)


def test_other_settings_change_no_results() -> None:
    def others(table: dict[str, Any]) -> dict[str, Any]:
        return {name: not value for name, value in table.items() if isinstance(value, bool)}

    net, args = model(), (torch.randn(64, 32),)
    wanted = harness.train(net, harness.plain_step(net, squares), args, steps=2)
    options = harness.WORK | {"activation_budget": "60%"}
    step = remat_plan.compile(net, squares, times=harness.fixed_costs, **options)
    with AOT.patch(others(settings._AOT)), DYNAMO.patch(others(settings._DYNAMO)):
        got = harness.train(net, step, args, steps=2)
    assert harness.differences(wanted, got) == []
    assert step.report().recomputed


class Nothing(TorchDispatchMode):
    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    ("way", "named"),
    [
        (lambda: DYNAMO.patch(disable=True), "torch._dynamo.config.disable"),
        (
            lambda: DYNAMO.patch(compiled_autograd=True),
            "torch._dynamo.config.compiled_autograd",
        ),
        (lambda: DYNAMO.patch(debug_backend_override="0:eager"), "debug_backend_override"),
        (lambda: torch.compiler.set_stance("force_eager"), "set_stance"),
        (Nothing, "TorchDispatchMode"),
    ],
)
def test_what_would_run_without_the_plan_is_refused(way: Any, named: str) -> None:
    step = remat_plan.compile(model(), squares, budget="100%", times=harness.fixed_costs)
    context: AbstractContextManager[Any] = way()
    with context, pytest.raises(Refused, match=named):
        step(torch.randn(64, 32))
