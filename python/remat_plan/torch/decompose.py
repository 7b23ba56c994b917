# SPDX-License-Identifier: MIT
"""Ops in two, with the same bits.

Loss functions take the memory that they show: the kernels of some losses write one value for
each element and then the mean into the same storage, which stays as large as before. The
graph shows a tensor of 4 bytes, and the caller holds the loss. As two ops the large storage
can die.

Dropout draws a mask, and then multiplies. Random numbers are drawn once: a second run would
need the generator's state before the first, and another thread may draw between reading that
state and the run. The mask has a byte for each element, and the product can be made again.
"""

from __future__ import annotations

import struct
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


def _draw_mask(like: torch.Tensor, keep: float, contiguous: bool) -> torch.Tensor:
    layout = torch.contiguous_format if contiguous else torch.preserve_format
    return torch.empty_like(like, dtype=torch.bool, memory_format=layout).bernoulli_(keep)


def _apply_dropout(x: torch.Tensor, mask: torch.Tensor, keep: float) -> torch.Tensor:
    """Rounds as the kernels do: on the CPU the scale and then the product to the type of
    `x`; others divide in single precision, and have the layout of `x`."""
    if x.device.type == "cpu":
        return x * mask.to(x.dtype).mul_(1.0 / keep)
    exact = keep if x.dtype == torch.float64 else struct.unpack("f", struct.pack("f", keep))[0]
    product: torch.Tensor = _aten.native_dropout_backward.default(x, mask, 1.0 / exact)
    like = torch.empty_like(x, device="meta")
    if product.stride() == like.stride():
        return product
    return torch.empty_like(x).copy_(product)


_library: Any = torch.library.Library("remat_plan", "DEF")  # type: ignore[no-untyped-call]
_library.define(
    "draw_mask(Tensor like, float keep, bool contiguous) -> Tensor",
    tags=(torch.Tag.nondeterministic_seeded,),
)
_library.define("apply_dropout(Tensor x, Tensor mask, float keep) -> Tensor")
_library.impl("apply_dropout", _apply_dropout, "CompositeExplicitAutograd")
_library.impl("draw_mask", _draw_mask, "CompositeExplicitAutograd")
draw_mask: Any = torch.ops.remat_plan.draw_mask.default
apply_dropout: Any = torch.ops.remat_plan.apply_dropout.default


def _dropout(x: torch.Tensor, p: float, train: bool | None) -> Any:
    """The mask and the product. `train=None` means the same as True, and marks calls that
    were taken apart already."""
    if not train or not 0 < p < 1:
        return NotImplemented
    if x.device.type in ("cpu", "meta"):
        mask = draw_mask(x, 1.0 - p, False)
    else:  # the kernel draws as it multiplies
        mask = _aten.native_dropout.default(x, p, None)[1]
    return apply_dropout(x, mask, 1.0 - p), mask


def _bernoulli(x: torch.Tensor, p: float, *, generator: Any = None) -> Any:
    """A mask of bytes, and the same numbers in the type of `x`. On the CPU the type does not
    change what is drawn."""
    if generator is not None or x.device.type != "cpu" or not x.is_floating_point():
        return NotImplemented
    return draw_mask(x, p, True).to(x.dtype)


DECOMPOSITIONS: dict[Any, Callable[..., Any]] = {
    loss: _in_two_ops(loss)
    for loss in (
        _aten.mse_loss.default,
        _aten.smooth_l1_loss.default,
        _aten.soft_margin_loss.default,
        _aten.binary_cross_entropy.default,
    )
} | {_aten.native_dropout.default: _dropout, _aten.bernoulli.p: _bernoulli}
