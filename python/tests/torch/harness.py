# SPDX-License-Identifier: MIT
"""Trains a few steps and keeps all that must be equal: losses, gradients and buffers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch._functorch.partitioners import default_partition

import remat_plan
from remat_plan import Device, Graph
from remat_plan.torch import arena
from remat_plan.torch.api import Step, capture_step, one_line_errors
from remat_plan.torch.costs import add_costs
from remat_plan.torch.describe import describe
from remat_plan.torch.planner import as_boxed, boxed, compile_with
from remat_plan.torch.report import keep_all_peak

STEPS = 5

# The GPU too, where there is one.
DEVICES = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)

# Plans after a fixed amount of work, the same on any machine.
WORK: dict[str, Any] = {"time_limit": 1, "options": ("--ignore-clock",)}


def fixed_costs(graph: Graph) -> Graph:
    """Times that depend on the graph only, so that plans are the same in every run."""
    times = [
        1000
        + op.attrs.get("flops", 0) // 50
        + sum(graph.tensors[x].bytes for x in (*op.inputs, *op.outputs)) // 10
        for op in graph.ops
    ]
    return graph.with_times("imported:fixed", times)


def with_link(graph: Graph) -> Graph:
    """The same with a host link, so that plans may swap."""
    link = Device(h2d_bytes_per_s=4 * 10**9, d2h_bytes_per_s=4 * 10**9)
    return replace(fixed_costs(graph), device=link)


def room_for_kernels(model: nn.Module, loss: Callable[..., Tensor], args: Any) -> int:
    """The most bytes that a kernel takes for itself, which fixed costs do not know."""
    if not args[0].is_cuda:
        return 0
    captured = capture_step(model, loss, args)
    graph = add_costs(captured, describe(captured, "step"), "measure")
    return max(op.workspace_bytes for op in graph.ops)


def share_of_activations(graph: Graph, share: float) -> int:
    """A budget in bytes: sources, what is kept, and a share of the rest of the peak."""
    kept = sum(graph.tensors[x].bytes for x in graph.keep)
    floor = graph.fixed_bytes + kept
    return floor + int((keep_all_peak(graph) - floor) * share)


def in_arena(model: Any, loss: Any, args: Any, share: float = 0.6, **options: Any) -> Step:
    """A step with everything in an arena, for a share of the activations."""
    graph = arena.in_arena(*described(model, loss, args))
    return remat_plan.compile(
        model,
        loss,
        budget=share_of_activations(graph, share),
        storage="arena",
        **(WORK | {"time_limit": 0.1, "times": fixed_costs} | options),
    )


def described(model: Any, loss: Any, args: Any) -> Any:
    captured = capture_step(model, loss, args)
    return captured, describe(captured, "step")


def plain_step(model: nn.Module, loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same compiled step with PyTorch's default partition, which recomputes nothing."""

    def compile_pass(module: Any, _: Any) -> Any:
        return as_boxed(boxed(module))

    backend = compile_with(default_partition, compile_pass, compile_pass)
    compiled = torch.compile(
        lambda *a, **k: loss(model, *a, **k), backend=backend, fullgraph=True, dynamic=False
    )

    def step(*args: Any, **kwargs: Any) -> Tensor:
        with one_line_errors():
            return compiled(*args, **kwargs)

    return step


def train(
    model: nn.Module, step: Callable[..., Tensor], args: tuple[Tensor, ...], steps: int = STEPS
) -> list[dict[str, Tensor]]:
    """Loss, gradients and buffers of each step, from the model's present state on. The
    model is as before afterwards."""
    before = copy.deepcopy(model.state_dict())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(7)
    history = []
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = step(*args)
        loss.backward()
        now = {"loss": loss.detach().clone()}
        now |= {f"buffer {k}": b.clone() for k, b in model.named_buffers()}
        for name, parameter in model.named_parameters():
            if parameter.grad is not None:
                now[f"gradient {name}"] = parameter.grad.clone()
        history.append(now)
        optimizer.step()
    model.load_state_dict(before)
    optimizer.zero_grad(set_to_none=True)
    return history


def differences(one: list[dict[str, Tensor]], other: list[dict[str, Tensor]]) -> list[str]:
    """What is not equal bit for bit."""
    assert len(one) == len(other)
    return [
        f"step {i}: {key}"
        for i, (a, b) in enumerate(zip(one, other, strict=True))
        for key in {*a, *b}
        if key not in a or key not in b or not torch.equal(a[key], b[key])
    ]
