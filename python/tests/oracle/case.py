# SPDX-License-Identifier: MIT
"""A case: one op with its operands and what they should be; and how cases are drawn."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
NAMES = {**{dtype: name for name, dtype in DTYPES.items()}, torch.int32: "i32"}


@dataclass(frozen=True)
class Want:
    """What an output should be: f64 numbers (i32 for an index) that a tensor of `dtype` holds.

    `allowed` is how far the result may be from `value` before it is rounded to `dtype`;
    None: not at all, and `value` needs no rounding.
    """

    value: Tensor
    dtype: torch.dtype
    allowed: Tensor | None = None


class Parts(NamedTuple):
    """What an oracle draws. `updates` are read after the inputs and replaced in place: the
    last of `results` are what they should become, the others are the outputs.
    """

    attrs: dict[str, Any]
    inputs: list[Tensor]
    results: list[Want]
    updates: list[Tensor] = []  # noqa: RUF012  (nothing changes it)


@dataclass(frozen=True)
class Case:
    """`shapes` are those in which the inputs are stored, where the op reads a view."""

    name: str
    kind: str
    attrs: dict[str, Any]
    inputs: list[Tensor]
    shapes: list[tuple[int, ...]]
    updates: list[Tensor]
    results: list[Want]


class Draw:
    """Draws one case. Everything follows from `name`. `dtype` is the network's type."""

    def __init__(self, name: str, dtype: torch.dtype) -> None:
        self.dtype = dtype
        self.random = random.Random(name)
        self.torch = torch.Generator().manual_seed(self.random.getrandbits(63))

    # ---- numbers and shapes ----

    def between(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return self.random.randint(low, high)

    def ints(self, n: int, low: int, high: int) -> list[int]:
        return [self.between(low, high) for _ in range(n)]

    def coin(self) -> bool:
        return self.random.random() < 0.5

    def uniform(self, low: float, high: float) -> float:
        return self.random.uniform(low, high)

    def choice(self, *items: Any) -> Any:
        return self.random.choice(items)

    def shape(self, low: int = 1, high: int = 4, size: int = 5) -> list[int]:
        """From low to high dimensions of sizes up to `size`."""
        return self.ints(self.between(low, high), 1, size)

    # ---- tensors ----

    def scale(self) -> float:
        """A size of numbers: their products may be too large or too small for the type."""
        far: float = 2.0 ** (9 if self.dtype == torch.float16 else 65)
        scale: float = self.choice(1, far, 1 / far)
        return scale

    def real(self, *shape: int, scale: float = 1) -> Tensor:
        """Normally distributed numbers in the network's type."""
        return (torch.randn(shape, generator=self.torch) * scale).to(self.dtype)

    def whole(self, *shape: int, limit: int = 3) -> Tensor:
        """Whole numbers from -limit to limit in the network's type: many are equal."""
        return torch.randint(-limit, limit + 1, shape, generator=self.torch).to(self.dtype)

    def stat(self, *shape: int, low: float = -1, high: float = 1) -> Tensor:
        """Uniformly distributed numbers in f32."""
        return torch.rand(shape, generator=self.torch) * (high - low) + low

    def below(self, n: int, *shape: int) -> Tensor:
        """i32 numbers from 0 to n - 1."""
        return torch.randint(0, n, shape, generator=self.torch, dtype=torch.int32)

    # ---- what an output should be ----

    def exactly(self, value: Tensor) -> Want:
        """`value`, in its own type, or in the network's type if it is f64."""
        dtype = self.dtype if value.dtype == torch.float64 else value.dtype
        return Want(value.to(torch.int64 if dtype == torch.int32 else torch.float64), dtype)

    def near(self, value: Tensor, size: Tensor, roundings: float) -> Want:
        """f64 `value`, in the network's type."""
        return Want(value, self.dtype, roundings * 2**-24 * size.abs())

    def stat_near(self, value: Tensor, size: Tensor, roundings: float) -> Want:
        """f64 `value`, in f32."""
        return Want(value, torch.float32, roundings * 2**-24 * size.abs())


Oracle = Callable[[Draw], Parts]
ORACLES: dict[str, Oracle] = {}


def oracle(kind: str) -> Callable[[Oracle], Oracle]:
    """Registers a function that draws a case of the kind."""

    def register(function: Oracle) -> Oracle:
        ORACLES[kind] = function
        return function

    return register


def draw_case(kind: str, dtype: str, seed: int, index: int) -> Case:
    """Case `index` of the kind. One in three has inputs that are stored in another shape."""
    name = f"{kind} {dtype} {seed} {index}"
    draw = Draw(name, DTYPES[dtype])
    attrs, inputs, results, updates = ORACLES[kind](draw)
    shapes = [tuple(x.shape) for x in inputs]
    if draw.between(1, 3) == 1:
        views: list[list[int] | None] = [None] * len(inputs)
        for i, x in enumerate(inputs):
            if draw.coin():
                views[i], shapes[i] = list(x.shape), (1, x.numel())
        attrs = {**attrs, "views": views}
    return Case(name, kind, attrs, inputs, shapes, updates, results)
