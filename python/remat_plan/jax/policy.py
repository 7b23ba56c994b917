# SPDX-License-Identifier: MIT
"""A plan among `checkpoint_name`d values, as a policy for `jax.checkpoint`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
from jax.extend import source_info_util

from ..graph import Graph
from ..plan import Plan, Run, SwapIn, SwapOut
from ..program import solve
from . import capture, costs, named
from .trace import Trace, TraceError, trace


@dataclass(frozen=True)
class Policy:
    """What to do with each name. `policy` is for `jax.checkpoint(step, policy=...)`.

    `saved` values stay on the device between forward and backward pass, `offloaded` ones
    go to the host, `recomputed` ones are made anew. `plan` is the plan for `graph`, whose
    claims predict memory and time if XLA keeps to the policy.
    """

    policy: Callable[..., Any]
    saved: tuple[str, ...]
    offloaded: tuple[str, ...]
    recomputed: tuple[str, ...]
    graph: Graph
    plan: Plan


def policy(
    step: Callable[..., Any],
    *args: Any,
    budget: str | int | None = None,
    activation_budget: str | None = None,
    times: str = "measure",
    argnums: int | Sequence[int] = 0,
    offload: bool = False,
    time_limit: float = 60,
    progress: bool | None = None,
) -> Policy:
    """Plan which named values of `step(*args)` to save, offload or recompute.

    `step` is what will be given to `jax.checkpoint` and is differentiated with respect to
    `argnums`; its results are floating-point arrays. Values are named with
    `jax.ad_checkpoint.checkpoint_name`, each by a name of its own. The budgets are as in
    `remat_plan.solve`, `times` as in `export`. `offload` needs a device model with a host
    link.

    Values without a name cannot stay, so the budget must have room for computing again what
    lies between names. Raises TraceError, or ProgramError if no plan fits.
    """
    traced, parts = _trace(step, args, argnums)
    _check_names(traced, parts)
    fine = capture.to_graph(traced, str(getattr(step, "__name__", "step")))
    ones = jax.tree.map(_ones, jax.eval_shape(step, *args))
    fine = capture.with_times(fine, traced, (ones, *args), times)
    graph = named.to_graph(traced, parts, fine, fine.name)
    plan = solve(
        graph,
        budget=budget,
        activation_budget=activation_budget,
        time_limit=time_limit,
        options=["--no-addresses", *([] if offload else ["--no-swap"])],
        progress=progress,
    )
    saved, offloaded, recomputed = _decisions(graph, plan, parts)
    return Policy(_jax_policy(saved, offloaded), saved, offloaded, recomputed, graph, plan)


def _trace(
    step: Callable[..., Any], args: Sequence[Any], argnums: int | Sequence[int]
) -> tuple[Trace, named.Split]:
    """The trace of forward and backward pass, whose first arguments are the cotangents."""
    wanted = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def both(cotangents: Any, *args: Any) -> Any:
        def of_wanted(*some: Any) -> Any:
            given = dict(zip(wanted, some, strict=True))
            return step(*(given.get(i, a) for i, a in enumerate(args)))

        out, pull_back = jax.vjp(of_wanted, *(args[i] for i in wanted))
        return out, pull_back(cotangents)

    cotangents = jax.eval_shape(step, *args)
    traced = trace(both, (cotangents, *args))
    n = len(jax.tree.leaves(cotangents))
    return traced, named.split(traced, traced.arguments[:n])


def _ones(shape: Any) -> Any:
    return jax.numpy.ones(shape.shape, shape.dtype)


def _check_names(traced: Trace, parts: named.Split) -> None:
    """Raises TraceError if there is no name, or a name of several values."""
    names = Counter(v.name for v in parts.targets if v.name is not None)
    if not names:
        raise TraceError(
            "no value is named, so there is nothing to choose. Name some with "
            "jax.ad_checkpoint.checkpoint_name (names inside scan are not seen). The largest "
            "that the backward pass reads: " + _largest(parts)
        )
    name, count = names.most_common(1)[0]
    if count > 1:
        raise TraceError(
            f"{count} values have the name {name!r}; a policy tells values apart by name only, "
            f"so give each its own, for example f'{name}{{i}}'"
        )


def _largest(parts: named.Split, n: int = 3) -> str:
    """The largest values that go from the forward to the backward pass, and their source."""
    crossing = dict.fromkeys(v for e in parts.backward for v in e.reads if v in parts.makers)
    largest = sorted(crossing, key=lambda v: -costs.n_bytes(v.aval))[:n]
    return "; ".join(
        f"{v.aval.str_short()} of {parts.makers[v].kind} at "
        f"{source_info_util.summarize(parts.makers[v].eqn.source_info)}"
        for v in largest
    )


def _decisions(
    graph: Graph, plan: Plan, parts: named.Split
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Names by what a plan does with them between the forward and the backward pass."""
    live: set[int] = set()
    for step in plan.steps:
        if isinstance(step, Run):
            if graph.ops[step.op].phase == "backward":
                break
            live.update(graph.ops[step.op].outputs)
        elif isinstance(step, SwapIn):
            live.add(step.tensor)
        elif not isinstance(step, SwapOut):
            live.discard(step.tensor)
    swapped = {step.tensor for step in plan.steps if isinstance(step, SwapIn)}
    names = {op.outputs[0]: op.name for op in graph.ops[: len(parts.targets)]}
    named_ones = {
        x: n for (x, n), v in zip(names.items(), parts.targets, strict=True) if v.name
    }
    offloaded = tuple(n for x, n in named_ones.items() if x in swapped)
    saved = tuple(n for x, n in named_ones.items() if x in live - swapped)
    recomputed = tuple(n for x, n in named_ones.items() if x not in live | swapped)
    return saved, offloaded, recomputed


def _jax_policy(saved: Sequence[str], offloaded: Sequence[str]) -> Callable[..., Any]:
    policies = jax.checkpoint_policies
    if not offloaded:
        return policies.save_only_these_names(*saved)  # type: ignore[no-any-return]
    return policies.save_and_offload_only_these_names(  # type: ignore[no-any-return]
        names_which_can_be_saved=list(saved),
        names_which_can_be_offloaded=list(offloaded),
        offload_src="device",
        offload_dst="pinned_host",
    )
