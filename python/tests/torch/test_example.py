# SPDX-License-Identifier: MIT
"""The example trains as without a plan, in a budget that is too small without one."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "pytorch" / "train.py"
BUDGET_MIB = 7
FEW = ("--steps", "4", "--batch", "128", "--times", "v100-16g", "--budget", f"{BUDGET_MIB}MiB")


def test_two_lines_make_the_loop_fit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Dynamo looks functions up in the module that they say they are from.
    monkeypatch.syspath_prepend(EXAMPLE.parent)
    example = importlib.import_module(EXAMPLE.stem)
    assert example.main(["--compare", *FEW]) == 0
    output = capsys.readouterr().out
    assert "losses are equal bit for bit" in output
    peaks = [float(mib) for mib in re.findall(r"plan: peak ([0-9.]+) MiB", output)]
    assert len(peaks) == 2
    without, planned = peaks
    assert planned <= BUDGET_MIB < without
