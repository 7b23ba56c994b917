# SPDX-License-Identifier: MIT
"""A step as one list of equations: its jaxpr with the inner jaxprs of calls inlined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
from jax.extend import core

# Calls that are inlined, and the parameter with their jaxpr. scan, while and cond are not:
# each is one op, and nothing inside it is planned.
CALLS = {
    "jit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "remat2": "jaxpr",
}
# Equations whose output is their input.
IDENTITIES = ("name", "stop_gradient")


class TraceError(ValueError):
    """A step that cannot be planned. The message says what is in the way."""


class Value:
    """One array of the step. `name` is what `checkpoint_name` called it last."""

    __slots__ = ("aval", "name")

    def __init__(self, aval: Any) -> None:
        self.aval = aval
        self.name: str | None = None


@dataclass(frozen=True)
class Literal:
    """A number that stands in an equation."""

    val: Any


Atom = Value | Literal


@dataclass(frozen=True, eq=False)
class Equation:
    """One primitive operation. `backward`: differentiation has transposed it. `again`: it is
    in the backward part of a `jax.checkpoint`."""

    eqn: core.JaxprEqn
    path: str
    inputs: Sequence[Atom]
    outputs: Sequence[Value]
    again: bool = False

    @property
    def kind(self) -> str:
        """The name of its primitive."""
        return str(self.eqn.primitive.name)

    @property
    def backward(self) -> bool:
        """True if differentiation has transposed it."""
        return "transpose(" in self.path

    @property
    def reads(self) -> list[Value]:
        """Its inputs that are arrays of the step, each once."""
        return list(dict.fromkeys(v for v in self.inputs if isinstance(v, Value)))


@dataclass
class Trace:
    """A step: `results` from `arguments` and `constants` (with their arrays)."""

    arguments: list[Value]
    out_tree: Any
    constants: dict[Value, Any] = field(default_factory=dict)
    equations: list[Equation] = field(default_factory=list)
    results: list[Atom] = field(default_factory=list)

    @property
    def sources(self) -> list[Value]:
        """What is there before the step begins."""
        return [*self.arguments, *self.constants]

    @property
    def values(self) -> list[Value]:
        """All arrays of the step: the sources, then what each equation makes."""
        return [*self.sources, *(v for e in self.equations for v in e.outputs)]


def trace(step: Callable[..., Any], args: Sequence[Any], names: bool = False) -> Trace:
    """The equations of `step(*args)` that its results or effects need.

    `args` are trees of arrays, or of `jax.ShapeDtypeStruct`. With `names` a `checkpoint_name`
    is an equation: what it names and what it gives are two values, as they are to a policy of
    `jax.checkpoint`. Raises TraceError.
    """
    closed, shapes = jax.make_jaxpr(step, return_shape=True)(*args)
    arguments = [Value(_array(v.aval)) for v in closed.jaxpr.invars]
    made = Trace(arguments, jax.tree.structure(shapes))
    inliner = _Inliner(made, names)
    constants = [inliner.constant(c) for c in closed.consts]
    made.results = inliner.inline(closed.jaxpr, constants, made.arguments, "")
    made.equations = list(_needed(made))
    used = {v for e in made.equations for v in e.reads} | {*_values(made.results)}
    made.constants = {v: c for v, c in made.constants.items() if v in used}
    return made


def _values(atoms: Sequence[Atom]) -> list[Value]:
    return [v for v in atoms if isinstance(v, Value)]


def _array(aval: Any) -> Any:
    if not isinstance(aval, jax.core.ShapedArray):
        raise TraceError(f"{aval}: only arrays can be planned, no references and no tokens")
    return aval


class _Inliner:
    def __init__(self, made: Trace, names: bool) -> None:
        self.made, self.names = made, names
        self.again = False
        self.known: dict[int, Value] = {}  # constants by the identity of their array

    def constant(self, array: Any) -> Value:
        if id(array) not in self.known:
            value = Value(_array(jax.typeof(array)))
            self.known[id(array)] = value
            self.made.constants[value] = array
        return self.known[id(array)]

    def inline(
        self, jaxpr: core.Jaxpr, constants: Sequence[Atom], inputs: Sequence[Atom], path: str
    ) -> list[Atom]:
        """Append the equations of a jaxpr; return its results."""
        env: dict[core.Var, Atom] = dict(zip(jaxpr.constvars, constants, strict=True))
        env.update(zip(jaxpr.invars, inputs, strict=True))

        def read(atom: Any) -> Atom:
            return Literal(atom.val) if isinstance(atom, core.Literal) else env[atom]

        for eqn in jaxpr.eqns:
            here = "/".join(filter(None, (path, str(eqn.source_info.name_stack))))
            outputs = self.equation(eqn, [read(v) for v in eqn.invars], here)
            env.update(zip(eqn.outvars, outputs, strict=True))
        return [read(v) for v in jaxpr.outvars]

    def equation(self, eqn: core.JaxprEqn, inputs: list[Atom], path: str) -> Sequence[Atom]:
        kind = eqn.primitive.name
        if kind in IDENTITIES and not (kind == "name" and self.names):
            if kind == "name" and isinstance(inputs[0], Value):
                inputs[0].name = eqn.params["name"]
            return inputs
        if kind in CALLS:
            inner = eqn.params[CALLS[kind]]
            constants = [self.constant(c) for c in getattr(inner, "consts", ())]
            outer, self.again = (
                self.again,
                self.again or eqn.params.get("differentiated", False),
            )
            results = self.inline(getattr(inner, "jaxpr", inner), constants, inputs, path)
            self.again = outer
            return results
        outputs = [Value(_array(v.aval)) for v in eqn.outvars]
        if kind == "name":
            outputs[0].name = eqn.params["name"]
        self.made.equations.append(Equation(eqn, path, inputs, outputs, self.again))
        return outputs


def _needed(made: Trace) -> Iterator[Equation]:
    """The equations that results or effects depend on, in order."""
    needed = set(_values(made.results))
    kept = []
    for equation in reversed(made.equations):
        if equation.eqn.effects or not needed.isdisjoint(equation.outputs):
            needed.update(equation.reads)
            kept.append(equation)
    return reversed(kept)
