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


def _tensor(name: str, kind: str, dtype: torch.dtype, shape: Sequence[int]) -> dict[str, Any]:
    n = torch.Size(shape).numel() * dtype.itemsize
    return {"name": name, "bytes": n, "kind": kind, "dtype": NAMES[dtype], "shape": list(shape)}


def graph_of(cases: Sequence[Case]) -> dict[str, Any]:
    """A graph in which every case is an op with sources and outputs of its own."""
    tensors: list[dict[str, Any]] = []
    ops: list[dict[str, Any]] = []
    for case in cases:
        first = len(tensors)
        for i, (x, shape) in enumerate(zip(case.inputs, case.shapes, strict=True)):
            tensors.append(_tensor(f"{case.name} input {i}", "input", x.dtype, shape))
        middle = len(tensors)
        for i, y in enumerate(case.outputs):
            name = f"{case.name} output {i}"
            tensors.append(_tensor(name, "activation", y.dtype, y.value.shape))
        inputs, outputs = list(range(first, middle)), list(range(middle, len(tensors)))
        op = {"name": case.name, "kind": case.kind, "inputs": inputs, "outputs": outputs}
        ops.append({**op, "time_ns": 1, "attrs": case.attrs})
    head = {"format": "remat-graph", "version": 1, "name": "oracle", "time_source": "none"}
    return {**head, "tensors": tensors, "ops": ops, "keep": []}


def _bytes(x: Tensor) -> bytes:
    return x.contiguous().flatten().view(torch.uint8).numpy().tobytes()


def run(program: Path, cases: Sequence[Case]) -> list[list[Tensor]]:
    """The outputs of each case. Raises CalledProcessError if an op cannot be run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.json"
        path.write_text(json.dumps(graph_of(cases)))
        sources = b"".join(_bytes(x) for case in cases for x in case.inputs)
        command = [program, path]
        done = subprocess.run(command, input=sources, stdout=subprocess.PIPE, check=True)
    buffer, at = bytearray(done.stdout), 0
    results: list[list[Tensor]] = []
    for case in cases:
        results.append([])
        for want in case.outputs:
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
