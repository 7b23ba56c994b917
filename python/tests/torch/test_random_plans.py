# SPDX-License-Identifier: MIT
"""Whatever a valid plan says, training is bit for bit the same."""

from __future__ import annotations

from typing import Any

import harness
import models
import pytest
from random_plans import random_plan

import remat_plan
from remat_plan import Graph, Plan, check
from remat_plan.plan import Run, SwapIn
from remat_plan.torch import planner


@pytest.mark.parametrize("device", harness.DEVICES)
@pytest.mark.parametrize("name", ["odd", "unet", "bert_lora"])
def test_random_plans_train_the_same(
    name: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, loss, args = models.make(name, device)
    wanted = harness.train(model, harness.plain_step(model, loss), args, steps=2)
    for seed in range(3):

        def made_up(captured: Any, graph: Graph, _: Any, seed: int = seed) -> Plan:
            plan = random_plan(captured, graph, seed)
            check(graph, plan)
            return plan

        monkeypatch.setattr(planner, "find_plan", made_up)
        step = remat_plan.compile(model, loss, budget="100%", times=harness.fixed_costs)
        got = harness.train(model, step, args, steps=2)
        assert harness.differences(wanted, got) == []
        planned = step.planned[0]
        order = [s.op for s in planned.plan.steps if isinstance(s, Run)]
        assert order != sorted(order)
        assert len(order) > len(planned.graph.ops)
        assert any(isinstance(s, SwapIn) for s in planned.plan.steps)
