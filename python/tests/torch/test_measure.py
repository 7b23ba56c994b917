# SPDX-License-Identifier: MIT
"""Ops are measured on the values of the step, and nothing of it is seen afterwards."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import remat_plan
from remat_plan import Graph
from remat_plan.torch import Refused, costs, values

Loss = Callable[..., Tensor]


def labels_from_one(m: nn.Module, x: Tensor, n: Tensor) -> Tensor:
    return F.cross_entropy(m(x), n - 1)


def ignored_labels(m: nn.Module, x: Tensor, n: Tensor) -> Tensor:
    return F.cross_entropy(m(x), torch.where(n > 4, -100, n - 1), ignore_index=-100)


def rows_of_a_table(m: nn.Module, x: Tensor, n: Tensor) -> Tensor:
    return F.embedding(8 - n, m.weight.T @ m.weight).square().sum()


def one_hot(m: nn.Module, x: Tensor, n: Tensor) -> Tensor:
    return (m(x).softmax(1) * F.one_hot(n - 1, 8)).sum()


def cholesky(m: nn.Module, x: Tensor, n: Tensor) -> Tensor:
    y = m(x)
    return torch.linalg.cholesky(y.T @ y + torch.eye(8)).diagonal().log().sum()


def drawn(m: nn.Module, x: Tensor, n: Tensor) -> Tensor:
    p = m(x).softmax(1)
    chosen = torch.multinomial(p.detach() * n.unsqueeze(1), 1)
    keep = torch.bernoulli(p.detach())
    return (p.gather(1, chosen).log() * keep.sum(1, keepdim=True)).sum()


def categorical(m: nn.Module, x: Tensor, n: Tensor) -> Tensor:
    choice = torch.distributions.Categorical(logits=m(x), validate_args=False)
    return choice.log_prob(choice.sample()).sum()


def asserted(m: nn.Module, x: Tensor, n: Tensor) -> Tensor:
    torch._assert_async((n > 0).all())
    torch._assert((n.float().mean() > 0), "labels begin at 1")
    return m(x).square().sum() / n.sum()


def ragged(m: nn.Module, x: Tensor, n: Tensor) -> Tensor:
    y = m(x)
    rows = torch.zeros(9, 8).index_add(0, n, y).scatter_add(1, (n - 1)[:, None], y[:9, :1])
    return rows.index_put((n, n - 1), y[:, 0], accumulate=True).square().sum()


def argmax_and_masks(m: nn.Module, x: Tensor, n: Tensor) -> Tensor:
    y = m(x)
    best = y.argmax(1)
    count = (y > 0).sum(1).clamp(max=7)
    return y.gather(1, torch.stack([best, count], 1)).where(n[:, None] > 2, 0.0).sum()


STEPS: tuple[Loss, ...] = (
    labels_from_one,
    ignored_labels,
    rows_of_a_table,
    one_hot,
    cholesky,
    drawn,
    categorical,
    asserted,
    ragged,
    argmax_and_masks,
)


def case() -> tuple[nn.Module, Tensor, Tensor]:
    torch.manual_seed(0)
    return nn.Linear(8, 8), torch.randn(9, 8), torch.randint(1, 9, (9,))


@pytest.mark.parametrize("loss", STEPS, ids=lambda f: f.__name__)
def test_ops_that_look_at_values_are_measured(loss: Loss) -> None:
    results = []
    for measured in (False, True):
        model, x, n = case()
        step: Any = harness.plain_step(model, loss)
        if measured:
            step = remat_plan.compile(model, loss, budget="100%", **harness.WORK)
        torch.manual_seed(3)
        got = step(x, n)
        got.backward()
        results.append((got.detach(), model.weight.grad, torch.rand(3)))
    for one, other in zip(*results, strict=True):
        assert (one is None) == (other is None)
        assert one is None or torch.equal(one, other)


def test_an_op_is_given_what_the_step_gives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buffers, views of one tensor, and the draws that the first step will make."""
    seen: list[Tensor] = []
    run = costs._OneByOne.op

    def watched(self: Any, op: Any, node: Any) -> Any:
        result = run(self, op, node)
        if node.target is torch.ops.remat_plan.apply_dropout.default:
            seen.append(result.clone())
        return result

    monkeypatch.setattr(costs._OneByOne, "op", watched)
    model = nn.BatchNorm1d(4)

    def loss(m: nn.Module, x: Tensor, y: Tensor) -> Any:
        dropped = F.dropout(m(x) * y, 0.5)
        return dropped.sum(), dropped

    both = torch.arange(1.0, 33).reshape(8, 4)
    step = remat_plan.compile(model, loss, budget="100%", **harness.WORK)
    got, dropped = step(both[:4], both[4:])
    got.backward()
    assert len(seen) == 1
    assert torch.equal(seen[0], dropped)
    assert model.num_batches_tracked == 1


calls: list[str] = []


@torch.library.custom_op("remat_plan_test::note", mutates_args=())
def note(x: Tensor) -> Tensor:
    calls.append("note")
    random.random()
    np.random.rand()
    torch.rand(1)
    return x.clone()


@note.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


note.register_autograd(lambda ctx, g: g * 2)


def test_custom_ops_run_once_and_generators_are_as_before() -> None:
    model, x, _ = case()
    calls.clear()
    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()
    remat_plan.export(model, lambda m, x: note(m(x)).sum(), (x,), "/dev/null", times="measure")
    assert calls == ["note"]
    after = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()
    assert before[:2] == after[:2]
    assert torch.equal(before[2], after[2])


def test_ops_that_only_have_an_effect_are_not_run() -> None:
    def loss(m: nn.Module, x: Tensor) -> Tensor:
        y = m(x)
        torch.ops.aten._assert_async.msg(y.isfinite().all(), "y is finite")
        return y.sum()

    model, x, _ = case()
    x[0, 0] = torch.nan  # the step itself says so, and not the measurement
    graph = remat_plan.export(model, loss, (x,), "/dev/null", times="measure")
    (op,) = (op for op in graph.ops if "assert" in op.kind)
    assert op.time_ns == 0


def test_an_op_that_fails_is_named_with_its_line() -> None:
    model, x, n = case()
    with pytest.raises(
        Refused, match=rf"at .*{Path(__file__).name}:\d+.*out of bounds"
    ) as error:
        remat_plan.export(model, labels_from_one, (x, n + 5), "/dev/null", times="measure")
    assert "\n" not in str(error.value)


def test_nothing_is_measured_on_the_device_meta() -> None:
    model = nn.Linear(8, 8, device="meta")
    with pytest.raises(Refused, match="name a device model"):
        remat_plan.export(
            model,
            lambda m, x: m(x).sum(),
            (torch.empty(4, 8, device="meta"),),
            "/dev/null",
            times="measure",
        )


def test_a_step_under_autocast_is_measured() -> None:
    model, x, _ = case()
    step = remat_plan.compile(model, lambda m, x: m(x).sum(), budget="100%", **harness.WORK)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = step(x)
    loss.backward()
    assert loss.dtype == torch.bfloat16


def test_the_arguments_are_let_go_after_planning() -> None:
    model, x, _ = case()
    step = remat_plan.compile(model, lambda m, x: m(x).sum(), budget="100%", **harness.WORK)
    import weakref

    other = x.clone()
    died = weakref.ref(other)
    step(other).backward()
    del other
    assert died() is None


def test_real_sizes_of_storages_are_known() -> None:
    """The kernel of some ops takes more than their result shows."""
    model, x, _ = case()
    found: list[costs.Measurement] = []
    measure = costs.measure

    def kept(*args: Any) -> costs.Measurement:
        found.append(measure(*args))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(costs, "measure", kept)
        graph: Graph = remat_plan.export(
            model, lambda m, x: m(x).sum(), (x,), "/dev/null", times="measure"
        )
    (measured,) = found
    sizes = {t.name: n for t, n in zip(graph.tensors, measured.storage_bytes, strict=True)}
    assert sizes["addmm"] == 9 * 8 * 4


def test_values_are_those_of_the_call_only_if_they_fit() -> None:
    model, x, _ = case()
    captured, _ = remat_plan.torch.api._trace(model, lambda m, x: m(x).sum(), (x,), None)
    nodes = captured.inputs
    wrong = [torch.ones(3)] * len(nodes)
    given = [values.input_value(captured.module, n, wrong) for n in nodes]
    assert [tuple(v.shape) for v in given] == [tuple(n.meta["val"].shape) for n in nodes]
