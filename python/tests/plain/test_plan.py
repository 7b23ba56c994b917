# SPDX-License-Identifier: MIT
"""Every rule of `check` has a plan that only this rule rejects."""

from __future__ import annotations

import unittest

import small
from remat_plan import FormatError, Graph, Plan, PlanError, check
from remat_plan.plan import Free, Run, Step, SwapIn, SwapOut


class Check(unittest.TestCase):
    def rejects(self, g: Graph, plan: Plan, rule: str) -> None:
        with self.assertRaises(PlanError) as caught:
            check(g, plan)
        self.assertIn(rule, str(caught.exception))

    def test_plans_that_keep_rules_pass(self) -> None:
        g = small.graph()
        check(g, small.plan(g, small.KEEP_ALL, 96))
        check(g, small.plan(g, small.BOTH, 80))
        check(g, small.addressed(g, small.ADDRESSED))

    def test_the_peak_is_counted_exactly(self) -> None:
        g = small.graph()
        self.rejects(g, small.plan(g, small.KEEP_ALL, 95), "96 bytes exceed the budget of 95")
        self.rejects(g, small.plan(g, small.BOTH, 79), "80 bytes exceed the budget of 79")

    def test_workspace_counts_while_its_op_runs(self) -> None:
        g = small.change_op(small.graph(), 3, workspace_bytes=10)
        self.rejects(g, small.plan(g, small.KEEP_ALL, 105), "106 bytes exceed")
        check(g, small.plan(g, small.KEEP_ALL, 106))

    def test_outputs_that_cannot_be_rewritten_are_workspace(self) -> None:
        g = small.change_op(small.graph(), 2, rewrites=False)
        steps = [*small.KEEP_ALL[:3], Run(2), *small.KEEP_ALL[3:]]
        check(g, small.plan(g, steps, 96))
        g = small.change_op(small.graph(), 3, rewrites=False)
        steps = [*small.KEEP_ALL[:4], Run(3), *small.KEEP_ALL[4:]]
        self.rejects(g, small.plan(g, steps, 111), "112 bytes exceed")

    def test_order(self) -> None:
        g = small.graph()
        swapped: list[Step] = [Run(1), Run(0), *small.KEEP_ALL[2:]]
        self.rejects(g, small.plan(g, swapped), "steps[0]: op 1 'b' reads tensor 1 'a'")
        self.rejects(g, small.plan(g, small.KEEP_ALL[:3]), "op 'gb' never runs")
        once = small.change_op(g, 0, recompute=False)
        self.rejects(once, small.plan(once, small.BOTH), "op 0 'a' may run only once")

    def test_ordered_ops_keep_their_order(self) -> None:
        g = small.graph()
        ops = [*g.ops[:2], small.Op("r", "random", [0], [6], 1, ordered=True), *g.ops[2:]]
        tensors = [*g.tensors, small.Tensor("r", 16, "activation")]
        g = small.graph(tensors=tensors, ops=ops)
        g = small.change_op(g, 0, ordered=True)
        first: list[Step] = [Run(2), Run(0), Run(1), Run(3), Run(4), Run(5)]
        self.rejects(g, small.plan(g, first), "op 0 'a' runs after a later ordered op")
        check(g, small.plan(g, [Run(0), Run(2), Run(1), Run(3), Run(4), Run(5)]))

    def test_liveness(self) -> None:
        g = small.graph()
        runs = small.KEEP_ALL
        self.rejects(g, small.plan(g, [Run(0), Free(1), Run(1)]), "not on the device")
        self.rejects(g, small.plan(g, [Free(1)]), "tensor 1 'a' is not on the device")
        self.rejects(g, small.plan(g, [Free(0)]), "tensor 0 'x' is a source")
        self.rejects(g, small.plan(g, [*runs, Free(5)]), "end: tensor 5 'ga' must be on")
        self.rejects(g, small.plan(g, [Run(7)]), "there is no op 7")
        self.rejects(g, small.plan(g, [Free(9)]), "there is no tensor 9")
        held = small.change_tensor(g, 3, held=True)
        self.rejects(held, small.plan(held, runs), "tensor 3 'c' is held to the end")

    def test_swaps(self) -> None:
        g = small.graph()
        self.rejects(g, small.plan(g, [SwapOut(1)]), "not on the device")
        self.rejects(g, small.plan(g, [Run(0), SwapIn(1)]), "has no host copy")
        self.rejects(g, small.plan(g, [Run(0), SwapOut(1), SwapIn(1)]), "on the device already")
        self.rejects(g, small.plan(g, [Run(0), SwapOut(1), SwapOut(1)]), "a host copy already")

    def test_addresses(self) -> None:
        g, steps = small.graph(), small.ADDRESSED
        overlap = [*steps[:3], Run(3, [32]), *steps[4:]]
        self.rejects(
            g, small.addressed(g, overlap), "tensor 4 'gb' at 32..48 overlaps tensor 3"
        )
        odd = [Run(0, [8]), *steps[1:]]
        self.rejects(g, small.addressed(g, odd), "8..24 is not aligned in the arena")
        self.rejects(
            g, small.addressed(g, steps, arena=48), "48..64 is not aligned in the arena"
        )
        self.rejects(g, small.addressed(g, [Run(0), *steps[1:]]), "too many or missing")
        self.rejects(g, small.plan(g, steps), "too many or missing")
        wide = small.addressed(g, steps, arena=80)
        self.rejects(g, wide, "sources and arena exceed the budget")

    def test_another_graph(self) -> None:
        g = small.graph()
        other = small.graph(name="other")
        self.rejects(other, small.plan(g, small.KEEP_ALL), "for another graph")


class Files(unittest.TestCase):
    def test_version_2_only_where_it_is_needed(self) -> None:
        g = small.graph()
        self.assertIn(b'"version":1', g.to_json())
        for newer in (
            small.graph(order="free"),
            small.change_tensor(g, 1, held=True),
            small.change_op(g, 1, ordered=True),
            small.change_op(g, 1, rewrites=False),
        ):
            self.assertIn(b'"version":2', newer.to_json())
            self.assertEqual(Graph.parse(newer.to_json()), newer)

    def test_steps_are_read(self) -> None:
        text = b"""{"format":"remat-plan","version":2,"graph":{"name":"g","sha256":"0"},
            "budget_bytes":9,"addressed":true,"arena_bytes":8,"host_bytes":7,"claims":{"time_ns":1},
            "notes":{},"steps":[{"run":3,"at":[0,null],"workspace_at":16},{"free":1},
            {"swap_out":2,"host_at":0},{"swap_in":2,"at":32}]}"""
        steps = [Run(3, [0, None], 16), Free(1), SwapOut(2, 0), SwapIn(2, 32)]
        self.assertEqual(Plan.parse(text), Plan("0", 9, True, 8, 7, steps, {"time_ns": 1}))

    def test_bad_files_are_one_line(self) -> None:
        plan = '{"format":"remat-plan","version":1,"graph":{"sha256":"0"},"budget_bytes":9,'
        plan += '"addressed":true,"arena_bytes":8,"host_bytes":7,"steps":'
        graph = '{"format":"remat-graph","version":1,"name":"g","time_source":"none","keep":[],'
        tensor = '{"name":"t","bytes":4,"kind":"input"}'
        op = '{"name":"o","kind":"k","inputs":[1],"outputs":[],"time_ns":1}'
        for read, text, message in (
            (Plan.parse, "{", "not JSON"),
            (Plan.parse, "[]", "not a remat-plan file"),
            (Plan.parse, '{"format":"remat-plan","version":9}', "version 9"),
            (Plan.parse, plan + '[],"steps":[]}', "the key 'steps' occurs twice"),
            (Plan.parse, plan + '[{"walk":1}]}', "steps[0]: not one of run, free"),
            (Plan.parse, plan + '[{"free":1,"at":2}]}', "steps[0]: "),
            (Plan.parse, plan + '[],"homes":[{"tensor":0}]}', "homes: "),
            (Graph.parse, graph + '"ops":[]}', "graph: "),
            (Graph.parse, graph + f'"tensors":[{tensor}],"ops":[{op}]}}', "no tensor 1"),
            (Graph.parse, graph + '"tensors":[{"nome":1}],"ops":[]}', "tensors[0]: "),
        ):
            with self.subTest(text=text), self.assertRaises(FormatError) as caught:
                read(text.encode())
            self.assertIn(message, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
