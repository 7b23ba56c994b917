# SPDX-License-Identifier: MIT
"""PyTorch's settings that would change what a plan does.

Fixed for the call are those whose other values are for another partitioner, or make a graph
that the planner does not read. Refused by name are those with which the step would run
without its plan. All others mean the same with a plan and without it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch._dynamo
import torch._functorch.config
from torch import fx
from torch.utils._python_dispatch import is_in_torch_dispatch_mode

from .errors import Refused

# Of torch._functorch.config, while a step is captured and its graph is split.
_AOT: dict[str, Any] = {
    # what PyTorch's partitioner chooses by itself
    "activation_memory_budget": 1.0,
    "activation_memory_budget_runtime_estimator": "flops",
    "activation_memory_budget_solver": "dp",
    "aggressive_recomputation": False,
    "ban_recompute_long_fusible_chains": True,
    "ban_recompute_materialized_backward": True,
    "ban_recompute_not_in_allowlist": True,
    "ban_recompute_reductions": True,
    "ban_recompute_used_far_apart": True,
    "cse": True,
    "enable_activation_offloading": False,
    "is_non_builtin_to_include": False,
    "max_dist_from_bw": 1000,
    "recompute_views": False,
    "treat_parameters_as_free_to_save": True,
    "unsafe_allow_optimization_of_collectives": False,
    # what the joint graph looks like
    "enable_complex_wrapper": False,
    "fake_tensor_propagate_real_tensors": False,
    "functionalize_rng_ops": False,
    "selective_decompose": False,
    "unlift_effect_tokens": False,
}

# Of torch._dynamo.config, while a step is called.
_DYNAMO: dict[str, Any] = {
    "caching_precompile": False,
    "capture_dynamic_output_shape_ops": False,
    "capture_scalar_outputs": False,
    "install_free_tensors": False,
    "nested_graph_breaks": False,
    "optimize_ddp": False,  # inside of DDP it splits the step by buckets of gradients
    "repro_after": None,
    "suppress_errors": False,
    "use_graph_deduplication": False,
}

# Of torch._dynamo.config: what runs then is not the plan.
_REFUSED: dict[str, Any] = {
    "compiled_autograd": False,
    "debug_backend_override": "",
    "disable": False,
}

_REGION_BUDGET = "_region_activation_memory_budget"

_STANCES = ("default", "fail_on_recompile")


@contextmanager
def fixed_for_capture() -> Iterator[None]:
    """The settings of AOTAutograd and its partitioner that plans are made for."""
    with _patched(torch._functorch.config, _AOT):
        yield


@contextmanager
def fixed_for_call() -> Iterator[None]:
    """The settings of Dynamo that a step is called with. Calls of loggers are left out of
    what is traced, since they would break the graph. Raises Refused."""
    if torch.is_grad_enabled():
        _refuse_other_ways_to_run()
    loggers = {f for f in vars(logging.Logger).values() if callable(f)}
    ignored = torch._dynamo.config.ignore_logging_functions | loggers
    with _patched(torch._dynamo.config, {**_DYNAMO, "ignore_logging_functions": ignored}):
        yield


def forget_budgets(module: fx.GraphModule) -> None:
    """Take away what the user's code marks for PyTorch's partitioner
    (`torch.autograd.graph.region_activation_memory_budget`)."""
    graphs = [m.graph for m in module.modules() if isinstance(m, fx.GraphModule)]
    for node in (node for graph in graphs for node in graph.nodes):
        node.meta.pop("memory_budget", None)
        if _REGION_BUDGET in (custom := node.meta.get("custom") or {}):
            node.meta["custom"] = {k: v for k, v in custom.items() if k != _REGION_BUDGET}


def _refuse_other_ways_to_run() -> None:
    for name, value in _REFUSED.items():
        if getattr(torch._dynamo.config, name, value) != value:
            raise Refused(
                f"torch._dynamo.config.{name} is set, and the step would run without its plan"
            )
    stance = torch._dynamo.eval_frame._stance.stance
    if is_in_torch_dispatch_mode(include_infra_modes=False):
        raise Refused("a TorchDispatchMode is active, and Dynamo compiles nothing under it")
    if stance not in _STANCES:
        raise Refused(
            f"torch.compiler.set_stance({stance!r}) is in force, and the step would run "
            "without its plan"
        )


@contextmanager
def _patched(config: Any, values: dict[str, Any]) -> Iterator[None]:
    """Those of the settings that this version of PyTorch has."""
    known = {name: value for name, value in values.items() if hasattr(config, name)}
    with config.patch(known):
        yield
