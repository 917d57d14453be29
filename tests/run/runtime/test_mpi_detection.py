# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stripewise.run.runtime import describe_mpi, detect_mpis, mpi_of_command
from stripewise.run.runtime._mpi import parse_flags, parse_probe


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('# 1 "x"\nSW_FOUND mpich "4.0.2"\n', ("mpich", "4.0.2")),
        ("SW_FOUND openmpi 4.1.4\n", ("openmpi", "4.1.4")),
        ("SW_FOUND openmpi 5 . 0 . 1\n", ("openmpi", "5.0.1")),
        ("SW_FOUND abi 1.0\n", ("abi", "1.0")),
        ("nothing", ("", "")),
    ],
)
def test_probe(text: str, expected: tuple[str, str]) -> None:
    assert parse_probe(text) == expected


def test_flags() -> None:
    words = "-I/usr/include/hdf5/mpich -L/a -lhdf5_x_hl -lhdf5_x /lib/mpich/libhdf5.a".split()
    assert parse_flags(words) == (
        [Path("/usr/include/hdf5/mpich")],
        [Path("/a"), Path("/lib/mpich")],
        ["hdf5_x", "hdf5"],
    )


def test_each_mpi_once() -> None:
    mpis = detect_mpis()
    labels = [(mpi.family, mpi.version) for mpi in mpis]
    assert len(labels) == len(set(labels))
    for mpi in mpis:
        assert mpi.problem or (mpi.family in ("mpich", "openmpi", "abi") and mpi.major.isdigit())


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
@pytest.mark.mpi
def test_launchers_lead_to_their_mpi(family: str) -> None:
    launcher = f"mpiexec.{family}"
    if not shutil.which(launcher) or not shutil.which(f"mpicc.{family}"):
        pytest.skip(f"no {family} here")
    found = mpi_of_command([launcher, "-n", "2", "./a"])
    assert found is not None
    assert found.family == family


def test_no_mpi_in_a_plain_command() -> None:
    assert mpi_of_command(["true"]) is None
    assert mpi_of_command([]) is None
    assert mpi_of_command(["no-such-program"]) is None


def test_a_broken_wrapper_is_told_apart(tmp_path: Path) -> None:
    wrapper = tmp_path / "mpicc"
    wrapper.write_text("#!/bin/sh\necho 'fatal error: mpi.h: No such file' >&2\nexit 1\n")
    wrapper.chmod(0o755)
    found = describe_mpi(str(wrapper))
    assert found is not None
    assert "mpi.h: No such file" in found.problem


def test_an_unknown_mpi_is_told_apart(tmp_path: Path) -> None:
    wrapper = tmp_path / "mpicc"
    wrapper.write_text("#!/bin/sh\necho SW_FOUND other 3.1\n")
    wrapper.chmod(0o755)
    found = describe_mpi(str(wrapper))
    assert found is not None
    assert "no plug-in fits" in found.problem


def test_a_missing_wrapper() -> None:
    assert describe_mpi("no-such-mpicc") is None
