# SPDX-License-Identifier: MIT
"""Calls of the program: what it is asked, what is cached, and how calls end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import small
from remat_plan import ProgramError, check, profile_device, program, solve

UNPLACED = small.WORK | {"options": ("--no-addresses", "--ignore-clock")}


class Program(unittest.TestCase):
    def setUp(self) -> None:
        """A folder for the cache, and a program that also notes how often it is called."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.calls = self.folder / "calls"
        self.real = program.find()
        counting = f'#!/bin/sh\necho "$*" >>"{self.calls}"\nexec "{self.real}" "$@"\n'
        env = {"REMAT_PLAN": str(self.script("counting", counting))}
        env["XDG_CACHE_HOME"] = str(self.folder / "cache")
        patch = mock.patch.dict(os.environ, env)
        patch.start()
        self.addCleanup(patch.stop)

    def script(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def n_calls(self) -> int:
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0


class Solve(Program):
    def test_plans_keep_the_budget(self) -> None:
        g = small.graph()
        plan = solve(g, budget=80, **UNPLACED)
        check(g, plan)
        self.assertLessEqual(plan.claims["peak_bytes"], 80)
        self.assertGreater(plan.claims["time_ns"], 500)

    def test_a_plan_is_made_once(self) -> None:
        g = small.graph()
        first = solve(g, budget="100%", **small.WORK)
        self.assertEqual(solve(g, budget="100%", **small.WORK), first)
        self.assertEqual(self.n_calls(), 1)
        solve(g, budget="100%", **small.WORK | {"options": ["--no-swap", "--ignore-clock"]})
        solve(small.graph(name="other"), budget="100%", **small.WORK)
        self.assertEqual(self.n_calls(), 3)

    def test_another_program_makes_its_own_plans(self) -> None:
        g = small.graph()
        solve(g, budget="100%", **small.WORK)
        newer = Path(os.environ["REMAT_PLAN"])
        newer.write_text(newer.read_text() + "# newer\n")
        solve(g, budget="100%", **small.WORK)
        self.assertEqual(self.n_calls(), 2)

    def test_a_broken_cache_entry_is_made_anew(self) -> None:
        g = small.graph()
        first = solve(g, budget="100%", **small.WORK)
        (entry,) = (self.folder / "cache/remat-plan/plans").iterdir()
        whole = entry.read_bytes()
        data = json.loads(whole)
        several = (whole[:100], whole.replace(b'{"run":0', b'{"run":1'), b"", b"\xff\xfe")
        nested = (b"[" * 100_000, b'{"a":' * 100_000, b"null", b"5", b"[]", b'"plan"')
        changed = [
            json.dumps({**data, **change}).encode()
            for change in (
                *({"budget_bytes": x} for x in (None, "80", -1, data["budget_bytes"] + 1)),
                *({"claims": x} for x in (5, None, [], {**data["claims"], "time_ns": 1})),
                *({"arena_bytes": "x"}, {"steps": 5}, {"steps": [[]]}, {"graph": None}),
                *({"notes": None}, {"notes": 5}, {"cache": None}, {"cache": {}}),
            )
        ]
        for n, broken in enumerate((*several, *nested, *changed)):
            with self.subTest(broken=broken[:60]):
                entry.write_bytes(broken)
                self.assertEqual(solve(g, budget="100%", **small.WORK), first)
                self.assertEqual(entry.read_bytes(), whole)
                self.assertEqual(self.n_calls(), 2 + n)

    def test_an_entry_of_another_budget_is_not_taken(self) -> None:
        g = small.graph()
        plans = self.folder / "cache/remat-plan/plans"
        small_one = solve(g, budget=96, **small.WORK)
        (entry,) = plans.iterdir()
        solve(g, budget=112, **small.WORK)
        (other,) = set(plans.iterdir()) - {entry}
        entry.write_bytes(other.read_bytes())
        self.assertEqual(solve(g, budget=96, **small.WORK), small_one)
        self.assertEqual(self.n_calls(), 3)

    def test_no_cache_is_no_error(self) -> None:
        for place in ("/dev/null", "relative"):
            os.environ["XDG_CACHE_HOME"] = place
            solve(small.graph(), budget="100%", **small.WORK)
        self.assertEqual(self.n_calls(), 2)
        self.assertFalse(Path("relative").exists())

    def test_a_user_without_a_home_has_no_cache(self) -> None:
        del os.environ["XDG_CACHE_HOME"]
        with mock.patch("os.path.expanduser", side_effect=lambda path: path):
            solve(small.graph(), budget="100%", **small.WORK)
        self.assertFalse(Path("~").exists())

    def test_a_search_that_was_cut_short_goes_on(self) -> None:
        """The first call says that the clock ended it; the second one starts from its plan
        and is the last."""
        script = f'#!/bin/sh\necho "$*" >>"{self.calls}"\ncase "$*" in\n'
        script += f'*--start*) exec "{self.real}" "$@" ;;\n'
        script += f'*) "{self.real}" "$@" | sed \'s/"capped":false/"capped":true/\' ;;\nesac\n'
        os.environ["REMAT_PLAN"] = str(self.script("cut", script))
        first = solve(
            small.graph(),
            budget=80,
            **UNPLACED,
        )
        self.assertTrue(first.notes["capped"])
        again = [
            solve(
                small.graph(),
                budget=80,
                **UNPLACED,
            )
            for _ in range(2)
        ]
        self.assertEqual([plan.notes["capped"] for plan in again], [False, False])
        self.assertLessEqual(again[0].claims["time_ns"], first.claims["time_ns"])
        self.assertEqual(self.n_calls(), 2)

    def test_a_start_that_the_program_refuses_is_left_out(self) -> None:
        script = f'#!/bin/sh\necho "$*" >>"{self.calls}"\ncase "$*" in\n'
        script += "*--start*) exit 3 ;;\n"
        script += f'*) "{self.real}" "$@" | sed \'s/"capped":false/"capped":true/\' ;;\nesac\n'
        os.environ["REMAT_PLAN"] = str(self.script("refusing", script))
        for _ in range(2):
            solve(small.graph(), budget="100%", **small.WORK)
        self.assertEqual(self.n_calls(), 3)

    def test_errors_are_what_the_program_says(self) -> None:
        g = small.graph()
        with self.assertRaisesRegex(ProgramError, "^infeasible: ") as caught:
            solve(g, budget=40)
        self.assertEqual(caught.exception.code, 1)
        with self.assertRaisesRegex(ProgramError, "unknown option '--nope'") as caught:
            solve(g, budget=80, options=["--nope"])
        self.assertEqual(caught.exception.code, 2)
        with self.assertRaisesRegex(ProgramError, "unknown device 'abacus'"):
            profile_device(g, "abacus")
        os.environ["REMAT_PLAN"] = str(self.script("killed", "#!/bin/sh\nkill -9 $$\n"))
        with self.assertRaisesRegex(ProgramError, "ended by SIGKILL"):
            solve(g, budget=80)
        self.assertFalse((self.folder / "cache").exists())

    def test_one_budget_is_asked_for(self) -> None:
        for budgets in ({}, {"budget": 80, "activation_budget": "60%"}):
            with self.subTest(budgets), self.assertRaisesRegex(ValueError, "either budget or"):
                solve(small.graph(), **budgets)  # type: ignore[arg-type]

    def test_an_activation_budget_is_passed_on(self) -> None:
        script = f'#!/bin/sh\necho "$*" >>"{self.calls}"\necho said >&2\nexit 1\n'
        os.environ["REMAT_PLAN"] = str(self.script("listening", script))
        with self.assertRaisesRegex(ProgramError, "^said$"):
            solve(small.graph(), activation_budget="60%", **(small.WORK | {"time_limit": 2.5}))
        self.assertEqual(
            self.calls.read_text(),
            "solve - -q -o - --activation-budget 60% -t 2.5 --ignore-clock\n",
        )

    def test_an_interrupt_reaches_the_program_and_leaves_nothing(self) -> None:
        mark = self.folder / "interrupted"
        ready = self.folder / "ready"
        script = f'#!/bin/sh\ntrap "touch {mark}; exit 4" INT\ncat >/dev/null\n'
        script += f"touch {ready}\nwhile :; do sleep 0.05; done\n"
        os.environ["REMAT_PLAN"] = str(self.script("slow", script))
        # Tests may run in the background, where SIGINT is ignored.
        code = "import signal, small, remat_plan\n"
        code += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        code += "remat_plan.solve(small.graph(), budget=80)"
        here = Path(__file__).parent
        env = dict(
            os.environ, PYTHONPATH=f"{here}:{here.parent.parent}", TMPDIR=str(self.folder)
        )
        before = set(self.folder.iterdir()) | {mark, ready}
        child = subprocess.Popen([sys.executable, "-c", code], env=env, stderr=subprocess.PIPE)
        while not ready.exists():
            self.assertIsNone(child.poll())
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=30)
        self.assertIn(b"KeyboardInterrupt", said)
        self.assertTrue(mark.exists())
        self.assertEqual(set(self.folder.iterdir()), before)

    def test_the_program_ends_with_its_caller(self) -> None:
        """However the caller ends, and although a child that it forked lives on."""
        code = "import os, threading, time, small, remat_plan\n"
        code += "g, plan = small.graph(), remat_plan.solve\n"
        code += "threading.Thread(target=plan, args=[g], kwargs={'budget': 80}).start()\n"
        code += "while not os.path.exists(os.environ['READY']): time.sleep(0.01)\n"
        code += "if os.fork() == 0: os.closerange(0, 3); time.sleep(30); os._exit(0)\n"
        code += "print(flush=True)\ntime.sleep(60)\n"
        here = Path(__file__).parent
        for end in (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            ready, ended = self.folder / f"ready{end}", self.folder / f"ended{end}"
            script = f'#!/bin/sh\nmkfifo "{ended}" 2>/dev/null\nexec 8<>"{ended}"\n'
            script += f'cat >/dev/null\ntouch "{ready}"\n'
            script += f'exec "{self.real}" profile "{ended}" --device v100-16g -o - 8>&-\n'
            os.environ["REMAT_PLAN"] = str(self.script("waiting", script))
            env = dict(os.environ, PYTHONPATH=f"{here}:{here.parent.parent}", READY=str(ready))
            child = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", code], env=env, stdout=subprocess.PIPE
            )
            assert child.stdout is not None
            child.stdout.readline()
            # The program waits for a writer of the pipe, and is its only reader.
            writer = os.open(ended, os.O_WRONLY)
            child.send_signal(end)
            child.wait(timeout=30)
            limit = time.monotonic() + 20
            with self.subTest(end), self.assertRaises(BrokenPipeError):
                while time.monotonic() < limit:
                    os.write(writer, b" ")
                    time.sleep(0.01)
            os.close(writer)
            child.stdout.close()

    def test_progress_is_one_line_that_goes_away(self) -> None:
        script = f'#!/bin/sh\nsleep 1.2\nexec "{self.real}" "$@"\n'
        os.environ["REMAT_PLAN"] = str(self.script("slow", script))
        with mock.patch("sys.stderr") as stderr:
            solve(small.graph(), budget="100%", **small.WORK, progress=True)
        written = "".join(call.args[0] for call in stderr.write.call_args_list)
        self.assertIn("planning small, 5 ops, at most 1 s: 1 s", written)
        self.assertTrue(written.endswith("\r\033[K"))

    def test_a_device_model_gives_times(self) -> None:
        g = small.graph()
        for i in range(len(g.ops)):
            g = small.change_op(g, i, attrs={"flops": 10**9})
        for i in range(len(g.tensors)):
            g = small.change_tensor(g, i, dtype="f32")
        times = [op.time_ns for op in profile_device(g, "v100-16g").ops]
        self.assertGreater(min(times), 100)


class Find(Program):
    def test_a_variable_comes_first(self) -> None:
        self.assertEqual(program.find().name, "counting")
        os.environ["REMAT_PLAN"] = "/nowhere/remat-plan"
        with self.assertRaisesRegex(ProgramError, r"\$REMAT_PLAN: '/nowhere/remat-plan'"):
            program.find()

    def test_then_the_package_then_the_path(self) -> None:
        del os.environ["REMAT_PLAN"]
        ours = self.script(
            "a/remat-plan", "#!/usr/bin/python3\nfrom remat_plan.program import main\n"
        )
        other = self.script("b/remat-plan", "#!/bin/sh\n")
        os.environ["PATH"] = f"{ours.parent}:{other.parent}"
        with mock.patch.object(program, "__file__", str(self.folder / "package/program.py")):
            self.assertEqual(program.find(), other)
            packaged = self.script("package/bin/remat-plan", "")
            self.assertEqual(program.find(), packaged)
            packaged.unlink()
            os.environ["PATH"] = str(ours.parent)
            with self.assertRaisesRegex(ProgramError, "neither in this package nor on PATH"):
                program.find()


class Package(unittest.TestCase):
    def test_no_framework_is_imported(self) -> None:
        code = "import remat_plan, sys; print({'torch', 'jax', 'numpy'} & set(sys.modules))"
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        self.assertEqual(said.stdout, b"set()\n")


if __name__ == "__main__":
    unittest.main()
