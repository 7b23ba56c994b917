# SPDX-License-Identifier: MIT
"""The wheel is built, installed into a new environment, and plans there by itself."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pip_wheel(target: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Build a wheel of this package into a folder."""
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps"]
    command += ["--disable-pip-version-check", "-w", str(target), str(HERE.parent)]
    return subprocess.run(
        command, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The python of a new virtual environment, and nothing else, not even on PATH."""
    venv.create(tmp_path / "venv", with_pip=True)
    return tmp_path / "venv/bin/python"


def clean(*command: str | Path, **env: str) -> str:
    """Run a command with nothing else in its environment; return its output."""
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


PLAN = """
import sys
sys.path.insert(0, sys.argv[1])
import remat_plan, small
print(remat_plan.program.find())
print(remat_plan.solve(small.graph(), budget=80, **small.WORK).claims["peak_bytes"])
"""


def test_the_wheel_holds_the_program(tmp_path: Path, python: Path) -> None:
    built = pip_wheel(tmp_path)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.startswith("remat_plan-")
    assert "-py3-none-linux_" in wheel.name
    clean(python, "-m", "pip", "install", "--no-index", "--disable-pip-version-check", wheel)
    said = clean(python, "-I", "-c", PLAN, HERE / "plain", XDG_CACHE_HOME=str(tmp_path))
    program, peak = said.splitlines()
    assert Path(program).is_relative_to(tmp_path)
    assert int(peak) <= 80
    needs = clean("/usr/bin/env", "ldd", program, PATH=os.defpath)
    assert "glpk" not in needs
    assert "jansson" not in needs
    assert clean(python.parent / "remat-plan", "--version").startswith("remat-plan ")


def test_without_a_compiler_there_is_one_clear_line(tmp_path: Path) -> None:
    failed = pip_wheel(tmp_path, PATH="/nowhere")
    assert failed.returncode != 0
    lines = [line for line in failed.stderr.splitlines() if "cannot build" in line]
    assert len(lines) == 1
    assert "there is no make" in lines[0]
    assert "REMAT_PLAN_NO_BUILD=1" in lines[0]
    assert pip_wheel(tmp_path, PATH="/nowhere", REMAT_PLAN_NO_BUILD="1").returncode == 0
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if "/bin/" in name]
