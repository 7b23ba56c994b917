# SPDX-License-Identifier: MIT
"""Inductor's joint graphs end with ops that overwrite inputs, such as running statistics.

The planner reads graphs in which nothing changes in place. So these ops are taken out for a
while, and what they write becomes an output of the forward pass, as AOTAutograd has it for
other backends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from .captured import Captured


@dataclass(frozen=True)
class OverwrittenBy:
    """Describes an output as AOTAutograd does: it is the new value of an input."""

    mutated_input: Any


@dataclass(frozen=True)
class Overwrites:
    """What was taken out: the name of each input, and the metadata of the op."""

    names: list[str]
    metas: list[dict[str, Any]]


def take_out(module: fx.GraphModule, num_fwd_outputs: int) -> Overwrites:
    """Make the values that are written outputs behind the others of the forward pass."""
    output = next(iter(module.graph.find_nodes(op="output")))
    copies = [n for n in module.graph.nodes if _overwrites_an_input(n)]
    n = num_fwd_outputs
    outputs, descriptions = list(output.args[0]), list(output.meta.get("desc") or [])
    descriptions += [None] * (len(outputs) - len(descriptions))
    outputs[n:n] = [copy.args[1] for copy in copies]
    descriptions[n:n] = [OverwrittenBy(copy.args[0].meta.get("desc")) for copy in copies]
    output.args = (tuple(outputs),)
    output.meta["desc"] = descriptions
    taken = Overwrites([c.args[0].name for c in copies], [dict(c.meta) for c in copies])
    for copy in copies:
        module.graph.erase_node(copy)
    return taken


def put_back(captured: Captured, taken: Overwrites) -> None:
    """Undo `take_out` in the graph of `captured`, which was made from it since."""
    graph = captured.module.graph
    output = next(iter(graph.find_nodes(op="output")))
    n, k = captured.num_fwd_outputs - len(taken.names), len(taken.names)
    values = captured.outputs[n : n + k]
    del captured.outputs[n : n + k], output.meta["desc"][n : n + k]
    captured.num_fwd_outputs = n
    output.args = (tuple(captured.outputs),)
    inputs = {node.name: node for node in captured.inputs}
    for name, meta, value in zip(taken.names, taken.metas, values, strict=True):
        with graph.inserting_before(output):
            copy = graph.call_function(torch.ops.aten.copy_.default, (inputs[name], value))
        copy.meta = meta
    captured.module.recompile()


def put_back_late(captured: Captured) -> None:
    """Put back what a custom backward pass writes to inputs."""
    graph = captured.module.graph
    output = next(iter(graph.find_nodes(op="output")))
    for write in captured.late_writes:
        with graph.inserting_before(output):
            args = (write.target, write.value)
            copy = graph.call_function(torch.ops.aten.copy_.default, args)
        copy.meta = write.meta
    captured.module.recompile()


def _overwrites_an_input(node: fx.Node) -> bool:
    """True for a copy into an input in the forward pass whose result nobody reads."""
    if node.target is not torch.ops.aten.copy_.default or node.users:
        return False
    late = node.meta.get("partitioner_tag") == "must_be_in_backward"
    return isinstance(node.args[0], fx.Node) and node.args[0].op == "placeholder" and not late
