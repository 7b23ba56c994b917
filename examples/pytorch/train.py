# SPDX-License-Identifier: MIT
"""Train a network on handwritten digits within a memory budget.

    python train.py                     # at 60% of the peak without a plan
    python train.py --budget 14MiB
    python train.py --no-plan           # the same loop without the two lines
    python train.py --compare           # both: are the losses equal bit for bit?

The digits come with scikit-learn. On the CPU memory is counted in bytes of live tensors:
parameters, buffers, the batch, and what the forward and the backward pass make.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn

from remat_plan.torch.meter import LiveBytes

MIB = 1 << 20


def network() -> nn.Module:
    def block(channels_in: int, channels_out: int) -> nn.Module:
        convolution = nn.Conv2d(channels_in, channels_out, 3, padding=1)
        return nn.Sequential(convolution, nn.BatchNorm2d(channels_out), nn.ReLU())

    return nn.Sequential(
        block(1, 32),
        block(32, 32),
        block(32, 32),
        nn.MaxPool2d(2),
        block(32, 64),
        block(64, 64),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(64 * 4 * 4, 10),
    )


def loss_fn(model: nn.Module, images: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(model(images), labels)


def batches(size: int, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Images of 8 x 8 pixels and their labels, shuffled anew when all were used."""
    digits = load_digits()
    images = torch.from_numpy(digits.images).float().unsqueeze(1) / 16
    labels = torch.from_numpy(digits.target)
    generator = torch.Generator().manual_seed(0)
    waiting: list[Tensor] = []
    for _ in range(steps):
        if not waiting:
            shuffled = torch.randperm(len(labels), generator=generator)
            waiting = [part for part in shuffled.split(size) if len(part) == size]
        chosen = waiting.pop()
        yield images[chosen], labels[chosen]


def train(args: argparse.Namespace, planned: bool) -> tuple[list[float], int]:
    """The loss of each step, and the measured peak in bytes."""
    torch.manual_seed(0)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    step: Any = partial(loss_fn, model)

    if planned:  # These are the two lines:
        import remat_plan

        step = remat_plan.compile(model, loss_fn, budget=args.budget, times=args.times)

    meter = Meter(model)
    losses = []
    for images, labels in batches(args.batch, args.steps):
        optimizer.zero_grad()
        with nullcontext() if planned else meter.watch(images, labels):
            loss = step(images, labels)
            loss.backward()
        optimizer.step()
        losses.append(loss.item())

    if planned:
        print(step.report())
        return losses, step.report().measured_peak_bytes
    return losses, meter.peak_bytes


class Meter:
    """Measures the peak of a step without a plan; a planned step measures itself."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.peak_bytes = 0

    @contextmanager
    def watch(self, *batch: Tensor) -> Iterator[None]:
        before = [*self.model.parameters(), *self.model.buffers(), *batch]
        with LiveBytes() as live:
            live.ignore(before)
            yield
        self.peak_bytes = max(self.peak_bytes, live.peak + sum(t.nbytes for t in before))


def show(name: str, losses: Sequence[float], peak_bytes: int) -> None:
    peak = f"peak {peak_bytes / MIB:.1f} MiB"
    print(f"{name}: {peak}, loss {losses[0]:.6f} to {losses[-1]:.6f} in {len(losses)} steps")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Train on digits within a memory budget.")
    parser.add_argument("--budget", default="60%", help='as "14MiB" or "60%%" (the default)')
    parser.add_argument(
        "--times", default="measure", help="measure, or a device such as v100-16g"
    )
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--batch", type=int, default=256)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--no-plan", action="store_true", help="train without a plan")
    which.add_argument("--compare", action="store_true", help="train both ways")
    args = parser.parse_args(arguments)
    losses: list[list[float]] = []
    for planned in (False, True) if args.compare else (not args.no_plan,):
        trained, peak_bytes = train(args, planned)
        show("with a plan" if planned else "without a plan", trained, peak_bytes)
        losses.append(trained)
    if args.compare:
        equal = losses[0] == losses[1]
        print(f"losses are {'equal' if equal else 'NOT equal'} bit for bit")
        return int(not equal)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
