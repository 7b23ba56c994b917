# SPDX-License-Identifier: MIT
"""Builds the program `remat-plan` with make and puts it into the wheel.

REMAT_PLAN_NO_BUILD=1 leaves it out: the wheel is then for every platform.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
# The sources of the program: in a source distribution a folder, else the repository.
PROGRAM = HERE / "program" if (HERE / "program").is_dir() else HERE.parent
SOURCES = ("Makefile", "cuda.mk", "VERSION", "LICENSE", "src", "tools")
FILES = ("remat-plan", "libremat_inject.so")
PURE = os.environ.get("REMAT_PLAN_NO_BUILD") == "1"


def fail(why: str) -> None:
    sys.exit(
        f"remat-plan: cannot build the program: {why}. On Debian or Ubuntu: apt-get install "
        "gcc make libglpk-dev libjansson-dev libltdl-dev. REMAT_PLAN_NO_BUILD=1 leaves it out."
    )


def make(folder: Path) -> None:
    """Build the program in `folder`; say in one line why if that fails."""
    for tool in ("make", "gcc"):
        if shutil.which(tool) is None:
            fail(f"there is no {tool}")
    jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    targets = [str(folder / name) for name in FILES]
    command = [
        "make",
        "-C",
        str(PROGRAM),
        f"-j{jobs}",
        "PORTABLE=1",
        "LDFLAGS=-s",
        f"BUILD={folder}",
    ]
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "CFLAGS")}
    result = subprocess.run(
        command + targets, env=env, stderr=subprocess.PIPE, text=True, check=False
    )
    sys.stderr.write(result.stderr)
    if result.returncode != 0:
        lines = [line for line in result.stderr.splitlines() if not line.startswith("make")]
        missing = [line for line in lines if "missing: " in line]
        fail((missing or lines or [f"make ended with {result.returncode}"])[0])


class BuildPy(build_py):
    """Adds the program to the package."""

    def run(self) -> None:
        super().run()
        package = HERE if self.editable_mode else Path(self.build_lib)
        target = package / "remat_plan" / "bin"
        shutil.rmtree(target, ignore_errors=True)
        if PURE:
            return
        folder = HERE / "build" / "program"
        make(folder)
        target.mkdir(parents=True)
        for name in FILES:
            shutil.copy2(folder / name, target / name)


class WithProgram(Distribution):
    """The program ties the package to a platform."""

    def has_ext_modules(self) -> bool:
        return not PURE


class BdistWheel(bdist_wheel):
    """The program does not tie the wheel to a version of Python."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class Sdist(sdist):
    """Adds the sources of the program."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        target = Path(base_dir) / "program"
        target.mkdir()
        for name in SOURCES:
            if (PROGRAM / name).is_dir():
                shutil.copytree(PROGRAM / name, target / name)
            else:
                shutil.copy2(PROGRAM / name, target / name)


setup(
    distclass=WithProgram,
    version=(PROGRAM / "VERSION").read_text().strip(),
    license_expression="MIT" if PURE else "GPL-3.0-or-later",
    cmdclass={"build_py": BuildPy, "bdist_wheel": BdistWheel, "sdist": Sdist},
)
