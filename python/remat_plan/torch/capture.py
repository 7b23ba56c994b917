# SPDX-License-Identifier: MIT
"""Reads a joint graph: gives each node its role, and finds storages and ops."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from . import purity
from .boundary import add_boundary
from .captured import Captured, CapturedOp, Role, Storage, tensors_in
from .errors import Refused


def capture(module: fx.GraphModule, num_fwd_outputs: int, static: frozenset[int]) -> Captured:
    """What the joint graph means to the planner. Simplifies the graph. Raises Refused."""
    _simplify(module)
    move_seeds_to_host(module)
    output = next(iter(module.graph.find_nodes(op="output")))
    captured = Captured(
        module=module,
        num_fwd_outputs=num_fwd_outputs,
        static=static,
        device=_device(module),
        storages=[],
        ops=[],
        role={},
        storage_of={},
        outputs=list(output.args[0]),
    )
    reader = _Reader(captured)
    for node in module.graph.nodes:
        reader.take(node)
    add_boundary(captured, list(output.meta.get("desc") or []))
    return captured


def _simplify(module: fx.GraphModule) -> None:
    """Remove dead and repeated work, and write plain numbers where they are used.

    Calls whose results may differ stay as they are.
    """
    from torch._functorch.compile_utils import fx_graph_cse

    def stays(node: fx.Node) -> bool:
        return node.is_impure() or purity.has_hidden_state(module, node)

    def unlike_others(node: fx.Node) -> fx.Node | None:
        return node if stays(node) or purity.is_undefined(node) else None

    module.graph.eliminate_dead_code(stays)
    module.graph = fx_graph_cse(module.graph, unlike_others)
    for node in list(module.graph.nodes):
        value = node.meta.get("val")
        if node.target is operator.getitem and isinstance(value, int | float):
            for user in list(node.users):
                _write_constant(user, node, value)
            module.graph.erase_node(node)
    module.recompile()


def _write_constant(user: fx.Node, node: fx.Node, value: float) -> None:
    def written(argument: fx.Node) -> Any:
        return value if argument is node else argument

    user.args = fx.map_arg(user.args, written)
    user.kwargs = fx.map_arg(user.kwargs, written)


ATTENTION_WITH_SEEDS_ON_HOST = (
    torch.ops.aten._scaled_dot_product_efficient_attention.default,
    torch.ops.aten._efficient_attention_forward.default,
)


def move_seeds_to_host(module: fx.GraphModule) -> None:
    """Say where the seed and the offset of attention with dropout are.

    PyTorch traces them as if they were on the GPU. But outside of CUDA graphs its
    memory-efficient attention makes them in host memory, and its backward pass reads them
    there.
    """
    for node in module.graph.nodes:
        if node.target in ATTENTION_WITH_SEEDS_ON_HOST and purity.draws(node):
            value = list(node.meta["val"])
            for i in (2, 3):  # philox_seed, philox_offset
                with value[i].fake_mode:
                    value[i] = torch.empty_like(value[i], device="cpu")
                for user in node.users:
                    if user.target is operator.getitem and user.args[1] == i:
                        user.meta["val"] = value[i]
            node.meta["val"] = tuple(value)


def _device(module: fx.GraphModule) -> torch.device:
    """The device whose memory is planned: the accelerator if one occurs, else the CPU."""
    values = [t for n in module.graph.nodes for t in tensors_in(n.meta.get("val"))]
    others = {t.device for t in values if t.device.type != "cpu"}
    if len(others) > 1:
        names = ", ".join(sorted(map(str, others)))
        raise Refused(f"the step uses more than one device: {names}")
    return others.pop() if others else torch.device("cpu")


class _Reader:
    """Fills a `Captured` node by node, in the order of the graph."""

    def __init__(self, captured: Captured) -> None:
        self.c = captured
        self.index: dict[int, int] = {}  # identity of a fake storage -> index
        self.op_of: dict[fx.Node, CapturedOp] = {}

    def take(self, node: fx.Node) -> None:
        _refuse_unsupported(node)
        if node.op in ("placeholder", "get_attr"):
            self.input(node)
        elif node.op == "call_function":
            if node.target is operator.getitem and node.args[0] in self.op_of:
                self.item(node)
            elif (base := self.base(node)) is not None:
                self.view(node, base)
            else:
                self.op(node)

    def input(self, node: fx.Node) -> None:
        self.c.role[node] = Role.INPUT
        if node.op == "get_attr" and "val" not in node.meta:
            node.meta["val"] = getattr(self.c.module, str(node.target))
        for tensor in tensors_in(node.meta.get("val")):
            x = self.c.storage_of[node] = self.storage(tensor, node.name)
            self.c.storages[x].carriers.append(node)

    def base(self, node: fx.Node) -> int | None:
        """The storage that a view looks into; None if the node is not a view.

        Most views show it by their fake storage. Some were traced with a storage of their
        own (constants of masks), but the op's schema says that it returns its argument.
        """
        tensors = tensors_in(node.meta.get("val"))
        if not tensors:
            return None
        if all(_identity(t) in self.index for t in tensors):
            return self.index[_identity(tensors[0])]
        argument = _aliased_argument(node)
        base = None if argument is None else self.c.storage_of.get(argument)
        if base is not None:
            self.index.update({_identity(t): base for t in tensors})
        return base

    def view(self, node: fx.Node, base: int) -> None:
        if purity.has_hidden_state(self.c.module, node):
            raise Refused(
                f"{node.target} ({node.name}) returns a view of its argument, and may do more: "
                "say remat_plan.torch.pure(op) if it does not, or return a new tensor"
            )
        self.c.role[node] = Role.VIEW
        self.c.storage_of[node] = base

    def op(self, node: fx.Node) -> None:
        self.c.role[node] = Role.OP
        value = node.meta.get("val")
        tensors = tensors_in(value)
        if any(_identity(t) in self.index for t in tensors):
            raise Refused(f"{node.target} ({node.name}) returns an input beside new tensors")
        reads = {self.c.storage_of[a] for a in node.all_input_nodes if a in self.c.storage_of}
        makes = [
            self.storage(t, f"{node.name}[{i}]" if len(tensors) > 1 else node.name)
            for i, t in enumerate(tensors)
        ]
        op = self.op_of[node] = CapturedOp(node, sorted(reads), sorted(set(makes)))
        if isinstance(value, torch.Tensor):
            self.c.storage_of[node] = op.makes[0]
            self.c.storages[op.makes[0]].carriers.append(node)
        op.effect = purity.has_hidden_state(self.c.module, node)
        op.once = op.effect or not op.makes or purity.is_undefined(node)
        self.c.ops.append(op)

    def item(self, node: fx.Node) -> None:
        self.c.role[node] = Role.ITEM
        self.op_of[node.args[0]].items.append(node)  # type: ignore[index]
        for tensor in tensors_in(node.meta.get("val")):
            x = self.c.storage_of[node] = self.index[_identity(tensor)]
            self.c.storages[x].carriers.append(node)

    def storage(self, tensor: torch.Tensor, name: str) -> int:
        """The index of a tensor's storage, which is added if it is new."""
        x = self.index.setdefault(_identity(tensor), len(self.c.storages))
        if x == len(self.c.storages):
            n_bytes = self.device_bytes(tensor)
            shape = [int(n) for n in tensor.shape]
            self.c.storages.append(Storage(name, n_bytes, tensor.dtype, shape))
        return x

    def device_bytes(self, tensor: torch.Tensor) -> int:
        """What a storage takes on the device; CUDA's allocator rounds up to 512 bytes."""
        if tensor.device != self.c.device:
            return 0
        n = int(tensor.untyped_storage().nbytes())
        return -(-n // 512) * 512 if tensor.is_cuda else n


def _identity(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def _aliased_argument(node: fx.Node) -> fx.Node | None:
    """The argument that the op returns a view of, as its schema says."""
    schema = getattr(node.target, "_schema", None)
    if schema is None or not schema.returns or not schema.returns[0].alias_info:
        return None
    for argument, value in zip(schema.arguments, node.args, strict=False):
        if argument.alias_info and isinstance(value, fx.Node):
            return value
    return None


def _refuse_unsupported(node: fx.Node) -> None:
    _refuse_values(node)
    target = node.target
    if isinstance(target, torch._ops.HigherOrderOperator) and "auto_functionalized" in str(
        target
    ):
        raise Refused(
            f"custom op {node.args[0]} changes its arguments in place; make it return new "
            "tensors instead"
        )
    if isinstance(target, torch._ops.OpOverload) and target._schema.is_mutable:
        raise Refused(f"op {target} ({node.name}) changes its arguments in place")


def _refuse_values(node: fx.Node) -> None:
    for leaf in pytree.tree_leaves(node.meta.get("val")):
        if isinstance(leaf, torch.SymInt | torch.SymFloat | torch.SymBool):
            if node.op == "placeholder":
                raise _dynamic_shape(f"the step has the symbolic size {leaf}")
            raise Refused(
                f"{node.name} is a number that is known only when the step runs ({leaf}); "
                "keep it in a tensor"
            )
        if isinstance(leaf, torch.Tensor):
            _refuse_layout(node, leaf)


def _refuse_layout(node: fx.Node, tensor: torch.Tensor) -> None:
    if tensor.layout is not torch.strided:
        raise Refused(f"{node.name} is a tensor of layout {tensor.layout}, not strided")
    for size in (*tensor.shape, *tensor.stride()):
        if isinstance(size, torch.SymInt):
            raise _dynamic_shape(f"{node.name} has the symbolic size {size}")


def _dynamic_shape(what: str) -> Refused:
    return Refused(
        f"dynamic shape: {what}; compile with dynamic=False, which makes one plan for each "
        "shape"
    )
