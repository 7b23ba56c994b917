# SPDX-License-Identifier: MIT
"""What the modules of a plan call besides the ops themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def unfilled() -> Iterator[None]:
    """New memory that is written at once is not filled before, as it is with
    `torch.use_deterministic_algorithms`. The CPU would fill host memory."""
    settings: Any = torch.utils.deterministic
    fills = settings.fill_uninitialized_memory
    settings.fill_uninitialized_memory = False
    try:
        yield
    finally:
        settings.fill_uninitialized_memory = fills


def room(n_bytes: int, device: torch.device) -> torch.Tensor:
    """New memory."""
    with unfilled():
        return torch.empty(n_bytes, dtype=torch.uint8, device=device)


def old_value(tensor: torch.Tensor) -> torch.Tensor:
    """A copy of the whole storage that the tensor looks into, and the same view of it."""
    n_bytes = tensor.untyped_storage().nbytes()
    copy = room(n_bytes, tensor.device)
    copy.untyped_storage().copy_(tensor.untyped_storage())
    empty = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    layout = (tensor.storage_offset(), tensor.shape, tensor.stride())
    return empty.set_(copy.untyped_storage(), *layout)


def laid_out(place: torch.Tensor, like: torch.Tensor, offset: int = 0) -> torch.Tensor:
    """The place with type, shape and strides of another tensor and this offset, if that fits
    into it. Else the place as it is, or new memory if type or shape differ.

    Some kernels make outputs of another type or layout than was traced. Those that read them
    may refuse the traced one, or round in another way.
    """
    wanted = (like.dtype, like.shape, offset, like.stride())
    found = (place.dtype, place.shape, place.storage_offset(), place.stride())
    alike = wanted[:2] == found[:2]
    if wanted == found or (alike and not like.numel()):
        return place
    last = offset + sum((n - 1) * s for n, s in zip(like.shape, like.stride(), strict=True))
    fits = (last + 1) * like.itemsize <= place.untyped_storage().nbytes()
    if repeats(like) or repeats(place) or not fits:
        return place if alike else torch.empty_like(like, device=place.device)
    empty = torch.empty(0, dtype=like.dtype, device=place.device)
    return empty.set_(place.untyped_storage(), offset, like.shape, like.stride())


def repeats(tensor: torch.Tensor) -> bool:
    """Do elements of the tensor share memory, as in an expanded one?"""
    return any(n > 1 and s == 0 for n, s in zip(tensor.shape, tensor.stride(), strict=True))


def distinct(tensor: torch.Tensor, layout: torch.Tensor) -> torch.Tensor:
    """The tensor without the elements that only repeat others in a layout like `layout`."""
    for i, (n, stride) in enumerate(zip(layout.shape, layout.stride(), strict=True)):
        if n > 1 and stride == 0:
            tensor = tensor.narrow(i, 0, 1)
    return tensor


def random_state(device: torch.device) -> torch.Tensor:
    """The state of the device's default generator: 5056 bytes for the CPU, 16 for CUDA.

    It is a tensor in host memory, and is not counted as device memory.
    """
    if device.type == "cpu":
        return torch.get_rng_state()
    state: torch.Tensor = torch.get_device_module(device).get_rng_state(device)
    return state


def set_random_state(state: torch.Tensor, device: torch.device) -> None:
    if device.type == "cpu":
        torch.set_rng_state(state)
    else:
        torch.get_device_module(device).set_rng_state(state, device)


def addresses(*tensors: torch.Tensor) -> torch.Tensor:
    """Where the tensors lie, in host memory that does not count."""
    with torch._C._DisableTorchDispatch():
        return torch.tensor([t.data_ptr() for t in tensors], device="cpu")


def refuse_replaced(before: torch.Tensor, *tensors: torch.Tensor) -> None:
    """Raise RuntimeError if a parameter is not where it lay in the forward pass.

    Autograd sees what is written in place, but not that `p.data` is another tensor now.
    Other sources may come as copies, from hooks of saved tensors.
    """
    for address, tensor in zip(before.tolist(), tensors, strict=True):
        if isinstance(tensor, torch.nn.Parameter) and tensor.data_ptr() != address:
            shape = list(tensor.shape)
            raise RuntimeError(
                f"a parameter of shape {shape} got other data (p.data = ...) between the "
                "forward and the backward pass, which computes from it again: change "
                "parameters after the backward pass"
            )
