# SPDX-License-Identifier: MIT
"""PyTorch's partitioner saves what the plan keeps, with Inductor and without it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import harness
import models
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._functorch.partitioners import default_partition

import remat_plan
from remat_plan import Plan
from remat_plan.plan import Free, Run, Step, SwapIn, SwapOut
from remat_plan.torch import Refused, partitioner
from remat_plan.torch.api import capture_step, one_line_errors
from remat_plan.torch.captured import Captured
from remat_plan.torch.crossing import crossing
from remat_plan.torch.describe import describe
from remat_plan.torch.partitioner import Partitioner, saved_by_modules, saved_by_plan
from remat_plan.torch.planner import Planned, as_boxed, boxed, compile_with
from remat_plan.torch.ranges import keep_all_plan


def plan_at(share: float, model: nn.Module, loss: Any, args: Any) -> Partitioner:
    graph = describe(capture_step(model, loss, args), "step")
    budget = harness.share_of_activations(graph, share)
    return remat_plan.torch.inductor(budget=budget, times=harness.fixed_costs, **harness.WORK)


def unfused(model: nn.Module, loss: Any, planner: Partitioner) -> Any:
    """The step with this partitioner, its two graphs run op by op."""

    def compile_pass(module: Any, _: Any) -> Any:
        return as_boxed(boxed(module))

    backend = compile_with(planner, compile_pass, compile_pass)
    step = torch.compile(
        lambda *a: loss(model, *a), backend=backend, fullgraph=True, dynamic=False
    )

    def run(*args: Tensor) -> Tensor:
        with one_line_errors():
            return step(*args)

    return run


def assert_saves_as_planned(planned: Planned) -> None:
    """The same tensors, and fewer bytes than without recomputation."""
    assert saved_by_modules(planned) == saved_by_plan(planned)
    storages = planned.captured.storages
    everything = crossing(planned.captured, keep_all_plan(planned.captured)).saved
    saved = crossing(planned.captured, planned.plan).saved
    assert sum(storages[x].bytes for x in saved) < sum(storages[x].bytes for x in everything)


@pytest.mark.parametrize("name", models.ALL)
def test_the_partitioner_saves_what_the_plan_keeps(name: str) -> None:
    model, loss, args = models.make(name)
    wanted = harness.train(model, harness.plain_step(model, loss), args, steps=2)
    planner = plan_at(0.8, model, loss, args)
    got = harness.train(model, unfused(model, loss, planner), args, steps=2)
    assert harness.differences(wanted, got) == []
    (planned,) = planner.planned
    assert_saves_as_planned(planned)
    assert planner.report().recomputed


class Block(nn.Module):
    """Dropout draws from seeds, and batch norm overwrites its statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(64, 64), nn.BatchNorm1d(64)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x + F.dropout(F.gelu(self.linear(x)), 0.2))


def squares(model: nn.Module, x: Tensor) -> Tensor:
    return model(x).square().mean()


@pytest.mark.skipif(shutil.which("g++") is None, reason="Inductor needs g++ on the CPU")
def test_inductor_saves_what_the_plan_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fused code may round differently where it is fused differently."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    monkeypatch.setattr(torch._inductor.config.cpp, "simdlen", 1)  # compiles sooner
    torch.manual_seed(0)
    model, args = nn.Sequential(Block(), Block(), Block()), (torch.randn(128, 64),)

    def train(options: dict[str, Any] | None) -> list[dict[str, Tensor]]:
        torch._dynamo.reset()
        step = torch.compile(lambda x: squares(model, x), options=options, fullgraph=True)
        return harness.train(model, step, args, steps=2)

    planner = plan_at(0.8, model, squares, args)
    wanted, got = train(None), train(planner.options)
    for one, other in zip(wanted, got, strict=True):
        for key in one:
            torch.testing.assert_close(one[key], other[key])
    (planned,) = planner.planned
    assert_saves_as_planned(planned)
    assert planner.report().recomputed


def test_other_choices_of_the_partitioner_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def save_all(joint: Any, inputs: Any, **facts: Any) -> Any:
        for node in joint.graph.nodes:
            node.meta.pop(partitioner.POLICY, None)
        return default_partition(joint, inputs, **facts)

    monkeypatch.setattr(partitioner, "min_cut_rematerialization_partition", save_all)
    model, args = nn.Sequential(Block(), Block(), Block()), (torch.randn(128, 64),)
    planner = plan_at(0.8, model, squares, args)
    with pytest.warns(UserWarning, match="does not save what the plan keeps: also .*add"):
        unfused(model, squares, planner)(*args)


def test_nothing_is_reported_before_it_is_planned() -> None:
    with pytest.raises(Refused, match="nothing is planned yet"):
        remat_plan.torch.inductor(budget="12GiB").report()


# ---- what crosses the boundary ----


def chain() -> Captured:
    model = nn.Sequential(*(m for _ in range(2) for m in (nn.Linear(32, 32), nn.Tanh())))
    return capture_step(model, squares, (torch.randn(64, 32),))


def names_saved(captured: Captured, extra: dict[int, list[Step]]) -> set[str]:
    """What crosses if every op runs in order, with more steps after some of them."""
    steps: list[Step] = []
    for i in range(len(captured.ops)):
        steps += [Run(i), *extra.get(i, [])]
    plan = Plan("", 0, False, 0, 0, steps)
    return {captured.storages[x].name for x in crossing(captured, plan).saved}


def test_what_is_read_later_crosses() -> None:
    assert names_saved(chain(), {}) == {"tanh", "tanh_1"}


def test_what_is_made_again_does_not_cross() -> None:
    captured = chain()
    names = [op.name for op in captured.ops]
    i = names.index("tanh")
    (x,) = captured.ops[i].makes
    again: dict[int, list[Step]] = {captured.boundary: [Free(x), Run(i)]}
    assert names_saved(captured, again) == {"addmm", "tanh_1"}


def test_what_waits_on_the_host_crosses() -> None:
    captured = chain()
    i = [op.name for op in captured.ops].index("tanh")
    (x,) = captured.ops[i].makes
    moved: dict[int, list[Step]] = {
        captured.boundary - 1: [SwapOut(x), Free(x)],
        captured.boundary: [SwapIn(x)],
    }
    assert names_saved(captured, moved) == {"tanh", "tanh_1"}
