# SPDX-License-Identifier: MIT
from __future__ import annotations

from pathlib import Path
from typing import Any

import models
import pytest
import torch

import remat_plan


class Recorder:
    """Stands in for torch.cuda.nvtx."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.steps: list[list[str]] = []

    def range_push(self, name: str) -> None:
        self.open.append(name)
        self.steps[-1].append(name)

    def range_pop(self) -> None:
        self.open.pop()

    def range_start(self, name: str) -> int:
        assert name == "rp:step"
        self.steps.append([])
        return len(self.steps)

    def range_end(self, handle: int) -> None:
        assert handle == len(self.steps)
        assert not self.open


def test_each_op_of_the_graph_has_one_range_in_each_step(tmp_path: Path) -> None:
    model, loss, args = models.make("odd")
    graph = remat_plan.export(model, loss, args, tmp_path / "g.json")
    ranges = Recorder()
    remat_plan.nvtx(model, loss, args, steps=3, ranges=ranges)
    assert len(ranges.steps) == 3
    for names in ranges.steps:
        assert sorted(names) == sorted(f"rp:{op.name}" for op in graph.ops)


def test_a_loss_may_take_keywords_only(tmp_path: Path) -> None:
    def loss(model: torch.nn.Module, *, inputs: torch.Tensor, labels: torch.Tensor) -> Any:
        return torch.nn.functional.mse_loss(model(inputs), labels)

    model, x = torch.nn.Linear(8, 8), torch.randn(4, 8)
    kwargs = {"inputs": x, "labels": x}
    graph = remat_plan.export(model, loss, (), tmp_path / "g.json", kwargs=kwargs)
    ranges = Recorder()
    remat_plan.nvtx(model, loss, [], kwargs=kwargs, steps=1, ranges=ranges)
    assert sorted(ranges.steps[0]) == sorted(f"rp:{op.name}" for op in graph.ops)


def test_arguments_with_names_are_not_the_list_of_arguments(tmp_path: Path) -> None:
    model, x = torch.nn.Linear(8, 8), torch.randn(4, 8)
    with pytest.raises(TypeError, match=r"not a dict; give .* as kwargs="):
        remat_plan.export(model, lambda m, x: m(x).sum(), {"x": x}, tmp_path / "g.json")
    with pytest.raises(TypeError, match="not a dict"):
        remat_plan.nvtx(model, lambda m, x: m(x).sum(), {"x": x}, ranges=Recorder())
    assert not list(tmp_path.glob("*.json"))
