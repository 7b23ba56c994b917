# SPDX-License-Identifier: MIT
"""The program `remat-plan`: where it is, and calls of it as a child process.

Graphs go in and plans come out through pipes, so an interrupt leaves no files behind.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from . import cache
from .graph import Graph
from .plan import Plan, check


class ProgramError(RuntimeError):
    """The program is not there, or it ended without an answer.

    `code` is its exit code as in `remat-plan --help` (1: no plan exists), or None. The
    message is what the program said.
    """

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


def find() -> Path:
    """The program: $REMAT_PLAN, else the one in this package, else the first on PATH.

    Raises ProgramError if there is none.
    """
    chosen = os.environ.get("REMAT_PLAN")
    if chosen:
        path = shutil.which(chosen)
        if path is None:
            raise ProgramError(f"$REMAT_PLAN: '{chosen}' is not a program")
        return Path(path)
    packaged = Path(__file__).parent / "bin" / "remat-plan"
    if os.access(packaged, os.X_OK):
        return packaged
    for folder in os.get_exec_path():
        path = shutil.which("remat-plan", path=folder)
        if path and not _is_our_script(Path(path)):
            return Path(path)
    raise ProgramError("remat-plan is neither in this package nor on PATH; set $REMAT_PLAN")


def _is_our_script(path: Path) -> bool:
    """True for the console script of this package, which only looks for the program."""
    with path.open("rb") as file:
        start = file.read(2000)
    return start.startswith(b"#!") and b"remat_plan" in start


def main() -> None:
    """The console script `remat-plan`: becomes the program."""
    try:
        program = find()
        os.execv(program, [str(program), *sys.argv[1:]])
    except (ProgramError, OSError) as error:
        print(f"remat-plan: {error}", file=sys.stderr)
        raise SystemExit(5) from None


def profile_device(graph: Graph, device: str) -> Graph:
    """The graph with the op times and the host link of a device model.

    `device` is a name of `remat-plan profile --device list`. Ops need `attrs["flops"]` and
    tensors a `dtype`. Raises ProgramError.
    """
    return Graph.parse(_call(["profile", "-", "-q", "--device", device, "-o", "-"], graph))


def solve(
    graph: Graph,
    *,
    budget: str | int | None = None,
    activation_budget: str | None = None,
    time_limit: float = 60,
    options: Sequence[str] = (),
    progress: bool | None = None,
) -> Plan:
    """The fastest plan within a budget, from the user's cache if it is there. A search that
    the clock cut short is not the last word: the next call goes on from its plan.

    One of two budgets: `budget` is all memory on the device, in bytes or as "12GiB" or
    "60%" (of the peak without recomputation); `activation_budget`, for example "60%", is a
    share of that peak without sources and kept tensors. `time_limit` is in seconds;
    `options` are further options of `remat-plan solve` that write no files. `progress` is a
    line on standard error, by default if that is a terminal.

    Raises ProgramError (with code 1 if no plan exists).
    """
    if (budget is None) == (activation_budget is None):
        raise ValueError("solve: give either budget or activation_budget")
    limit = (
        ["-b", str(budget)]
        if budget is not None
        else ["--activation-budget", activation_budget]
    )
    arguments = [
        "solve",
        "-",
        "-q",
        "-o",
        "-",
        *map(str, limit),
        "-t",
        f"{time_limit:g}",
        *options,
    ]
    program = hashlib.sha256(find().read_bytes()).hexdigest()
    entry = cache.Entry("plans", [program, graph.sha256, *arguments])
    cached = _cached(graph, entry)
    if cached and not cached.notes.get("capped"):
        return cached
    shown = sys.stderr.isatty() if progress is None else progress
    what = f"planning {graph.name}, {len(graph.ops)} ops, at most {time_limit:g} s"
    tick = _ticker(what) if shown else None
    text = _search(arguments, graph, entry if cached else None, tick)
    plan = Plan.parse(text)
    check(graph, plan)
    entry.write(json.loads(text))
    return plan


def _cached(graph: Graph, entry: cache.Entry) -> Plan | None:
    """The plan of an entry, if there is a valid one."""
    try:
        plan = Plan.parse(json.dumps(entry.read()).encode())
        check(graph, plan)
    except Exception:  # whatever is wrong with it, another plan takes its place
        return None
    return plan


def _search(
    arguments: Sequence[str],
    graph: Graph,
    begun: cache.Entry | None,
    tick: Callable[[float | None], None] | None,
) -> bytes:
    """The plan of the program. It goes on from the plan of an earlier search that the clock
    ended, if there is one and the program takes it."""
    if begun is not None and not any(word.startswith(OTHER_STARTS) for word in arguments):
        start = os.memfd_create("remat-plan")
        try:
            os.write(start, json.dumps(begun.read()).encode())
            given = ["--start", f"/dev/fd/{start}"]
            return _call([*arguments, *given], graph, tick, [start])
        except ProgramError as error:
            if error.code not in (2, 3):
                raise
        finally:
            os.close(start)
    return _call(arguments, graph, tick)


# Options of `solve` beside which there is no --start.
OTHER_STARTS = ("--start", "--policy", "-p", "--solution")


# ---- the child process ----


def _call(
    arguments: Sequence[str],
    graph: Graph,
    tick: Callable[[float | None], None] | None = None,
    files: Sequence[int] = (),
) -> bytes:
    """Run the program with the graph on its standard input; return its standard output.

    `tick` is called every second with the seconds so far, and with None at the end. `files`
    are open files that the program gets under the same numbers.
    """
    command = [str(find()), *arguments]
    pipe = subprocess.PIPE
    with _held_pipe() as held:
        # In a session of its own it gets no Ctrl-C from the terminal, only the one from here.
        child = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,
            pass_fds=[held, *files],
            env={**os.environ, "REMAT_PLAN_PARENT": str(held)},
        )
        try:
            out, err = _communicate(child, graph.to_json(), tick)
        except BaseException:
            _stop(child)
            raise
    if child.returncode != 0:
        raise ProgramError(_message(child.returncode, out, err), child.returncode)
    return out


_held: set[int] = set()


@contextmanager
def _held_pipe() -> Iterator[int]:
    """A pipe to read from, of which this process alone has the other end: when it is gone,
    in whatever way, the program ends too."""
    read, write = os.pipe()
    _held.add(write)
    try:
        yield read
    finally:
        _held.discard(write)
        os.close(read)
        os.close(write)


def _let_go() -> None:
    for write in _held:
        os.close(write)
    _held.clear()


os.register_at_fork(after_in_child=_let_go)


def _communicate(
    child: subprocess.Popen[bytes], text: bytes, tick: Callable[[float | None], None] | None
) -> tuple[bytes, bytes]:
    if tick is None:
        return child.communicate(text)
    start = time.monotonic()
    unsent: bytes | None = text
    try:
        while True:
            try:
                return child.communicate(unsent, timeout=1)
            except subprocess.TimeoutExpired:
                unsent = None  # the first call goes on with it
                tick(time.monotonic() - start)
    finally:
        tick(None)


def _stop(child: subprocess.Popen[bytes]) -> None:
    """Interrupt the child, which stops within a second; kill it if it does not."""
    child.send_signal(signal.SIGINT)
    try:
        child.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()


def _message(code: int, out: bytes, err: bytes) -> str:
    """What the program said: an error on standard error, why there is no plan on standard
    output."""
    explained = out.strip() if code in (1, 4) else b""
    text = (explained or err.strip() or out.strip()).decode(errors="replace")
    said = "; ".join(text.splitlines())
    if code < 0:
        said = f"remat-plan was ended by {signal.Signals(-code).name}. {said}"
    return said.removeprefix("remat-plan: ") or f"remat-plan ended with exit code {code}"


def _ticker(what: str) -> Callable[[float | None], None]:
    """Shows one line on standard error and removes it at the end."""

    def tick(seconds: float | None) -> None:
        line = "" if seconds is None else f"remat-plan: {what}: {seconds:.0f} s"
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    return tick
