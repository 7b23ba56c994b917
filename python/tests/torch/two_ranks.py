# SPDX-License-Identifier: MIT
"""One of two processes on this machine that train together: `two_ranks.py RANK FILE`.

Runs every case below and prints what came out as one line of JSON. The rendezvous is FILE.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import harness
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from torch.nn.functional import hardtanh, linear
from torch.nn.parallel import DistributedDataParallel

import remat_plan
from remat_plan import Graph, Plan, ProgramError
from remat_plan.plan import Run
from remat_plan.torch import Refused
from remat_plan.torch.api import capture_step
from remat_plan.torch.describe import describe
from remat_plan.torch.planner import Options, as_boxed, boxed, compile_with, find_plan

RANK = int(sys.argv[1])
BUDGET = "55%"
WORK: dict[str, Any] = harness.WORK | {"time_limit": 0.2}
NAMES = ("_c10d_functional", "_dtensor")


def own_times(share: float) -> Callable[[Graph], Graph]:
    """Times as each rank might measure them, up to such a share apart."""
    draw = random.Random(RANK)

    def times(graph: Graph) -> Graph:
        graph = harness.fixed_costs(graph)
        apart = [int(op.time_ns * draw.uniform(1 - share, 1 + share)) for op in graph.ops]
        return graph.with_times(graph.time_source, apart)

    return times


def planned_step(model: Any, loss: Any, share: float = 0.05, **options: Any) -> Any:
    options = {"activation_budget": BUDGET, "times": own_times(share)} | options
    return remat_plan.compile(model, loss, swap=False, **WORK, **options)


def gradients(model: nn.Module, step: Any, *args: Tensor) -> list[Tensor]:
    """The loss and the gradients of the rank's own parts."""
    model.zero_grad()
    loss = step(*args)
    loss.backward()
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    own = [g.to_local() if hasattr(g, "to_local") else g for g in grads]
    return [loss.detach().clone(), *(g.clone() for g in own)]


def same(one: list[Tensor], other: list[Tensor]) -> bool:
    return len(one) == len(other) > 1 and all(map(torch.equal, one, other))


def facts(step: Any) -> dict[str, Any]:
    """What is to be asserted of a plan with collectives."""
    planned = step.planned[-1]
    ops = planned.graph.ops
    calls = [i for i, op in enumerate(ops) if op.kind.startswith(NAMES)]
    runs = [s.op for s in planned.plan.steps if isinstance(s, Run)]
    return {
        "plan": digest(planned.plan),
        "kinds": [ops[i].kind.split(".")[1] for i in calls],
        "in order": [op for op in runs if op in calls] == calls,
        "again": len(runs) - len(ops),
        "marked": all(ops[i].ordered and not ops[i].recompute for i in calls),
    }


def digest(plan: Plan) -> str:
    return hashlib.sha256(plan.to_json()).hexdigest()


def compared(model: nn.Module, loss: Any, *args: Tensor, **options: Any) -> dict[str, Any]:
    """Two planned steps beside one in eager mode."""
    wanted = gradients(model, lambda *a: loss(model, *a), *args)
    step = planned_step(model, loss, **options)
    got = [gradients(model, step, *args) for _ in range(2)]
    return {"same": [same(wanted, g) for g in got], **facts(step)}


class Sharded(nn.Module):
    """Layers whose weights are gathered in the step, with small whole numbers in all."""

    def __init__(self, layers: int = 4, width: int = 16) -> None:
        super().__init__()
        shards = [torch.randint(-2, 3, (width // 2, width)).float() for _ in range(layers)]
        self.shards = nn.ParameterList(shards)

    def forward(self, x: Tensor) -> Tensor:
        for shard in self.shards:
            weight = functional.all_gather_tensor_autograd(shard, 0, dist.group.WORLD)
            x = hardtanh(linear(x, weight))
        return x


def reduced(model: nn.Module, x: Tensor) -> Tensor:
    return functional.all_reduce(model(x).square().sum(), "sum", dist.group.WORLD)


def numbers() -> Tensor:
    return torch.randint(-3, 4, (64, 16)).float()


# ---- cases ----


def case_times_5_percent_apart() -> Any:
    return compared(Sharded(), reduced, numbers(), share=0.05)


def case_times_50_percent_apart_in_an_arena() -> Any:
    model = Sharded()
    found = compared(model, reduced, numbers(), share=0.5, storage="arena")
    return found | {"alone": alone(model, 0.5)}


def alone(model: nn.Module, share: float) -> str:
    """The plan that a rank would make for itself."""
    captured = capture_step(model, reduced, [numbers()])
    graph = own_times(share)(describe(captured, "alone"))
    options = Options(activation_budget=BUDGET, swap=False, **WORK)
    return digest(find_plan(captured, graph, options))


def case_measured() -> Any:
    return compared(Sharded(), reduced, numbers(), times="measure")


def case_tensor_parallel() -> Any:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16), nn.GELU())
    styles = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    parallelize_module(model, init_device_mesh("cpu", (2,)), styles)
    scaled = lambda m, x: Scaled.apply(m(m(x)), x).square().sum()  # noqa: E731
    return compared(model, scaled, torch.randn(64, 16))


class Scaled(torch.autograd.Function):
    """Keeps a tensor as an attribute, which AOTAutograd saves behind the others."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor) -> Tensor:
        ctx.scale = scale
        return x * scale

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return gradient * ctx.scale, None


def case_all_kinds() -> Any:
    """Every functional collective, over two groups; waits come late or are left out."""
    calls = torch.ops._c10d_functional
    name, other = dist.group.WORLD.group_name, SECOND.group_name

    def loss(model: nn.Linear, x: Tensor) -> Tensor:
        reduced = calls.all_reduce(x, "sum", name)  # waited for at the end
        y = hardtanh(model(x))
        pair = calls.all_gather_into_tensor_coalesced([x, x * 2], 2, other)
        parts = calls.reduce_scatter_tensor_coalesced([x * 3, x], "sum", 2, name)
        scattered = functional.reduce_scatter_tensor(y.detach(), "sum", 0, SECOND)
        swapped = functional.all_to_all_single(x, None, None, dist.group.WORLD)
        sent = functional.broadcast(x, 1, SECOND)
        sums = functional.all_reduce_coalesced([x, y.detach()], "sum", SECOND)
        in_place = x * 5
        dist.all_reduce(in_place)
        unused = calls.all_reduce(x * 7, "sum", other)
        calls.wait_tensor(unused)
        constants = sum(
            calls.wait_tensor(t).sum() for t in (*pair, parts[1], scattered, swapped, sent)
        )
        constants = constants + sums[0].sum() + sums[1].sum() + in_place.sum()
        y = hardtanh(model(y)) + calls.wait_tensor(reduced)
        z = functional.all_gather_tensor_autograd(y, 0, SECOND)
        return (z * calls.wait_tensor(sent).sum()).sum() + constants

    model = nn.Linear(16, 16)
    with torch.no_grad():
        model.weight.copy_(torch.randint(-1, 2, (16, 16)))
        model.bias.zero_()
    return compared(model, loss, numbers(), storage="arena")


def case_input_on_its_way() -> Any:
    """A collective that was issued before the step."""
    x = functional.all_gather_tensor(numbers(), 0, dist.group.WORLD)
    return compared(Sharded(), reduced, x)


def case_inductors_partitioner() -> Any:
    model, x = Sharded(), numbers()
    wanted = gradients(model, lambda x: reduced(model, x), x)
    partitioner = remat_plan.torch.inductor(
        activation_budget=BUDGET, times=own_times(0.5), **WORK
    )

    def whole(module: Any, _: Any) -> Any:
        return as_boxed(boxed(module))

    backend = compile_with(partitioner, whole, whole)
    step = torch.compile(lambda x: reduced(model, x), backend=backend, fullgraph=True)
    same_bits = same(wanted, gradients(model, step, x))
    code = [partitioner.planned[0].forward.code, partitioner.planned[0].backward.code]
    return {
        "same": [same_bits],
        "gathers": [c.count(".all_gather_into_tensor") for c in code],
        "plan": digest(partitioner.planned[0].plan),
    }


def case_another_graph() -> Any:
    model = Sharded(layers=3 + RANK)
    return gradients(model, planned_step(model, reduced), numbers())


def case_another_collective() -> Any:
    def loss(model: nn.Module, x: Tensor) -> Tensor:
        what = ("sum", "max")[RANK]
        return model(x).sum() * functional.all_reduce(x, what, dist.group.WORLD).sum()

    return gradients(model := Sharded(), planned_step(model, loss), numbers())


def case_another_budget() -> Any:
    step = planned_step(model := Sharded(), reduced, activation_budget=f"{50 + RANK}%")
    return gradients(model, step, numbers())


def case_no_plan_fits() -> Any:
    step = planned_step(model := Sharded(), reduced, activation_budget=None, budget="1KiB")
    return gradients(model, step, numbers())


def case_one_rank_is_refused() -> Any:
    def loss(model: nn.Module, x: Tensor) -> Tensor:
        y = reduced(model, x)
        if RANK == 1:
            name = dist.group.WORLD.group_name
            y = y + torch.ops._c10d_functional.irecv(x, 0, 0, name).sum()
        return y

    return gradients(model := Sharded(), planned_step(model, loss), numbers())


def case_one_rank_has_no_times() -> Any:
    def times(graph: Graph) -> Graph:
        if RANK == 1:
            raise Refused("the clock stands still")
        return harness.fixed_costs(graph)

    return gradients(model := Sharded(), planned_step(model, reduced, times=times), numbers())


def case_ddp_inside_of_the_step() -> Any:
    model = DistributedDataParallel(nn.Linear(16, 16))
    step = planned_step(model, lambda m, x: m(x).square().sum())
    return gradients(model, step, numbers())


def case_ddp_around_the_step() -> Any:
    """Its gradients beside those of the whole batch in one process."""

    class Step(nn.Module):
        def __init__(self, model: nn.Module) -> None:
            super().__init__()
            self.model = model
            loss = lambda m, x: m(x).square().sum()  # noqa: E731
            self.step = planned_step(model, loss, activation_budget="90%")

        def forward(self, x: Tensor) -> Tensor:
            return self.step(x)

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 16), nn.Hardtanh(), nn.Linear(16, 16))
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randint(-1, 2, p.shape))
    batch = numbers()
    whole = gradients(model, lambda x: model(x).square().sum(), batch)
    wrapped = DistributedDataParallel(Step(model), bucket_cap_mb=0.0005)
    half = gradients(wrapped, wrapped, batch[32 * RANK : 32 * (RANK + 1)])
    return {"same": [same([g / 2 for g in whole[1:]], half[1:])]}


def case_one_rank_ends() -> Any:
    """The last case, since one rank is gone afterwards."""
    if RANK == 1:
        return None
    return gradients(model := Sharded(), planned_step(model, reduced), numbers())


def outcome(case: Callable[[], Any]) -> Any:
    torch._dynamo.reset()
    torch.manual_seed(RANK)
    try:
        return case()
    except (Refused, ProgramError) as error:
        return {"error": str(error), "code": getattr(error, "code", None)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", f"file://{sys.argv[2]}", timedelta(seconds=120), rank=RANK, world_size=2
    )
    SECOND = dist.new_group([0, 1])
    chosen = sys.argv[3:] or [name for name in list(globals()) if name.startswith("case_")]
    print(json.dumps({name: outcome(globals()[name]) for name in chosen}))
