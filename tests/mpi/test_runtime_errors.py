# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Failures are the program's own: same status and same words with and without the library."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from runtime_harness import FAMILIES, flat, program, require, run, run_plain
from stacks import CASE_OF_HDF5_2

pytestmark = pytest.mark.mpi

HINTS = flat("file * 1", "mpiio cb_nodes 1", "mpiio striping_unit 65536")
PROPERTIES = flat(
    "file * 1",
    "hdf5 alignment 1,1048576",
    "hdf5 libver latest,latest",
    "hdf5 chunk 4",
    "hdf5 transfer collective",
)


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    require(f"mpicc.{request.param}", f"mpiexec.{request.param}", "cmake")
    return str(request.param)


def normalised(text: str) -> list[str]:
    """Without what differs from run to run: processes, addresses, times, hosts."""
    text = re.sub(r"time = .*", "time", text)
    text = re.sub(r"thread \d+", "thread", text)
    return re.sub(r"0x[0-9a-f]+|\d{3,}|\[\w+:\d+\]", "#", text).splitlines()


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("mode", ["missing", "handler", "comms"])
def test_errors_of_mpi_io(family: str, mode: str, tmp_path: Path) -> None:
    command = [program(family, "errors.c"), mode, "out.dat"]
    plain = run_plain(family, 1, command, tmp_path)
    ran = run(family, 1, command, tmp_path, configuration=HINTS)
    assert ran.code == plain.returncode == 0
    assert normalised(ran.err) == normalised(plain.stderr)


@pytest.mark.extended(keep=1)
def test_an_invalid_info(family: str, tmp_path: Path) -> None:
    """Open MPI's mpiexec loses the message at times, with and without us."""
    command = [program(family, "errors.c"), "info", "out.dat"]
    plain = run_plain(family, 1, command, tmp_path)
    ran = run(family, 1, command, tmp_path, configuration=HINTS)
    assert ran.code == plain.returncode
    if "ORTE_ERROR_LOG" not in plain.stderr + ran.err:
        assert normalised(ran.err) == normalised(plain.stderr)


@pytest.mark.extended(keep=1)
def test_fatal_errors_stay_fatal(family: str, tmp_path: Path) -> None:
    command = [program(family, "errors.c"), "fatal", "out.dat"]
    plain = run_plain(family, 1, command, tmp_path)
    ran = run(family, 1, command, tmp_path, configuration=HINTS)
    assert ran.code == plain.returncode != 0


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("configuration", ["", PROPERTIES], ids=["counted", "adopted"])
@pytest.mark.parametrize("stack", [*FAMILIES, CASE_OF_HDF5_2])
def test_error_stacks_of_hdf5(stack: str, configuration: str, tmp_path: Path) -> None:
    require("cmake")
    command = [program(stack, "h5errors.c"), "out.h5"]
    plain = run_plain(stack, 1, command, tmp_path)
    ran = run(stack, 1, command, tmp_path, configuration=configuration)
    assert ran.code == plain.returncode == 0
    assert len(plain.stderr.splitlines()) > 100
    assert normalised(ran.err) == normalised(plain.stderr)
