# SPDX-License-Identifier: MIT
"""One plan for all ranks of a step with collectives.

Ranks that issue collectives in different orders wait for each other forever. So the ranks
meet before they plan: they compare what they captured, the lowest of them plans with the
slowest times of all, and the others carry out its plan. If one of them stops, so do all.

They meet in the store of the default process group, where a rank can wait with a time limit
and see that another one has stopped; a collective could only hang. All ranks meet that share
a group of the step, also by way of other ranks.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import cache
from typing import Any

import torch
import torch.distributed as dist
from torch import fx

from ..graph import Device, Graph
from ..plan import Plan, check
from ..program import ProgramError
from .captured import Captured
from .collectives import group_names, process_group, signatures
from .errors import Refused

POLL_S = 0.001, 0.1  # the first and the longest pause between two looks into the store


class Alone:
    """A rank that plans for itself: its step has no collectives."""

    def compare(self, captured: Captured, graph: Graph, settings: Sequence[str]) -> None:
        """See that all ranks captured the same step, with the same `settings`. Raises
        Refused on all ranks if not."""

    def slowest(self, graph: Graph) -> Graph:
        """The graph with the slowest times of all ranks, the largest workspaces and the
        slowest host link."""
        return graph

    def plan(self, graph: Graph, find: Callable[[], Plan], time_limit: float) -> Plan:
        """The plan that the lowest rank finds, which may take so many seconds."""
        return find()


class Together(Alone):
    """This rank, and all that share a group with it."""

    def __init__(self, names: Sequence[str]) -> None:
        self.store = _store()
        self.rank = dist.get_rank()
        self.limit_s = self.store.timeout.total_seconds()
        # A meeting is of one group, and ranks count theirs: [group, count, ranks].
        self.mine = [self._meeting(name) for name in names]
        self.known = list(self.mine)
        self.ranks: list[int] = []
        self.session = ""  # where all of them meet
        self.heard = ""  # why all of them stop

    def _meeting(self, name: str) -> list[Any]:
        count = self.store.add(f"{name}/count of {self.rank}", 1)
        return [name, count, _ranks_of(name)]

    # ---- what a rank does ----

    def compare(self, captured: Captured, graph: Graph, settings: Sequence[str]) -> None:
        lines = [*settings, *_structure(captured, graph)]
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        for name, count, _ in self.mine:
            self._put(f"{name}/{count}/{self.rank}", {"digest": digest, "groups": self.mine})
        records = self._records()
        self.ranks = sorted(records)
        name, count, _ = records[self.ranks[0]]["groups"][0]
        self.session = f"{name}/{count}/all"
        wanted = records[self.ranks[0]]["digest"]
        other = next((r for r in self.ranks if records[r]["digest"] != wanted), None)
        if other is not None:
            self._tell_difference(lines, self.ranks[0], other)

    def slowest(self, graph: Graph) -> Graph:
        if not self.leads:
            self._put(f"{self.session}/costs of {self.rank}", _costs(graph))
            return Graph.parse(self._read_once(f"{self.session}/graph").encode())
        keys = {rank: f"{self.session}/costs of {rank}" for rank in self.ranks[1:]}
        costs = [_costs(graph), *(self._get(key, rank) for rank, key in keys.items())]
        self._delete(keys.values())
        slowest = _with_slowest(graph, costs)
        self._put(f"{self.session}/graph", slowest.to_json().decode())
        return slowest

    def plan(self, graph: Graph, find: Callable[[], Plan], time_limit: float) -> Plan:
        if self.leads:
            plan = find()
            self._put(f"{self.session}/plan", plan.to_json().decode())
            return plan
        self.limit_s += 2 * time_limit
        plan = Plan.parse(self._read_once(f"{self.session}/plan").encode())
        check(graph, plan)
        return plan

    def stop(self, error: BaseException) -> None:
        """Tell all other ranks that this one goes no further."""
        text = str(error) or type(error).__name__
        text = text if text == self.heard else f"rank {self.rank} stops: {text}"
        what = {"text": text, "code": getattr(error, "code", None)}
        with suppress(RuntimeError):  # the store may be gone with the rank that had it
            for name, count, _ in self.known:
                self._put(f"{name}/{count}/stopped", what)

    # ---- how they meet ----

    @property
    def leads(self) -> bool:
        return self.rank == self.ranks[0]

    def _records(self) -> dict[int, Any]:
        """What each rank says that shares a group with a rank already known."""
        records: dict[int, Any] = {}
        for name, count, ranks in self.known:  # which grows
            for rank in ranks:
                records[rank] = self._get(f"{name}/{count}/{rank}", rank)
                for meeting in records[rank]["groups"]:
                    if meeting not in self.known:
                        self.known.append(meeting)
        return records

    def _tell_difference(self, lines: list[str], one: int, other: int) -> None:
        """Raises Refused that names the first line in which two ranks differ."""
        if self.rank in (one, other):
            self._put(f"{self.session}/lines of {self.rank}", lines)
        theirs = [self._get(f"{self.session}/lines of {r}", r) for r in (one, other)]
        n = max(map(len, theirs))
        padded = [[*t, *["nothing more"] * (n - len(t))] for t in theirs]
        a, b = next((a, b) for a, b in zip(*padded, strict=True) if a != b)
        raise self._refusal(
            f"all ranks must run one plan, but they captured different steps: rank {one} has "
            f"{a}, rank {other} has {b}"
        )

    def _put(self, key: str, value: Any) -> None:
        self.store.set(key, json.dumps(value))

    def _get(self, key: str, rank: int) -> Any:
        """What a rank puts there. Raises Refused if it stops or does not come."""
        end, pause = time.monotonic() + self.limit_s, POLL_S[0]
        while not self.store.check([key]):
            self._see_if_stopped()
            what = f"waited {self.limit_s:g} s" if time.monotonic() > end else ""
            if self.store.check([_ended(rank)]) and not self.store.check([key]):
                what = f"has ended while rank {self.rank} waits"
            if what:
                raise self._refusal(
                    f"rank {rank} did not come to plan the same step ({what}): each rank must "
                    "compile the steps that have collectives, in the same order"
                )
            time.sleep(pause)
            pause = min(2 * pause, POLL_S[1])
        return json.loads(self.store.get(key))

    def _see_if_stopped(self) -> None:
        for name, count, _ in self.known:
            key = f"{name}/{count}/stopped"
            if self.store.check([key]):
                what = json.loads(self.store.get(key))
                if what["code"] is not None:
                    self.heard = what["text"]
                    raise ProgramError(what["text"], what["code"])
                raise self._refusal(what["text"])

    def _refusal(self, text: str) -> Refused:
        """An error that is the same on all ranks."""
        self.heard = text
        return Refused(text)

    def _read_once(self, key: str) -> Any:
        """What the lowest rank puts there; the last reader deletes it."""
        value = self._get(key, self.ranks[0])
        if self.store.add(f"{key} read", 1) == len(self.ranks) - 1:
            self._delete([key, f"{key} read"])
        return value

    def _delete(self, keys: Any) -> None:
        for key in keys:
            with suppress(RuntimeError):  # not every store can
                self.store.delete_key(key)


def _store() -> Any:
    groups: Any = dist
    return groups.PrefixStore("remat_plan", groups.distributed_c10d._get_default_store())


def _ended(rank: int) -> str:
    return f"{rank} has ended"


@cache
def _tell_at_exit(rank: int) -> None:
    store = _store()

    def tell() -> None:
        with suppress(RuntimeError):  # the store may be gone with the rank that had it
            store.set(_ended(rank), "")

    atexit.register(tell)


def tell_at_exit() -> None:
    """See that the ranks that wait for this process are told when it ends."""
    if dist.is_available() and dist.is_initialized() and dist.get_backend() != "fake":
        _tell_at_exit(dist.get_rank())


@contextmanager
def together(module: fx.GraphModule) -> Iterator[Alone]:
    """The ranks that plan a joint graph. What is raised here stops all of them."""
    names = [name for name in group_names(module) if _is_of_several(name)]
    if not names:
        yield Alone()
        return
    ranks = Together(names)
    try:
        yield ranks
    except BaseException as error:
        ranks.stop(error)
        raise


def _ranks_of(name: str) -> list[int]:
    return sorted(dist.get_process_group_ranks(process_group(name)))


def _is_of_several(name: str) -> bool:
    """True unless this is the only process: the others of a fake group do not exist."""
    group = process_group(name)
    return bool(group.size() > 1 and dist.get_backend(group) != "fake")


# ---- what they compare and exchange ----


def _structure(captured: Captured, graph: Graph) -> list[str]:
    """A line for each fact that a plan depends on but times, which the ranks share."""
    collectives = signatures(captured)
    lines = [f"torch {torch.__version__}", f"a step on {captured.device.type}"]
    sizes = f"{len(graph.ops)} ops and {len(graph.tensors)} tensors"
    lines.append(f"{sizes}, {len(collectives)} collectives")
    for i, op in enumerate(graph.ops):
        lines.append(
            f"op {i} {op.kind} {collectives.get(i, '')} reading {op.inputs} making {op.outputs}"
            f"{'' if op.recompute else ', once'}{', ordered' if op.ordered else ''}"
        )
    for x, t in enumerate(graph.tensors):
        lines.append(f"tensor {x} of {t.bytes} bytes, {t.dtype} {t.shape}, {t.kind} {t.held}")
    return [*lines, f"kept {graph.keep}"]


def _costs(graph: Graph) -> dict[str, Any]:
    return {
        "times_ns": [op.time_ns for op in graph.ops],
        "workspaces": [op.workspace_bytes for op in graph.ops],
        "device": asdict(graph.device) if graph.device else None,
    }


def _with_slowest(graph: Graph, costs: Sequence[dict[str, Any]]) -> Graph:
    times = map(max, zip(*(c["times_ns"] for c in costs), strict=True))
    workspaces = map(max, zip(*(c["workspaces"] for c in costs), strict=True))
    ops = [
        replace(op, time_ns=ns, workspace_bytes=n)
        for op, ns, n in zip(graph.ops, times, workspaces, strict=True)
    ]
    return replace(graph, ops=ops, device=_slowest_link([c["device"] for c in costs]))


def _slowest_link(devices: Sequence[dict[str, Any] | None]) -> Device | None:
    """The device of the first rank with the least memory and the slowest link of all. None
    if a rank has none, so that no plan swaps there."""
    known = [d for d in devices if d]
    if len(known) < len(devices):
        return None
    keys = ("memory_bytes", "h2d_bytes_per_s", "d2h_bytes_per_s")
    least = {key: min(d[key] for d in known) for key in keys}
    latency = max(d["copy_latency_ns"] for d in known)
    return Device(**(known[0] | least | {"copy_latency_ns": latency}))
