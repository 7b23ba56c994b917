# SPDX-License-Identifier: MIT
"""The values that a joint graph is run with before the step itself runs.

Inputs have the values of the call that is being compiled, so labels are labels and
asserts hold. Tangents are ones, as for a loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from torch._functorch._aot_autograd import descriptors

from .captured import is_tangent


def input_value(module: fx.GraphModule, node: fx.Node, inputs: Sequence[Any]) -> Any:
    """What to run the graph with for one of its inputs or constants.

    `inputs` are those of the graph that Dynamo compiles. What is not among them, such as
    tokens and seeds, gets small random numbers or zeros.
    """
    if node.op == "get_attr":
        return getattr(module, str(node.target))
    example = node.meta.get("val")
    if isinstance(example, torch.SymInt):
        return example.node.hint
    if not isinstance(example, torch.Tensor):
        return example
    given = _given(node.meta.get("desc"), inputs)
    if _is_like(given, example):
        return given.detach()
    return _ones(example) if is_tangent(node) else invented(example)


def _given(description: Any, inputs: Sequence[Any]) -> Any:
    """The value that AOTAutograd describes; None if it is not known."""
    match description:
        case descriptors.PlainAOTInput(idx) if idx < len(inputs):
            return inputs[idx]
        case descriptors.SubclassGetAttrAOTInput(base, attribute):
            return getattr(_given(base, inputs), attribute, None)
        case descriptors.ViewBaseAOTInput(view) | descriptors.SyntheticBaseAOTInput(view):
            return getattr(_given(view, inputs), "_base", None)
    return None


def _is_like(value: Any, example: torch.Tensor) -> bool:
    from torch._subclasses.fake_tensor import FakeTensor

    return (
        isinstance(value, torch.Tensor)
        and not isinstance(value, FakeTensor)
        and value.shape == example.shape
        and value.stride() == example.stride()
        and (value.dtype, value.device) == (example.dtype, example.device)
    )


def empty_like(like: torch.Tensor) -> torch.Tensor:
    """A real tensor with the layout of a fake one."""
    return torch.empty_strided(like.shape, like.stride(), dtype=like.dtype, device=like.device)


def _ones(like: torch.Tensor) -> torch.Tensor:
    return empty_like(like).fill_(1)


def invented(like: torch.Tensor) -> torch.Tensor:
    """Small random numbers, or zeros where there are none."""
    can_be_random = like.is_floating_point() and like.element_size() > 1
    return empty_like(like).normal_(0, 0.02) if can_be_random else empty_like(like).zero_()
