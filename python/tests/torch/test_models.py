# SPDX-License-Identifier: MIT
"""Real models train bit for bit the same at 70, 50 and 40% of the activation memory."""

from __future__ import annotations

import harness
import models
import pytest

import remat_plan
from remat_plan.torch.api import capture_step
from remat_plan.torch.describe import describe


@pytest.mark.parametrize("device", harness.DEVICES)
@pytest.mark.parametrize("name", models.ALL)
def test_training_is_equal_and_fits(name: str, device: str) -> None:
    model, loss, args = models.make(name, device)
    wanted = harness.train(model, harness.plain_step(model, loss), args)
    graph = describe(capture_step(model, loss, args), name)
    room = harness.room_for_kernels(model, loss, args)
    for share in (0.7, 0.5, 0.4):
        budget = harness.share_of_activations(graph, share)
        step = remat_plan.compile(
            model,
            loss,
            budget=budget,
            times=harness.fixed_costs if device == "cpu" else harness.with_link,
            **(harness.WORK | {"time_limit": 2}),
        )
        got = harness.train(model, step, args)
        report = step.report()
        print(f"{name} {share}: {len(report.recomputed)} kinds again\n{report}")
        assert harness.differences(wanted, got) == []
        assert report.recomputed or report.swapped
        assert report.planned_peak_bytes <= budget
        assert report.requested_peak_bytes is not None
        assert report.requested_peak_bytes <= report.planned_peak_bytes * 1.01 + room
