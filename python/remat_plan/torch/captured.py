# SPDX-License-Identifier: MIT
"""A joint graph of AOTAutograd as the planner sees it.

AOTAutograd hands its partitioner one FX graph of the forward and the backward pass, in
which nothing is changed in place. Each of its nodes has a role:

- A tensor of the planner is a *storage*. The nodes that hold it as it was made are its
  *carriers*: a graph input, the output of an op, or a getitem of that output.
- A node whose tensors all lie in storages of earlier nodes is a *view*. It costs nothing
  and is made again where it is read. So is arithmetic on numbers among the inputs.
- All other calls are *ops*.

Between the two passes stands one more op, the *boundary*: the forward pass returns (the
boundary reads what it returns) and the caller hands in the tangents (the boundary makes
them). So data dependence alone says what may run in which pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree


class Role(Enum):
    INPUT = "input"  # a placeholder or an attribute of the module
    OP = "op"
    ITEM = "item"  # a getitem of an op
    VIEW = "view"


@dataclass
class Storage:
    """A tensor of the planner. `bytes` are those it takes on the device of the step."""

    name: str
    bytes: int
    dtype: torch.dtype
    shape: list[int]
    carriers: list[fx.Node] = field(default_factory=list)


@dataclass(eq=False)
class CapturedOp:
    """An op of the planner; `reads` and `makes` are indices of storages.

    `node` is None for the boundary. `items` are the node's getitems. `effect`: it may do more
    than its arguments say, such as draw random numbers, and keeps its place among the others
    that do (`purity.py`). `once`: it must not run again.
    """

    node: fx.Node | None
    reads: list[int]
    makes: list[int] = field(default_factory=list)
    items: list[fx.Node] = field(default_factory=list)
    effect: bool = False
    once: bool = False

    @property
    def name(self) -> str:
        return "forward_returns" if self.node is None else self.node.name

    @property
    def kind(self) -> str:
        return "remat_plan.boundary" if self.node is None else str(self.node.target)


@dataclass(frozen=True)
class LateWrite:
    """A custom backward pass writes `value` to `target`, an input such as a buffer. `live`
    stands for the input as the backward pass finds it, where it reads that, and `meta` is
    that of the op that wrote in the joint graph."""

    target: fx.Node
    value: fx.Node
    live: fx.Node | None
    meta: dict[str, Any]


@dataclass
class Captured:
    """A joint graph, its storages and its ops in the order of the graph.

    `outputs` are nodes or constants, the first `num_fwd_outputs` of the forward pass.
    `returned` are storages that the caller gets from it and holds. `boundary` is the index
    of that op. `old_values` has, for each input that the step overwrites and that may be
    read after the forward pass, the source that stands for the copy of its old value.
    `late_writes` come at the end of the backward pass.
    """

    module: fx.GraphModule
    num_fwd_outputs: int
    static: frozenset[int]  # the positions of parameters and buffers among the inputs
    device: torch.device
    storages: list[Storage]
    ops: list[CapturedOp]
    role: dict[fx.Node, Role]
    storage_of: dict[fx.Node, int]
    outputs: list[Any]
    returned: list[int] = field(default_factory=list)
    boundary: int = -1
    old_values: dict[fx.Node, int] = field(default_factory=dict)
    late_writes: list[LateWrite] = field(default_factory=list)

    @property
    def inputs(self) -> list[fx.Node]:
        """What the forward pass is called with."""
        return [n for n in self.module.graph.find_nodes(op="placeholder") if not is_tangent(n)]

    @property
    def tangents(self) -> list[fx.Node]:
        """What the backward pass is called with."""
        return [n for n in self.module.graph.find_nodes(op="placeholder") if is_tangent(n)]

    @property
    def late_outputs(self) -> list[Any]:
        """What the backward pass has at its end: gradients, and what it writes to inputs."""
        return [*self.outputs[self.num_fwd_outputs :], *(w.value for w in self.late_writes)]

    def made_by_ops(self, nodes: list[Any]) -> list[int]:
        """The storages of these outputs that are not sources, sorted."""
        made = {x for op in self.ops for x in op.makes}
        return sorted({self.storage_of[n] for n in nodes if n in self.storage_of} & made)

    def held_by_ops_that_run_once(self) -> list[int]:
        """Storages that these make in the forward pass, and that ops read which depend on
        the tangents."""
        late = set(self.ops[self.boundary].makes)
        early: set[int] = set()
        held: set[int] = set()
        for op in self.ops:
            if late & {*op.reads, *op.makes}:
                late.update(op.makes)
                held.update(early.intersection(op.reads))
            elif op.once:
                early.update(op.makes)
        return sorted(held)


def is_tangent(node: fx.Node) -> bool:
    return node.op == "placeholder" and "tangents" in str(node.target)


def allocated(tensor: torch.Tensor) -> int:
    """The bytes that a tensor's storage takes; CUDA's allocator rounds up to 512 bytes."""
    n = int(tensor.untyped_storage().nbytes())
    return -(-n // 512) * 512 if tensor.is_cuda else n


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors of a node's value, in order."""
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def identity(tensor: torch.Tensor) -> int:
    """Equal for tensors that look into one storage."""
    return int(tensor.untyped_storage()._cdata)
