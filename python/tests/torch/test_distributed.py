# SPDX-License-Identifier: MIT
"""Steps with collectives: one plan for all ranks, or a word of why not, and never a wait
without end. Two processes run the cases of `two_ranks.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import harness
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import remat_plan
from remat_plan import Graph, Plan
from remat_plan.torch import Refused
from remat_plan.torch.api import capture_step

dist = pytest.importorskip("torch.distributed")
if not (dist.is_available() and dist.is_gloo_available()):
    pytest.skip("this torch has no gloo", allow_module_level=True)

LIMIT_S = 300  # for both; they take a twentieth of it where nothing else runs
SAME_STEP = "all ranks must run one plan, but they captured different steps: "
Outcomes = Callable[[str], tuple[Any, Any]]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """What both ranks say of a case."""
    folder = tmp_path_factory.mktemp("ranks")
    ranks = [_start(rank, folder) for rank in range(2)]
    try:
        said = [rank.communicate(timeout=LIMIT_S) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    for rank, (out, err) in zip(ranks, said, strict=True):
        assert rank.returncode == 0, out + err
    one, other = (json.loads(out) for out, _ in said)
    return lambda case: (one[f"case_{case}"], other[f"case_{case}"])


def _start(rank: int, folder: Path) -> subprocess.Popen[str]:
    root = Path(remat_plan.__file__).parents[1]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")]),
        "XDG_CACHE_HOME": str(folder / str(rank)),
    }
    return subprocess.Popen(
        [
            sys.executable,
            str(Path(__file__).parent / "two_ranks.py"),
            str(rank),
            folder / "meet",
        ],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


PLANNED = (
    "times_5_percent_apart",
    "times_50_percent_apart_in_an_arena",
    "measured",
    "tensor_parallel",
    "all_kinds",
    "input_on_its_way",
)


@pytest.mark.parametrize("case", PLANNED)
def test_ranks_with_other_times_carry_out_one_plan(outcomes: Outcomes, case: str) -> None:
    one, other = outcomes(case)
    assert one.get("same") == other.get("same") == [True, True], (one, other)
    assert one["plan"] == other["plan"]
    assert one["kinds"]
    for rank in (one, other):
        assert rank["in order"]
        assert rank["marked"]
        assert not [kind for kind in rank["kinds"] if kind.startswith("wait")]


def test_the_plans_run_ops_again_and_would_differ_if_ranks_planned_alone(
    outcomes: Outcomes,
) -> None:
    one, other = outcomes("times_50_percent_apart_in_an_arena")
    assert one["again"] > 0
    assert one["alone"] != other["alone"]


def test_inductors_partitioner_gathers_once_by_one_plan(outcomes: Outcomes) -> None:
    one, other = outcomes("inductors_partitioner")
    assert one == other
    assert one["same"] == [True]
    assert one["gathers"] == [4, 0]


STOPS = {
    "another_graph": SAME_STEP + "rank 0 has 28 ops and 32 tensors, 8 collectives, rank 1 has",
    "another_collective": SAME_STEP + "rank 0 has op",
    "another_budget": SAME_STEP
    + "rank 0 has activation_budget '50%', rank 1 has activation_budget '51%'",
    "no_plan_fits": "infeasible",
    "one_rank_is_refused": "_c10d_functional.irecv.default (irecv) communicates in a way",
    "one_rank_has_no_times": "the clock stands still",
}


@pytest.mark.parametrize("case", STOPS)
def test_all_ranks_stop_with_the_same_words(outcomes: Outcomes, case: str) -> None:
    texts = [rank["error"] for rank in outcomes(case)]
    assert all(STOPS[case] in text and "\n" not in text for text in texts), texts
    stops = {
        text.removeprefix("rank 0 stops: ").removeprefix("rank 1 stops: ") for text in texts
    }
    assert len(stops) == 1


def test_no_plan_has_the_code_of_no_plan_on_all_ranks(outcomes: Outcomes) -> None:
    assert [rank["code"] for rank in outcomes("no_plan_fits")] == [1, 1]


def test_a_rank_that_ends_is_not_waited_for(outcomes: Outcomes) -> None:
    one, _ = outcomes("one_rank_ends")
    assert "rank 1 did not come to plan the same step (has ended" in one["error"]


def test_ddp_is_refused_by_name_with_what_to_do(outcomes: Outcomes) -> None:
    for rank in outcomes("ddp_inside_of_the_step"):
        assert rank["error"].startswith("DistributedDataParallel communicates")
        assert "compile the module inside" in rank["error"]


def test_ddp_reduces_the_gradients_of_a_step_inside_of_it(outcomes: Outcomes) -> None:
    one, other = outcomes("ddp_around_the_step")
    assert one == other == {"same": [True]}


# ---- one process, and a group whose other ranks do not exist ----


@pytest.fixture
def group() -> Iterator[Any]:
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=8)
    yield dist.group.WORLD
    dist.destroy_process_group()


def gathered(model: nn.Linear, x: Tensor) -> Tensor:
    import torch.distributed._functional_collectives as functional

    weight = functional.all_gather_tensor_autograd(model.weight, 0, dist.group.WORLD)
    return F.linear(x, weight).square().sum()


def test_one_rank_of_a_group_that_does_not_exist_is_exported(
    group: Any, tmp_path: Path
) -> None:
    file = tmp_path / "g.json"
    model, args = nn.Linear(8, 2, bias=False), [torch.randn(4, 8)]
    graph = remat_plan.torch.export(model, gathered, args, file, times="a100-40g")
    kinds = [op.kind for op in graph.ops]
    gather = kinds.index("_c10d_functional.all_gather_into_tensor.default")
    assert "_c10d_functional.reduce_scatter_tensor.default" in kinds
    assert not [kind for kind in kinds if "wait" in kind]
    assert graph.ops[gather].ordered
    assert not graph.ops[gather].recompute
    assert graph.ops[gather].time_ns > 20_000
    assert graph.tensors[graph.ops[gather].outputs[0]].shape == [16, 8]
    assert Graph.load(file) == graph
    plan = remat_plan.solve(graph, budget="100%", **harness.WORK)
    assert Plan.parse(plan.to_json()) == plan


def test_equal_collectives_are_not_merged(group: Any) -> None:
    def loss(model: nn.Linear, x: Tensor) -> Tensor:
        return gathered(model, x) + gathered(model, x)

    captured = capture_step(nn.Linear(8, 2, bias=False), loss, [torch.randn(4, 8)])
    assert sum("all_gather" in op.kind for op in captured.ops) == 2


def test_other_communication_is_refused_by_name(group: Any) -> None:
    name = group.group_name

    def receives(model: nn.Linear, x: Tensor) -> Tensor:
        return torch.ops._c10d_functional.irecv(model(x), 1, 0, name).sum() + model(x).sum()

    def symmetric(model: nn.Linear, x: Tensor) -> Tensor:
        y = model(x)
        return torch.ops.symm_mem.one_shot_all_reduce(y.detach(), "sum", name).sum() + y.sum()

    def inside(model: nn.Linear, x: Tensor) -> Tensor:
        def one(y: Tensor) -> Tensor:
            return torch.ops._c10d_functional.all_reduce(y, "sum", name) * 2

        y = model(x)
        return torch.cond(y.sum() > 0, one, lambda y: y * 3, (y.detach(),)).sum() + y.sum()

    for loss, words in (
        (receives, "_c10d_functional.irecv.default"),
        (symmetric, "symm_mem.one_shot_all_reduce.default"),
        (inside, "_c10d_functional.all_reduce.default is called inside of"),
    ):
        torch._dynamo.reset()
        with pytest.raises(Refused) as error:
            capture_step(nn.Linear(8, 8), loss, [torch.randn(4, 8)])
        assert str(error.value).startswith(words)


@pytest.mark.parametrize("make", [nn.CrossEntropyLoss, nn.NLLLoss])
def test_gradients_go_through_losses_on_meta(make: Callable[[], Any]) -> None:
    def kinds(device: str) -> list[str]:
        model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)).to(device)
        args = [torch.randn(4, 8, device=device), torch.zeros(4, dtype=int, device=device)]
        captured = capture_step(model, lambda m, x, y: make()(m(x), y), args)
        return [op.kind for op in captured.ops]

    assert kinds("meta") == kinds("cpu")
    assert "aten.nll_loss_backward.default" in kinds("meta")


def test_ddp_that_splits_the_step_says_which_setting_to_change() -> None:
    from remat_plan.torch.errors import graph_break

    class Reason:
        reason = "DDPOptimizer intentional graph-break (See Note [DDPOptimizer])"
        user_stack = ()

    assert "torch._dynamo.config.optimize_ddp = False" in str(graph_break(Reason()))
