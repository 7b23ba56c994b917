# SPDX-License-Identifier: MIT
"""Gradients of what the loss does not depend on are None, as without `torch.compile`.

A step may return several tensors of which the caller uses some in the loss. AOTAutograd
takes zeros for the gradients of the others, and its backward pass makes zeros of them. An
optimizer with momentum or weight decay would move parameters that only unused outputs
depend on, which it leaves alone in eager mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from .captured import Captured

DEPTH = 8  # of views between an output and the node of the compiled function


def without_unused(captured: Captured, run: Callable[..., Any]) -> Callable[..., Any]:
    """`run`, the compiled step, whose backward pass gives None for gradients that depend
    only on outputs without a gradient."""
    places = _tangents_of_outputs(captured)
    if len(places) < 2:
        return run
    depends = _tangents_of_gradients(captured)

    def watched(*args: Any) -> Any:
        results = run(*args)
        node = _node_of(results)
        if node is not None:
            _watch(node, captured.num_fwd_outputs, places, depends)
        return results

    return watched


def _watch(
    node: Any, n_outputs: int, places: dict[int, fx.Node], depends: list[set[fx.Node]]
) -> None:
    """Note which outputs have gradients before the node runs, and drop others after it."""
    absent: set[fx.Node] = set()

    def before(gradients: Sequence[Any]) -> None:
        absent.clear()
        if len(gradients) == n_outputs:
            absent.update(t for i, t in places.items() if gradients[i] is None)

    def after(made: Sequence[Any], _: Any) -> Any:
        if not absent or len(made) != len(depends):
            return None
        pairs = zip(made, depends, strict=True)
        return tuple(None if on and on <= absent else gradient for gradient, on in pairs)

    node.register_prehook(before)
    node.register_hook(after)


def _node_of(results: Any) -> Any:
    """The autograd node of the compiled function, if an output belongs to it."""
    for tensor in results:
        node = tensor.grad_fn if isinstance(tensor, torch.Tensor) else None
        for _ in range(DEPTH):
            if node is None or node.name() == "CompiledFunctionBackward":
                break
            node = node.next_functions[0][0] if node.next_functions else None
        if node is not None and node.name() == "CompiledFunctionBackward":
            return node
    return None


def _tangents_of_outputs(captured: Captured) -> dict[int, fx.Node]:
    """By the position of an output of the forward pass, the tangent that belongs to it."""
    output = next(iter(captured.module.graph.find_nodes(op="output")))
    descriptions = list(output.meta.get("desc") or [])[: captured.num_fwd_outputs]
    found = {}
    for tangent in captured.tangents:
        wanted = getattr(tangent.meta.get("desc"), "output", None)
        if wanted in descriptions:
            found[descriptions.index(wanted)] = tangent
    return found


def _tangents_of_gradients(captured: Captured) -> list[set[fx.Node]]:
    """For each tensor among the inputs, the tangents that its gradient depends on."""
    on: dict[fx.Node, set[fx.Node]] = {tangent: {tangent} for tangent in captured.tangents}
    for node in captured.module.graph.nodes:
        if node not in on:
            on[node] = set().union(*(on[a] for a in node.all_input_nodes))
    gradients = captured.outputs[captured.num_fwd_outputs :]
    pairs = zip(captured.inputs, gradients, strict=False)
    return [
        on[gradient] if isinstance(gradient, fx.Node) else set()
        for node, gradient in pairs
        if isinstance(node.meta.get("val"), torch.Tensor)
    ]
