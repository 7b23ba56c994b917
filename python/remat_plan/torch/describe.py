# SPDX-License-Identifier: MIT
"""A captured step as a graph file: what the planner is told of it."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree
from torch.utils.flop_counter import flop_registry

from ..graph import Graph, Kind, Op, Tensor
from .captured import Captured, CapturedOp, tensors_in

_DTYPES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.uint16: "u16",
    torch.uint32: "u32",
    torch.uint64: "u64",
    torch.complex32: "c32",
    torch.complex64: "c64",
    torch.complex128: "c128",
    torch.float8_e4m3fn: "f8e4m3fn",
    torch.float8_e4m3fnuz: "f8e4m3fnuz",
    torch.float8_e5m2: "f8e5m2",
    torch.float8_e5m2fnuz: "f8e5m2fnuz",
    torch.bool: "bool",
}


def describe(captured: Captured, name: str) -> Graph:
    """The graph of a captured step, without times (`time_source` "none").

    The caller holds what the forward pass returned, so those tensors are `held`. Random ops
    and others with effects run in the order of the graph, and the boundary stands between the
    same ones: they are `ordered`. Ops with several outputs make all of them anew when they
    run again.
    """
    return Graph(
        name=name,
        time_source="none",
        tensors=_tensors(captured),
        ops=[_op(captured, i, op) for i, op in enumerate(captured.ops)],
        keep=kept(captured),
        order="free",
        notes={"made_by": f"remat_plan, torch {torch.__version__}"},
    )


def kept(captured: Captured) -> list[int]:
    """What the caller has at the end: outputs, tangents and gradients."""
    gradients = captured.made_by_ops(captured.late_outputs)
    tangents = captured.ops[captured.boundary].makes
    return sorted({*gradients, *tangents, *captured.returned})


def _tensors(captured: Captured) -> list[Tensor]:
    producers = {x: i for i, op in enumerate(captured.ops) for x in op.makes}
    kinds = _source_kinds(captured)
    held = {*captured.returned, *captured.ops[captured.boundary].makes}
    tensors = []
    for x, storage in enumerate(captured.storages):
        kind: Kind = kinds.get(x, "state")
        if x in producers:
            kind = "gradient" if producers[x] >= captured.boundary else "activation"
        tensors.append(
            Tensor(
                storage.name,
                storage.bytes,
                kind,
                dtype=_DTYPES.get(storage.dtype, str(storage.dtype).removeprefix("torch.")),
                shape=storage.shape,
                held=x in held,
            )
        )
    return tensors


def _source_kinds(captured: Captured) -> dict[int, Kind]:
    kinds: dict[int, Kind] = {}
    for i, node in enumerate(captured.inputs):
        if node in captured.storage_of:
            kind: Kind = "parameter" if i in captured.static else "input"
            kinds.setdefault(captured.storage_of[node], kind)
    return kinds


def _op(captured: Captured, i: int, op: CapturedOp) -> Op:
    ordered = op.effect or i == captured.boundary
    return Op(
        name=op.name,
        kind=op.kind,
        inputs=op.reads,
        outputs=op.makes,
        time_ns=0,
        phase="forward" if i <= captured.boundary else "backward",
        recompute=not op.once,
        ordered=ordered,
        rewrites=len(op.makes) <= 1,
        attrs={"flops": 0} if op.node is None else _attrs(op.node),
    )


def _attrs(node: fx.Node) -> dict[str, Any]:
    """Floating-point operations, and the groups of a convolution, for device models."""
    attrs: dict[str, Any] = {"flops": _flops(node)}
    if node.target is torch.ops.aten.convolution.default and node.args[8] != 1:
        attrs["groups"] = node.args[8]
    if node.target is torch.ops.aten.convolution_backward.default and node.args[9] != 1:
        attrs["groups"] = node.args[9]
    return attrs


def _flops(node: fx.Node) -> int:
    """From PyTorch's own formulas; ops without one do one operation an output element."""
    formula = flop_registry.get(getattr(node.target, "overloadpacket", None))
    if formula is None:
        return sum(t.numel() for t in tensors_in(node.meta.get("val")))
    args, kwargs = pytree.tree_map(
        lambda a: a.meta.get("val") if isinstance(a, fx.Node) else a, (node.args, node.kwargs)
    )
    return int(formula(*args, **kwargs, out_val=node.meta.get("val")))
