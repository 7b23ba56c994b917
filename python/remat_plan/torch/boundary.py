# SPDX-License-Identifier: MIT
"""What happens between the two passes: the caller gets outputs and hands in tangents.

Two facts are told to the planner here. The boundary op stands between the passes. And
inputs that the step overwrites (running statistics) have their new value once the forward
pass has returned, so what reads them later must read a copy of the old value. The same goes
for what a custom backward pass overwrites: the backward pass of another step may come first.
"""

from __future__ import annotations

from typing import Any

from torch import fx

from .captured import Captured, CapturedOp, Role, Storage
from .errors import Refused, user_line

# An op that reads an input which is overwritten may run again only if it makes at least so
# many times the bytes of that input: then a copy of the old value is worth its memory.
OLD_VALUE_SHARE = 16


def add_boundary(captured: Captured, descriptions: list[Any]) -> None:
    """Insert the boundary op, and sources for old values.

    `descriptions` are AOTAutograd's, one for each output. Raises Refused.
    """
    forward = captured.outputs[: captured.num_fwd_outputs]
    _refuse_to_write_twice(captured, forward)
    inputs = [getattr(d, "mutated_input", None) for d in descriptions[: len(forward)]]
    inputs += [None] * (len(forward) - len(inputs))
    tangents = {captured.storage_of[t] for t in captured.tangents}
    boundary = CapturedOp(None, captured.made_by_ops(forward), sorted(tangents), once=True)
    _read_late(captured, boundary)
    captured.returned = captured.made_by_ops(
        [o for o, written in zip(forward, inputs, strict=True) if written is None]
    )
    needed = _needed_by(captured.ops, boundary)
    _insert(captured, boundary, needed)
    overwritten = {d for d in inputs if d is not None}
    late = {write.target for write in captured.late_writes}
    for node in captured.inputs:
        if node.meta.get("desc") in overwritten or node in late:
            _keep_old_value(captured, node, needed)


def _refuse_to_write_twice(captured: Captured, forward: list[Any]) -> None:
    """AOTAutograd takes what both passes write for an output of the forward pass, which then
    depends on tangents."""
    behind = set(captured.tangents)
    for node in captured.module.graph.nodes:
        if behind.intersection(node.all_input_nodes):
            behind.add(node)
    for node in forward:
        if node in behind:
            raise Refused(
                f"the forward and the backward pass write to the same buffer{user_line(node)}; "
                "use a buffer for each"
            )


def _read_late(captured: Captured, boundary: CapturedOp) -> None:
    """What reads an input as the backward pass finds it has to wait for the boundary."""
    live = {write.live for write in captured.late_writes}
    for node in captured.module.graph.nodes:
        if captured.role.get(node) is Role.VIEW and live.intersection(node.all_input_nodes):
            live.add(node)
    for op in captured.ops:
        if op.node is not None and live.intersection(op.node.all_input_nodes):
            op.reads = sorted({*op.reads, *boundary.makes})


def _needed_by(ops: list[CapturedOp], last: CapturedOp) -> set[CapturedOp]:
    """The ops whose results `last` depends on."""
    wanted, needed = set(last.reads), set()
    for op in reversed(ops):
        if wanted.intersection(op.makes):
            wanted.update(op.reads)
            needed.add(op)
    return needed


def _insert(captured: Captured, boundary: CapturedOp, needed: set[CapturedOp]) -> None:
    """Put the boundary before the first op that reads a tangent, even indirectly, or that
    has an effect in the backward pass."""
    behind = set(boundary.makes)
    after = []
    forward = [i for i, op in enumerate(captured.ops) if _is_of_forward_pass(op)]
    last = forward[-1] if forward else len(captured.ops)
    for i, op in enumerate(captured.ops):
        if behind.intersection(op.reads) or (op.effect and i > last):
            behind.update(op.makes)
            after.append(i)
    first = after[0] if after else len(captured.ops)
    early = [op for i, op in enumerate(captured.ops) if i < first or op in needed]
    late = [op for i, op in enumerate(captured.ops) if i >= first and op not in needed]
    captured.boundary = len(early)
    captured.ops[:] = [*early, boundary, *late]


def _is_of_forward_pass(op: CapturedOp) -> bool:
    """Was it traced there? AOTAutograd marks what it traces in this pass, and comes to the
    other one then, where ops of custom autograd functions have no mark."""
    tag = None if op.node is None else op.node.meta.get("partitioner_tag")
    return tag in ("is_forward", "must_be_in_forward")


def _keep_old_value(captured: Captured, node: fx.Node, needed: set[CapturedOp]) -> None:
    """Add a source for the copy of an overwritten input, if something may read it late."""
    x = captured.storage_of[node]
    storage = captured.storages[x]
    late = False
    for op in captured.ops:
        if x not in op.reads or op.node is None:
            continue
        made = sum(captured.storages[y].bytes for y in op.makes)
        if storage.bytes * OLD_VALUE_SHARE > made:
            op.once = True
        late |= not op.once or op not in needed
    if late:
        captured.old_values[node] = len(captured.storages)
        name = f"{storage.name} (old value)"
        captured.storages.append(Storage(name, storage.bytes, storage.dtype, storage.shape))
