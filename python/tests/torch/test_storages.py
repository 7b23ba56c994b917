# SPDX-License-Identifier: MIT
"""Ops that address a storage and not a tensor, and where tensors lie in their storages."""

from __future__ import annotations

from typing import Any

import harness
import pytest
import torch
import torch.nn.functional as F
from random_plans import random_plan
from torch import nn

import remat_plan
from remat_plan.torch import arena, planner
from remat_plan.torch.meter import LiveBytes


class Steps(nn.Module):
    """Layers, each followed by the same function."""

    def __init__(self, function: Any, *layers: nn.Module) -> None:
        super().__init__()
        self.function, self.layers = function, nn.ModuleList(layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = self.function(torch.tanh(layer(x)))
        return x


def pooled(x: torch.Tensor) -> torch.Tensor:
    columns = F.unfold(F.avg_pool2d(x, 3, 1, 1), 3, padding=1)
    x = F.pixel_shuffle(F.fold(columns, x.shape[-2:], 3, padding=1), 2)
    x = F.max_pool2d(x, 2) + F.adaptive_avg_pool2d(x, 1)
    return x.repeat(1, 4, 2, 2)[..., :8, :8]


def written(x: torch.Tensor) -> torch.Tensor:
    wide = torch.cat([x, x * 2], 1)
    y = torch.slice_scatter(wide[:, 3:19], x[:, :2] * 3, 1, 1, 3)  # a part of a storage
    y = y + y.as_strided((16, 1), (32, 1), 5).sin()
    y[:, :4] = x[:, 4:8]
    y = torch.diagonal_scatter(y, x[0].cos())
    windows = y.contiguous().as_strided((60, 4), (4, 1), 2).unfold(1, 2, 1).mean()
    return torch.select_scatter(y, x[1], 0, 2).tanh() + windows


def spectral(x: torch.Tensor) -> torch.Tensor:
    spectrum = torch.fft.rfft(x)
    angles = torch.view_as_real(spectrum * spectrum.conj()).mean(-1).tanh()
    return torch.fft.irfft(spectrum * torch.polar(torch.ones_like(angles), angles), n=16)


def factored(x: torch.Tensor) -> torch.Tensor:
    spread = torch.diag(torch.arange(1.0, 33.0, 2.0))
    q, r = torch.linalg.qr(x + spread)
    u, s, v = torch.linalg.svd(x + spread)
    e, w = torch.linalg.eigh(x + x.T + 4 * spread)
    return (q @ r.tanh() + (u * s.log()) @ v + (w * e.tanh()) @ w.T).tanh()


def checked(x: torch.Tensor) -> torch.Tensor:
    torch._assert_async((x.abs() < 100).all(), "too large")
    top, where = x.topk(4)
    ones = F.one_hot(where[:, 0], 16) * x.sort(1)[0]
    return ones + x.scatter(1, where, top.sin()) + x.mean(1, keepdim=True).expand(16, 16)


def squares(model: Any, *args: Any) -> torch.Tensor:
    return model(*args).square().mean()


def normed(x: torch.Tensor) -> torch.Tensor:
    """Norms whose kernels on the CPU make other types than PyTorch traces."""
    weight = x.detach().mean(0).cos()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = F.batch_norm(x.bfloat16(), None, None, weight, weight, training=True)
        y = F.group_norm(F.instance_norm(y.view(2, 8, 16)), 4, weight[:8], weight[:8])
        return F.layer_norm(y.reshape(16, 16), (16,), weight, weight).float()


def merged(x: torch.Tensor) -> torch.Tensor:
    """Equal calls, of which each has another user."""
    values, places = x.detach().sort(1)[0], x.detach().sort(1)[1]
    x = x * values + places * 0.01
    x = x * x.sin().T + x.sin().view(256).unfold(0, 16, 16)
    return x + torch.linalg.qr(x)[0] + torch.linalg.qr(x)[1] * 0.1


def chain_of(function: Any) -> tuple[nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    if function is not pooled:
        return Steps(function, *(nn.Linear(16, 16) for _ in range(2))), (torch.randn(16, 16),)
    layers = (nn.Conv2d(8, 8, 3, padding=1) for _ in range(2))
    return Steps(function, *layers), (torch.randn(2, 8, 8, 8),)


@pytest.mark.parametrize(
    "function", [pooled, written, spectral, factored, checked, normed, merged]
)
def test_ops_see_a_storage_of_their_own(function: Any) -> None:
    model, args = chain_of(function)
    if function is pooled:
        model = model.to(memory_format=torch.channels_last)
        args = (args[0].to(memory_format=torch.channels_last),)
    wanted = harness.train(model, harness.plain_step(model, squares), args, steps=2)
    step = harness.in_arena(model, squares, args, 0.8)
    assert harness.differences(wanted, harness.train(model, step, args, steps=2)) == []
    report = step.report()
    assert report.requested_peak_bytes is not None
    assert report.requested_peak_bytes <= report.planned_peak_bytes


@pytest.mark.parametrize("function", [written, normed])
def test_a_swap_keeps_the_layout_in_the_storage(
    function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`as_strided` counts from the beginning of the storage, also after a swap; and what was
    made has its type."""
    model, args = chain_of(function)
    wanted = harness.train(model, harness.plain_step(model, squares), args, steps=2)
    monkeypatch.setattr(planner, "find_plan", lambda c, graph, _: random_plan(c, graph, 2))
    step = remat_plan.compile(model, squares, budget="100%", times=harness.fixed_costs)
    assert harness.differences(wanted, harness.train(model, step, args, steps=2)) == []
    swapped = step.report().swapped
    assert any(name in " ".join(swapped) for name in ("slice_scatter", "norm"))


def test_a_second_backward_pass_is_refused() -> None:
    model, args = chain_of(pooled)
    loss = harness.in_arena(model, squares, args)(*args)
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_storage_in_an_arena_counts_once_and_holds_it() -> None:
    with LiveBytes() as live:
        buffer = torch.empty(1024, dtype=torch.uint8)
        place = arena.place(buffer, 512, 256, (8, 4), (4, 1), 2, torch.float32)
        place = place.fill_(1)
        assert place.untyped_storage().nbytes() == 256
        assert buffer[520:524].view(torch.float32).item() == 1
        assert live.live == live.peak == 1024
        del buffer
        assert live.live == 1024
        del place
    assert live.live == 0


class Gate(nn.Module):
    """Its backward pass has a kernel that makes another layout than is traced."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Hardswish()),
            *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)),
        ).to(memory_format=torch.channels_last)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def test_layouts_are_those_that_kernels_make() -> None:
    """Else what reads them rounds in another way than in the step without an arena."""
    torch.manual_seed(0)
    model, args = Gate(), (torch.randn(2, 3, 6, 6).to(memory_format=torch.channels_last),)
    wanted = harness.train(model, harness.plain_step(model, squares), args, steps=2)
    step = harness.in_arena(model, squares, args, 1.5)
    assert harness.differences(wanted, harness.train(model, step, args, steps=2)) == []


def test_an_op_that_reads_another_layout_than_traced_is_copied() -> None:
    place = arena.place(
        torch.empty(64, dtype=torch.uint8), 0, 64, (4, 4), (4, 1), 0, torch.float32
    )
    x = torch.arange(16.0).view(4, 4)
    args = (
        torch.ops.aten.sin.default,
        torch.ops.aten.sin.out,
        ("out",),
        [(torch.float32, (4, 1))],
    )
    assert arena.write(*args, x, out=place) is place
    turned = arena.write(*args, x.t(), out=place)
    assert turned.stride() == (1, 4)
    assert turned.data_ptr() == place.data_ptr()
    assert torch.equal(turned, x.t().sin())
