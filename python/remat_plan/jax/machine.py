# SPDX-License-Identifier: MIT
"""The ops of a step run one by one, without jit."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from .trace import Atom, Equation, Trace, TraceError, Value


class Machine:
    """The arrays of a step that are on the device, and the copies on the host.

    An array is freed by dropping the only reference to it. `values` are the arrays of the
    step in the order of its graph's tensors.
    """

    def __init__(self, traced: Trace, args: Sequence[Any]) -> None:
        arrays = [*jax.tree.leaves(args), *traced.constants.values()]
        if any(isinstance(a, jax.ShapeDtypeStruct) for a in arrays):
            raise TraceError("an argument has a shape only; running ops needs arrays")
        if any(isinstance(a, jax.Array) and len(a.devices()) > 1 for a in arrays):
            raise TraceError("an argument is spread over several devices; plans are for one")
        self.values = traced.values
        self.device: dict[Value, Any] = dict(zip(traced.sources, arrays, strict=True))
        self.host: dict[Value, Any] = {}

    def read(self, atom: Atom) -> Any:
        """The array that an equation or the results name."""
        return self.device[atom] if isinstance(atom, Value) else atom.val

    def call(self, equation: Equation) -> list[Any]:
        """The outputs of an equation, bound as `jax.core.eval_jaxpr` binds it."""
        eqn = equation.eqn
        with eqn.ctx.manager:
            params = eqn.primitive.get_bind_params(eqn.params)
            made = eqn.primitive.bind(*map(self.read, equation.inputs), **params)
        return list(made) if eqn.primitive.multiple_results else [made]

    def run(self, equation: Equation) -> None:
        """Run an equation. Outputs that are on the device already stay."""
        for value, array in zip(equation.outputs, self.call(equation), strict=True):
            self.device.setdefault(value, array)

    def free(self, value: Value) -> None:
        """Release an array's device memory."""
        del self.device[value]

    def swap_out(self, value: Value) -> None:
        """Copy an array to the host's memory. Random keys go as the integers they are."""
        array = self.device[value]
        self.host[value] = np.array(jax.random.key_data(array) if _is_key(array) else array)

    def swap_in(self, value: Value) -> None:
        """Copy an array back to the device."""
        array = jax.device_put(self.host[value])
        if _is_key(value.aval):
            array = jax.random.wrap_key_data(array, impl=_key_name(value.aval))
        self.device[value] = array


def _is_key(array: Any) -> bool:
    return bool(jax.dtypes.issubdtype(array.dtype, jax.dtypes.prng_key))


def _key_name(aval: Any) -> str:
    return str(aval.dtype._impl.name)


def measure(traced: Trace, args: Sequence[Any], repeats: int = 3) -> list[int]:
    """The median time in ns of each op. The step runs once, in order, and frees what no
    later op reads."""
    machine = Machine(traced, args)
    last_use = {v: i for i, e in enumerate(traced.equations) for v in (*e.outputs, *e.reads)}
    times = []
    for i, equation in enumerate(traced.equations):
        machine.run(equation)  # compiles it
        samples = []
        for _ in range(1 if equation.eqn.effects else repeats):
            start = time.perf_counter_ns()
            jax.block_until_ready(machine.call(equation))
            samples.append(time.perf_counter_ns() - start)
        times.append(int(statistics.median(samples)))
        for value in {*equation.outputs, *equation.reads}:
            if last_use[value] == i:
                machine.free(value)
    return times
