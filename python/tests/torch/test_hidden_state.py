# SPDX-License-Identifier: MIT
"""What draws random numbers, keeps state or has an effect runs once, and in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import harness
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn
from torch.utils.checkpoint import checkpoint

import remat_plan
from remat_plan.torch import Refused, purity
from remat_plan.torch.api import Step, capture_step
from remat_plan.torch.decompose import DECOMPOSITIONS

LIBRARY = torch.library.Library("hidden_state_test", "DEF")
CALLS = [0]


def define(name: str, function: Callable[..., Any], returns: str = "Tensor") -> Any:
    LIBRARY.define(f"{name}(Tensor x) -> {returns}")
    LIBRARY.impl(name, function, "CPU")
    LIBRARY.impl(name, torch.empty_like, "Meta")
    return getattr(torch.ops.hidden_state_test, name)


def count(x: Tensor) -> Tensor:
    CALLS[0] += 1
    return torch.full_like(x, CALLS[0] * 0.01)


noise = define("noise", torch.rand_like)
counted = define("counted", count)
half = define("half", lambda x: x * 0.5)


@torch.library.custom_op("hidden_state_test::keep_some", mutates_args=())
def keep_some(x: Tensor) -> Tensor:
    return x * (torch.rand_like(x) < 0.7)


keep_some.register_fake(torch.empty_like)
keep_some.register_autograd(
    lambda ctx, g: g * (ctx.saved_tensors[0] == ctx.saved_tensors[1]),
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0], output),
)


class DrawsTwice(torch.autograd.Function):
    """Random numbers in both passes; those of the backward pass depend on no gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(kept := torch.rand_like(x) < 0.7)
        return x * kept

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        more = torch.rand(g.shape[-1])
        return g * ctx.saved_tensors[0] * more


def attention(x: Tensor) -> Tensor:
    q = x.view(2, -1, 4, 8).transpose(1, 2)
    return F.scaled_dot_product_attention(q, q, q, dropout_p=0.3).transpose(1, 2).reshape_as(x)


def branch(x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda x: F.dropout(x, 0.5), lambda x: x * 2, (x,))


FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "dropout": lambda x: F.dropout(x, 0.3),
    "dropout in place": lambda x: F.dropout(x * 1.5, 0.3, inplace=True),
    "dropout of a transposed tensor": lambda x: F.dropout(x.t(), 0.3).t(),
    "dropout in bf16": lambda x: F.dropout(x.bfloat16(), 0.3).float(),
    "dropout2d": lambda x: F.dropout2d(x.view(2, -1, 4, 8), 0.3).view(-1, 32),
    "alpha dropout": lambda x: F.alpha_dropout(x, 0.3, training=True),
    "rrelu": lambda x: F.rrelu(x, training=True),
    "gumbel softmax": lambda x: F.gumbel_softmax(x) * x,
    "bernoulli": lambda x: x * torch.bernoulli(torch.sigmoid(x.detach())),
    "noise": lambda x: x + torch.empty_like(x).normal_(0, 0.1) * torch.rand(32),
    "randperm": lambda x: x[torch.randperm(x.shape[0])] + x,
    "multinomial": lambda x: x[torch.multinomial(x[:, 0].detach().softmax(0), 64, True)],
    "attention": attention,
    "checkpoint": lambda x: checkpoint(
        lambda x: F.dropout(x.sin(), 0.3), x, use_reentrant=False
    ),
    "branch of a condition": branch,
    "custom op": keep_some,
    "equal calls": lambda x: x * noise(x.detach()) + noise(x.detach()),
    "counter": lambda x: x * counted(x.detach()) - counted(x.detach()),
    "both passes": DrawsTwice.apply,
}


class Chain(nn.Module):
    def __init__(self, between: Callable[[Tensor], Tensor], n: int = 4) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(nn.Linear(32, 32) for _ in range(n))
        self.between = between

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = self.between(torch.tanh(layer(x)))
        return x


def squares(model: nn.Module, x: Tensor) -> Tensor:
    return model(x).square().mean()


def train(model: nn.Module, step: Any, x: Tensor) -> list[dict[str, Tensor]]:
    """Also what another user of the generator draws between the passes and after them."""
    CALLS[0] = 0

    def drawing(x: Tensor) -> Any:
        loss = step(x)
        drawn.append({"between": torch.rand(2)})
        return loss

    drawn: list[dict[str, Tensor]] = []
    history = harness.train(model, drawing, (x,), steps=2)
    return [*history, *drawn, {"generator": torch.get_rng_state()}]


def planned(model: nn.Module, share: str = "60%", **options: Any) -> Step:
    options = harness.WORK | {"activation_budget": share, "time_limit": 0.1} | options
    return remat_plan.compile(model, squares, times=harness.fixed_costs, **options)


@contextmanager
def another_thread_that_draws() -> Iterator[None]:
    stop = threading.Event()

    def draw() -> None:
        while not stop.is_set():
            torch.rand(10)

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_plan_draws_what_the_step_without_it_draws(name: str) -> None:
    model, x = Chain(FUNCTIONS[name]), torch.randn(64, 32)
    wanted = train(model, harness.plain_step(model, squares), x)
    step = planned(model, "70%")
    assert harness.differences(wanted, train(model, step, x)) == []
    assert step.report().recomputed
    for op in step.planned[0].captured.ops:
        assert not (op.effect and op.kind in step.report().recomputed)


def test_masks_are_the_same_while_another_thread_draws() -> None:
    """With the weight 1, the gradient's sum is twice the loss if both passes have one mask."""

    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(64))

        def forward(self, x: Tensor) -> Tensor:
            dropped = F.dropout(x * self.weight, 0.5)
            for _ in range(3):
                dropped = dropped * torch.exp(dropped * 0)
            return dropped

    model, x = Scaled(), torch.rand(512, 64) + 0.5
    step = remat_plan.compile(
        model,
        lambda m, x: m(x).square().sum(),
        activation_budget="60%",
        times=harness.fixed_costs,
        **harness.WORK,
    )
    with another_thread_that_draws():
        for _ in range(30):
            model.zero_grad()
            loss = step(x)
            loss.backward()
            assert model.weight.grad.sum().item() == pytest.approx(2 * loss.item(), rel=1e-4)
    assert step.report().recomputed


def test_the_generator_is_never_set(monkeypatch: pytest.MonkeyPatch) -> None:
    model, x = Chain(lambda x: F.dropout(x, 0.5)), torch.randn(64, 32)
    step = planned(model, "50%")
    step(x).backward()

    def refused(*_: Any) -> None:
        raise AssertionError("another thread may draw")

    monkeypatch.setattr(torch, "set_rng_state", refused)
    monkeypatch.setattr(torch, "manual_seed", refused)
    step(x).backward()
    assert step.report().recomputed


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_dropout_in_two_ops_gives_the_same_bits(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    image = torch.randn(4, 3, 5, 5).to(memory_format=torch.channels_last)
    inputs = (torch.randn(7, 5), torch.randn(7, 5).t(), image, torch.randn(8, 1).expand(8, 6))
    for x in (*(x.to(dtype) for x in inputs), torch.full((9,), -torch.inf, dtype=dtype)):
        for p in (0.1, 0.3, 0.5, 0.9):
            for op in (torch.ops.aten.native_dropout.default, torch.ops.aten.bernoulli.p):
                results = []
                for function in (op, DECOMPOSITIONS[op]):
                    torch.manual_seed(1)
                    got = function(x, p, True) if "dropout" in str(op) else (function(x, p),)
                    results.append((*got, torch.get_rng_state()))
                for one, other in zip(*results, strict=True):
                    assert torch.equal(one.nan_to_num(7), other.nan_to_num(7))
                    assert one.stride() == other.stride()


def kinds_that_may_run_again(function: Callable[[Tensor], Tensor]) -> set[str]:
    captured = capture_step(Chain(function, n=1), squares, (torch.randn(4, 32),))
    return {op.kind for op in captured.ops if not op.once}


def test_a_custom_op_may_run_again_if_it_is_said_to_be_pure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(purity, "_declared", set())
    kind = "hidden_state_test.half.default"
    assert kind not in kinds_that_may_run_again(lambda x: x * half(x.detach()))
    assert remat_plan.torch.pure(half) is half
    assert kind in kinds_that_may_run_again(lambda x: x * half(x.detach()))
    assert remat_plan.torch.pure(keep_some) is keep_some
    assert "hidden_state_test.keep_some.default" in kinds_that_may_run_again(keep_some)


@pytest.mark.parametrize("what", [len, "aten::add", None])
def test_only_ops_can_be_said_to_be_pure(what: Any) -> None:
    with pytest.raises(Refused, match="takes a custom op or an op"):
        remat_plan.torch.pure(what)


def traced(*targets: Any) -> tuple[fx.GraphModule, list[fx.Node]]:
    """Calls of these on one argument."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    nodes = [graph.call_function(target, (x,)) for target in targets]
    graph.output(tuple(nodes))
    return fx.GraphModule(nn.Module(), graph), nodes


def test_what_is_not_known_has_hidden_state() -> None:
    aten, higher = torch.ops.aten, torch.ops.higher_order
    module, nodes = traced(aten.sin.default, aten.rand_like.default, noise.default, print, len)
    found = [purity.has_hidden_state(module, node) for node in nodes]
    assert found == [False, True, True, True, True]
    graph = fx.Graph()
    x = graph.placeholder("x")
    wrapper = graph.call_function(higher.triton_kernel_wrapper_functional, (x,))
    assert purity.has_hidden_state(fx.GraphModule(nn.Module(), graph), wrapper)


def test_calls_with_undefined_contents_are_not_merged() -> None:
    def loss(model: nn.Module, x: Tensor) -> Tensor:
        a, b = torch.empty(4, 32), torch.empty(4, 32)
        return (model(x) + a.fill_(1) * 0 + b.uniform_() * a.new_empty(32).uniform_()).mean()

    captured = capture_step(nn.Linear(32, 32), loss, (torch.randn(4, 32),))
    undefined = [op for op in captured.ops if "empty" in op.kind]
    assert len(undefined) >= 2
    assert all(op.once and not op.effect for op in undefined)


def test_a_view_by_an_unknown_op_is_refused() -> None:
    """Nothing in its schema says that it is one."""
    LIBRARY.define("alias(Tensor x) -> Tensor")
    for key in ("CPU", "Meta"):
        LIBRARY.impl("alias", lambda x: x.view(-1), key)
    with pytest.raises(Refused, match=r"alias.* returns a view of its argument.*pure\(op\)"):
        kinds_that_may_run_again(
            lambda x: x * torch.ops.hidden_state_test.alias(x.detach()).view_as(x)
        )


def test_what_the_backward_pass_draws_is_drawn_there() -> None:
    """Even if it is the first that this pass does."""

    def loss(model: nn.Module, x: Tensor) -> Tensor:
        return DrawsTwice.apply(model(x).mean(dim=0)).sum()

    model, x = Chain(torch.sin), torch.randn(64, 32)
    drawn = []
    for step in (
        lambda x: loss(model, x),
        remat_plan.compile(model, loss, budget="100%", times=harness.fixed_costs),
    ):
        torch.manual_seed(3)
        out = step(x)
        between = torch.rand(2)
        out.backward()
        drawn.append((between, model.layers[0].weight.grad.clone()))
        model.zero_grad()
    assert all(torch.equal(a, b) for a, b in zip(*drawn, strict=True))
