# SPDX-License-Identifier: MIT
"""Copies between device and host beside the computation.

On CUDA there are two streams for each device, one for each direction, as in the plan's time
line. The compute stream never waits for a copy to start, only where data or memory needs it:

- `copy_out` starts when the compute stream has come to this point. Until `wait_out` the
  device tensor must not be freed, since the copy still reads it.
- `copy_in` starts when the compute stream has come to this point (the place is new, and
  the allocator may have taken it from a tensor that earlier kernels still use) and the
  copy to the host is complete.
- `wait_in` makes the compute stream wait for that copy, before the first reader.

An event is found by the address of the tensor that the copy writes; no two live tensors
share one. So passes that interleave (two forward passes before a backward pass) do not
disturb each other. Copies on other devices are plain and done at once: there they only
stand in for the real ones, and host copies are not counted as device memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from .runtime import distinct, laid_out, unfilled


@dataclass
class _Link:
    """The copy streams of one device, and the events of copies under way."""

    out: torch.cuda.Stream
    into: torch.cuda.Stream
    done: dict[int, torch.cuda.Event] = field(default_factory=dict)


_links: dict[torch.device, _Link] = {}


def _link(device: torch.device) -> _Link:
    if device not in _links:
        stream: Any = torch.cuda.Stream
        _links[device] = _Link(stream(device), stream(device))
    return _links[device]


def _copy(target: torch.Tensor, source: torch.Tensor, stream: torch.cuda.Stream) -> None:
    """Copy on `stream`, and note the event of its end."""
    link = _link(source.device if source.is_cuda else target.device)
    with torch.cuda.stream(stream):
        target.copy_(source, non_blocking=True)
        link.done[target.data_ptr()] = stream.record_event()


def copy_out(tensor: torch.Tensor) -> torch.Tensor:
    """Begin to copy a device tensor to pinned host memory; returns the host tensor, in which
    a dimension of stride 0 has one element."""
    tensor = distinct(tensor, tensor)
    if not tensor.is_cuda:
        with torch._C._DisableTorchDispatch(), unfilled():
            host = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
            return host.copy_(tensor)
    link = _link(tensor.device)
    with unfilled():
        host = torch.empty_strided(
            tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu", pin_memory=True
        )
    link.out.wait_stream(torch.cuda.current_stream(tensor.device))
    _copy(host, tensor, link.out)
    return host


def wait_out(tensor: torch.Tensor, host: torch.Tensor) -> None:
    """From here on `tensor` may be freed: the compute stream waits for its copy."""
    if tensor.is_cuda:
        done = _link(tensor.device).done.get(host.data_ptr())
        if done is not None:
            torch.cuda.current_stream(tensor.device).wait_event(done)


def copy_in(host: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
    """Begin to copy a host tensor back to its place on the device; returns the place."""
    repeated = host.shape != place.shape and host.numel() > 0  # the host has each element once
    if host.dtype != place.dtype or not (repeated or host.stride() == place.stride()):
        place = laid_out(place, host)
    target = distinct(place, place)
    if not place.is_cuda:
        target.copy_(host)
        return place
    link = _link(place.device)
    link.into.wait_stream(torch.cuda.current_stream(place.device))
    copied = link.done.get(host.data_ptr())
    if copied is not None:
        link.into.wait_event(copied)
    _copy(target, host, link.into)
    return place


def wait_in(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself; what the compute stream does from here on may read it."""
    if tensor.is_cuda:
        done = _link(tensor.device).done.pop(tensor.data_ptr(), None)
        if done is not None:
            torch.cuda.current_stream(tensor.device).wait_event(done)
    return tensor
