# SPDX-License-Identifier: MIT
from __future__ import annotations

from pathlib import Path

import harness
import models
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import remat_plan
from remat_plan import Graph
from remat_plan.torch import costs, describe
from remat_plan.torch.api import capture_step


def test_export_writes_a_graph_without_times(tmp_path: Path) -> None:
    model, loss, args = models.make("odd")
    before = {k: v.clone() for k, v in model.state_dict().items()}
    graph = remat_plan.export(model, loss, args, tmp_path / "g.json")
    assert Graph.load(tmp_path / "g.json") == graph
    assert graph.time_source == "none"
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())


def test_matrix_products_have_their_flops() -> None:
    model = torch.nn.Linear(8, 16, bias=False)
    captured = capture_step(model, lambda m, x: m(x).sum(), (torch.randn(4, 8),))
    graph = describe.describe(captured, "linear")
    products = [op for op in graph.ops if op.kind == "aten.mm.default"]
    assert products
    assert {op.attrs["flops"] for op in products} == {2 * 4 * 8 * 16}


def test_the_graph_says_what_may_run_when() -> None:
    model, loss, args = models.make("odd")
    captured = capture_step(model, loss, args)
    graph = describe.describe(captured, "odd")
    assert graph.order == "free"
    ordered = {op.kind for op in graph.ops if op.ordered}
    assert ordered == {"remat_plan.draw_mask.default", "remat_plan.boundary"}
    anew = {op.kind for op in graph.ops if not op.rewrites}
    assert "aten.native_layer_norm.default" in anew
    assert "aten.addmm.default" not in anew
    (boundary,) = (op for op in graph.ops if op.kind == "remat_plan.boundary")
    held = [x for x, tensor in enumerate(graph.tensors) if tensor.held]
    assert held == sorted([*captured.returned, *boundary.outputs])
    assert all(graph.tensors[x].bytes == 4 for x in held)  # the loss, and its gradient


@pytest.mark.parametrize("device", harness.DEVICES)
def test_measuring_times_every_op_and_changes_nothing(device: str, tmp_path: Path) -> None:
    model, loss, args = models.make("odd", device)
    before = {k: v.clone() for k, v in model.state_dict().items()}
    state = torch.get_rng_state()
    graph = remat_plan.export(model, loss, args, tmp_path / "g.json", times="measure")
    name = "cpu" if device == "cpu" else torch.cuda.get_device_name()
    assert graph.time_source == f"imported:torch on {name}"
    assert (graph.device is None) == (device == "cpu")
    calls = [op for op in graph.ops if op.kind != "remat_plan.boundary"]
    assert all(op.time_ns > 0 for op in calls)
    assert torch.equal(state, torch.get_rng_state())
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())


def test_measured_times_are_kept_for_the_next_process(monkeypatch: pytest.MonkeyPatch) -> None:
    model = torch.nn.Linear(8, 16)
    args = (torch.randn(4, 8),)

    def timed() -> Graph:
        captured = capture_step(model, lambda m, x: m(x).sum(), args)
        graph = describe.describe(captured, "linear")
        return costs.add_costs(captured, graph, "measure")

    once = timed()
    monkeypatch.setattr(costs, "measure", None)
    assert timed() == once


def test_a_device_model_gives_times(tmp_path: Path) -> None:
    model, loss, args = models.make("bert")
    graph = remat_plan.export(model, loss, args, tmp_path / "g.json", times="v100-16g")
    assert graph.time_source == "analytic:v100-16g"
    assert graph.device is not None
    assert sum(op.time_ns for op in graph.ops) > 0


def test_a_device_model_knows_8_bits_and_complex_numbers(tmp_path: Path) -> None:
    def loss(m: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
        h = m(x.to(torch.float8_e4m3fn).to(torch.bfloat16)).double()
        return torch.fft.fft(h.float()).abs().square().sum() + h.sum()

    model = torch.nn.Linear(8, 8, dtype=torch.bfloat16)
    x = torch.randn(4, 8, dtype=torch.bfloat16)
    graph = remat_plan.export(model, loss, (x,), tmp_path / "g.json", times="a100-40g")
    assert {"f8e4m3fn", "c64", "f64"} <= {tensor.dtype for tensor in graph.tensors}
    assert all(op.time_ns > 0 for op in graph.ops if op.kind != "remat_plan.boundary")


def test_a_model_that_takes_no_memory_has_the_same_graph(tmp_path: Path) -> None:
    def graph(device: str) -> Graph:
        with torch.device(device):
            model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh())
            x = torch.empty(4, 8)
        return remat_plan.export(
            model, lambda m, x: m(x).sum(), (x,), tmp_path / "g.json", times="v100-16g"
        )

    assert graph("meta") == graph("cpu")


def test_the_backend_takes_the_same_options() -> None:
    model, loss, args = models.make("odd")
    wanted = harness.train(model, harness.plain_step(model, loss), args)
    options = {"budget": "80%", "times": harness.fixed_costs} | harness.WORK
    step = torch.compile(lambda *a: loss(model, *a), backend="remat_plan", options=options)
    assert harness.differences(wanted, harness.train(model, step, args)) == []


def test_the_report_says_what_was_planned_and_measured() -> None:
    model, loss, args = models.make("odd")
    step = remat_plan.compile(
        model, loss, budget="80%", times=harness.fixed_costs, **harness.WORK
    )
    for _ in range(2):
        step(*args).backward()
    report = step.report()
    assert report.planned_peak_bytes < report.keep_all_peak_bytes
    assert report.planned_time_ns > report.keep_all_time_ns
    assert report.measured_time_ns is not None
    text = str(report)
    for word in ("peak", "planned", "measured", "again", "capture"):
        assert word in text
    assert "recompute" in report.picture()


def test_a_share_of_the_activations_is_a_budget() -> None:
    model, loss, args = models.make("bert")
    step = remat_plan.compile(
        model, loss, activation_budget="60%", times=harness.fixed_costs, **harness.WORK
    )
    step(*args).backward()
    report = step.report()
    wanted = harness.share_of_activations(step.planned[0].graph, 0.6)
    assert step.planned[0].plan.budget_bytes == pytest.approx(wanted, abs=1)
    assert report.planned_peak_bytes <= wanted


def test_storages_larger_than_traced_are_measured() -> None:
    """The kernel of `fold` leaves its output in a storage as large as its input."""

    def loss(model: nn.Module, x: Tensor) -> Tensor:
        for _ in range(2):
            x = torch.tanh(model(x))
            x = F.fold(F.unfold(x, 3, padding=1), (8, 8), 3, padding=1)
        return x.square().mean()

    model, x = nn.Conv2d(2, 2, 1), torch.randn(2, 2, 8, 8)
    step = remat_plan.compile(model, loss, budget="100%", **harness.WORK)
    step(x).backward()
    report = step.report()
    assert report.measured_peak_bytes is not None
    assert report.measured_peak_bytes <= report.planned_peak_bytes
    folded = next(t for t in step.planned[0].graph.tensors if t.name == "col2im")
    assert folded.bytes == 9 * x.numel() * x.itemsize
