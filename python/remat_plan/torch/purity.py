# SPDX-License-Identifier: MIT
"""Which ops are functions of their arguments.

Only these may run again, be merged with an equal call, be dropped when nobody reads their
result, or change their order. PyTorch's own ops are, but for those that it says draw random
numbers or have an effect. Of any other op nothing is known: its schema says what it writes,
not what it reads besides its arguments. `pure` tells it.
"""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import fx
from torch.utils import _pytree as pytree

from .errors import Refused

T = TypeVar("T")

_NAMESPACES = ("aten", "prims", "inductor_prims", "remat_plan")

_OTHER_OPS = frozenset(
    f"torchvision::{name}"
    for name in (
        "deform_conv2d",
        "_deform_conv2d_backward",
        "nms",
        "ps_roi_align",
        "_ps_roi_align_backward",
        "ps_roi_pool",
        "_ps_roi_pool_backward",
        "roi_align",
        "_roi_align_backward",
        "roi_pool",
        "_roi_pool_backward",
    )
)

# Higher-order ops that do what the graphs and ops among their arguments say, and no more.
_BY_THEIR_BODIES = frozenset(
    (
        "associative_scan",
        "cond",
        "flex_attention",
        "flex_attention_backward",
        "invoke_subgraph",
        "map_impl",
        "out_dtype",
        "scan",
        "switch",
        "while_loop",
        "while_loop_stack_output",
    )
)

# Ops whose results are whatever was in memory: two calls differ, and so may a second run.
_UNDEFINED = frozenset(
    (
        "empty",
        "empty_like",
        "empty_permuted",
        "empty_quantized",
        "empty_strided",
        "_empty_affine_quantized",
        "_empty_per_channel_affine_quantized",
        "new_empty",
        "new_empty_strided",
        "resize",
        "resize_as",
    )
)

# Kernels of the forward pass that add in any order on a GPU unless PyTorch is told to be
# deterministic. A few bits can decide what an argmax or a comparison behind them says.
_IN_ANY_ORDER_ON_GPUS = frozenset(
    (
        "bincount",
        "cumsum",
        "histc",
        "index_add",
        "index_put",
        "_unsafe_index_put",
        "index_reduce",
        "put",
        "scatter_add",
        "scatter_reduce",
    )
)

_declared: set[Any] = set()


def pure(op: T) -> T:
    """Say that an op is a function of its arguments: it draws no random numbers, keeps no
    state and has no effect, so that a plan may run it again.

    Takes what `torch.library.custom_op` or `triton_op` made, an op of `torch.ops` (all
    overloads or one) or a higher-order op, and returns it, so it can be a decorator. Say so
    before the step is compiled. Raises Refused for anything else.
    """
    given: Any = getattr(op, "_opoverload", op)
    if isinstance(given, torch._ops.OpOverloadPacket):
        _declared.update(getattr(given, name or "default") for name in given._overload_names)
    elif isinstance(given, torch._ops.OpOverload | torch._ops.HigherOrderOperator):
        _declared.add(given)
    else:
        raise Refused(f"pure() takes a custom op or an op of torch.ops, not {op!r}")
    return op


def has_hidden_state(module: fx.GraphModule, node: fx.Node) -> bool:
    """True unless the call is known to do no more than to return a function of its
    arguments."""
    target = node.target
    if node.op != "call_function":
        return False
    if isinstance(target, torch._ops.OpOverload):
        return draws(node) if _is_seeded(target) else _is_effect(node) or not _is_known(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return _is_effect(node) or not (target in _declared or _bodies_are_known(module, node))
    return _is_effect(node) or getattr(target, "__module__", None) not in ("_operator", "math")


def is_undefined(node: fx.Node) -> bool:
    """True if the contents of the result are undefined, so that a second run and an equal
    call may give others; also if they depend on the order in which threads of a GPU add."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return False
    name = node.target._schema.name.partition("::")[2]
    if name in _UNDEFINED or torch.Tag.nondeterministic_bitwise in node.target.tags:
        return True
    exact = torch.are_deterministic_algorithms_enabled()
    if name not in _IN_ANY_ORDER_ON_GPUS or (
        exact and not torch.is_deterministic_algorithms_warn_only_enabled()
    ):
        return False
    tensors = pytree.tree_leaves(node.meta.get("val"))
    return any(isinstance(t, torch.Tensor) and t.device.type != "cpu" for t in tensors)


def _is_seeded(op: torch._ops.OpOverload) -> bool:
    return torch.Tag.nondeterministic_seeded in op.tags


def is_own_random(node: fx.Node) -> bool:
    """True of a random op of PyTorch's own or of ours, which has no other hidden state than
    that of the default generators."""
    target = node.target
    return (
        isinstance(target, torch._ops.OpOverload)
        and _is_seeded(target)
        and target.namespace in _NAMESPACES
    )


def draws(node: fx.Node) -> bool:
    """True of a random op, unless its dropout is 0."""
    assert isinstance(node.target, torch._ops.OpOverload)
    for i, argument in enumerate(node.target._schema.arguments):
        if argument.name == "dropout_p":
            given = node.args[i] if i < len(node.args) else node.kwargs.get("dropout_p")
            return bool((argument.default_value if given is None else given) != 0.0)
    return True


def _is_effect(node: fx.Node) -> bool:
    return node.is_impure(impure_random=False)


def _is_known(op: torch._ops.OpOverload) -> bool:
    return op in _declared or op.namespace in _NAMESPACES or op._schema.name in _OTHER_OPS


def _bodies_are_known(module: fx.GraphModule, node: fx.Node) -> bool:
    assert isinstance(node.target, torch._ops.HigherOrderOperator)
    if node.target.__name__ not in _BY_THEIR_BODIES:
        return False
    ops = [a for a in pytree.tree_leaves((node.args, node.kwargs)) if callable(a)]
    if not all(isinstance(op, torch._ops.OpOverload) and _is_known(op) for op in ops):
        return False
    named = [a for a in node.all_input_nodes if a.op == "get_attr"]
    attributes = [getattr(module, str(a.target)) for a in named]
    bodies = [body for body in attributes if isinstance(body, fx.GraphModule)]
    return not any(has_hidden_state(body, n) for body in bodies for n in body.graph.nodes)
