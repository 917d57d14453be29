# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the programs that move parts of arrays, and runs them under capture."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from foreign.decompositions import write_scripts
from support.built import built

PROGRAMS = Path(__file__).parent / "programs"
STRIPEWISE = Path(sys.executable).with_name("stripewise")
MPIEXEC = ("mpiexec.openmpi", "--oversubscribe", "-n")
_NETCDF = "/usr/lib/x86_64-linux-gnu/netcdf/mpi/include"
_COMPILERS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "hdf5": (("h5pcc.openmpi", "-shlib"), ()),
    "typed": (("h5pcc.openmpi", "-shlib"), ()),
    "netcdf": (("mpicc.openmpi", f"-I{_NETCDF}"), ("-lnetcdf_mpi",)),
    "pnetcdf": (("mpicc.openmpi",), ("-lpnetcdf",)),
    "mpiio": (("mpicc.openmpi",), ()),
}
_MOST_SECONDS = 120


@cache
def program(library: str) -> Path:
    """Return the program for a library, built once."""
    name = "typed_hdf5" if library == "typed" else f"decomposed_{library}"
    source = PROGRAMS / f"{name}.c"
    compiler, libraries = _COMPILERS[library]
    command: Sequence[str | Path] = (*compiler, "-o", "program", source, *libraries)
    return built(f"decomposed-{library}", [source, PROGRAMS / "decomposed.h"], command) / "program"


def run(command: Sequence[object], directory: Path) -> str:
    """Run a command in a directory, where Open MPI may start as root; return what it prints.

    Raises:
        AssertionError: It fails; the message is its output.
    """
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "UCX_LOG_LEVEL": "fatal",
        "HWLOC_HIDE_ERRORS": "2",
    }
    with subprocess.Popen(
        list(map(str, command)), cwd=directory, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    ) as started:  # fmt: skip
        try:
            output, errors = started.communicate(timeout=_MOST_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            raise
    text = f"{' '.join(map(str, command))}: exit code {started.returncode}\n{errors[-2000:]}"
    assert started.returncode == 0, text
    return output


def command_of(case: Mapping[str, Any], directory: Path) -> list[object]:
    """Write what the ranks do, and return the command that does it to the file `out`."""
    if case["library"] == "adios2":
        work = json.dumps(case)
        return [sys.executable, PROGRAMS / "blocks_adios2.py", "out.bp", work]
    if case["library"] == "typed":
        return [*MPIEXEC, str(case["ranks"]), program("typed"), "out", *case["words"]]
    n_ranks = int(case.get("ranks", prod(case["grid"])))
    write_scripts(case, n_ranks, directory / "script")
    return [*MPIEXEC, str(n_ranks), program(case["library"]), "script", "out"]


def traced(case: Mapping[str, Any], directory: Path) -> Path:
    """Run a case under capture, and return its trace."""
    trace = directory / "of.trace"
    command = command_of(case, directory)
    run([STRIPEWISE, "run", "--trace", trace, "--", *command], directory)
    return trace
