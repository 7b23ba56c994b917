# SPDX-License-Identifier: MIT
"""Plans of remat-plan against PyTorch's own memory budget, on the same captured steps.

    python python/bench/against_pytorch.py [-o FOLDER] [-t SECONDS] [MODEL...]

For each model: the joint graph is captured at full size (nothing is run), op times come
from a device model, and PyTorch's partitioner chooses what to save at each of its budgets,
with these op times and its default solver. Its two modules become a plan without addresses,
each tensor freed after its last use, which `remat-plan verify` accepts. The peak that it
reaches is then our budget. FOLDER gets the graphs, the plans and rows.jsonl.
"""

from __future__ import annotations

import argparse
import copy
import json
import logging
import subprocess
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import models
import torch._functorch.config as functorch_config
from torch import fx
from torch._functorch import partitioners

from remat_plan.graph import Graph
from remat_plan.program import ProgramError, find
from remat_plan.torch.api import capture_step
from remat_plan.torch.captured import Captured
from remat_plan.torch.costs import add_costs
from remat_plan.torch.describe import describe

BUDGETS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)


@dataclass(frozen=True)
class Theirs:
    """A plan that follows PyTorch's choice: without addresses and without swaps."""

    steps: list[dict[str, int]]
    peak_bytes: int
    time_ns: int
    recompute_ns: int


def partition(captured: Captured, graph: Graph, budget: float) -> Theirs:
    """What PyTorch's partitioner makes of the step at one of its budgets."""
    times = {op.name: op.time_ns for op in graph.ops}
    joint = fx.GraphModule(captured.module, copy.deepcopy(captured.module.graph))
    with _partitioner(budget, times):
        passes = partitioners.min_cut_rematerialization_partition(
            joint,
            None,
            num_fwd_outputs=captured.num_fwd_outputs,
            static_lifetime_input_indices=sorted(captured.static),
        )
    op_of = {op.name: i for i, op in enumerate(graph.ops)}
    forward, backward = (
        [
            op_of[node.name]
            for node in module.graph.nodes
            if node.op == "call_function" and node.name in op_of
        ]
        for module in passes
    )
    return follow(graph, [*forward, captured.boundary, *backward])


@contextmanager
def _partitioner(budget: float, times: dict[str, int]) -> Iterator[None]:
    """Its settings: our op times, and random ops left as they are, since only the order of
    the ops is wanted."""

    class Times(partitioners.CustomRuntimeEstimator):  # type: ignore[misc]
        def __call__(self, node: fx.Node) -> float:
            return times.get(node.name, 0) / 1e6

        def uuid(self) -> None:
            return None

    replay = partitioners.functionalize_rng_ops
    partitioners.functionalize_rng_ops = lambda _joint, forward, backward, _n: (
        forward,
        backward,
    )
    settings = {
        "cse": False,
        "activation_memory_budget": budget,
        "activation_memory_budget_solver": "dp",
        "activation_memory_budget_runtime_estimator": Times(),
    }
    try:
        with functorch_config.patch(settings):
            yield
    finally:
        partitioners.functionalize_rng_ops = replay


def follow(graph: Graph, runs: list[int]) -> Theirs:
    """The plan that runs these ops in this order and frees a tensor after its last use."""
    sources = set(range(len(graph.tensors))) - {x for op in graph.ops for x in op.outputs}
    held = {x for x, tensor in enumerate(graph.tensors) if tensor.held}
    wanted = set(graph.keep) - sources
    dead_after: list[list[int]] = [[] for _ in runs]
    for k in range(len(runs) - 1, -1, -1):
        op = graph.ops[runs[k]]
        dead_after[k] = [x for x in (*op.outputs, *op.inputs) if x not in wanted | sources]
        wanted -= set(op.outputs)
        wanted |= set(op.inputs) - sources
    bytes_of = [tensor.bytes for tensor in graph.tensors]
    steps: list[dict[str, int]] = []
    on_device: set[int] = set()
    ran: set[int] = set()
    live = peak = recompute = 0
    for k, i in enumerate(runs):
        op = graph.ops[i]
        steps.append({"run": i})
        kept = on_device.intersection(op.outputs)
        extra = 0 if op.rewrites else sum(bytes_of[x] for x in kept)
        live += sum(bytes_of[x] for x in op.outputs if x not in on_device)
        on_device.update(op.outputs)
        peak = max(peak, live + op.workspace_bytes + extra)
        recompute += op.time_ns if i in ran else 0
        ran.add(i)
        for x in dead_after[k]:
            if x in on_device and x not in held:
                on_device.remove(x)
                live -= bytes_of[x]
                steps.append({"free": x})
    fixed = sum(bytes_of[x] for x in sources)
    base = sum(op.time_ns for op in graph.ops)
    return Theirs(steps, fixed + peak, base + recompute, recompute)


def plan_text(graph: Graph, theirs: Theirs) -> str:
    """Their plan as a file of version 2."""
    base = theirs.time_ns - theirs.recompute_ns
    fixed = graph.fixed_bytes
    everything = {
        "recompute": True,
        "swap": True,
        "host_budget_bytes": None,
        "order": "any",
        "programs": "all",
    }
    plan = {
        "format": "remat-plan",
        "version": 2,
        "graph": {"name": graph.name, "sha256": graph.sha256},
        "budget_bytes": theirs.peak_bytes,
        "addressed": False,
        "arena_bytes": theirs.peak_bytes - fixed,
        "host_bytes": 0,
        "claims": {
            "time_ns": theirs.time_ns,
            "baseline_time_ns": base,
            "recompute_ns": theirs.recompute_ns,
            "stall_ns": 0,
            "peak_bytes": theirs.peak_bytes,
            "lower_bound_ns": base,
            "proof": "none" if theirs.recompute_ns else "optimal",
            "bound_for": everything,
        },
        "steps": theirs.steps,
    }
    return json.dumps(plan)


def call(*args: object) -> str:
    """The output of the program. Raises ProgramError."""
    done = subprocess.run(
        [str(find()), *map(str, args)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ProgramError(done.stderr.strip() or done.stdout.strip(), done.returncode)
    return done.stdout


def compare(name: str, device: str, seconds: float, folder: Path) -> Iterator[dict[str, Any]]:
    """One row for each of PyTorch's budgets."""
    begin = time.monotonic()
    captured = capture_step(*models.make(name))
    graph = add_costs(captured, describe(captured, name), device)
    file = folder / f"{name}.graph.json"
    graph.save(file)
    everything = follow(graph, list(range(len(graph.ops))))
    print(
        f"{name}: {len(graph.ops)} ops, keep-all {everything.peak_bytes / 2**20:.0f} MiB, "
        f"{everything.time_ns / 1e6:.1f} ms, captured in {time.monotonic() - begin:.1f} s",
        flush=True,
    )
    for budget in BUDGETS:
        begin = time.monotonic()
        theirs = partition(captured, graph, budget)
        took = time.monotonic() - begin
        plan = folder / f"{name}-{budget}.theirs.json"
        plan.write_text(plan_text(graph, theirs))
        call("verify", file, plan, "-q")
        ours = json.loads(
            call(
                *("solve", file, "-b", theirs.peak_bytes, "--no-swap", "--no-addresses"),
                *("-t", seconds, "--json", "-o", folder / f"{name}-{budget}.plan.json"),
            )
        )
        yield {
            "model": name,
            "ops": len(graph.ops),
            "budget": budget,
            "peak_bytes": theirs.peak_bytes,
            "base_ns": everything.time_ns,
            "theirs_ns": theirs.time_ns,
            "theirs_seconds": round(took, 1),
            "ours_ns": ours["time_ns"],
            "bound_ns": ours["lower_bound_ns"],
            "seconds": ours["seconds"],
        }


def percent(time_ns: int, base_ns: int) -> str:
    return f"{100 * (time_ns / base_ns - 1):.3f}%"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=models.ALL)
    parser.add_argument("-o", "--out", type=Path, default=Path("build/against_pytorch"))
    parser.add_argument("-t", "--time-limit", type=float, default=30)
    parser.add_argument("-d", "--device", default="v100-16g")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    slower = 0
    with (options.out / "rows.jsonl").open("a") as rows:
        for name in options.models:
            for row in compare(name, options.device, options.time_limit, options.out):
                rows.write(json.dumps(row) + "\n")
                rows.flush()
                worse = row["ours_ns"] > row["theirs_ns"]
                slower += worse
                print(
                    f"  {row['budget']:<4} {row['peak_bytes'] / 2**20:8.0f} MiB  theirs "
                    f"{percent(row['theirs_ns'], row['base_ns']):>9}  ours "
                    f"{percent(row['ours_ns'], row['base_ns']):>9}  bound "
                    f"{percent(row['bound_ns'], row['base_ns']):>9}  {row['seconds']:.0f} s"
                    f"{'  SLOWER' if worse else ''}",
                    flush=True,
                )
    print(f"slower than PyTorch's choice: {slower}")
    return 1 if slower else 0


if __name__ == "__main__":
    raise SystemExit(main())
