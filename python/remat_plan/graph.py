# SPDX-License-Identifier: MIT
"""A training step as a graph of tensors and ops, and its file (docs/formats.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

Kind = Literal["parameter", "state", "input", "activation", "gradient"]
Phase = Literal["forward", "backward", "update"]


class FormatError(ValueError):
    """A file is not a graph or a plan that this package can read."""


@dataclass(frozen=True)
class Tensor:
    """One piece of storage. A view is not a tensor: its base is.

    `held`: from its first making to the end of the step it stays on the device as it was
    first made, because the step has handed it out.
    """

    name: str
    bytes: int
    kind: Kind
    dtype: str | None = None
    shape: Sequence[int] | None = None
    held: bool = False
    attrs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Op:
    """One op. `inputs` and `outputs` are indices into `Graph.tensors`.

    `recompute`: it may run again. `ordered`: first runs of such ops keep the graph's order
    among themselves. `rewrites`: when it runs again, it can write to the outputs that are
    on the device already; if not, they stay and their bytes count as further workspace.
    """

    name: str
    kind: str
    inputs: Sequence[int]
    outputs: Sequence[int]
    time_ns: int
    workspace_bytes: int = 0
    phase: Phase | None = None
    recompute: bool = True
    ordered: bool = False
    rewrites: bool = True
    attrs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Device:
    """The device and its host link. Plans swap only if both bandwidths are above 0."""

    name: str | None = None
    memory_bytes: int = 0
    h2d_bytes_per_s: int = 0
    d2h_bytes_per_s: int = 0
    copy_latency_ns: int = 0
    alignment_bytes: int = 512


@dataclass(frozen=True)
class Graph:
    """A training step with its costs. It does not change; use `dataclasses.replace`.

    `ops` come in the order of the step without recomputation. `keep` are the tensors that
    must be on the device at the end. With `order="free"` a planner may look for another
    order of first runs. The digest of a loaded graph is that of its file.
    """

    name: str
    time_source: str
    tensors: Sequence[Tensor]
    ops: Sequence[Op]
    keep: Sequence[int]
    device: Device | None = None
    order: Literal["given", "free"] = "given"
    attrs: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    _file: bytes | None = field(default=None, init=False, repr=False, compare=False)

    def to_json(self) -> bytes:
        """The bytes of the file: version 1 unless something needs version 2."""
        return self._file or b"".join(_lines(self))

    def save(self, path: str | Path) -> None:
        """Write the file."""
        Path(path).write_bytes(self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Graph:
        """Read a file. Raises OSError or FormatError."""
        try:
            return cls.parse(Path(path).read_bytes())
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None

    @classmethod
    def parse(cls, text: bytes) -> Graph:
        """Read the bytes of a file. Raises FormatError."""
        graph: Graph = build("graph", _graph, read_object(text, "remat-graph"))
        object.__setattr__(graph, "_file", text)
        return graph

    @cached_property
    def sha256(self) -> str:
        """The digest by which plans name their graph."""
        return hashlib.sha256(self.to_json()).hexdigest()

    @cached_property
    def producers(self) -> Sequence[int | None]:
        """For each tensor the op that makes it; None for a source."""
        made: list[int | None] = [None] * len(self.tensors)
        for i, op in enumerate(self.ops):
            for x in op.outputs:
                made[x] = i
        return made

    @property
    def fixed_bytes(self) -> int:
        """The bytes of the sources, which are on the device for the whole step."""
        return sum(
            t.bytes for t, op in zip(self.tensors, self.producers, strict=True) if op is None
        )

    def with_times(self, time_source: str, times_ns: Sequence[int]) -> Graph:
        """The same graph with one time for each op."""
        ops = [replace(op, time_ns=ns) for op, ns in zip(self.ops, times_ns, strict=True)]
        return replace(self, time_source=time_source, ops=ops)


# ---- writing ----


def _dumps(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _entries(item: Any, required: Sequence[str]) -> dict[str, Any]:
    """The members of a dataclass without those that have their default value."""
    defaults = {
        key: {} if f.default_factory is dict else f.default
        for key, f in item.__dataclass_fields__.items()
        if not key.startswith("_")
    }
    members = {key: getattr(item, key) for key in defaults}
    return {k: v for k, v in members.items() if k in required or v != defaults[k]}


def _version(graph: Graph) -> int:
    newer = (
        graph.order != "given"
        or any(t.held for t in graph.tensors)
        or any(op.ordered or not op.rewrites for op in graph.ops)
    )
    return 2 if newer else 1


def _lines(graph: Graph) -> Iterator[bytes]:
    """The file in parts, with one tensor and one op a line."""
    head = _entries(graph, ("name", "time_source"))
    tensors, ops, keep = head.pop("tensors"), head.pop("ops"), head.pop("keep")
    notes = head.pop("notes", None)
    if graph.device:
        head["device"] = _entries(graph.device, ("alignment_bytes",))
    yield b'{"format":"remat-graph","version":%d' % _version(graph)
    for key, value in head.items():
        yield f",\n{_dumps(key)}:{_dumps(value)}".encode()
    for key, items, required in (
        ("tensors", tensors, ("name", "bytes", "kind")),
        ("ops", ops, ("name", "kind", "inputs", "outputs", "time_ns")),
    ):
        rows = ",\n".join(_dumps(_entries(item, required)) for item in items)
        yield f',\n"{key}":[\n{rows}\n]'.encode()
    yield f',\n"keep":{_dumps(keep)}'.encode()
    if notes:
        yield f',\n"notes":{_dumps(notes)}'.encode()
    yield b"}\n"


# ---- reading, for graphs and plans ----


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise FormatError(f"the key {key!r} occurs twice")
        members[key] = value
    return members


def read_object(text: bytes, name: str) -> dict[str, Any]:
    """The object of a file with this "format", without "format" and "version"."""
    try:
        data = json.loads(text, object_pairs_hook=_unique)
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(f"not JSON: {error}") from None
    if not isinstance(data, dict) or data.pop("format", None) != name:
        raise FormatError(f"not a {name} file")
    version = data.pop("version", None)
    if version not in (1, 2):
        raise FormatError(f"{name} version {version!r}; this package reads 1 and 2")
    return data


def build(where: str, make: Any, data: Any) -> Any:
    """`make(**data)`, with a FormatError that names the place if the keys do not fit."""
    try:
        return make(**data)
    except FormatError:
        raise
    except (TypeError, ValueError, KeyError, IndexError) as error:
        what = str(error).replace("__init__() ", "").replace("_graph() ", "")
        raise FormatError(f"{where}: {what}") from None


def _graph(tensors: Any, ops: Any, device: Any = None, **rest: Any) -> Graph:
    return Graph(
        tensors=[build(f"tensors[{i}]", Tensor, t) for i, t in enumerate(tensors)],
        ops=[_checked(build(f"ops[{i}]", Op, op), len(tensors)) for i, op in enumerate(ops)],
        device=None if device is None else build("device", Device, device),
        **rest,
    )


def _checked(op: Op, n_tensors: int) -> Op:
    for x in (*op.inputs, *op.outputs):
        if type(x) is not int or not 0 <= x < n_tensors:
            raise FormatError(f"op {op.name!r}: there is no tensor {x!r}")
    return op
