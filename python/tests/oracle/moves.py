# SPDX-License-Identifier: MIT
"""Kinds that move elements."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from .case import Draw, Parts, oracle

aten = torch.ops.aten


def draw_parts(draw: Draw) -> tuple[int, list[int], list[int]]:
    """An axis, a shape, and sizes along the axis that add up to it."""
    shape, sizes = draw.shape(), draw.ints(draw.between(1, 4), 1, 3)
    axis = draw.between(0, len(shape) - 1)
    shape[axis] = sum(sizes)
    return axis, shape, sizes


@oracle("concat")
def _(draw: Draw) -> Parts:
    axis, shape, sizes = draw_parts(draw)
    parts = [draw.real(*shape[:axis], n, *shape[axis + 1 :]) for n in sizes]
    return Parts({"axis": axis}, parts, [draw.exactly(torch.cat(parts, axis))])


@oracle("split")
def _(draw: Draw) -> Parts:
    axis, shape, sizes = draw_parts(draw)
    x = draw.real(*shape)
    return Parts(
        {"axis": axis}, [x], [draw.exactly(part) for part in torch.split(x, sizes, axis)]
    )


def draw_slice(draw: Draw) -> tuple[list[int], int, int, int]:
    shape = draw.shape(size=7)
    axis = draw.between(0, len(shape) - 1)
    start = draw.between(0, shape[axis] - 1)
    return shape, axis, start, draw.between(1, shape[axis] - start)


@oracle("slice")
def _(draw: Draw) -> Parts:
    shape, axis, start, n = draw_slice(draw)
    x = draw.real(*shape)
    return Parts({"axis": axis, "start": start}, [x], [draw.exactly(x.narrow(axis, start, n))])


@oracle("slice_grad")
def _(draw: Draw) -> Parts:
    shape, axis, start, n = draw_slice(draw)
    gy = draw.real(*shape).narrow(axis, start, n).contiguous()
    gx = aten.slice_backward(gy, shape, axis, start, start + n, 1)
    return Parts({"axis": axis, "start": start}, [gy], [draw.exactly(gx)])


@oracle("transpose")
def _(draw: Draw) -> Parts:
    x = draw.real(*draw.shape(2, 4))
    return Parts({}, [x], [draw.exactly(x.mT)])


@oracle("gather")
def _(draw: Draw) -> Parts:
    table = draw.real(draw.between(1, 7), draw.between(1, 5))
    ids = draw.below(len(table), *draw.shape(1, 3))
    return Parts({}, [table, ids], [draw.exactly(F.embedding(ids, table))])


@oracle("gather_grad")
def _(draw: Draw) -> Parts:
    rows, ids = draw.between(1, 7), draw.shape(1, 3)
    index = draw.below(rows, *ids)
    gy = draw.real(*ids, draw.between(1, 5))

    def backward(g: Tensor) -> Tensor:
        grad: Tensor = aten.embedding_dense_backward(g, index, rows, -1, False)
        return grad

    wide = gy.double()
    want = draw.near(backward(wide), backward(wide.abs()), index.numel())
    return Parts({}, [gy, index], [want])
