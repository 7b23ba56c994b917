# SPDX-License-Identifier: MIT
"""What a plan says of a step, and what was measured."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..graph import Graph
from ..plan import Free, Run, SwapIn, SwapOut
from ..program import ProgramError, find
from .arena import count_runs, outside_bytes

if TYPE_CHECKING:
    from .planner import Planned

MIB = 1 << 20


@dataclass(frozen=True)
class Report:
    """Figures of one planned step. Bytes and nanoseconds; None where nothing was measured.

    Peaks include the sources: parameters, buffers and inputs. `print(report)` shows all.
    """

    planned: Planned

    @property
    def keep_all_peak_bytes(self) -> int:
        return keep_all_peak(self.planned.graph)

    @property
    def planned_peak_bytes(self) -> int:
        """With an arena, its whole size and what lies outside count."""
        plan = self.planned.plan
        if plan.addressed:
            return self.planned.graph.fixed_bytes + plan.arena_bytes
        return int(plan.claims["peak_bytes"])

    @property
    def source_bytes(self) -> int:
        """Parameters, buffers and inputs."""
        return self.planned.graph.fixed_bytes - outside_bytes(self.planned.graph)

    @property
    def arena_bytes(self) -> int | None:
        """With `storage="arena"`, the bytes of the one allocation of each step."""
        plan = self.planned.plan
        return plan.arena_bytes if plan.addressed else None

    @property
    def written_in_arena(self) -> int:
        """How many runs of ops write to the arena directly."""
        return count_runs(self.planned.captured, self.planned.plan)[0]

    @property
    def copied_to_arena(self) -> dict[str, int]:
        """How many runs of each kind make a result that is then copied to the arena."""
        return dict(count_runs(self.planned.captured, self.planned.plan)[1].most_common())

    @property
    def measured_peak_bytes(self) -> int | None:
        """On CUDA the blocks of the allocator count, which can be larger than the tensors."""
        return self._with_sources(self.planned.meter.peak_bytes)

    @property
    def requested_peak_bytes(self) -> int | None:
        """The same, but only the bytes that were asked for count."""
        return self._with_sources(self.planned.meter.requested_bytes)

    def _with_sources(self, measured: int | None) -> int | None:
        if measured is None:
            return None
        copies = self.planned.captured.old_values.values()  # made and measured in the step
        tensors = self.planned.graph.tensors
        return self.source_bytes - sum(tensors[x].bytes for x in copies) + measured

    @property
    def planned_time_ns(self) -> int:
        return int(self.planned.plan.claims["time_ns"])

    @property
    def keep_all_time_ns(self) -> int:
        return int(self.planned.plan.claims["baseline_time_ns"])

    @property
    def measured_time_ns(self) -> int | None:
        return self.planned.meter.time_ns()

    @property
    def recomputed(self) -> dict[str, int]:
        """How many ops of each kind run again."""
        ops = self.planned.graph.ops
        runs = Counter(step.op for step in self.planned.plan.steps if isinstance(step, Run))
        again: Counter[str] = Counter()
        for i, n in runs.items():
            again[ops[i].kind] += n - 1
        return {kind: n for kind, n in again.most_common() if n > 0}

    @property
    def swapped(self) -> list[str]:
        """The tensors that wait in host memory for a while."""
        copies = [s.tensor for s in self.planned.plan.steps if isinstance(s, SwapIn)]
        return [self.planned.graph.tensors[x].name for x in dict.fromkeys(copies)]

    def picture(self, path: str | Path | None = None) -> str:
        """What `remat-plan show` says, with a chart of the memory; `path`: also as an SVG.

        Raises ProgramError.
        """
        with tempfile.TemporaryDirectory() as folder:
            graph, plan = Path(folder, "graph.json"), Path(folder, "plan.json")
            self.planned.graph.save(graph)
            plan.write_text(json.dumps(_plan_file(self.planned)))
            svg = [] if path is None else ["--svg", str(path)]
            command = [str(find()), "show", *svg, str(graph), str(plan)]
            shown = subprocess.run(command, capture_output=True, text=True, check=False)
        if shown.returncode != 0:
            raise ProgramError(shown.stderr.strip(), shown.returncode)
        return shown.stdout

    def __str__(self) -> str:
        p = self.planned
        extra = self.planned_time_ns / max(self.keep_all_time_ns, 1) - 1
        lines = [
            f"{p.graph.name}: {len(p.graph.ops)} ops, {len(p.graph.tensors)} tensors, "
            f"times from {p.graph.time_source}",
            f"peak     keep-all {_size(self.keep_all_peak_bytes)}, planned "
            f"{_size(self.planned_peak_bytes)}, measured {_size(self.measured_peak_bytes)}",
            f"time     keep-all {_ms(self.keep_all_time_ns)}, planned "
            f"{_ms(self.planned_time_ns)} ({extra:+.2%}), "
            f"measured {_ms(self.measured_time_ns)}",
            f"sources  {_size(self.source_bytes)} of parameters, buffers and inputs",
            f"again    {_counts(self.recomputed)}",
            f"swapped  {', '.join(self.swapped) or 'nothing'}",
            f"took     capture {p.capture_s:.1f} s, costs {p.measure_s:.1f} s, "
            f"plan {p.plan_s:.1f} s",
        ]
        if self.arena_bytes is not None:
            lines[4:4] = [
                f"arena    {_size(self.arena_bytes)}, and at most "
                f"{_size(outside_bytes(p.graph))} outside of it",
                f"written  {self.written_in_arena} runs directly; copied: "
                f"{_counts(self.copied_to_arena)}",
            ]
        return "\n".join(lines)


def _plan_file(planned: Planned) -> dict[str, Any]:
    """The plan as in its file."""
    plan = planned.plan
    words = {Run: "run", Free: "free", SwapOut: "swap_out", SwapIn: "swap_in"}
    return {
        "format": "remat-plan",
        "version": 2 if "bound_for" in plan.claims else 1,
        "graph": {"name": planned.graph.name, "sha256": plan.graph_sha256},
        "budget_bytes": plan.budget_bytes,
        "addressed": plan.addressed,
        "arena_bytes": plan.arena_bytes,
        "host_bytes": plan.host_bytes,
        "steps": [_step_of_file(words[type(step)], **vars(step)) for step in plan.steps],
        "claims": dict(plan.claims),
        "notes": dict(plan.notes),
    }


def _step_of_file(
    word: str, op: int | None = None, tensor: int | None = None, **addresses: Any
) -> dict[str, Any]:
    given = {key: value for key, value in addresses.items() if value is not None}
    return {word: tensor if op is None else op, **given}


def keep_all_peak(graph: Graph) -> int:
    """The peak if every op runs once, in the graph's order, and tensors die when unread."""
    last = {x: i for i, op in enumerate(graph.ops) for x in (*op.inputs, *op.outputs)}
    kept = set(graph.keep)
    live = peak = graph.fixed_bytes
    producers = graph.producers
    for i, op in enumerate(graph.ops):
        live += sum(graph.tensors[x].bytes for x in op.outputs)
        peak = max(peak, live + op.workspace_bytes)
        dead = {x for x in (*op.inputs, *op.outputs) if last[x] == i} - kept
        live -= sum(graph.tensors[x].bytes for x in dead if producers[x] is not None)
    return peak


def _size(n_bytes: int | None) -> str:
    if n_bytes is None:
        return "-"
    return f"{n_bytes / MIB:.1f} MiB" if n_bytes >= MIB else f"{n_bytes / 1024:.1f} KiB"


def _ms(ns: int | None) -> str:
    return "-" if ns is None else f"{ns / 1e6:.2f} ms"


def _counts(kinds: dict[str, int]) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in kinds.items()) or "nothing"
