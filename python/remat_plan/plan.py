# SPDX-License-Identifier: MIT
"""Plans, their file (docs/formats.md), and a check of their rules in plain Python."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .graph import FormatError, Graph, build, read_object


class PlanError(ValueError):
    """A plan breaks a rule. The message names the step and the rule."""


@dataclass(frozen=True)
class Run:
    """Run `op`. In a plan with addresses, `at` has an address in the arena for each output,
    or None where the output is on the device already."""

    op: int
    at: Sequence[int | None] | None = None
    workspace_at: int | None = None


@dataclass(frozen=True)
class Free:
    """Release the device storage of `tensor`."""

    tensor: int


@dataclass(frozen=True)
class SwapOut:
    """Begin to copy `tensor` to the host. It stays on the device until it is freed."""

    tensor: int
    host_at: int | None = None


@dataclass(frozen=True)
class SwapIn:
    """Take storage for `tensor` and begin to copy it back."""

    tensor: int
    at: int | None = None


Step = Run | Free | SwapOut | SwapIn


@dataclass(frozen=True)
class Plan:
    """What to run, free and move, in which order and, if `addressed`, at which address."""

    graph_sha256: str
    budget_bytes: int
    addressed: bool
    arena_bytes: int
    host_bytes: int
    steps: Sequence[Step]
    claims: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a file. Raises OSError or FormatError."""
        try:
            return cls.parse(Path(path).read_bytes())
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None

    @classmethod
    def parse(cls, text: bytes) -> Plan:
        """Read the bytes of a file. Raises FormatError."""
        data = read_object(text, "remat-plan")
        if data.pop("homes", None):
            raise FormatError("homes: sources on the host are not supported by this package")
        plan: Plan = build("plan", _plan, data)
        return plan

    def to_json(self) -> bytes:
        """The bytes of a file with this plan."""
        members = {k: v for k, v in vars(self).items() if k not in ("graph_sha256", "steps")}
        head = {"format": "remat-plan", "version": 1, "graph": {"sha256": self.graph_sha256}}
        return json.dumps(head | members | {"steps": list(map(_words, self.steps))}).encode()


def _plan(graph: Any, steps: Any, **rest: Any) -> Plan:
    return Plan(
        graph_sha256=graph["sha256"],
        steps=[build(f"steps[{i}]", _step, step) for i, step in enumerate(steps)],
        **rest,
    )


def _step(**step: Any) -> Step:
    match step:
        case {"run": int(op), **rest}:
            return Run(op, **rest)
        case {"free": int(tensor), **rest}:
            return Free(tensor, **rest)
        case {"swap_out": int(tensor), **rest}:
            return SwapOut(tensor, **rest)
        case {"swap_in": int(tensor), **rest}:
            return SwapIn(tensor, **rest)
    raise ValueError("not one of run, free, swap_out and swap_in")


def _words(step: Step) -> dict[str, Any]:
    """A step as it is written; the inverse of `_step`."""
    keys = {Run: "run", Free: "free", SwapOut: "swap_out", SwapIn: "swap_in"}
    (_, first), *rest = vars(step).items()
    return {keys[type(step)]: first} | {k: v for k, v in rest if v is not None}


# ---- checking ----


def check(graph: Graph, plan: Plan) -> None:
    """Check the order, liveness, memory and addresses of a plan.

    Raises PlanError at the first rule that is broken. The time line is not checked:
    `remat-plan verify` does that, and checks all of this by other code.
    """
    if plan.graph_sha256 != graph.sha256:
        raise PlanError("the plan is for another graph (its sha256 differs)")
    state = _State(graph, plan)
    for i, step in enumerate(plan.steps):
        state.where = f"steps[{i}]"
        state.take(step)
    state.where = "end"
    state.end()


class _State:
    """What is on the device and the host after some of the steps."""

    def __init__(self, graph: Graph, plan: Plan) -> None:
        self.graph, self.plan = graph, plan
        self.where = ""
        self.sources = {x for x, op in enumerate(graph.producers) if op is None}
        self.runs = [0] * len(graph.ops)
        self.last_ordered = -1
        self.live: set[int] = set()
        self.on_host: dict[int, int | None] = {}  # the host address of each copy
        self.ranges: dict[int, tuple[int, int]] = {}  # of live tensors in the arena
        self.align = (graph.device.alignment_bytes if graph.device else 512) or 1
        self.live_bytes = 0
        self.peak = self.fixed = graph.fixed_bytes

    def need(self, holds: bool, rule: str) -> None:
        if not holds:
            raise PlanError(f"{self.where}: {rule}")

    def size(self, n_bytes: int) -> int:
        """The storage that so many bytes take."""
        return -(-n_bytes // self.align) * self.align if self.plan.addressed else n_bytes

    def name(self, x: int) -> str:
        return f"tensor {x} {self.graph.tensors[x].name!r}"

    def take(self, step: Step) -> None:
        if isinstance(step, Run):
            self.need(0 <= step.op < len(self.runs), f"there is no op {step.op}")
            self.run(step)
        else:
            self.move(step)

    def move(self, step: Free | SwapOut | SwapIn) -> None:
        x = step.tensor
        self.need(0 <= x < len(self.graph.tensors), f"there is no tensor {x}")
        self.need(x not in self.sources, f"{self.name(x)} is a source and stays")
        if isinstance(step, Free):
            self.free(x)
        elif isinstance(step, SwapOut):
            self.swap_out(x, step.host_at)
        else:
            self.need(x in self.on_host, f"{self.name(x)} has no host copy")
            self.allocate(x, step.at)
            self.raise_peak(0)

    def run(self, step: Run) -> None:
        op, first = self.graph.ops[step.op], self.runs[step.op] == 0
        name = f"op {step.op} {op.name!r}"
        self.need(first or op.recompute, f"{name} may run only once")
        if op.ordered and first:
            self.need(step.op > self.last_ordered, f"{name} runs after a later ordered op")
            self.last_ordered = step.op
        for x in op.inputs:
            there = x in self.sources or x in self.live
            self.need(there, f"{name} reads {self.name(x)}, which is not on the device")
        there_before = [x for x in op.outputs if x in self.live]
        at = step.at if step.at is not None else [None] * len(op.outputs)
        self.need(len(at) == len(op.outputs), f"{name} needs one address per output")
        for x, address in zip(op.outputs, at, strict=True):
            if x in there_before:
                self.need(address is None, f"{self.name(x)} is on the device already")
            else:
                self.allocate(x, address)
        workspace = self.size(op.workspace_bytes)
        if not op.rewrites:
            workspace += sum(self.size(self.graph.tensors[x].bytes) for x in there_before)
        self.place("its workspace", step.workspace_at, workspace)
        self.raise_peak(workspace)
        self.runs[step.op] += 1

    def allocate(self, x: int, address: int | None) -> None:
        self.need(x not in self.live, f"{self.name(x)} is on the device already")
        size = self.size(self.graph.tensors[x].bytes)
        span = self.place(self.name(x), address, size, required=True)
        if span:
            self.ranges[x] = span
        self.live.add(x)
        self.live_bytes += size

    def place(
        self, what: str, address: int | None, size: int, required: bool = False
    ) -> tuple[int, int] | None:
        """Check an address in the arena and return the range, if there is one."""
        expected = self.plan.addressed and (required or size > 0)
        self.need((address is not None) == expected, f"{what}: an address too many or missing")
        if address is None:
            return None
        low, high = address, address + size
        inside = low >= 0 and low % self.align == 0 and high <= self.plan.arena_bytes
        self.need(inside, f"{what}: {low}..{high} is not aligned in the arena")
        for y, (a, b) in self.ranges.items():
            apart = high <= a or b <= low or size == 0 or a == b
            self.need(apart, f"{what} at {low}..{high} overlaps {self.name(y)} at {a}..{b}")
        return low, high

    def raise_peak(self, workspace: int) -> None:
        self.peak = max(self.peak, self.fixed + self.live_bytes + workspace)
        budget = self.plan.budget_bytes
        self.need(self.peak <= budget, f"{self.peak} bytes exceed the budget of {budget}")

    def free(self, x: int) -> None:
        self.need(x in self.live, f"{self.name(x)} is not on the device")
        self.need(not self.graph.tensors[x].held, f"{self.name(x)} is held to the end")
        self.live.remove(x)
        self.ranges.pop(x, None)
        self.live_bytes -= self.size(self.graph.tensors[x].bytes)

    def swap_out(self, x: int, address: int | None) -> None:
        self.need(x in self.live, f"{self.name(x)} is not on the device")
        self.need(x not in self.on_host, f"{self.name(x)} has a host copy already")
        self.need((address is not None) == self.plan.addressed, "host_at too many or missing")
        low, high = self.host_range(x, address)
        fits = low >= 0 and low % self.align == 0 and high <= self.plan.host_bytes
        self.need(fits or not self.plan.addressed, f"{self.name(x)} is not in the host slab")
        for y, other in self.on_host.items():
            a, b = self.host_range(y, other)
            apart = high <= a or b <= low or low == high or a == b
            self.need(apart or address is None, f"host copies of {x} and {y} overlap")
        self.on_host[x] = address

    def host_range(self, x: int, address: int | None) -> tuple[int, int]:
        low = address or 0
        return low, low + self.size(self.graph.tensors[x].bytes)

    def end(self) -> None:
        for op, runs in zip(self.graph.ops, self.runs, strict=True):
            self.need(runs > 0, f"op {op.name!r} never runs")
        for x in self.graph.keep:
            there = x in self.live or x in self.sources
            self.need(there, f"{self.name(x)} must be on the device")
        claimed = self.plan.claims.get("peak_bytes", self.peak)
        self.need(claimed == self.peak, f"the peak is {self.peak} bytes, not {claimed}")
        if self.plan.addressed:
            total = self.fixed + self.plan.arena_bytes
            self.need(total <= self.plan.budget_bytes, "sources and arena exceed the budget")
