# SPDX-License-Identifier: MIT
"""The functions for users: compile, export and nvtx."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any

import torch
from torch import fx

from ..graph import Graph
from . import settings
from .capture import capture
from .captured import Captured
from .costs import Times, add_costs
from .describe import describe
from .errors import Refused, translate
from .meta import gradients_on_meta
from .numbers import CompiledStep
from .planner import Options, Planned, Planner, boxed, compile_with
from .report import Report

Loss = Callable[..., Any]


class Step:
    """A loss function that trains within a memory budget; see `compile`.

    There is one plan for each combination of shapes of the arguments, and of values of
    arguments that are no tensors, but for whole numbers that no size depends on.
    """

    def __init__(self, function: FunctionType, planner: Planner) -> None:
        self.planner = planner
        self._compiled = CompiledStep(function, planner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with one_line_errors():
            return self._compiled(*args, **kwargs)

    def __reduce__(self) -> Any:
        raise Refused("a step cannot be copied or pickled: compile the copy of the model")

    @property
    def planned(self) -> Sequence[Planned]:
        """What was captured and planned, the latest last."""
        return tuple(self.planner.planned)

    def report(self) -> Report:
        """What a plan says, and what was measured since: the plan that ran most often, the
        latest of several. Raises Refused if nothing was planned yet."""
        if not self.planned:
            raise Refused(
                "nothing is planned yet: run the step once, with something in it that "
                "requires a gradient"
            )
        return Report(max(reversed(self.planned), key=lambda planned: planned.meter.runs))


def compile(model: Any, loss_fn: Loss, **options: Any) -> Step:
    """A function `step(*args)` that returns `loss_fn(model, *args)`, ready for `backward()`.
    Keyword arguments are handed on too.

    The step is captured, measured and planned when it runs first. The options are the
    fields of `Options`: give `budget` or `activation_budget`. Raises Refused if the step
    cannot be captured, and ProgramError (with code 1) if no plan fits the budget.
    """

    options.setdefault("name", type(model).__name__)
    return Step(step_function(model, loss_fn), Planner(Options(**options)))


def export(
    model: Any,
    loss_fn: Loss,
    args: Sequence[Any],
    path: str | Path,
    *,
    kwargs: Mapping[str, Any] | None = None,
    times: Times = "none",
) -> Graph:
    """Write the training step of `loss_fn(model, *args, **kwargs)` as a graph file, and
    return it.

    Without times it cannot be planned: give `times` as to `compile`, or measure the file
    with `remat-plan profile`. Nothing of the model changes. Without times or with those of
    a device model, model and arguments may be on the device "meta", where they take no
    memory. Raises Refused, and TypeError if `args` is no list.
    """
    captured, inputs = _trace(model, loss_fn, args, kwargs)
    graph = add_costs(captured, describe(captured, type(model).__name__), times, inputs)
    graph.save(path)
    return graph


def capture_step(
    model: Any, loss_fn: Loss, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None
) -> Captured:
    """Trace `loss_fn(model, *args, **kwargs)` and its backward pass without running them.
    Raises Refused, and TypeError if `args` is no list."""
    return _trace(model, loss_fn, args, kwargs)[0]


def _trace(
    model: Any, loss_fn: Loss, args: Sequence[Any], kwargs: Mapping[str, Any] | None
) -> tuple[Captured, Sequence[Any]]:
    """The captured step, and the arguments of the graph that Dynamo made of it."""
    check_arguments(args)
    got: list[Captured] = []
    values: Sequence[Any] = ()

    def partition(joint: fx.GraphModule, _: Any, *, num_fwd_outputs: int, **kw: Any) -> Any:
        static = frozenset(kw.get("static_lifetime_input_indices") or ())
        got.append(capture(joint, num_fwd_outputs, static))
        raise _Done

    def nothing(module: fx.GraphModule, _: Any) -> Any:
        return boxed(module)

    def backend(module: fx.GraphModule, inputs: Sequence[Any]) -> Any:
        nonlocal values
        values = tuple(inputs)
        return compile_with(partition, nothing, nothing)(module, inputs)

    traced = torch.compile(
        step_function(model, loss_fn), backend=backend, fullgraph=True, dynamic=False
    )
    try:
        with one_line_errors(), torch.enable_grad(), gradients_on_meta():
            traced(*args, **(kwargs or {}))
    except torch._dynamo.exc.BackendCompilerFailed as error:
        if not isinstance(error.inner_exception, _Done):
            raise
    if not got:
        raise Refused("nothing in the step requires a gradient")
    return got[0], values


def check_arguments(args: Sequence[Any]) -> None:
    """Raises Refused or TypeError if `args` is not a list of arguments."""
    if isinstance(args, torch.Tensor):
        raise Refused("args is the list of arguments, such as (x, y), not one tensor")
    if not isinstance(args, Sequence) or isinstance(args, str):
        raise TypeError(
            f"args is the list of positional arguments, not a {type(args).__name__}; give "
            "arguments with names as kwargs={...}"
        )


def step_function(model: Any, loss_fn: Loss) -> FunctionType:
    """A function with a code object of its own: Dynamo limits how often one is compiled."""

    def step(*args: Any, **kwargs: Any) -> Any:
        return loss_fn(model, *args, **kwargs)

    step.__code__ = step.__code__.replace()
    return step  # type: ignore[return-value]


class _Done(Exception):
    """Ends a compilation whose joint graph is all that was wanted."""


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Errors of `torch.compile` that we can explain become Refused; its settings are those
    that plans are made for (`settings.py`)."""
    try:
        with settings.fixed_for_call():
            yield
    except Exception as error:
        ours = translate(error)
        if ours is None:
            raise
        raise ours from None
