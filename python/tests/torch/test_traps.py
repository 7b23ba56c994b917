# SPDX-License-Identifier: MIT
"""What gives a wrong result, or too much memory, if it is not taken care of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import harness
import models
import pytest
import torch
from torch import Tensor, fx, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import remat_plan
from remat_plan import Graph, Plan, check
from remat_plan.plan import Free, Run, SwapIn, SwapOut
from remat_plan.torch import runtime, swap
from remat_plan.torch.api import Step, capture_step
from remat_plan.torch.captured import Captured
from remat_plan.torch.describe import describe
from remat_plan.torch.traced import say_what_kernels_make


def compile_at(model: nn.Module, loss: Any, args: Any, share: float, **options: Any) -> Step:
    graph = describe(capture_step(model, loss, args), "step")
    options.setdefault("times", harness.fixed_costs)
    budget = harness.share_of_activations(graph, share)
    return remat_plan.compile(model, loss, budget=budget, **(harness.WORK | options))


def runs_again(step: Step, *words: str) -> bool:
    return any(word in kind for kind in step.report().recomputed for word in words)


def squares(model: nn.Module, x: Tensor) -> Tensor:
    return model(x).square().mean()


def chain(*layers: Callable[[], nn.Module], repeat: int = 4) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(*(make() for _ in range(repeat) for make in layers)).train()


def linear() -> nn.Module:
    return nn.Linear(32, 32)


def test_dropout_draws_the_same_again() -> None:
    model = chain(linear, nn.Tanh, lambda: nn.Dropout(0.5), repeat=6)
    args = (torch.randn(64, 32),)
    wanted = harness.train(model, harness.plain_step(model, squares), args)
    step = compile_at(model, squares, args, 0.4)
    assert harness.differences(wanted, harness.train(model, step, args)) == []
    assert runs_again(step, "dropout")


def test_what_is_drawn_between_the_passes_does_not_change() -> None:
    model = chain(linear, nn.Tanh, lambda: nn.Dropout(0.5), repeat=6)
    args = (torch.randn(64, 32),)
    step = compile_at(model, squares, args, 0.4)
    drawn = []
    for run in (harness.plain_step(model, squares), step):
        torch.manual_seed(3)
        loss = run(*args)
        between = torch.rand(4)
        loss.backward()
        drawn.append((between, torch.rand(4)))
    assert runs_again(step, "dropout")
    assert all(torch.equal(a, b) for a, b in zip(*drawn, strict=True))


def test_batch_norm_counts_a_step_once_and_reruns_read_the_old_statistics() -> None:
    model = chain(lambda: nn.Conv1d(8, 8, 3, padding=1), lambda: nn.BatchNorm1d(8), nn.Tanh)
    args = (torch.randn(16, 8, 32),)
    wanted = harness.train(model, harness.plain_step(model, squares), args)
    step = compile_at(model, squares, args, 0.4)
    assert harness.differences(wanted, harness.train(model, step, args)) == []
    assert runs_again(step, "batch_norm")


class Scaled(nn.Module):
    """What it makes of its input can be made again, but only from the old scale."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = chain(linear, nn.Tanh)
        self.register_buffer("scale", torch.ones(32))

    def forward(self, x: Tensor) -> Tensor:
        y = self.layers(x * self.scale.unsqueeze(0))
        with torch.no_grad():
            self.scale.mul_(0.5)
        return y


def test_a_buffer_that_is_overwritten_later_is_read_as_it_was() -> None:
    model = Scaled()
    args = (torch.randn(64, 32),)
    wanted = harness.train(model, harness.plain_step(model, squares), args)
    step = compile_at(model, squares, args, 0.5)
    got = harness.train(model, step, args)
    assert harness.differences(wanted, got) == []
    assert "buffer scale" in got[0]
    assert runs_again(step, "mul.Tensor")


def test_the_seed_of_attention_is_in_host_memory() -> None:
    """Its backward pass reads it there. PyTorch traces it as if it were on the GPU."""

    def attention(dropout: float) -> fx.GraphModule:
        def forward(x: Tensor) -> Any:
            op = torch.ops.aten._scaled_dot_product_efficient_attention.default
            return op(x, x, x, None, True, dropout)[1:3]

        with FakeTensorMode():
            return make_fx(forward)(torch.empty(1, 2, 8, 8, device="cuda"))

    for dropout, device in ((0.1, "cpu"), (0.0, "cuda")):
        module = attention(dropout)
        say_what_kernels_make(module)
        values = [n.meta["val"] for n in module.graph.nodes if n.op == "call_function"]
        for returned in (values[0], values[1:]):
            assert [v.device.type for v in returned] == ["cuda", "cuda", device, device]


def test_large_overwritten_buffers_are_not_copied() -> None:
    class Averaged(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = chain(linear, nn.Tanh)
            self.register_buffer("mean", torch.zeros(64, 32))

        def forward(self, x: Tensor) -> Tensor:
            y = self.layers(x)
            with torch.no_grad():
                self.mean.mul_(0.9).add_(y.detach(), alpha=0.1)
            return y

    captured = capture_step(Averaged(), squares, (torch.randn(64, 32),))
    assert captured.old_values == {}


def test_nothing_lives_longer_than_planned() -> None:
    """Neither values that nobody reads nor what the forward pass saved stay alive."""
    model, loss, args = models.make("gpt2")
    step = compile_at(model, loss, args, 1.0)
    step(*args).backward()
    report = step.report()
    assert report.planned_peak_bytes == report.keep_all_peak_bytes
    assert report.measured_peak_bytes == pytest.approx(report.planned_peak_bytes, rel=0.01)


def test_what_the_forward_pass_returned_stays() -> None:
    model = chain(linear, nn.Tanh)
    args = (torch.randn(64, 32),)

    def loss_and_output(m: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
        y = m(x)
        return y.square().mean(), y.detach() + 1

    step = compile_at(model, loss_and_output, args, 0.6)
    loss, output = step(*args)
    kept = output.clone()
    loss.backward()
    assert torch.equal(output, kept)
    graph, captured = step.planned[0].graph, step.planned[0].captured
    assert set(captured.returned) <= set(graph.keep)


def test_two_passes_in_turn_do_not_mix() -> None:
    model = chain(linear, nn.Tanh, lambda: nn.Dropout(0.5))
    a, b = torch.randn(64, 32), torch.randn(64, 32)
    step = compile_at(model, squares, (a,), 0.4, times=harness.with_link, swap=True)
    gradients = []
    for run in (harness.plain_step(model, squares), step):
        torch.manual_seed(5)
        first, second = run(a), run(b)
        first.backward()
        second.backward()
        gradients.append([p.grad.clone() for p in model.parameters()])
        model.zero_grad()
    assert all(torch.equal(x, y) for x, y in zip(*gradients, strict=True))


def test_a_graph_may_be_used_twice() -> None:
    model = chain(linear, nn.Tanh, lambda: nn.Dropout(0.5))
    args = (torch.randn(64, 32),)
    loss = compile_at(model, squares, args, 0.4)(*args)
    loss.backward(retain_graph=True)
    once = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    loss.backward()
    assert all(torch.equal(a, p.grad) for a, p in zip(once, model.parameters(), strict=True))


@pytest.mark.parametrize("device", harness.DEVICES)
def test_swaps_are_carried_out(device: str) -> None:
    model = chain(linear, nn.Tanh, lambda: nn.Dropout(0.5), repeat=6).to(device)
    args = (torch.randn(64, 32, device=device),)
    wanted = harness.train(model, harness.plain_step(model, squares), args)
    no_reruns = ("--no-recompute",)
    step = compile_at(
        model, squares, args, 0.7, times=harness.with_link, swap=True, options=no_reruns
    )
    assert harness.differences(wanted, harness.train(model, step, args)) == []
    report = step.report()
    assert report.swapped
    assert report.requested_peak_bytes is not None
    assert report.requested_peak_bytes <= report.planned_peak_bytes * 1.01


def test_memory_for_a_copy_is_not_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """With deterministic algorithms the CPU would fill what the copy overwrites."""
    fills: list[bool] = []
    real = torch.empty

    def recorded(*a: Any, **k: Any) -> Tensor:
        fills.append(torch.utils.deterministic.fill_uninitialized_memory)
        return real(*a, **k)

    monkeypatch.setattr(torch, "empty", recorded)
    for setting in (True, False):
        monkeypatch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", setting)
        runtime.room(3, torch.device("cpu"))
        assert torch.utils.deterministic.fill_uninitialized_memory == setting
    assert fills == [False, False]


def first_activation(captured: Captured) -> int:
    """A tensor of the forward pass that the backward pass reads."""
    late = {x for op in captured.ops[captured.boundary :] for x in op.reads}
    return next(x for op in captured.ops for x in op.makes if x in late)


def test_copies_are_waited_for_before_reads_and_frees(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of calls, which matters on a GPU only."""
    model = chain(linear, nn.Tanh)
    args = (torch.randn(64, 32),)
    calls: list[str] = []
    for name in ("copy_out", "wait_out", "copy_in", "wait_in"):
        real = getattr(swap, name)

        def recorded(*a: Any, name: str = name, real: Any = real) -> Any:
            calls.append(name)
            return real(*a)

        monkeypatch.setattr(swap, name, recorded)

    def moved_at_the_boundary(graph: Graph, **_: Any) -> Plan:
        captured = capture_step(model, squares, args)
        x = first_activation(captured)
        steps: list[Any] = []
        for i in range(len(graph.ops)):
            steps.append(Run(i))
            if x in graph.ops[i].outputs:
                steps.append(SwapOut(x))
            if i == captured.boundary:
                steps += [Free(x), SwapIn(x)]
        claims = {"peak_bytes": 10**9, "time_ns": 1, "baseline_time_ns": 1}
        plan = Plan(graph.sha256, 10**9, False, 10**9, 0, steps, {}, {})
        check(graph, plan)
        return Plan(graph.sha256, 10**9, False, 10**9, 0, steps, claims, {})

    monkeypatch.setattr("remat_plan.torch.planner.solve", moved_at_the_boundary)
    wanted = harness.train(model, harness.plain_step(model, squares), args)
    step = remat_plan.compile(model, squares, budget=1, times=harness.fixed_costs)
    assert harness.differences(wanted, harness.train(model, step, args, harness.STEPS)) == []
    assert calls == ["copy_out", "wait_out", "copy_in", "wait_in"] * harness.STEPS


def test_tied_weights_are_one_tensor_with_one_gradient() -> None:
    model, loss, args = models.make("odd")
    graph = describe(capture_step(model, loss, args), "odd")
    size = model.embed.weight.nbytes
    tied = [t for t in graph.tensors if t.kind == "parameter" and t.bytes == size]
    assert len(tied) == 1


def test_each_compiled_step_has_a_code_object_of_its_own() -> None:
    """Dynamo compiles one code object a few times only."""
    args = (torch.randn(4, 32),)
    for _ in range(10):
        step = remat_plan.compile(
            chain(linear, repeat=1), squares, budget="100%", times=harness.fixed_costs
        )
        step(*args).backward()
    assert len(step.planned) == 1


def test_each_shape_has_its_own_plan() -> None:
    model = chain(linear, nn.Tanh)
    step = compile_at(model, squares, (torch.randn(64, 32),), 1.0)
    for n in (64, 48, 64):
        step(torch.randn(n, 32)).backward()
    sizes = [p.graph.fixed_bytes for p in step.planned]
    assert len(sizes) == 2
    assert sizes[0] - sizes[1] == 16 * 32 * 4


def test_evaluation_needs_no_plan() -> None:
    model = chain(linear, nn.Tanh)
    args = (torch.randn(64, 32),)
    step = compile_at(model, squares, args, 1.0)
    with torch.no_grad():
        assert torch.equal(step(*args), squares(model, *args))
    assert not step.planned


def test_the_old_value_of_a_part_of_a_storage() -> None:
    """The step overwrites a buffer inside of a larger one, and reads it again later."""
    whole = torch.arange(64.0)
    part = whole[8:40].view(8, 4).t()[1:]
    old = runtime.old_value(part)
    assert old.storage_offset() == part.storage_offset()
    assert old.stride() == part.stride()
    assert torch.equal(old.as_strided((64,), (1,), 0), whole)
    whole.zero_()
    assert old.sum() > 0


def test_a_copy_comes_back_to_where_it_lay_in_its_storage() -> None:
    for stride, offset in (((8, 2), 3), ((1, 4), 0), ((0, 1), 2)):
        there = torch.randn(64).as_strided((4, 4), stride, offset)
        place = torch.zeros(64).as_strided((4, 4), stride, offset)
        back = swap.copy_in(swap.copy_out(there), place)
        assert (back.stride(), back.storage_offset()) == (stride, offset)
        assert torch.equal(back, there)
