# SPDX-License-Identifier: MIT
"""What a compiled step really takes: memory in its first run, time in the later ones."""

from __future__ import annotations

import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from statistics import median
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .captured import tensors_in

Boxed = Callable[[list[Any]], Any]  # empties its list of arguments, so that they can die


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of storages that ops make under this mode, until they die.

    For devices whose allocator does not count, such as the CPU. A storage in the memory of
    another, as in an arena, counts no more. Temporaries inside of a kernel, or of the branch
    of a condition, are not seen.
    """

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.live = self.peak = 0
        self._seen: dict[int, weakref.ref[Any]] = {}
        self._memory: dict[int, tuple[int, int]] = {}  # of those seen: begin and end

    def ignore(self, tensors: Iterable[torch.Tensor]) -> None:
        """Count none of these, which were there before."""
        for tensor in tensors:
            self._add(tensor, 0)

    def _add(self, tensor: torch.Tensor, n_bytes: int) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._seen:
            return

        begin, end = storage.data_ptr(), storage.data_ptr() + storage.nbytes()
        if any(b <= begin and end <= e for b, e in self._memory.values()):
            n_bytes = 0

        def died(_: object) -> None:
            self.live -= n_bytes
            del self._seen[key], self._memory[key]

        self._seen[key] = weakref.ref(storage, died)
        self._memory[key] = (begin, end)
        self.live += n_bytes
        self.peak = max(self.peak, self.live)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in tensors_in(result):
            self._add(tensor, tensor.untyped_storage().nbytes())
        return result


class Meter:
    """Measures one compiled step; its two passes are wrapped by `wrap`.

    The first run of both passes is measured for memory (on CUDA that resets the allocator's
    statistics of its peak), later ones for time, which includes what the caller does between
    the passes. A forward pass that no backward pass follows does not count. Nothing waits
    for the device until the times are read.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.peak_bytes: int | None = None  # beyond what was there when the step began
        self.requested_bytes: int | None = None  # of it, without what rounds CUDA's blocks up
        self.runs = 0  # of the forward pass
        self._live: LiveBytes | None = None  # in a run that is measured for memory
        self._begin: Any = None  # bytes or a time; None outside of a run
        self._times: deque[tuple[Any, Any]] = deque(maxlen=20)

    def wrap(self, run: Boxed, last: bool) -> Boxed:
        """`run`, measured. `last` for the backward pass, which ends the step."""

        def measured(args: list[Any]) -> Any:
            if not last:
                self._start(args)
            with self._counting():
                result = run(args)
            if last:
                self._end()
            return result

        return measured

    def time_ns(self) -> int | None:
        """The median of the last steps, or None if only one ran."""
        times = [self._between(*pair) for pair in self._times]
        return int(median(times)) if times else None

    def _counting(self) -> AbstractContextManager[Any]:
        return self._live or nullcontext()

    def _start(self, args: list[Any]) -> None:
        self.runs += 1
        if self.peak_bytes is not None:
            self._begin = self._now()
        elif self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)
            self._begin = _statistics("current", self.device)
        else:
            self._begin, self._live = 0, LiveBytes()
            self._live.ignore(a for a in args if isinstance(a, torch.Tensor))

    def _end(self) -> None:
        if self._begin is None:  # two forward passes came before two backward passes
            return
        if self.peak_bytes is not None:
            self._times.append((self._begin, self._now()))
        elif self._live is not None:
            self.peak_bytes = self.requested_bytes = self._live.peak
        else:
            pairs = zip(_statistics("peak", self.device), self._begin, strict=True)
            self.peak_bytes, self.requested_bytes = (peak - begin for peak, begin in pairs)
        self._begin = self._live = None

    def _now(self) -> Any:
        if self.device.type != "cuda":
            return time.perf_counter_ns()
        event = timing_event()
        event.record(torch.cuda.current_stream(self.device))
        return event

    def _between(self, begin: Any, end: Any) -> int:
        if self.device.type != "cuda":
            return int(end - begin)
        end.synchronize()
        return int(begin.elapsed_time(end) * 1e6)


def _statistics(which: str, device: torch.device) -> tuple[int, int]:
    """The bytes of the blocks that CUDA's allocator has given out, and those asked for."""
    statistics = torch.cuda.memory_stats(device)
    return tuple(statistics[f"{of}_bytes.all.{which}"] for of in ("allocated", "requested"))


def timing_event() -> Any:
    """A CUDA event that has a time."""
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
