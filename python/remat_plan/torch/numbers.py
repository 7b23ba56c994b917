# SPDX-License-Identifier: MIT
"""Whole numbers that change from step to step: counters, and the number of the step.

Dynamo compiles the values of numbers into the graph, and the whole function anew when one
of them changes. Here a whole number that has changed becomes an input of the graph, so a
step that counts its calls is planned twice at most. A number that sizes depend on remains a
constant, since a plan is for given sizes.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import torch
from torch import fx

from .errors import Refused, too_many_compilations

Backend = Callable[[fx.GraphModule, Sequence[Any]], Any]

_count = itertools.count()


class CompiledStep:
    """A function compiled in one graph for given shapes; it has a code object of its own."""

    def __init__(self, function: FunctionType, backend: Backend) -> None:
        name = f"{function.__name__}_{next(_count)}"  # Dynamo keeps what it saw by name
        function.__code__ = function.__code__.replace(co_name=name)
        self.code = function.__code__
        self.backend = backend
        self.seen: dict[str, int] = {}  # whole numbers at the last compilation, by source
        self.inputs: set[str] = set()  # those that are inputs of the graph
        self.constants: set[str] = set()  # those that must not be

        def remat_plan(module: fx.GraphModule, inputs: Sequence[Any]) -> Any:
            return self._compile(module, inputs)  # Dynamo's messages have the name

        self.compiled = torch.compile(
            function, backend=remat_plan, fullgraph=True, dynamic=False
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        exc: Any = torch._dynamo.exc
        while True:
            try:
                with _as_inputs(self.inputs):
                    return self.compiled(*args, **kwargs)
            except exc.BackendCompilerFailed as error:
                if not isinstance(error.inner_exception, _Again):
                    raise
            except exc.FailOnRecompileLimitHit:
                raise too_many_compilations(self._what_changed()) from None

    def _compile(self, module: fx.GraphModule, inputs: Sequence[Any]) -> Any:
        now = self._whole_numbers()
        changed = {name for name, n in now.items() if self.seen.get(name, n) != n}
        self.seen |= now
        changed -= self.inputs | self.constants
        if changed:
            self.inputs |= changed
            raise _Again
        try:
            return self.backend(module, inputs)
        except Refused as refused:
            if not (refused.of_a_size and self.inputs):
                raise
            self.constants |= self.inputs
            self.inputs = set()
            raise _Again from None

    def _whole_numbers(self) -> dict[str, int]:
        """By source, such as "L['model'].calls", those that Dynamo has just read."""
        from torch._dynamo.pgo import get_code_state

        return {
            source: entry.scalar
            for code, state in get_code_state().items()
            if code.name == self.code.co_name
            for source, entry in state.automatic_dynamic.items()
            if type(entry.scalar) is int
        }

    def _what_changed(self) -> str:
        """What Dynamo last found different, as code with a value: "L['lr'] == 0.1"."""
        failures = torch._dynamo.utils.guard_failures.get(self.code) or [""]
        return str(failures[-1])


class _Again(Exception):
    """Ends a compilation that is to be repeated with other numbers as inputs."""


def _as_inputs(sources: set[str]) -> Any:
    """Has Dynamo make inputs of these; what the user has set remains."""
    config: Any = torch.compiler.config
    patterns = [re.sub("[,: ]", ".", re.escape(source)) + "$" for source in sorted(sources)]
    return config.patch(
        dynamic_sources=",".join(filter(None, [config.dynamic_sources, *patterns]))
    )
