# SPDX-License-Identifier: MIT
"""Collectives of a joint graph: which ones a plan may have, and what they cost.

A collective runs once, in the order of the graph, on all ranks. It is asynchronous: until
`wait_tensor` it reads its arguments, and its results must not be read. So in the modules of
a plan the wait stands right behind the collective, and no tensor of it is freed, overwritten
or read in between. In the captured graph a wait is a view of what it waits for.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import fx

from ..graph import Graph
from .captured import Captured, tensors_in
from .errors import Refused

# Nobody knows the network: a latency and a speed that any of today's clusters has. A
# collective runs once in any plan, so its time changes only what fits beside it.
LATENCY_NS = 20_000
BYTES_PER_S = 10 * 10**9

_NAMESPACES = (
    "_c10d_functional",
    "_c10d_functional_autograd",
    "_dtensor",
    "c10d",
    "c10d_functional",
    "fsdp",
    "symm_mem",
)
_CARRIED_OUT = {
    "_c10d_functional::all_gather_into_tensor",
    "_c10d_functional::all_gather_into_tensor_coalesced",
    "_c10d_functional::all_reduce",
    "_c10d_functional::all_reduce_coalesced",
    "_c10d_functional::all_to_all_single",
    "_c10d_functional::broadcast",
    "_c10d_functional::reduce_scatter_tensor",
    "_c10d_functional::reduce_scatter_tensor_coalesced",
    "_dtensor::shard_dim_alltoall",
}
_WAIT, _WAIT_ALL = "_c10d_functional::wait_tensor", "_c10d_functional::wait_tensors"
_TWICE = ("_c10d_functional::all_reduce",)  # what goes over the network two times


def _name(node: fx.Node) -> str:
    return node.target._schema.name if isinstance(node.target, torch._ops.OpOverload) else ""


def is_collective(node: fx.Node) -> bool:
    """True for a call that a plan carries out as a collective."""
    return _name(node) in _CARRIED_OUT


def is_wait(node: fx.Node) -> bool:
    return _name(node) in (_WAIT, _WAIT_ALL)


def awaited(node: fx.Node) -> fx.Node | None:
    """What a wait, or an item of one, returns a view of; None if the node is neither."""
    if _name(node) == _WAIT:
        return _node(node.args[0])
    if node.target is operator.getitem and _name(_node(node.args[0])) == _WAIT_ALL:
        waited: Any = _node(node.args[0]).args[0]
        return _node(waited[node.args[1]])
    return None


def _node(argument: Any) -> fx.Node:
    assert isinstance(argument, fx.Node)
    return argument


def wait_for(value: Any) -> Any:
    """The op that waits for the result of a collective, by its traced value."""
    waits = torch.ops._c10d_functional
    return (
        waits.wait_tensor if isinstance(value, torch.Tensor) else waits.wait_tensors
    ).default


def refuse_unknown(module: fx.GraphModule, node: fx.Node) -> None:
    """Raises Refused for communication that a plan does not carry out."""
    for inner in _calls_inside(module, node):
        if _namespace(inner) in _NAMESPACES:
            raise Refused(
                f"{inner.target} is called inside of {node.target} ({node.name}); a collective "
                "must be in the step itself"
            )
    if _namespace(node) not in _NAMESPACES or is_wait(node):
        return
    if not is_collective(node):
        raise Refused(
            f"{node.target} ({node.name}) communicates in a way that is not planned; use "
            "functional collectives that return new tensors, such as all_reduce, all_gather, "
            "reduce_scatter, all_to_all_single or broadcast"
        )
    if group_name(node) is None:
        raise Refused(
            f"the process group of {node.target} ({node.name}) is known only when the step "
            "runs; leave torch.compiler.config.compile_on_one_rank off"
        )


def _namespace(node: fx.Node) -> str:
    if isinstance(node.target, torch._ops.OpOverload):
        return str(node.target.namespace)
    return ""


def _calls_inside(module: fx.GraphModule, node: fx.Node) -> Iterator[fx.Node]:
    """The calls in the graphs that a higher-order op is called with."""
    for argument in node.all_input_nodes if node.op == "call_function" else ():
        graph = getattr(module, str(argument.target), None) if argument.op == "get_attr" else 0
        if isinstance(graph, fx.GraphModule):
            for inner in graph.graph.nodes:
                yield inner
                yield from _calls_inside(graph, inner)


# ---- groups ----


def _arguments(node: fx.Node) -> dict[str, Any]:
    names = [argument.name for argument in node.target._schema.arguments]  # type: ignore[union-attr]
    return dict(zip(names, node.args, strict=False)) | node.kwargs


def group_name(node: fx.Node) -> str | None:
    """The name of a collective's process group; None if the graph does not say it."""
    group = _arguments(node).get("group_name")
    group = getattr(group, "group_name", group)
    return group if isinstance(group, str) else None


def process_group(name: str) -> Any:
    """The group of this name. Raises LookupError or RuntimeError if there is none."""
    groups: Any = torch.distributed.distributed_c10d
    return groups._resolve_process_group(name)


def group_size(node: fx.Node) -> int:
    """How many ranks take part in a collective."""
    return int(process_group(group_name(node) or "").size())


def group_names(module: fx.GraphModule) -> list[str]:
    """The groups of a graph's collectives, in the order of their first use."""
    names = [group_name(node) for node in module.graph.nodes if is_collective(node)]
    return list(dict.fromkeys(name for name in names if name is not None))


def signatures(captured: Captured) -> dict[int, str]:
    """By op, what must be the same on all ranks of a collective beside its tensors: groups
    are numbered by first use, since ranks have groups of other names."""
    numbers = {name: i for i, name in enumerate(group_names(captured.module))}
    found = {}
    for i, op in enumerate(captured.ops):
        if op.node is not None and is_collective(op.node):
            given = _arguments(op.node)
            given["group_name"] = numbers[group_name(op.node)]  # type: ignore[index]
            facts = [f"{k} {v}" for k, v in given.items() if isinstance(v, str | int)]
            found[i] = f"({', '.join(facts)}, {group_size(op.node)} ranks)"
    return found


# ---- costs ----


def with_model_times(captured: Captured, graph: Graph) -> Graph:
    """The graph with model times of its collectives, which one rank cannot measure."""
    times = {
        i: _time_ns(op.node)
        for i, op in enumerate(captured.ops)
        if op.node is not None and is_collective(op.node)
    }
    ops = [replace(op, time_ns=times.get(i, op.time_ns)) for i, op in enumerate(graph.ops)]
    return replace(graph, ops=ops)


def _time_ns(node: fx.Node) -> int:
    """Latency, and the larger one of arguments and results over the network."""
    ranks = group_size(node)
    given = sum(t.nbytes for a in node.all_input_nodes for t in tensors_in(a.meta.get("val")))
    made = sum(t.nbytes for t in tensors_in(node.meta.get("val")))
    n_bytes = max(given, made) * (ranks - 1) // ranks
    trips = 2 if _name(node).startswith(_TWICE) else 1
    return trips * (LATENCY_NS + n_bytes * 10**9 // BYTES_PER_S)
