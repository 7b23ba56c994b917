# SPDX-License-Identifier: MIT
"""With `storage="arena"` every tensor lies where the plan says, and results are the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import harness
import models
import pytest
import torch
from random_plans import random_plan
from torch import fx
from torch.utils import _pytree as pytree

import remat_plan
from remat_plan import Device, Graph, Plan
from remat_plan.plan import Free, Run, SwapIn
from remat_plan.torch import arena, planner, runtime
from remat_plan.torch.modules import RUN
from remat_plan.torch.planner import Planned, _Compilation, as_boxed


@pytest.mark.parametrize("device", harness.DEVICES)
@pytest.mark.parametrize("name", ["odd", "unet", "gpt2"])
def test_training_in_the_arena_is_equal_and_fits(name: str, device: str) -> None:
    model, loss, args = models.make(name, device)
    wanted = harness.train(model, harness.plain_step(model, loss), args)
    step = harness.in_arena(model, loss, args)
    assert harness.differences(wanted, harness.train(model, step, args)) == []
    report = step.report()
    assert report.recomputed
    assert report.written_in_arena > 0
    assert report.requested_peak_bytes is not None
    room = harness.room_for_kernels(model, loss, args)
    assert report.requested_peak_bytes <= report.planned_peak_bytes + room
    assert report.planned_peak_bytes <= step.planned[0].plan.budget_bytes
    assert "peak" in report.picture()


class Places(fx.Interpreter):
    """Runs a module, and checks that each op finds what it reads where the plan has it."""

    def __init__(self, module: fx.GraphModule, watch: Watch) -> None:
        super().__init__(module)
        self.watch = watch

    def run_node(self, node: fx.Node) -> Any:
        if RUN in node.meta:
            args, kwargs = self.fetch_args_kwargs_from_env(node)
            self.watch.run(node.meta[RUN][1], args, kwargs)
        value = super().run_node(node)
        if node.target is runtime.room and not self.watch.arena.numel():
            self.watch.arena = value
        return value


class Watch:
    """Where each tensor is, by the steps of the plan."""

    def __init__(self, planned: Planned) -> None:
        self.captured, self.graph = planned.captured, planned.graph
        self.steps = iter(planned.plan.steps)
        self.at: dict[int, int] = {}
        self.arena = torch.empty(0)
        self.inside = self.outside = 0

    def run(self, op: int, args: Any, kwargs: Any) -> None:
        self.forward_to(op)
        node = self.captured.ops[op].node
        assert node is not None
        given = args[len(args) - len(node.args) :]  # what writes to a place has more in front
        self.compare(node.args, given)
        self.compare(node.kwargs, {key: kwargs[key] for key in node.kwargs})
        self.write(self.run_step)

    def forward_to(self, op: int) -> None:
        """Take the steps up to this run of the op, which is the next that is not yet done."""
        for step in self.steps:
            if isinstance(step, SwapIn) and step.at is not None:
                self.at[step.tensor] = step.at
            elif isinstance(step, Run):
                if step.op == op:
                    self.run_step = step
                    return
                self.write(step)
        raise AssertionError(f"no run of op {op} is left in the plan")

    def write(self, step: Run) -> None:
        assert step.at is not None
        for x, at in zip(self.graph.ops[step.op].outputs, step.at, strict=True):
            if at is not None:
                self.at[x] = at

    def compare(self, wanted: Any, given: Any) -> None:
        nodes = pytree.tree_leaves(wanted)
        for node, value in zip(nodes, pytree.tree_leaves(given), strict=True):
            x = self.captured.storage_of.get(node) if isinstance(node, fx.Node) else None
            if x is None or not isinstance(value, torch.Tensor):
                continue
            storage, traced = value.untyped_storage(), node.meta["val"]
            address = storage.data_ptr() - self.arena.data_ptr()
            is_inside = 0 <= address < self.arena.numel()
            if self.graph.producers[x] is None or self.graph.tensors[x].bytes == 0:
                assert not is_inside, f"{node} is in the arena"
                self.outside += 1
            else:
                assert is_inside, f"{node} is not in the arena"
                assert address == self.at[x], f"{node} is elsewhere"
                assert storage.nbytes() == traced.untyped_storage().nbytes()
                assert value.storage_offset() == traced.storage_offset()
                self.inside += 1


@pytest.fixture
def watches(monkeypatch: pytest.MonkeyPatch) -> list[Watch]:
    """The steps of this test run under watches; the one of the latest step is the last."""
    seen: list[Watch] = []

    def watched(compilation: Any, module: fx.GraphModule, last: bool) -> Any:
        def run(given: list[Any]) -> Any:
            if not last:
                seen.append(Watch(compilation.planned))
            return Places(module, seen[-1]).run(*given)

        return as_boxed(run)

    monkeypatch.setattr(_Compilation, "compile_pass", watched)
    return seen


@pytest.mark.parametrize("name", ["odd", "unet", "gpt2"])
def test_every_op_reads_where_the_plan_says(name: str, watches: list[Watch]) -> None:
    model, loss, args = models.make(name)
    step = harness.in_arena(model, loss, args)
    for _ in range(2):
        step(*args).backward()
        assert watches[-1].inside > 100
        assert watches[-1].outside > 10


def test_a_wrong_address_is_seen(watches: list[Watch], monkeypatch: pytest.MonkeyPatch) -> None:
    place = arena.place

    def shifted(buffer: torch.Tensor, address: int, *layout: Any) -> torch.Tensor:
        return place(buffer, address or 512, *layout)

    monkeypatch.setattr(arena, "place", shifted)
    model, loss, args = models.make("unet")
    step = harness.in_arena(model, loss, args)
    with pytest.raises(AssertionError, match="is elsewhere"):
        step(*args).backward()


@pytest.mark.parametrize("device", harness.DEVICES)
def test_swaps_go_to_their_places(device: str, watches: list[Watch]) -> None:
    model, loss, args = models.make("gpt2", device)
    wanted = harness.train(model, harness.plain_step(model, loss), args)
    step = harness.in_arena(model, loss, args, 0.5, swap=True, times=harness.with_link)
    assert harness.differences(wanted, harness.train(model, step, args)) == []
    assert step.report().swapped


def addressed(graph: Graph, plan: Plan) -> Plan:
    """The plan with a place of its own for each tensor each time that it is allocated."""
    live: set[int] = set()
    steps: list[Any] = []
    end = 0

    def take(x: int) -> int:
        nonlocal end
        live.add(x)
        begin, end = end, end + -(-graph.tensors[x].bytes // 512) * 512
        return begin

    for step in plan.steps:
        if isinstance(step, Run):
            outputs = graph.ops[step.op].outputs
            steps.append(replace(step, at=[None if x in live else take(x) for x in outputs]))
        elif isinstance(step, SwapIn):
            steps.append(replace(step, at=take(step.tensor)))
        else:
            if isinstance(step, Free):
                live.remove(step.tensor)
            steps.append(step)
    return replace(plan, addressed=True, arena_bytes=end, steps=steps)


@pytest.mark.parametrize("name", ["odd", "unet"])
def test_random_plans_train_the_same(
    name: str, watches: list[Watch], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, loss, args = models.make(name)
    wanted = harness.train(model, harness.plain_step(model, loss), args, steps=2)
    monkeypatch.setattr(
        planner, "find_plan", lambda c, graph, _: addressed(graph, random_plan(c, graph, 1))
    )
    step = remat_plan.compile(
        model, loss, budget="100%", times=harness.fixed_costs, storage="arena"
    )
    assert harness.differences(wanted, harness.train(model, step, args, steps=2)) == []


def test_stored_losses_and_gradients_stay_and_hold_no_arena() -> None:
    model, loss, args = models.make("odd")
    step = harness.in_arena(model, loss, args)
    first = step(*args)
    first.backward()
    value, gradients = first.item(), [p.grad.clone() for p in model.parameters()]
    kept = [p.grad for p in model.parameters()]
    for p in model.parameters():
        p.grad = None
    step(*args).backward()
    assert first.item() == value
    assert all(map(torch.equal, kept, gradients))
    small = max(p.numel() * p.itemsize for p in model.parameters())
    assert all(t.untyped_storage().nbytes() <= small for t in (first, *kept))


def test_two_steps_may_interleave() -> None:
    model, loss, args = models.make("unet")
    plain, step = harness.plain_step(model, loss), harness.in_arena(model, loss, args)
    step(*args).backward()
    gradients = []
    for run in (plain, step):
        model.zero_grad(set_to_none=True)
        torch.manual_seed(1)
        one, other = run(*args), run(*args)
        one.backward()
        other.backward()
        gradients.append([p.grad.clone() for p in model.parameters()])
    assert all(map(torch.equal, *gradients))


def test_what_cannot_be_is_refused() -> None:
    captured, graph = harness.described(*models.make("unet"))
    unaligned = replace(graph, device=Device(alignment_bytes=4))
    with pytest.raises(remat_plan.torch.Refused, match="alignment of 16 bytes, not 4"):
        arena.in_arena(captured, unaligned)
    with pytest.raises(remat_plan.torch.Refused, match="not for Inductor"):
        remat_plan.torch.inductor(budget="60%", storage="arena")
    with pytest.raises(remat_plan.torch.Refused, match="not 'heap'"):
        remat_plan.torch.Options(budget="60%", storage="heap")  # type: ignore[arg-type]
