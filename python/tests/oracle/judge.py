# SPDX-License-Identifier: MIT
"""Is an output what it should be?"""

from __future__ import annotations

import torch
from torch import Tensor

from .case import Case, Want

# Digits of the significand, and the exponent of the smallest number above 0.
FORMATS = {torch.float32: (24, -149), torch.float16: (11, -24), torch.bfloat16: (8, -133)}


def half_unit(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Half a unit in the last place of numbers as large as x, which is f64."""
    digits, smallest = FORMATS[dtype]
    exponent = torch.frexp(x).exponent - digits  # |x| = m 2^e with m in [1/2, 1)
    exponent = exponent.clamp(min=smallest).where(x != 0, torch.tensor(smallest))
    return torch.ldexp(torch.ones_like(x), exponent - 1)


def tolerance(want: Want) -> Tensor:
    """How far from `want.value` a result may be."""
    if want.allowed is None:
        return torch.zeros_like(want.value)
    return want.allowed + half_unit(want.value.abs() + want.allowed, want.dtype)


def wrong_places(want: Want, got: Tensor) -> Tensor:
    """The flat indices of wrong elements. Infinity is right where it is wanted, a NaN never."""
    number = got.to(want.value.dtype)
    right = (number == want.value) | ((number - want.value).abs() <= tolerance(want))
    return (~right).flatten().nonzero().flatten()


def complaint(case: Case, results: list[Tensor]) -> str | None:
    """What is wrong with the results of a case, in one line."""
    for i, (want, got) in enumerate(zip(case.results, results, strict=True)):
        places = wrong_places(want, got)
        if len(places) > 0:
            at = int(places[0])
            number, right = got.flatten()[at].item(), want.value.flatten()[at].item()
            allowed = tolerance(want).flatten()[at].item()
            return (
                f"{case.name}: {len(places)} of {got.numel()} elements of result {i}: "
                f"[{at}] is {number!r}, not {right!r} within {allowed:.3g}; "
                f"{case.attrs}, inputs {[list(x.shape) for x in case.inputs]}"
            )
    return None
