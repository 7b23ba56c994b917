# SPDX-License-Identifier: MIT
"""The examples of the README run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import jax.numpy as jnp

import networks
import remat_plan


def test_the_jax_examples() -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text()
    section = text.split("\n## JAX\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```python\n(.*?)```", section, re.S)
    assert len(blocks) == 2
    x = networks.normal(9, 256, 32)
    given = {"parameters": [networks.normal(i, 32, 32) for i in range(4)], "x": x}
    given["work"] = {**networks.WORK, "options": ("--ignore-clock", "--no-addresses")}
    for block in blocks:
        block = block.replace(', options=["--no-addresses"]', "")
        exec(re.sub(r'(budget="[0-9]+%")', r"\1, **work", block), given)
    assert {*given["chosen"].saved, *given["chosen"].recomputed} >= {"h0", "x3"}
    assert given["step"](given["parameters"], x)[0].shape == ()
    assert jnp.isfinite(given["value"])
    remat_plan.check(given["graph"], given["plan"])
