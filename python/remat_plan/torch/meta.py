# SPDX-License-Identifier: MIT
"""Tracing on the device "meta" without losing gradients.

Some ops are made of others (`nll_loss`, `dropout`, Fourier transforms), and have a kernel in
Python for "meta" as well. While a step is traced PyTorch takes that kernel there, below
autograd, so that no gradient goes through the op.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._C import DispatchKey


@contextmanager
def gradients_on_meta() -> Iterator[None]:
    """Ops that are made of others are traced as those others, on "meta" as elsewhere."""
    hidden = {
        op: op.py_kernels.pop(DispatchKey.Meta)
        for op in _aten_ops()
        if DispatchKey.Meta in op.py_kernels
        and op.has_kernel_for_dispatch_key(DispatchKey.CompositeImplicitAutograd)
    }
    for op in hidden:
        op._dispatch_cache.clear()
    try:
        yield
    finally:
        for op, kernel in hidden.items():
            op.py_kernels[DispatchKey.Meta] = kernel
            op._dispatch_cache.clear()


def _aten_ops() -> Iterator[torch._ops.OpOverload]:
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        if isinstance(packet, torch._ops.OpOverloadPacket):
            names: Any = packet.overloads
            for overload in names():
                yield getattr(packet, overload)
