# SPDX-License-Identifier: MIT
"""Plans for Inductor: its fused code saves what the plan keeps for the backward pass.

Inductor rewrites the joint graph and then has it split into a forward and a backward graph.
At that point the graph is planned, and its nodes are marked as selective checkpointing marks
them: what the plan keeps over the boundary must be saved, and what it runs in the backward
pass must run there. PyTorch's own min-cut partitioner then splits the graph.

Only the set of saved tensors is carried over. Lost are:

- the order of ops: the partitioner moves an op that runs again to its first reader, and
  Inductor fuses and orders kernels by its own rules;
- ops that run again within one pass, and tensors that are freed and made again twice: in
  the backward pass a tensor lives from its first use to its last;
- swaps, so plans have none; with `swap=True` a tensor that would wait in host memory is
  saved on the device;
- addresses.

So the budget bounds the plan and not the step. Fusion helps, since many tensors of the plan
are never made. Random ops and ops that read what the step overwrites run once; Inductor's
seeds count as random, and what is drawn from a seed can be drawn again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import fx
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._inductor.custom_graph_pass import CustomPartitionerFn
from torch.utils.checkpoint import CheckpointPolicy

from ..plan import Plan
from . import settings
from .agreement import tell_at_exit, together
from .capture import capture
from .captured import Captured, CapturedOp
from .collectives import is_collective, is_wait
from .crossing import Crossing, crossing
from .errors import Refused
from .overwrites import put_back, put_back_late, take_out
from .planner import Options, Planned, make_plan
from .report import Report

STORAGE = "remat_plan_storage"  # node.meta[STORAGE] is the index of a storage made by an op
POLICY = "recompute"  # the partitioner's key for its marks in node.meta


class Partitioner(CustomPartitionerFn):
    """Plans each joint graph that Inductor compiles: `torch.compile(f, options=p.options)`.

    `planned` has the results, the latest last; their modules are those before fusion, and
    nothing is measured. Compiled code is not cached, so each process has a plan to report;
    the plan itself comes from the cache.
    """

    def __init__(self, planning: Options) -> None:
        if planning.storage == "arena":
            raise Refused("storage='arena' is not for Inductor, which allocates by itself")
        # Inductor orders ops by itself. A plan in another order may run ops of the backward
        # pass early, which the partitioner cannot.
        self.planning = replace(planning, options=("--given-order", *planning.options))
        self.planned: list[Planned] = []
        tell_at_exit()

    @property
    def options(self) -> dict[str, Any]:
        """Options for `torch.compile`; others may be added."""
        return {"custom_partitioner_fn": self, "fx_graph_cache": False}

    def __call__(
        self, gm: fx.GraphModule, joint_inputs: Sequence[object], **facts: Any
    ) -> tuple[fx.GraphModule, fx.GraphModule]:
        """The forward and the backward graph. Raises Refused and ProgramError; warns if
        PyTorch's partitioner saved something else than the plan."""
        started = time.monotonic()
        static = frozenset(facts.get("static_lifetime_input_indices") or ())
        overwrites = take_out(gm, facts["num_fwd_outputs"])

        def split(captured: Captured, plan: Plan) -> tuple[fx.GraphModule, fx.GraphModule]:
            _mark(captured, crossing(captured, plan))
            put_back(captured, overwrites)
            put_back_late(captured)
            settings.forget_budgets(gm)
            with settings.fixed_for_capture():
                return min_cut_rematerialization_partition(gm, joint_inputs, **facts)

        with together(gm) as ranks:
            captured = capture(gm, facts["num_fwd_outputs"] + len(overwrites.names), static)
            _run_once_what_reads_old_values(captured)
            planned = make_plan(captured, self.planning, started, split, ranks, _real_inputs())
        _refuse_second_runs(planned)
        self.planned.append(planned)
        _warn_of_differences(planned)
        return planned.forward, planned.backward

    def __deepcopy__(self, _: Any) -> Partitioner:
        """Itself: Inductor copies its configuration, which need not copy what was planned."""
        return self

    def uuid(self) -> None:
        """No key for Inductor's cache."""

    def report(self) -> Report:
        """What the latest plan says. Raises Refused if nothing was planned yet."""
        if not self.planned:
            raise Refused("nothing is planned yet: run the compiled step once")
        return Report(self.planned[-1])


def saved_by_plan(planned: Planned) -> set[str]:
    """The tensors that the plan keeps for the backward pass, without sources."""
    saved = crossing(planned.captured, planned.plan).saved
    return {planned.captured.storages[x].name for x in saved}


def saved_by_modules(planned: Planned) -> set[str]:
    """The tensors that the forward module hands to the backward module, without sources.
    Who saves a view saves the tensor."""
    output = next(iter(planned.forward.graph.find_nodes(op="output")))
    saved = output.args[0][planned.captured.num_fwd_outputs :]
    made = [n for n in saved if isinstance(n, fx.Node) and STORAGE in n.meta]
    return {planned.captured.storages[node.meta[STORAGE]].name for node in made}


def _real_inputs() -> Sequence[Any]:
    """The arguments of the graph that Inductor compiles."""
    from torch._inductor.virtualized import NullHandler, V

    inputs = V.real_inputs
    return () if isinstance(inputs, NullHandler) else inputs


def _run_once_what_reads_old_values(captured: Captured) -> None:
    """The partitioner does not keep overwritten inputs."""
    overwritten = {captured.storage_of[node] for node in captured.old_values}
    for op in captured.ops:
        if overwritten.intersection(op.reads):
            op.once = True


def _mark(captured: Captured, wanted: Crossing) -> None:
    """Tell the partitioner what to save and what to run in the backward pass.

    What depends on tangents runs there anyway, and what is needed in the forward pass only
    gets no mark. Views are made again with their tensors: the partitioner takes some of them
    for ops, and would save them. Marks of the user's own checkpoints are taken away.
    """
    made = {x for op in captured.ops for x in op.makes}
    for node in captured.module.graph.nodes:
        node.meta.pop(POLICY, None)
        if is_collective(node) or is_wait(node):
            _set(node, CheckpointPolicy.MUST_SAVE)  # and so never made again
        if captured.storage_of.get(node) in made:
            node.meta[STORAGE] = captured.storage_of[node]
    made_late: set[int] = set()
    for op in _without_tangents(captured):
        if wanted.saved.intersection(op.makes):
            _set(op.node, CheckpointPolicy.MUST_SAVE)
        elif op in wanted.late and not op.once:
            _set(op.node, CheckpointPolicy.MUST_RECOMPUTE)
            made_late.update(op.makes)
    for node, x in captured.storage_of.items():
        if x in made_late:
            node.meta[POLICY] = CheckpointPolicy.MUST_RECOMPUTE


def _set(node: fx.Node | None, policy: CheckpointPolicy) -> None:
    assert node is not None  # only the boundary has none
    node.meta[POLICY] = policy


def _without_tangents(captured: Captured) -> list[CapturedOp]:
    """The ops that depend on no tangent."""
    boundary = captured.ops[captured.boundary]
    behind = set(boundary.makes)
    found = []
    for op in captured.ops:
        if behind.intersection(op.reads):
            behind.update(op.makes)
        elif op is not boundary:
            found.append(op)
    return found


def _refuse_second_runs(planned: Planned) -> None:
    """Whatever the partitioner does, no op may run again that gives other results then."""
    once = {op.name for op in planned.captured.ops if op.once}
    first, again = (
        {n.name for n in module.graph.nodes if n.op == "call_function"}
        for module in (planned.forward, planned.backward)
    )
    for name in sorted(once & first & again):
        raise Refused(
            f"PyTorch's partitioner runs {name} again, which gives other results then"
        )


def _warn_of_differences(planned: Planned) -> None:
    wanted, got = saved_by_plan(planned), saved_by_modules(planned)
    if wanted != got:
        more, less = ", ".join(sorted(got - wanted)), ", ".join(sorted(wanted - got))
        warnings.warn(
            f"PyTorch's partitioner does not save what the plan keeps: also "
            f"{more or 'nothing'}, but not {less or 'anything less'}",
            stacklevel=2,
        )
