# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Later Debians beside this machine's: what `make roots` made, and programs in them.

A program in a root sees that Debian's /usr and /etc; everything else is this machine's, at the
same paths.  Where a root is not there, tests are skipped; where STRIPEWISE_TEST_REQUIRED has the
word "roots", they fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
_OF_THE_ROOT = {"usr", "etc", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "dev", "sys"}
_PATH = "/usr/sbin:/usr/bin"
_BUILD_SECONDS = 600.0


def inside(
    suite: str, words: Sequence[str | Path], variables: Mapping[str, str] | None = None
) -> list[str]:
    """Words that start a program in the root of a suite; `variables` are for it alone."""
    more = [f"{name}={value}" for name, value in {"PATH": _PATH, **(variables or {})}.items()]
    return [*_entered(suite), "env", *more, *map(str, words)]


@cache
def runtime(suite: str) -> Path:
    """What `stripewise doctor build` makes in the root, by that Debian's own Python and compiler.

    It is kept in the checkout's `build`, and made again where its sources have changed.
    """
    wrappers = ["mpicc.mpich", "mpicc.openmpi"]
    if suite != "trixie":
        wrappers.append(abi_wrapper(suite))
    code = "import sys; from stripewise.run.runtime import build_runtime as build"
    python(suite, f"{code}; build(print, mpicc=sys.argv[1:])", *wrappers)
    return _place(suite) / "runtime"


def python(suite: str, code: str, *words: str) -> str:
    """What a program that imports Stripewise prints in a root."""
    place = _place(suite)
    variables = {
        "PYTHONPATH": str(CHECKOUT / "src"),
        "PYTHONPYCACHEPREFIX": str(place / "pycache"),
        "STRIPEWISE_RUNTIME_DIR": str(place / "runtime"),
    }
    done = subprocess.run(
        inside(suite, ["python3", "-c", code, *words], variables),
        capture_output=True,
        text=True,
        timeout=_BUILD_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@cache
def abi_wrapper(suite: str) -> str:
    """A compiler for the ABI of MPI 5, as MPICH's mpicc_abi, which Debian leaves out."""
    machine = inside(suite, ["gcc", "-dumpmachine"])
    triplet = subprocess.run(machine, capture_output=True, text=True, check=True).stdout.strip()
    places = f"-I/usr/lib/{triplet}/mpich/include -L/usr/lib/{triplet}/mpi_abi_mpich/lib"
    wrapper = _place(suite) / "mpicc_abi"
    wrapper.write_text(f'#!/bin/sh\nexec gcc -DMPI_ABI "$@" {places} -lmpi_abi\n')
    wrapper.chmod(0o755)
    return str(wrapper)


def _place(suite: str) -> Path:
    place = CHECKOUT / "build" / "roots" / suite
    place.mkdir(parents=True, exist_ok=True)
    return place


@cache
def _entered(suite: str) -> tuple[str, ...]:
    """bubblewrap, told what to put where; it needs no rights."""
    base = os.environ.get("STRIPEWISE_CACHE") or Path(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "stripewise"
    )
    root = Path(base, "roots", suite)
    if not root.is_dir():
        _missing(f"no {root}: make roots")
    if shutil.which("bwrap") is None:
        _missing("no bwrap (Debian package bubblewrap): make roots")
    words = [
        "bwrap",
        "--die-with-parent",
        "--dev-bind",
        "/dev",
        "/dev",
        "--ro-bind",
        "/sys",
        "/sys",
    ]
    for name in ("usr", "etc"):
        words += ["--ro-bind", str(root.resolve() / name), f"/{name}"]
    for name in ("bin", "sbin", "lib", "lib64"):
        words += ["--symlink", f"usr/{name}", f"/{name}"]
    for path in sorted(Path("/").iterdir()):
        if path.is_dir() and not path.is_symlink() and path.name not in _OF_THE_ROOT:
            words += ["--bind", str(path), str(path)]
    tried = subprocess.run([*words, "--", "true"], capture_output=True, text=True)
    if tried.returncode:
        _missing(f"bwrap cannot enter {root}: {tried.stderr.strip()}")
    return (*words, "--")


def _missing(reason: str) -> None:
    if "roots" in os.environ.get("STRIPEWISE_TEST_REQUIRED", "").split(","):
        pytest.fail(reason)
    pytest.skip(reason)
