# SPDX-License-Identifier: MIT
"""A plan among `checkpoint_name`d values, as a policy for `jax.checkpoint`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
from jax.extend import source_info_util

from ..graph import Graph, Op
from ..plan import Plan
from . import costs, named
from .search import Asked, Search
from .trace import TraceError


@dataclass(frozen=True)
class Policy:
    """What to do with each name. `policy` is for `jax.checkpoint(step, policy=...)`.

    `saved` values stay on the device between forward and backward pass, and `offloaded` ones
    go to the host. `recomputed` names are in neither: what the backward pass needs of them is
    made anew. `graph` is the step as JAX carries it out under the policy. Each op runs once,
    and what JAX computes anew in the backward pass are ops of their own: `recomputation`.
    `plan` is the plan for it, whose claims predict memory and time if XLA keeps to the policy.
    """

    policy: Callable[..., Any]
    saved: tuple[str, ...]
    offloaded: tuple[str, ...]
    recomputed: tuple[str, ...]
    graph: Graph
    plan: Plan

    @property
    def recomputation(self) -> list[Op]:
        """The ops of `graph` that compute anew what the forward pass has computed."""
        return [op for op in self.graph.ops if op.name.startswith("again.")]

    @property
    def recompute_ns(self) -> int:
        """The time of `recomputation`."""
        return sum(op.time_ns for op in self.recomputation)


def policy(
    step: Callable[..., Any],
    *args: Any,
    budget: str | int | None = None,
    activation_budget: str | None = None,
    times: str = "measure",
    argnums: int | Sequence[int] = 0,
    offload: bool = False,
    time_limit: float = 60,
    options: Sequence[str] = (),
    progress: bool | None = None,
) -> Policy:
    """Plan which named values of `step(*args)` to save, offload or recompute.

    `step` is what will be given to `jax.checkpoint` and is differentiated with respect to
    `argnums`; its results are floating-point arrays. Values are named with
    `jax.ad_checkpoint.checkpoint_name`. A value may have several names; values with one name
    share its fate. The budgets are as in `remat_plan.solve`, and their N% are shares of the
    peak if all names are saved. `times` is as in `export`. `offload` needs a device model
    with a host link. `time_limit` is for each search, of which a tight budget may take
    several, and `options` are further options of `remat-plan solve`.

    Values without a name cannot stay, so the budget must have room for computing again what
    lies between names. What a policy saves and what is then computed again is taken from
    JAX's own trace of `jax.checkpoint(step, policy=...)`, inner checkpoints included. Raises
    TraceError, or ProgramError if no plan fits.
    """
    asked = Asked(step, args, argnums, times)
    traced, parts = asked.trace(None)
    _check_names(parts)
    names = tuple(dict.fromkeys(str(v.name) for v in parts.targets if v.name is not None))
    search = Search(
        asked, traced, parts, frozenset(names), offload, time_limit, options, progress
    )
    found = search.run(budget, activation_budget)
    offloaded = tuple(n for n in names if n in found.offloaded)
    saved = tuple(n for n in names if n in found.saved and n not in found.offloaded)
    recomputed = tuple(n for n in names if n not in found.saved)
    made = _jax_policy(saved, offloaded)
    return Policy(made, saved, offloaded, recomputed, found.graph, found.plan)


def _check_names(parts: named.Split) -> None:
    """Raises TraceError if there is no name."""
    if not any(v.name is not None for v in parts.targets):
        raise TraceError(
            "no value is named, so there is nothing to choose. Name some with "
            "jax.ad_checkpoint.checkpoint_name (names inside scan are not seen). The largest "
            "that the backward pass reads: " + _largest(parts)
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
