# SPDX-License-Identifier: MIT
"""Turns a plan into the forward and the backward module that AOTAutograd wants.

The nodes of both modules come in the order of the plan's steps; an op that runs again is a
node of its own. A value dies after its last reader, which is not later than the plan frees
it. Views are made again after a free, and in each module, so only whole storages cross.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import fx

from ..plan import Free, Plan, PlanError, Run, SwapIn, SwapOut
from . import arena, collectives, runtime, swap
from .capture import is_number
from .captured import Captured, CapturedOp, Role, tensors_in

RUN = "remat_plan"  # node.meta[RUN] is (FIRST or AGAIN, index of the op) where an op runs
FIRST, AGAIN = "first", "again"
UNCHECKED = "saved_tensor_with_no_vc_check"  # a key of AOTAutograd's in node.meta


def lower(captured: Captured, plan: Plan) -> tuple[fx.GraphModule, fx.GraphModule]:
    """The forward and the backward module of a plan for `describe(captured)`."""
    emitter = _Emitter(captured, plan)
    for step in plan.steps:
        emitter.take(step)
    return emitter.finish()


class _Emitter:
    """Emits step by step. `current` has, for each captured node, its latest version."""

    def __init__(self, captured: Captured, plan: Plan) -> None:
        self.c = captured
        self.arena = arena.Arena(captured, plan) if plan.addressed else None
        self.buffer: fx.Node | None = None  # the arena
        self.ran: set[int] = set()
        self.present: set[int] = set()  # tensors on the device
        self.current: dict[fx.Node, fx.Node] = {}
        self.views: dict[int, list[fx.Node]] = {}  # views in `current`, by their tensor
        self.hosts: dict[fx.Node, fx.Node] = {}  # host copies of carriers
        self.leaving: dict[fx.Node, None] = {}  # carriers that are still being copied out
        self.arriving: set[fx.Node] = set()  # carriers whose copy in was not waited for
        self.old_values: list[fx.Node] = []
        self.forward, self.backward = fx.Graph(), fx.Graph()
        self.graph = self.forward
        self.fwd_outputs: list[Any] = []
        self.saved: dict[fx.Node, fx.Node] = {}  # node of the forward pass -> placeholder
        for node in captured.inputs:
            self.current[node] = self.placeholder(node)
        self.given = dict(self.current)  # also after the old value took an input's place
        if self.arena:
            self.buffer = self.room(self.arena.bytes)

    # ---- steps ----

    def take(self, step: object) -> None:
        match step:
            case Run(op, _) if op == self.c.boundary:
                self.cross()
                self.ran.add(op)
            case Run(op, at):
                captured = self.c.ops[op]
                places = self.arena.addresses(captured, at) if self.arena else {}
                self.run(op, captured, places)
            case Free(tensor):
                self.free(tensor)
            case SwapOut(tensor):
                self.swap_out(tensor)
            case SwapIn(tensor, at):
                inside = self.arena and tensor not in self.arena.outside
                self.swap_in(tensor, at if inside else None)

    def run(self, i: int, op: CapturedOp, places: dict[int, int]) -> None:
        """`places` are addresses in the arena, by tensor."""
        node = op.node
        assert node is not None
        first = i not in self.ran
        args, kwargs = fx.map_arg((node.args, node.kwargs), self.value)
        function: Any = node.target
        if writing := self.writer(op, places):
            function, args = arena.write, (*writing[0], *args)
            kwargs = {**kwargs, **writing[1]}
        name = node.name if first else f"{node.name}_again"
        made = self.call(function, args, kwargs, like=node, name=name)
        made.meta[RUN] = (FIRST if first else AGAIN, i)
        if collectives.is_collective(node):
            wait = collectives.wait_for(node.meta["val"])
            made = self.call(wait, (made,), like=node, name=f"{node.name}_done")
        self.take_outputs(op, made)
        if not writing:
            self.put(op, places)
        self.ran.add(i)
        self.present.update(op.makes)

    def take_outputs(self, op: CapturedOp, made: fx.Node) -> None:
        """Outputs that were on the device stay as they are; their new values are dropped."""
        if op.node in self.c.storage_of:
            if op.makes[0] not in self.present:
                self.current[op.node] = made
            return
        for item in op.items:
            if item.users and self.c.storage_of.get(item) not in self.present:
                got = self.call(operator.getitem, (made, item.args[1]), like=item)
                self.current[item] = got

    def writer(
        self, op: CapturedOp, places: dict[int, int]
    ) -> tuple[tuple[Any, ...], dict[str, fx.Node]] | None:
        """The first arguments of `arena.write` for an op that writes its outputs directly,
        and their places."""
        assert op.node is not None
        direct = self.arena and self.arena.writer(op, places)
        if not direct:
            return None
        values = tensors_in(op.node.meta["val"])
        nodes = [
            self.place(self.buffer, places[x], value, op.node)
            for x, value in zip(op.makes, values, strict=True)
        ]
        into = dict(zip(direct.outs, nodes, strict=True))
        layouts = arena.layouts_of(fx.map_arg(op.node.args, lambda a: a.meta.get("val")))
        return (op.node.target, direct.out_form, direct.outs, layouts), into

    def put(self, op: CapturedOp, places: dict[int, int]) -> None:
        """Copy outputs that were made outside of the arena to their places."""
        for x in sorted(places.keys() - self.present):
            for carrier in self.carriers(x):
                place = self.place(self.buffer, places[x], carrier.meta["val"], carrier)
                args = (place, self.current[carrier])
                self.current[carrier] = self.call(arena.put, args, like=carrier)

    def free(self, x: int) -> None:
        self.present.discard(x)
        self.forget_views(x)
        for carrier in self.c.storages[x].carriers:
            if carrier in self.arriving:
                self.value(carrier)
            if carrier in self.leaving:
                self.end_copy_out(carrier)
            self.current.pop(carrier, None)

    def swap_out(self, x: int) -> None:
        for carrier in self.carriers(x):
            value = self.value(carrier)
            host = self.call(swap.copy_out, (value,), like=carrier, name=f"{carrier.name}_host")
            host.meta["val"] = _on_host(carrier.meta["val"])
            self.hosts[carrier] = host
            self.leaving[carrier] = None

    def swap_in(self, x: int, at: int | None) -> None:
        """To an address in the arena, or to new memory for all that lies in the storage."""
        carriers = [c for c in self.c.storages[x].carriers if c in self.hosts]
        buffer = self.buffer
        if carriers and at is None:
            value = carriers[0].meta["val"]
            buffer, at = self.room(_storage_bytes(value), value.device), 0
        for carrier in carriers:
            assert at is not None
            place = self.place(buffer, at, carrier.meta["val"], carrier)
            args = (self.here(self.hosts[carrier]), place)
            self.current[carrier] = self.call(swap.copy_in, args, like=carrier)
            self.arriving.add(carrier)
        self.present.add(x)

    def cross(self) -> None:
        """The forward pass returns, and the backward pass begins."""
        outputs = self.c.outputs[: self.c.num_fwd_outputs]
        self.fwd_outputs = [self.value(o) if isinstance(o, fx.Node) else o for o in outputs]
        for node in self.c.old_values:
            # The caller overwrites the input now; only later readers need the old value.
            old = (self.current[node],)
            self.current[node] = self.call(
                runtime.old_value, old, like=node, name=f"{node.name}_old"
            )
            self.old_values.append(self.current[node])
        for x in list(self.views):
            self.forget_views(x)
        self.graph = self.backward
        for node in self.c.tangents:
            self.current[node] = self.placeholder(node)
        for write in self.c.late_writes:
            if write.live is not None:
                self.current[write.live] = self.here(self.given[write.target])

    def finish(self) -> tuple[fx.GraphModule, fx.GraphModule]:
        outputs = self.c.outputs[self.c.num_fwd_outputs :]
        gradients = [self.value(o) if isinstance(o, fx.Node) else o for o in outputs]
        for write in self.c.late_writes:
            target, value = self.here(self.given[write.target]), self.value(write.value)
            self.call(
                torch.ops.aten.copy_.default,
                (target, value),
                like=write.target,
                name="late_write",
            )
        for carrier in list(self.leaving):
            self.end_copy_out(carrier)
        self.backward.output(tuple(gradients))
        self.watch_sources()
        numbers = [node for node in self.saved if is_number(node)]
        others = [node for node in self.saved if not is_number(node)]
        others.sort(key=lambda n: (_is_object(n), self.is_unchecked(n)))
        objects = [node for node in others if _is_object(node)]
        tensors = others[: len(others) - len(objects)]
        self.forward.output((*self.fwd_outputs, *tensors, *objects, *numbers))
        start = next(iter(self.backward.nodes))
        for node in (*numbers, *tensors, *objects):  # the order that AOTAutograd wants
            start.prepend(self.saved[node])
        for node in self.old_values:
            if not node.users:
                self.forward.erase_node(node)
        return self.module(self.forward), self.module(self.backward)

    def is_unchecked(self, saved: fx.Node) -> bool:
        """True for tensors that the caller may change before the backward pass.

        AOTAutograd wants them last, and holds them to the end of the step. A custom
        autograd function asks for that with each tensor that it keeps as an attribute; what
        nobody else can reach does not need it, and what ops read again must not change.
        """
        seen = saved.op == "placeholder" or saved in self.fwd_outputs
        if not seen or self.is_read_again(self.saved[saved]):
            saved.meta.pop(UNCHECKED, None)
        return bool(saved.meta.get(UNCHECKED))

    def is_read_again(self, late: fx.Node) -> bool:
        """Does an op of the forward pass run in the backward pass and read this, or a view?"""
        for user in late.users:
            which, op = user.meta.get(RUN, (None, -1))
            again = self.is_read_again(user) if which is None else op < self.c.boundary
            if again or which == AGAIN:
                return True
        return False

    def watch_sources(self) -> None:
        """Sources that ops read again must lie where they lay in the forward pass."""
        sources = [n for n in self.saved if isinstance(n.meta.get("val"), torch.Tensor)]
        sources = [n for n in sources if n.op == "placeholder"]
        watched = [n for n in sources if self.is_read_again(self.saved[n])]
        if not watched:
            return
        self.graph = self.forward
        places = self.call(runtime.addresses, tuple(watched), like=watched[0], name="addresses")
        with watched[0].meta["val"].fake_mode:
            places.meta["val"] = torch.empty(len(watched), dtype=torch.int64, device="cpu")
        self.graph = self.backward
        args = (self.here(places), *(self.saved[n] for n in watched))
        with self.backward.inserting_before(next(iter(self.backward.nodes))):
            self.call(runtime.refuse_replaced, args, like=places)

    # ---- values ----

    def value(self, node: fx.Node) -> fx.Node:
        """The latest version of a captured node, in the module that is being written."""
        if node not in self.current:
            self.make(node)
        current = self.current[node] = self.here(self.current[node])
        if node in self.arriving:
            self.arriving.remove(node)
            self.current[node] = self.call(swap.wait_in, (current,), like=node)
        return self.current[node]

    def make(self, node: fx.Node) -> None:
        """Emit a view, or a read of a constant."""
        if node.op == "get_attr":
            self.current[node] = self.attribute(node)
        elif (waited := collectives.awaited(node)) is not None:
            self.current[node] = self.wait(waited)
        elif self.c.role[node] is Role.VIEW:
            args, kwargs = fx.map_arg((node.args, node.kwargs), self.value)
            self.current[node] = self.call(node.target, args, kwargs, like=node)
        else:
            raise PlanError(f"{node.name} is read, but is not on the device")
        if node in self.c.storage_of:
            self.views.setdefault(self.c.storage_of[node], []).append(node)

    def wait(self, waited: fx.Node) -> fx.Node:
        """A value after a wait in the graph: a collective of the step is complete already,
        what comes from outside may not be."""
        value = self.value(waited)
        if self.c.role[waited] is not Role.INPUT:
            return value
        return self.call(collectives.wait_for(value.meta["val"]), (value,), like=waited)

    def here(self, emitted: fx.Node) -> fx.Node:
        """The same value in the module that is being written."""
        if emitted.graph is self.graph:
            return emitted
        if emitted.op == "get_attr":  # both modules have it, also if it is no tensor
            return self.attribute(emitted)
        if emitted not in self.saved:
            self.saved[emitted] = self.placeholder(emitted)
        return self.saved[emitted]

    def carriers(self, x: int) -> list[fx.Node]:
        return [c for c in self.c.storages[x].carriers if c in self.current]

    def forget_views(self, x: int) -> None:
        for view in self.views.pop(x, ()):
            self.current.pop(view, None)

    # ---- emitting ----

    def placeholder(self, node: fx.Node) -> fx.Node:
        """An argument. FX writes its target as the variable's name, so that is the name."""
        emitted = self.graph.placeholder(node.name)
        emitted.target = emitted.name
        emitted.meta = {key: value for key, value in node.meta.items() if key != RUN}
        return emitted

    def attribute(self, node: fx.Node) -> fx.Node:
        emitted = self.graph.get_attr(str(node.target))
        emitted.meta = dict(node.meta)
        return emitted

    def call(
        self,
        target: Callable[..., Any] | str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None = None,
        *,
        like: fx.Node,
        name: str | None = None,
    ) -> fx.Node:
        """Emit a call whose value looks like that of a captured node."""
        emitted = self.graph.create_node(
            "call_function", target, args, kwargs, name=name or like.name
        )
        emitted.meta = dict(like.meta)
        return emitted

    def room(self, n_bytes: int, device: torch.device | None = None) -> fx.Node:
        """New memory on the device of the step, or on another."""
        device = device or self.c.device
        buffer = self.graph.call_function(runtime.room, (n_bytes, device))
        values = [t for n in self.c.inputs for t in tensors_in(n.meta.get("val"))]
        with values[0].fake_mode:  # type: ignore[attr-defined]
            buffer.meta["val"] = torch.empty(n_bytes, dtype=torch.uint8, device=device)
        return buffer

    def place(
        self, buffer: fx.Node | None, address: int, value: torch.Tensor, like: fx.Node
    ) -> fx.Node:
        """The place of a tensor like `value` in the arena, or in memory of its own."""
        assert buffer is not None
        layout = (tuple(value.shape), value.stride(), value.storage_offset(), value.dtype)
        args = (self.here(buffer), address, _storage_bytes(value), *layout)
        placed = self.call(arena.place, args, like=like, name=f"{like.name}_place")
        placed.meta["val"] = value
        return placed

    def end_copy_out(self, carrier: fx.Node) -> None:
        del self.leaving[carrier]
        host = self.here(self.hosts[carrier])
        self.call(swap.wait_out, (self.here(self.current[carrier]), host), like=carrier)

    def module(self, graph: fx.Graph) -> fx.GraphModule:
        graph.lint()
        return fx.GraphModule(self.c.module, graph)


def _is_object(saved: fx.Node) -> bool:
    """True for what is no tensor, such as a device mesh. AOTAutograd wants these last."""
    return not isinstance(saved.meta.get("val"), torch.Tensor)


def _storage_bytes(value: torch.Tensor) -> int:
    return int(value.untyped_storage().nbytes())


def _on_host(value: torch.Tensor) -> torch.Tensor:
    with value.fake_mode:  # type: ignore[attr-defined]
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cpu")
