# SPDX-License-Identifier: MIT
"""Trains models on this machine's GPU within a budget: is what was planned what is measured?

    python python/bench/on_gpu.py [-o FILE] [-t SECONDS] [--share 60%,40%] [MODEL...]

Each model runs as plain PyTorch, with a plan that keeps everything, and with plans for
shares of the activations. A row has the planned and the measured peak in bytes, the planned
time of a step, from measured times of its ops, and the measured one in nanoseconds, and
whether loss and gradients are those of the plan that keeps everything, bit for bit.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from statistics import median
from typing import Any

import models
import torch
from torch import Tensor, nn

import remat_plan
from remat_plan.program import ProgramError
from remat_plan.torch.meter import timing_event

STEPS = 10


def train(model: nn.Module, step: Callable[..., Tensor], args: tuple[Tensor, ...]) -> Any:
    """Loss and gradients of a first step, then the peak in bytes above what the model and
    its arguments take, and the median time in nanoseconds of some steps."""
    torch.manual_seed(7)
    loss = step(*args)
    loss.backward()
    results = [loss.detach().clone(), *(p.grad for p in model.parameters())]
    model.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    times = []
    for _ in range(STEPS):
        begin, end = timing_event(), timing_event()
        begin.record()
        step(*args).backward()
        end.record()
        end.synchronize()
        times.append(int(begin.elapsed_time(end) * 1e6))
        model.zero_grad(set_to_none=True)
    return results, torch.cuda.max_memory_allocated() - before, int(median(times))


def rows(name: str, shares: list[str], seconds: float) -> Any:
    model, loss, args = models.make(name)
    model, args = model.cuda(), tuple(x.cuda() for x in args)
    about = {"model": name, "device": torch.cuda.get_device_name()}
    state = {k: v.clone() for k, v in model.state_dict().items()}
    _, peak, took = train(model, lambda *a: loss(model, *a), args)
    yield {**about, "plan": None, "measured_bytes": peak, "measured_ns": took}
    wanted = None
    for share in ("100%", *shares):
        model.load_state_dict(state)
        torch._dynamo.reset()
        step = remat_plan.compile(
            model,
            loss,
            activation_budget=share,
            times="measure",
            time_limit=seconds,
        )
        try:
            results, peak, took = train(model, step, args)
        except ProgramError as error:
            yield {**about, "plan": share, "error": str(error)}
            continue
        wanted = wanted or results
        report = step.report()
        yield {
            **about,
            "plan": share,
            "equal": all(map(torch.equal, wanted, results)),
            "planned_bytes": report.planned_peak_bytes - report.source_bytes,
            "measured_bytes": peak,
            "planned_ns": report.planned_time_ns,
            "measured_ns": took,
            "again": sum(report.recomputed.values()),
            "swapped": len(report.swapped),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", dest="output", help="a file for the rows, a line each")
    parser.add_argument("-t", dest="seconds", type=float, default=5, help="to plan (5)")
    parser.add_argument("--share", default="60%,40%", help="of the activations (60%%,40%%)")
    parser.add_argument("models", nargs="*", default=["resnet50_b64", "gpt2_b8"])
    a = parser.parse_args()
    if not torch.cuda.is_available():
        parser.error("there is no GPU")
    # Without these, kernels may add in another order each time.
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.use_deterministic_algorithms(True)
    for name in a.models:
        for row in rows(name, a.share.split(","), a.seconds):
            print(json.dumps(row), flush=True)
            if a.output:
                with open(a.output, "a") as file:
                    file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
