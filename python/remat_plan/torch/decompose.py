# SPDX-License-Identifier: MIT
"""Loss functions in two ops, which take the memory that they show.

The kernels of some losses write one value for each element and then the mean into the same
storage, which stays as large as before. The graph shows a tensor of 4 bytes, and the caller
holds the loss. As two ops the same arithmetic gives the same bits, and the large storage can
die.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_aten = torch.ops.aten
_NONE, _MEAN = 0, 1  # values of the argument `reduction`; 2 is the sum


def _in_two_ops(loss: Any) -> Callable[..., Any]:
    names = [argument.name for argument in loss._schema.arguments]

    def decomposed(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(names, args, strict=False)) | kwargs
        reduction = given.get("reduction", _MEAN)
        if reduction == _NONE:
            return NotImplemented
        each = loss(**(given | {"reduction": _NONE}))
        return each.mean() if reduction == _MEAN else each.sum()

    return decomposed


DECOMPOSITIONS: dict[Any, Callable[..., Any]] = {
    loss: _in_two_ops(loss)
    for loss in (
        _aten.mse_loss.default,
        _aten.smooth_l1_loss.default,
        _aten.soft_margin_loss.default,
        _aten.binary_cross_entropy.default,
    )
}
