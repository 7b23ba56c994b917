# SPDX-License-Identifier: MIT
"""Stored graphs and plans: those captured from frameworks, and the repository's own."""

from __future__ import annotations

import dataclasses
import unittest
from pathlib import Path

from remat_plan import Graph, Plan, PlanError, check
from remat_plan.plan import Free, Run

ROOT = Path(__file__).parents[3]
FOLDERS = (ROOT / "python/tests/data", ROOT / "plans")


def stored() -> list[tuple[Path, Path]]:
    """NAME.graph.json with each NAME.plan.json and NAME.*.plan.json beside it."""
    return [
        (graph, plan)
        for folder in FOLDERS
        for graph in sorted(folder.glob("*.graph.json"))
        for plan in sorted(folder.glob(graph.name.removesuffix("graph.json") + "*plan.json"))
    ]


class Stored(unittest.TestCase):
    def test_there_are_some_in_each_folder(self) -> None:
        self.assertEqual({graph.parent for graph, _ in stored()}, set(FOLDERS))

    def test_plans_keep_the_rules(self) -> None:
        for graph, plan in stored():
            with self.subTest(plan.name):
                check(Graph.load(graph), Plan.load(plan))

    def test_plans_without_one_of_their_steps_do_not(self) -> None:
        for graph, path in stored():
            g, plan = Graph.load(graph), Plan.load(path)
            for kind in (Run, Free):
                at = next(i for i, step in enumerate(plan.steps) if isinstance(step, kind))
                steps = [*plan.steps[:at], *plan.steps[at + 1 :]]
                with self.subTest(path.name, kind=kind), self.assertRaises(PlanError):
                    check(g, dataclasses.replace(plan, steps=steps))

    def test_graphs_are_written_as_they_were_read(self) -> None:
        for graph, _ in stored():
            with self.subTest(graph.name):
                g = Graph.load(graph)
                again = dataclasses.replace(g, name=g.name)
                self.assertEqual(Graph.parse(again.to_json()), again)
                self.assertEqual(again, g)


if __name__ == "__main__":
    unittest.main()
