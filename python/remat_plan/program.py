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
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .graph import FormatError, Graph
from .plan import Plan, PlanError, check


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
    """The fastest plan within a budget, from the user's cache if it is there.

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
    entry = _cache_entry(graph, arguments)
    plan = _read_entry(graph, entry)
    if plan is None:
        shown = sys.stderr.isatty() if progress is None else progress
        what = f"planning {graph.name}, {len(graph.ops)} ops, at most {time_limit:g} s"
        text = _call(arguments, graph, _ticker(what) if shown else None)
        plan = Plan.parse(text)
        check(graph, plan)
        _write_entry(entry, text)
    return plan


# ---- the cache ----


def cache_folder() -> Path:
    """Where plans are cached: $XDG_CACHE_HOME/remat-plan, by default ~/.cache/remat-plan."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "remat-plan"


def _cache_entry(graph: Graph, arguments: Sequence[str]) -> Path:
    program = hashlib.sha256(find().read_bytes()).hexdigest()
    key = json.dumps([program, graph.sha256, list(arguments)])
    return cache_folder() / "plans" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"


def _read_entry(graph: Graph, entry: Path) -> Plan | None:
    try:
        plan = Plan.load(entry)
        check(graph, plan)
    except (OSError, FormatError, PlanError):
        return None
    return plan


def _write_entry(entry: Path, text: bytes) -> None:
    """Write beside the place and rename. A cache that cannot be written is no error."""
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=entry.parent)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text)
        os.replace(name, entry)
    except BaseException as error:
        os.unlink(name)
        if not isinstance(error, OSError):
            raise


# ---- the child process ----


def _call(
    arguments: Sequence[str], graph: Graph, tick: Callable[[float | None], None] | None = None
) -> bytes:
    """Run the program with the graph on its standard input; return its standard output.

    `tick` is called every second with the seconds so far, and with None at the end.
    """
    command = [str(find()), *arguments]
    pipe = subprocess.PIPE
    # In a session of its own it gets no Ctrl-C from the terminal, only the one from here.
    child = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    try:
        out, err = _communicate(child, graph.to_json(), tick)
    except BaseException:
        _stop(child)
        raise
    if child.returncode != 0:
        raise ProgramError(_message(child.returncode, out, err), child.returncode)
    return out


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
