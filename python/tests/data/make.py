# SPDX-License-Identifier: MIT
"""Makes the stored graphs and plans of this folder again; needs JAX.

From python/: PYTHONPATH=.:tests/jax python tests/data/make.py
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import jax

import networks
import remat_plan
from remat_plan import program

HERE = Path(__file__).parent
PLANS = {
    "recompute": ["-b", "75%", "--no-addresses", "--no-swap"],
    "swap": ["-b", "75%", "--no-recompute"],
    "both": ["-b", "65%"],
}


def main() -> None:
    """Writes NAME.graph.json and one NAME.PLAN.plan.json for each of PLANS."""
    loss, *args = networks.transformer(layers=1)
    graph = remat_plan.jax.export(jax.value_and_grad(loss), *args, name="jax-transformer-l1")
    graph = networks.fixed_times(graph)
    path = HERE / "jax-transformer.graph.json"
    graph.save(path)
    for name, options in PLANS.items():
        out = HERE / f"jax-transformer.{name}.plan.json"
        command = [
            program.find(),
            "solve",
            path,
            "-o",
            out,
            "-t",
            "5",
            "--ignore-clock",
            *options,
        ]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
