# SPDX-License-Identifier: MIT
"""Regions that are compiled once and called several times become part of the graph.

`torch.compiler.nested_compile_region` makes one call of each use. Its ops are planned like
all others.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx


def inline_regions(module: fx.GraphModule) -> None:
    """Write the ops of nested regions in the place of their calls, in the graph that Dynamo
    made. AOTAutograd would have each region partitioned by itself."""
    region = torch.ops.higher_order.invoke_subgraph
    calls = module.graph.find_nodes(op="call_function", target=region)
    for call in calls:
        _inline(module, call)
    if calls:
        module.recompile()


def _inline(module: fx.GraphModule, call: fx.Node) -> None:
    name, operands = str(call.args[0].target), call.args[2:]  # type: ignore[union-attr]
    inner: Any = operator.attrgetter(name)(module)
    inline_regions(inner)
    placeholders = inner.graph.find_nodes(op="placeholder")
    new: dict[fx.Node, Any] = dict(zip(placeholders, operands, strict=True))
    results: Any = ()
    with module.graph.inserting_before(call):
        for node in inner.graph.nodes:
            if node.op == "output":
                results = fx.map_arg(node.args[0], new.__getitem__)
            elif node.op != "placeholder":
                new[node] = module.graph.node_copy(node, new.__getitem__)
                if node.op in ("get_attr", "call_module"):
                    new[node].target = _attribute(module, name, inner, str(node.target))
    for item in list(call.users):
        item.replace_all_uses_with(results[item.args[1]])  # only its getitems use a call
        module.graph.erase_node(item)
    module.graph.erase_node(call)


def _attribute(module: fx.GraphModule, name: str, inner: fx.GraphModule, target: str) -> str:
    """The name in the module of an attribute of a nested one."""
    attribute = f"{name}.{target}".replace(".", "_")
    setattr(module, attribute, operator.attrgetter(target)(inner))
    return attribute
