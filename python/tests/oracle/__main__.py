# SPDX-License-Identifier: MIT
"""Compares all kinds and prints the line of counts that tools/check.sh expects."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import elements, moves, products, rows, updates, windows  # noqa: F401  (oracles)
from .case import DTYPES, ORACLES, draw_case
from .judge import complaint
from .run import kinds, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="oracle")
    parser.add_argument("program", type=Path)
    parser.add_argument(
        "--kind",
        action="append",
        choices=sorted(ORACLES),
        metavar="KIND",
        help="one kind only (may be given again)",
    )
    parser.add_argument("--cases", type=int, default=12, help="of each kind in each type (12)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    known = kinds(options.program)
    failures = [f"{kind}: no oracle" for kind in known if kind not in ORACLES]
    failures += [f"{kind}: no kernel" for kind in ORACLES if kind not in known]
    cases = [
        draw_case(kind, dtype, options.seed, index)
        for kind in options.kind or sorted(ORACLES)
        for dtype in DTYPES
        for index in range(options.cases)
    ]
    results = run(options.program, cases)
    complaints = [complaint(c, r) for c, r in zip(cases, results, strict=True)]
    failures += [line for line in complaints if line]
    for line in failures:
        print("FAILED", line)
    n_kinds = len({case.kind for case in cases})
    print(f"{n_kinds} op kinds in {len(DTYPES)} types, {options.cases} cases of each")
    print(f"torch-oracle: {complaints.count(None)} passed, {len(failures)} failed")
    return 1 if failures else 0


raise SystemExit(main())
