# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Packaged applications, tuned as their users would: `make test-long` installs them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from system_cli import mpiexec, require_mpi, run, tree, tune

pytestmark = [pytest.mark.mpi, pytest.mark.long]

MELT = Path(__file__).parent / "programs" / "in.melt"


@pytest.fixture
def lammps(work):
    """The command of a small melt that dumps its atoms through MPI-IO."""
    require_mpi("openmpi")
    if shutil.which("lmp") is None:
        pytest.skip("no lammps on this machine (Debian package lammps)")
    shutil.copy(MELT, work)
    return [*mpiexec("openmpi"), "lmp", "-in", "in.melt"]


@pytest.mark.extended
def test_lammps_with_dump_mpiio_is_tuned_and_verified(lammps, steady, work):
    before = tree(work)
    words = ("--trials", "2", "--only", "mca.io", "--", *lammps)
    document = tune(*words, cwd=work, more=steady("openmpi"))
    assert tree(work) == before
    assert document["facts"]["mpiio_implementation"] == "ompio"
    assert document["facts"]["collective_bytes"] > 10 * 2**20
    assert document["baseline"]["bytes"] > 10 * 2**20
    assert [trial["settings"] for trial in document["trials"]] == [{"mca.io": "romio321"}]
    assert all(trial["state"] != "rejected" for trial in document["trials"])
    assert document["verified"] in (True, "not verifiable")


@pytest.mark.extended
def test_lammps_runs_under_another_mpi_io(lammps, work, tmp_path):
    config = tmp_path / "romio.toml"
    config.write_text('version = 1\n[job]\nmca = { io = "romio321" }\n')
    plain = run("--", *lammps, cwd=work)
    dump = (work / "dump.melt.mpiio").read_bytes()
    tuned = run("--config", config, "--", *lammps, cwd=work)
    assert (work / "dump.melt.mpiio").read_bytes() == dump
    assert plain["write_bytes"] == pytest.approx(tuned["write_bytes"], rel=0.001)
