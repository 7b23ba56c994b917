# SPDX-License-Identifier: MIT
"""What the modules of a plan call besides the ops themselves."""

from __future__ import annotations

import torch


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
