# SPDX-License-Identifier: MIT
"""The backend of `torch.compile`: captures the joint graph, plans it, and runs the plan."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, Literal

from torch import fx

from ..graph import Graph
from ..plan import Plan
from ..program import ProgramError, solve
from . import settings
from .agreement import Alone, tell_at_exit, together
from .arena import in_arena
from .capture import capture
from .captured import Captured
from .costs import Times, add_costs
from .decompose import DECOMPOSITIONS
from .describe import describe
from .errors import Refused, graph_break
from .inline import inline_regions
from .meter import Boxed, Meter
from .modules import lower
from .unused import without_unused

Lower = Callable[[Captured, Plan], tuple[fx.GraphModule, fx.GraphModule]]


@dataclass(frozen=True)
class Options:
    """How to plan. One of the two budgets must be given.

    `budget` is all memory of the step on the device, in bytes or as "12GiB" or "60%" (of
    the peak without recomputation): parameters, buffers, inputs, gradients and activations,
    but not the optimizer's state. `activation_budget`, for example "60%", is a share of that
    peak without parameters, inputs and gradients. `times` is as in `costs.add_costs`. `swap`
    lets tensors wait in host memory, by default on CUDA only. `time_limit` is for planning,
    in seconds; `options` are further options of `remat-plan solve`. With `storage="arena"`
    all that is not kept lies in one buffer, at the addresses of the plan (`arena.py`).
    """

    budget: str | int | None = None
    activation_budget: str | None = None
    times: Times = "measure"
    swap: bool | None = None
    storage: Literal["allocator", "arena"] = "allocator"
    time_limit: float = 60.0
    options: Sequence[str] = ()
    progress: bool | None = None
    name: str = "step"

    def __post_init__(self) -> None:
        if (self.budget is None) == (self.activation_budget is None):
            raise Refused("give either budget or activation_budget")
        if isinstance(self.options, str):
            raise Refused("options is a list of words, such as ['--no-swap']")
        if not (callable(self.times) or isinstance(self.times, str)):
            raise Refused("times is 'measure', a device model or a function of the graph")
        if self.storage not in ("allocator", "arena"):
            raise Refused(f"storage is 'allocator' or 'arena', not {self.storage!r}")

    @property
    def shared(self) -> list[str]:
        """What must be the same on all ranks that carry out one plan."""
        words = ("budget", "activation_budget", "swap", "storage", "options")
        return [f"{word} {getattr(self, word)!r}" for word in words]


@dataclass(frozen=True)
class Planned:
    """One compiled step: for given shapes of the arguments there is one."""

    captured: Captured
    graph: Graph
    plan: Plan
    forward: fx.GraphModule
    backward: fx.GraphModule
    capture_s: float
    measure_s: float
    plan_s: float
    meter: Meter


@dataclass
class Planner:
    """Plans each compilation of one function. `planned` has the results, the latest last."""

    options: Options
    planned: list[Planned] = field(default_factory=list)
    __name__ = "remat_plan"  # for Dynamo's messages

    def __post_init__(self) -> None:
        tell_at_exit()

    def __call__(self, module: fx.GraphModule, inputs: Sequence[Any]) -> Any:
        """The backend of `torch.compile`."""
        compilation = _Compilation(self, time.monotonic(), inputs)
        run = compile_with(
            compilation.partition,
            lambda module, _: compilation.compile_pass(module, last=False),
            lambda module, _: compilation.compile_pass(module, last=True),
        )
        step = run(module, inputs)
        if compilation.planned is None:
            return step
        return without_unused(compilation.planned.captured, step)


@dataclass
class _Compilation:
    """One compilation: first its joint graph is partitioned, then both passes compiled."""

    planner: Planner
    started: float
    inputs: Sequence[Any]  # until it is planned
    planned: Planned | None = None

    def partition(
        self,
        joint: fx.GraphModule,
        _inputs: Any,
        *,
        num_fwd_outputs: int,
        static_lifetime_input_indices: Sequence[int] | None = None,
        **_: Any,
    ) -> tuple[fx.GraphModule, fx.GraphModule]:
        """The partition function of AOTAutograd."""
        static = frozenset(static_lifetime_input_indices or ())
        inputs, self.inputs = self.inputs, ()
        options = self.planner.options
        with together(joint) as ranks:
            captured = capture(joint, num_fwd_outputs, static)
            self.planned = make_plan(captured, options, self.started, lower, ranks, inputs)
        self.planner.planned.append(self.planned)
        return self.planned.forward, self.planned.backward

    def compile_pass(self, module: fx.GraphModule, last: bool) -> Boxed:
        """The compiler of the forward pass or, if `last`, of the backward pass."""
        run = boxed(module)
        return as_boxed(run if self.planned is None else self.planned.meter.wrap(run, last))


def make_plan(
    captured: Captured,
    options: Options,
    started: float,
    carry_out: Lower,
    ranks: Alone,
    inputs: Sequence[Any],
) -> Planned:
    """Cost and plan a captured step, and make the modules of the plan by `carry_out`.

    `started` is the monotonic clock at the beginning of the capture, `ranks` are those that
    carry out the same plan, `inputs` the arguments of the graph that Dynamo compiles. Raises
    ProgramError, and Refused if the ranks differ or an op fails while it is measured.
    """
    graph = describe(captured, options.name)
    ranks.compare(captured, graph, options.shared)
    captured_at = time.monotonic()
    graph = ranks.slowest(add_costs(captured, graph, options.times, inputs))
    if options.storage == "arena":
        graph = in_arena(captured, graph)
    measured_at = time.monotonic()
    plan = ranks.plan(graph, lambda: find_plan(captured, graph, options), options.time_limit)
    planned_at = time.monotonic()
    forward, backward = carry_out(captured, plan)
    return Planned(
        captured,
        graph,
        plan,
        forward,
        backward,
        capture_s=captured_at - started,
        measure_s=measured_at - captured_at,
        plan_s=planned_at - measured_at,
        meter=Meter(captured.device),
    )


def find_plan(captured: Captured, graph: Graph, o: Options) -> Plan:
    """The plan for a graph with costs. Raises ProgramError, which says how much the ops take
    that may not run again."""
    try:
        return _solve(captured, graph, o)
    except ProgramError as error:
        held = sum(graph.tensors[x].bytes for x in captured.held_by_ops_that_run_once())
        if error.code not in (1, 4) or not held:
            raise
        raise ProgramError(
            f"{error}; {held} bytes that the backward pass reads come from ops that run once, "
            "such as random ones",
            error.code,
        ) from None


def _solve(captured: Captured, graph: Graph, o: Options) -> Plan:
    swap = captured.device.type == "cuda" if o.swap is None else o.swap
    return solve(
        graph,
        budget=o.budget,
        activation_budget=o.activation_budget,
        time_limit=o.time_limit,
        options=(
            *(() if o.storage == "arena" else ("--no-addresses",)),
            *(() if swap else ("--no-swap",)),
            *o.options,
        ),
        progress=o.progress,
    )


def boxed(module: fx.GraphModule) -> Boxed:
    """A module as a function of a list of arguments, which it empties.

    Each value is dropped after its last reader, also arguments and values without readers.
    """
    from torch.fx.graph import _BoxedCodeGen

    module.graph.set_codegen(_BoxedCodeGen())
    module.recompile()
    return as_boxed(lambda args: module.forward(args))


def as_boxed(run: Boxed) -> Boxed:
    """Tell AOTAutograd that a function takes its arguments in a list."""
    run._boxed_call = True  # type: ignore[attr-defined]
    return run


def compile_with(
    partition: Callable[..., tuple[fx.GraphModule, fx.GraphModule]],
    forward: Callable[..., Any],
    backward: Callable[..., Any],
) -> Callable[[fx.GraphModule, Sequence[Any]], Any]:
    """A backend for `torch.compile` with this partition function and these compilers."""
    from torch._dynamo.backends.common import aot_autograd

    def run_backend(module: fx.GraphModule, inputs: Sequence[Any]) -> Any:
        reason = getattr(module, "compile_subgraph_reason", None)
        if getattr(reason, "graph_break", False):
            raise graph_break(reason)
        inline_regions(module)
        compiled = aot_autograd(
            fw_compiler=forward,
            bw_compiler=backward,
            inference_compiler=lambda m, _: as_boxed(boxed(m)),
            partition_fn=partition,
            decompositions=DECOMPOSITIONS,
        )
        with settings.fixed_for_capture():
            return compiled(module, inputs)

    return run_backend


def backend(
    module: fx.GraphModule, inputs: Sequence[Any], *, options: dict[str, Any] | None = None
) -> Any:
    """`torch.compile(fn, backend="remat_plan", options={"budget": "12GiB"}, dynamic=False)`.

    The options are the fields of `Options`. Without `dynamic=False` a second shape is
    refused. Raises Refused (in an error of Dynamo) if the
    function breaks into several graphs, which would need one plan for all of them.
    """
    return Planner(Options(**(options or {})))(module, inputs)


def register() -> None:
    """Make "remat_plan" a name of a backend where the package runs without being installed;
    an installed one has an entry point of that name."""
    from torch._dynamo.backends.registry import register_backend

    if not entry_points(group="torch_dynamo_backends", name="remat_plan"):
        register_backend(compiler_fn=backend, name="remat_plan")
