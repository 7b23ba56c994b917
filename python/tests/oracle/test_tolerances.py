# SPDX-License-Identifier: MIT
"""No oracle allows so much that a wrong result passes: every case rejects one that is off by
2% of its largest element, or of 0.1 where all cancel out, and accepts PyTorch's own, rounded.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from . import elements, moves, products, rows, updates, windows  # noqa: F401  (oracles)
from .case import DTYPES, ORACLES, Want, draw_case
from .judge import wrong_places


def off(want: Want) -> Tensor:
    """The result with an error in its largest element that is finite."""
    value = want.value.flatten().clone()
    finite = value.isfinite()
    at = int(value.abs().where(finite, torch.tensor(-1)).argmax())
    step = 1 if want.dtype == torch.int32 else 0.02 * value[at].abs().clamp(min=0.1)
    value[at] = value[at] + step if finite[at] else 1
    return value.reshape(want.value.shape).to(want.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", sorted(ORACLES))
def test_an_error_of_two_percent_is_seen(kind: str, dtype: str) -> None:
    for index in range(6):
        case = draw_case(kind, dtype, 1, index)
        for want in case.results:
            assert len(wrong_places(want, want.value.to(want.dtype))) == 0
            assert len(wrong_places(want, off(want))) == 1
