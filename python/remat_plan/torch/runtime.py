# SPDX-License-Identifier: MIT
"""What the modules of a plan call besides the ops themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
