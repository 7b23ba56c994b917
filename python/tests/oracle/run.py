# SPDX-License-Identifier: MIT
"""Runs cases with the reference kernels: all of them as one graph, in one process."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .case import NAMES, Case


class Builder:
    """Collects the tensors of a graph."""

    def __init__(self) -> None:
        self.tensors: list[dict[str, Any]] = []

    def add(self, name: str, kind: str, dtype: torch.dtype, shape: Sequence[int]) -> int:
        """The new tensor's index."""
        n = torch.Size(shape).numel() * dtype.itemsize
        tensor = {"name": name, "bytes": n, "kind": kind, "dtype": NAMES[dtype]}
        self.tensors.append({**tensor, "shape": list(shape)})
        return len(self.tensors) - 1

    def op(self, case: Case) -> dict[str, Any]:
        """The case as an op whose tensors no other op has."""
        op: dict[str, Any] = {"name": case.name, "kind": case.kind, "time_ns": 1}
        op["inputs"] = [
            self.add(f"{case.name} input {i}", "input", x.dtype, shape)
            for i, (x, shape) in enumerate(zip(case.inputs, case.shapes, strict=True))
        ]
        op["updates"] = [
            self.add(f"{case.name} update {i}", "state", x.dtype, x.shape)
            for i, x in enumerate(case.updates)
        ]
        outputs = case.results[: len(case.results) - len(case.updates)]
        op["outputs"] = [
            self.add(f"{case.name} output {i}", "activation", y.dtype, y.value.shape)
            for i, y in enumerate(outputs)
        ]
        return {**op, "attrs": case.attrs}


def graph_of(cases: Sequence[Case]) -> dict[str, Any]:
    """A graph with one op for each case."""
    builder = Builder()
    ops = [builder.op(case) for case in cases]
    head = {"format": "remat-graph", "version": 2, "name": "oracle", "time_source": "none"}
    return {**head, "tensors": builder.tensors, "ops": ops, "keep": []}


def _bytes(x: Tensor) -> bytes:
    return x.contiguous().flatten().view(torch.uint8).numpy().tobytes()


def run(program: Path, cases: Sequence[Case]) -> list[list[Tensor]]:
    """The results of each case. Raises CalledProcessError if an op cannot be run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.json"
        path.write_text(json.dumps(graph_of(cases)))
        sources = b"".join(_bytes(x) for case in cases for x in case.inputs + case.updates)
        command = [program, path]
        done = subprocess.run(command, input=sources, stdout=subprocess.PIPE, check=True)
    buffer, at = bytearray(done.stdout), 0
    results: list[list[Tensor]] = []
    for case in cases:
        results.append([])
        for want in case.results:
            n = want.value.numel()
            y = torch.frombuffer(buffer, dtype=want.dtype, count=n, offset=at)
            results[-1].append(y.reshape(want.value.shape))
            at += n * want.dtype.itemsize
    if at != len(buffer):
        raise ValueError(f"{program} wrote {len(buffer)} bytes, not {at}")
    return results


def kinds(program: Path) -> list[str]:
    """The op kinds that have a kernel."""
    return subprocess.check_output([program, "--kinds"], text=True).split()
