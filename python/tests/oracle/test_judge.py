# SPDX-License-Identifier: MIT
"""The oracle's judge: what is right, and what is not."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from .case import Want
from .judge import half_unit, wrong_places

INFINITY = {torch.float16: 0x7C00, torch.bfloat16: 0x7F80}


def numbers(dtype: torch.dtype) -> Tensor:
    """All finite numbers from 0 on, in increasing order."""
    return torch.arange(INFINITY[dtype], dtype=torch.int16).view(dtype).double()


@pytest.mark.parametrize("dtype", INFINITY)
def test_half_a_unit_is_half_the_way_to_the_next_number(dtype: torch.dtype) -> None:
    x = numbers(dtype)
    assert torch.equal(half_unit(x[:-1], dtype), (x[1:] - x[:-1]) / 2)
    assert torch.equal(half_unit(-x, dtype), half_unit(x, dtype))


def test_half_a_unit_of_f32() -> None:
    x = torch.tensor([0, 2**-149, 2**-126, 1, 3, 2**127], dtype=torch.float64)
    want = [2**-150, 2**-150, 2**-150, 2**-24, 2**-23, 2**103]
    assert half_unit(x, torch.float32).tolist() == want


def judged(value: float, got: float, allowed: float | None) -> bool:
    """Is `got` right in f16?"""
    room = None if allowed is None else torch.tensor([allowed], dtype=torch.float64)
    want = Want(torch.tensor([value], dtype=torch.float64), torch.float16, room)
    return len(wrong_places(want, torch.tensor([got], dtype=torch.float16))) == 0


def test_rounding_to_the_nearest_is_right_and_the_neighbours_are_wrong() -> None:
    assert judged(1.0004, 1.0, 0)
    assert not judged(1.0004, 1.0 + 2**-10, 0)
    assert judged(1.0004, 1.0 + 2**-10, 2**-12)
    assert not judged(1.0, 1.0 + 2**-10, None)


def test_nothing_but_zero_is_right_for_zero() -> None:
    assert judged(0.0, -0.0, 0)
    assert not judged(0.0, 2**-24, 0)


def test_infinity_is_right_where_it_is_wanted_and_a_nan_never() -> None:
    assert judged(math.inf, math.inf, None)
    assert not judged(math.inf, 65504.0, None)
    assert not judged(65504.0, math.inf, 0)
    assert not judged(math.nan, math.nan, None)
    assert not judged(1.0, math.nan, 1)
