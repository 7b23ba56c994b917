# SPDX-License-Identifier: MIT
"""What is not carried out is refused in one line that says what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import harness
import pytest
import torch
from torch import Tensor, nn

import remat_plan
from remat_plan import ProgramError
from remat_plan.torch import Refused


def run(loss: Any, x: Tensor, **options: Any) -> None:
    options.setdefault("budget", "100%")
    step = remat_plan.compile(nn.Linear(8, 8), loss, times=harness.fixed_costs, **options)
    step(x).backward()


def refusal(loss: Any, x: Tensor, **options: Any) -> str:
    with pytest.raises(Refused) as error:
        run(loss, x, **options)
    message = str(error.value)
    assert "\n" not in message
    return message


def test_a_graph_break_is_named_with_its_line() -> None:
    def loss(model: nn.Module, x: Tensor) -> Tensor:
        y = model(x).sum()
        torch._dynamo.graph_break()
        return y * 2

    message = refusal(loss, torch.randn(4, 8))
    assert message.startswith("graph break at ")
    assert f"{Path(__file__).name}:" in message


def test_a_value_that_is_read_on_the_host_is_a_graph_break() -> None:
    def loss(model: nn.Module, x: Tensor) -> Tensor:
        y = model(x).sum()
        return y * 2 if y.item() > 0 else y

    assert "graph break" in refusal(loss, torch.randn(4, 8))


def test_a_graph_break_in_a_library_is_named_with_the_users_line() -> None:
    def loss(model: nn.Module, x: Tensor) -> Tensor:
        return nn.BatchNorm1d(8, momentum=None)(model(x)).sum()

    message = refusal(loss, torch.randn(4, 8))
    assert message.startswith("graph break at ")
    assert f"{Path(__file__).name}:" in message


def test_exceptions_of_the_step_are_named_with_their_line() -> None:
    def raises(model: nn.Module, x: Tensor) -> Tensor:
        raise KeyError("width")

    message = refusal(raises, torch.randn(4, 8))
    assert message.startswith("the step raises an exception at ")
    assert f"{Path(__file__).name}:" in message
    message = refusal(lambda m, x: m(x).sum(), torch.randn(4, 7))
    assert message.startswith("the step raises an exception at ")
    assert message.endswith("got [4, 7] X [8, 8].')")


def test_options_of_the_wrong_kind_are_refused() -> None:
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"options": "--no-swap"}, "list"),
        ({"times": 3}, "times is"),
    )
    for options, words in wrong:
        with pytest.raises(Refused, match=words):
            remat_plan.compile(nn.Linear(8, 8), lambda m, x: m(x).sum(), budget=1, **options)


def test_the_backend_refuses_a_graph_break_too() -> None:
    model = nn.Linear(8, 8)

    def loss(x: Tensor) -> Tensor:
        y = model(x).sum()
        torch._dynamo.graph_break()
        return y * 2

    options = {"budget": "100%", "times": harness.fixed_costs}
    step = torch.compile(loss, backend="remat_plan", options=options)
    with pytest.raises(Exception, match=r"Refused: graph break at .*test_refusals.py:\d+"):
        step(torch.randn(4, 8))


def test_the_backend_refuses_dynamic_shapes() -> None:
    model = nn.Linear(8, 8)
    options = {"budget": "100%", "times": harness.fixed_costs}
    step = torch.compile(
        lambda x: model(x).sum(), backend="remat_plan", options=options, dynamic=True
    )
    with pytest.raises(Exception, match=r"Refused: dynamic shape: .* dynamic=False"):
        step(torch.randn(4, 8))


def test_double_backward_is_refused() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
    step = remat_plan.compile(
        model, lambda m, x: m(x).sum(), budget="100%", times=harness.fixed_costs
    )
    x = torch.randn(4, 8, requires_grad=True)
    (gradient,) = torch.autograd.grad(step(x), x, create_graph=True)
    with pytest.raises(RuntimeError, match="double backward"):
        gradient.sum().backward()


@torch.library.custom_op("remat_plan_test::bump", mutates_args={"x"})
def bump(x: Tensor) -> None:
    x += 1


def test_a_custom_op_that_changes_its_arguments_is_refused() -> None:
    def loss(model: nn.Module, x: Tensor) -> Tensor:
        y = x * 2
        bump(y)
        return model(y).sum()

    message = refusal(loss, torch.randn(4, 8))
    assert "remat_plan_test.bump" in message
    assert "changes its arguments in place" in message


def test_sparse_tensors_are_refused() -> None:
    def loss(model: nn.Module, x: Tensor) -> Tensor:
        return model(torch.sparse.mm(x.to_sparse(), x.T @ x)).sum()

    assert "sparse" in refusal(loss, torch.randn(4, 8))


def test_arguments_come_as_a_list(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="list of arguments"):
        remat_plan.export(
            nn.Linear(8, 8), lambda m, x: m(x).sum(), torch.randn(4, 8), tmp_path / "g.json"
        )
    assert not list(tmp_path.glob("*.json"))


def test_a_step_without_gradients_is_refused() -> None:
    model = nn.Linear(8, 8).requires_grad_(False)
    step = remat_plan.compile(model, lambda m, x: m(x).sum(), budget="100%")
    step(torch.randn(4, 8))
    with pytest.raises(Refused, match="requires a gradient"):
        step.report()


def test_one_budget_must_be_given() -> None:
    for budgets in ({}, {"budget": "1GiB", "activation_budget": "60%"}):
        with pytest.raises(Refused, match="either budget or activation_budget"):
            remat_plan.compile(nn.Linear(8, 8), lambda m, x: m(x).sum(), **budgets)


def test_a_budget_that_no_plan_fits_is_an_error_of_the_program() -> None:
    with pytest.raises(ProgramError) as error:
        run(lambda m, x: m(x).sum(), torch.randn(4, 8), budget=1)
    assert error.value.code == 1
    assert "try --budget" in str(error.value)
    assert "\n" not in str(error.value)


def test_what_random_ops_hold_is_said() -> None:
    def loss(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            x = torch.rrelu(model(x), training=True)
        return x.sum()

    with pytest.raises(ProgramError, match="; 640 bytes that the backward pass reads"):
        run(loss, torch.randn(4, 8), budget=1)


def test_more_shapes_than_dynamo_compiles_are_refused() -> None:
    model = nn.Linear(8, 8)
    step = remat_plan.compile(
        model, lambda m, x: m(x).sum(), budget="100%", times=harness.fixed_costs
    )
    with torch._dynamo.config.patch(recompile_limit=1):
        step(torch.randn(2, 8)).backward()
        with pytest.raises(Refused, match="shapes"):
            step(torch.randn(3, 8))
