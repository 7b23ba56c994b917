# SPDX-License-Identifier: MIT
"""Corrects traced values where kernels make others, or where another op makes them now."""

from __future__ import annotations

import operator

import torch
from torch import fx

from . import purity, runtime
from .captured import identity, tensors_in

ATTENTION_WITH_SEEDS_ON_HOST = (
    torch.ops.aten._scaled_dot_product_efficient_attention.default,
    torch.ops.aten._efficient_attention_forward.default,
)
SCATTERS = (
    torch.ops.aten.slice_scatter.default,
    torch.ops.aten.select_scatter.default,
    torch.ops.aten.diagonal_scatter.default,
    torch.ops.aten.as_strided_scatter.default,
)
VIEW = "remat_plan_view"  # a key of node.meta


def say_what_kernels_make(module: fx.GraphModule) -> None:
    """Correct the values of a joint graph in which PyTorch traces what no kernel makes."""
    _move_seeds_to_host(module)
    for node in module.graph.find_nodes(
        op="call_function", target=torch.ops.aten.native_layer_norm.default
    ):
        _widen_statistics(node)


def _move_seeds_to_host(module: fx.GraphModule) -> None:
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


def _widen_statistics(node: fx.Node) -> None:
    """Mean and deviation of a layer norm have the type of the weight on the CPU, which is a
    wider one under autocast. Traced is the type of the input."""
    weight = node.args[2]
    value = list(node.meta["val"])
    if value[0].device.type != "cpu" or not isinstance(weight, fx.Node):
        return
    for i in (1, 2):
        with value[i].fake_mode:
            value[i] = torch.empty_like(value[i], dtype=weight.meta["val"].dtype)
        for user in node.users:
            if user.target is operator.getitem and user.args[1] == i:
                user.meta["val"] = value[i]
    node.meta["val"] = tuple(value)


def show_whole_storage(node: fx.Node) -> bool:
    """Give a scatter the value that it has when it runs, if another was traced.

    It copies the whole storage that its input looks into, and looks into the copy as the
    input does. Traced is a storage that ends, and may begin, with the elements.
    """
    if node.target not in SCATTERS:
        return False
    source, value = node.args[0].meta["val"], node.meta["val"]  # type: ignore[union-attr]
    n_bytes = source.untyped_storage().nbytes()
    whole = (n_bytes, source.storage_offset())
    if runtime.repeats(source) or source.stride() != value.stride():
        return False
    if whole == (value.untyped_storage().nbytes(), value.storage_offset()):
        return False
    with value.fake_mode:
        copy = torch.empty(n_bytes // value.itemsize, dtype=value.dtype, device=value.device)
        layout = (value.shape, value.stride(), source.storage_offset())
        node.meta["val"] = copy.as_strided(*layout)
    return True


def mark_views(graph: fx.Graph) -> None:
    """Note which nodes look into the storage of what they read."""
    for node in graph.nodes:
        node.meta[VIEW] = _looks_into_arguments(node)


def follow_merged(graph: fx.Graph) -> None:
    """Where an equal call took the place of what a view looked into, let it look into the
    storage of that call."""
    for node in graph.nodes:
        if node.meta.pop(VIEW, False) and not _looks_into_arguments(node):
            trace_again(node)


def _looks_into_arguments(node: fx.Node) -> bool:
    read = {identity(t) for a in node.all_input_nodes for t in tensors_in(a.meta.get("val"))}
    return any(identity(t) in read for t in tensors_in(node.meta.get("val")))


def trace_again(view: fx.Node) -> None:
    """Look into the storage of the view's base as it is now known."""
    args, kwargs = fx.map_arg((view.args, view.kwargs), lambda n: n.meta.get("val"))
    with tensors_in(args)[0].fake_mode:  # type: ignore[attr-defined]
        view.meta["val"] = view.target(*args, **kwargs)  # type: ignore[operator]
