# SPDX-License-Identifier: MIT
"""What an equation costs: bytes, data types, and floating-point operations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from jax.extend import core

# These move or make data and calculate nothing.
MOVES = frozenset(
    {
        *("bitcast_convert_type", "broadcast_in_dim", "concatenate", "convert_element_type"),
        *("copy", "copy_p", "device_put", "dynamic_slice", "dynamic_update_slice"),
        *("expand_dims", "gather", "iota", "optimization_barrier", "pad", "reshape", "rev"),
        *("slice", "split", "squeeze", "transpose"),
    }
)
SHORT = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u"}


def dtype(aval: Any) -> str:
    """The data type as graphs name it: f32, bf16, i32, bool. Random keys count as u32."""
    name = str(aval.dtype)
    if name.startswith("key<"):
        return "u32"
    word = name.rstrip("0123456789")
    return SHORT.get(word, word) + name[len(word) :]


def n_bytes(aval: Any) -> int:
    """The bytes of an array."""
    return size(aval) * int(aval.dtype.itemsize)


def size(aval: Any) -> int:
    """The number of an array's elements."""
    return int(math.prod(aval.shape))


def flops(eqn: core.JaxprEqn) -> int:
    """Floating-point operations, a multiply-add counting 2.

    An op that is neither a product nor a loop counts one operation for each element that
    it reads or writes, whichever is more. A while loop counts as one turn, since the number
    of turns is not known; cond counts its costliest branch.
    """
    kind, params = eqn.primitive.name, eqn.params
    elements = max((size(v.aval) for v in (*eqn.invars, *eqn.outvars)), default=0)
    if kind in MOVES:
        return 0
    if kind == "dot_general":
        (contracted, _), _ = params["dimension_numbers"]
        shape = eqn.invars[0].aval.shape
        inner = int(math.prod(shape[i] for i in contracted))
        return 2 * inner * size(eqn.outvars[0].aval)
    if kind == "conv_general_dilated":
        weight = eqn.invars[1].aval
        features = int(weight.shape[params["dimension_numbers"].rhs_spec[0]])
        return 2 * size(eqn.outvars[0].aval) * size(weight) // max(features, 1)
    inner_costs = [sum(map(flops, jaxpr.eqns)) for jaxpr in _inner(params)]
    if not inner_costs:
        return elements
    total = max(inner_costs) if kind == "cond" else sum(inner_costs)
    return int(total * params.get("length", 1))


def _inner(params: dict[str, Any]) -> Iterator[Any]:
    """The jaxprs among an equation's parameters."""
    for value in params.values():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            jaxpr = getattr(item, "jaxpr", item)
            if hasattr(jaxpr, "eqns"):
                yield jaxpr
