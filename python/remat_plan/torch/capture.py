# SPDX-License-Identifier: MIT
"""Reads a joint graph: gives each node its role, and finds storages and ops."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from . import collectives, purity, traced
from .boundary import add_boundary
from .captured import (
    Captured,
    CapturedOp,
    LateWrite,
    Role,
    Storage,
    allocated,
    identity,
    is_tangent,
    tensors_in,
)
from .errors import Refused


def capture(module: fx.GraphModule, num_fwd_outputs: int, static: frozenset[int]) -> Captured:
    """What the joint graph means to the planner. Simplifies the graph. Raises Refused."""
    _simplify(module)
    traced.say_what_kernels_make(module)
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
        late_writes=_take_out_writes(module, output.args[0][:num_fwd_outputs]),
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
        return (
            node.is_impure()
            or collectives.is_collective(node)
            or purity.has_hidden_state(module, node)
        )

    def unlike_others(node: fx.Node) -> fx.Node | None:
        return node if stays(node) or purity.is_undefined(node) else None

    module.graph.eliminate_dead_code(stays)
    traced.mark_views(module.graph)
    module.graph = fx_graph_cse(module.graph, unlike_others)
    traced.follow_merged(module.graph)
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


def _take_out_writes(module: fx.GraphModule, forward: list[Any]) -> list[LateWrite]:
    """Take out the ops at the end of the graph that write to inputs: AOTAutograd has them
    there for what a custom backward pass changes in place, and all else reads old values."""
    writes: list[LateWrite] = []
    needed = {node for node in forward if isinstance(node, fx.Node)}
    for node in reversed(module.graph.nodes):
        needed.update(node.all_input_nodes if node in needed else ())
    for node in module.graph.find_nodes(
        op="call_function", target=torch.ops.aten.copy_.default
    ):
        target, value = node.args[:2]
        if target.op == "placeholder" and not is_tangent(target) and not node.users:
            module.graph.erase_node(node)
            live = _as_found_later(target, needed)
            value = live if value is target and live else value
            writes.append(LateWrite(target, value, live, dict(node.meta)))
    module.recompile()
    return writes


def _as_found_later(target: fx.Node, needed: set[fx.Node]) -> fx.Node | None:
    """A node of its own for an input where the backward pass reads it. `needed` are the
    nodes that the forward pass needs; AOTAutograd tags what else belongs to it."""
    users = [n for n in target.users if n not in needed]
    late = [n for n in users if n.meta.get("partitioner_tag") != "is_forward"]
    if not late:
        return None
    with target.graph.inserting_before(late[0]):
        live = target.graph.call_function(torch.ops.aten.alias.default, (target,))
    live.meta = {"val": target.meta["val"]}
    for node in late:
        node.replace_input_with(target, live)
    return live


NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)


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
        self.shown: set[int] = set()  # storages that were traced smaller

    def take(self, node: fx.Node) -> None:
        _refuse_unsupported(node)
        collectives.refuse_unknown(self.c.module, node)
        if node.op in ("placeholder", "get_attr"):
            self.input(node)
        elif node.op == "call_function":
            if node.target is operator.getitem and node.args[0] in self.op_of:
                self.item(node)
            elif is_number(node):
                self.c.role[node] = Role.VIEW
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
        if all(identity(t) in self.index for t in tensors):
            return self.index[identity(tensors[0])]
        argument = _aliased_argument(node)
        base = None if argument is None else self.c.storage_of.get(argument)
        if base is not None:
            self.index.update({identity(t): base for t in tensors})
        return base

    def view(self, node: fx.Node, base: int) -> None:
        if purity.has_hidden_state(self.c.module, node) and not collectives.is_wait(node):
            raise Refused(
                f"{node.target} ({node.name}) returns a view of its argument, and may do more: "
                "say remat_plan.torch.pure(op) if it does not, or return a new tensor"
            )
        self.c.role[node] = Role.VIEW
        self.c.storage_of[node] = base
        if base in self.shown:
            traced.trace_again(node)

    def op(self, node: fx.Node) -> None:
        self.c.role[node] = Role.OP
        before = tensors_in(node.meta.get("val"))
        shown = traced.show_whole_storage(node)
        value = node.meta.get("val")
        tensors = tensors_in(value)
        if any(identity(t) in self.index for t in tensors):
            raise Refused(f"{node.target} ({node.name}) returns an input beside new tensors")
        reads = {self.c.storage_of[a] for a in node.all_input_nodes if a in self.c.storage_of}
        makes = [
            self.storage(t, f"{node.name}[{i}]" if len(tensors) > 1 else node.name)
            for i, t in enumerate(tensors)
        ]
        if shown:
            self.shown.add(makes[0])
            self.index[identity(before[0])] = makes[0]
        op = self.op_of[node] = CapturedOp(node, sorted(reads), sorted(set(makes)))
        if isinstance(value, torch.Tensor):
            self.c.storage_of[node] = op.makes[0]
            self.c.storages[op.makes[0]].carriers.append(node)
        op.effect = collectives.is_collective(node) or purity.has_hidden_state(
            self.c.module, node
        )
        op.once = op.effect or not op.makes or purity.is_undefined(node)
        self.c.ops.append(op)

    def item(self, node: fx.Node) -> None:
        self.c.role[node] = Role.ITEM
        self.op_of[node.args[0]].items.append(node)  # type: ignore[index]
        for tensor in tensors_in(node.meta.get("val")):
            x = self.c.storage_of[node] = self.index[identity(tensor)]
            self.c.storages[x].carriers.append(node)

    def storage(self, tensor: torch.Tensor, name: str) -> int:
        """The index of a tensor's storage, which is added if it is new."""
        x = self.index.setdefault(identity(tensor), len(self.c.storages))
        if x == len(self.c.storages):
            n_bytes = self.device_bytes(tensor)
            shape = [int(n) for n in tensor.shape]
            self.c.storages.append(Storage(name, n_bytes, tensor.dtype, shape))
        return x

    def device_bytes(self, tensor: torch.Tensor) -> int:
        """What a storage takes on the device of the step."""
        return allocated(tensor) if tensor.device == self.c.device else 0


def _aliased_argument(node: fx.Node) -> fx.Node | None:
    """The argument that the op returns a view of, as its schema says, or what it waits for."""
    if (waited := collectives.awaited(node)) is not None:
        return waited
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
    if target is torch.ops.higher_order.invoke_subgraph:
        raise Refused(
            "regions of torch.compiler.nested_compile_region are not planned for Inductor; use "
            "remat_plan.compile, or call the function without it"
        )
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
        if isinstance(leaf, torch.Tensor):
            _refuse_layout(node, leaf)
        elif isinstance(leaf, NUMBERS) and not _is_of_inputs(node):
            raise Refused(
                f"{node.name} is a number that is known only when the step runs ({leaf}); "
                "keep it in a tensor"
            )


def _is_of_inputs(node: fx.Node) -> bool:
    """Is a node a number among the inputs, or arithmetic on such?"""
    return is_number(node) and not any(
        tensors_in(a.meta.get("val")) for a in node.all_input_nodes
    )


def is_number(node: fx.Node) -> bool:
    """Is the value of a node a number, which may be another one in each step?"""
    return isinstance(node.meta.get("val"), NUMBERS)


def _refuse_layout(node: fx.Node, tensor: torch.Tensor) -> None:
    if tensor.layout is not torch.strided:
        raise Refused(f"{node.name} is a tensor of layout {tensor.layout}, not strided")
    for size in (*tensor.shape, *tensor.stride()):
        if isinstance(size, torch.SymInt):
            raise _dynamic_shape(f"{node.name} has the symbolic size {size}")


def _dynamic_shape(what: str) -> Refused:
    refused = Refused(
        f"dynamic shape: {what}; compile with dynamic=False, which makes one plan for each "
        "shape"
    )
    refused.of_a_size = True
    return refused
