# SPDX-License-Identifier: MIT
from __future__ import annotations

from pathlib import Path

import models

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
