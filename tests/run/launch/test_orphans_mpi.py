# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Nothing of an MPI program is left, whatever dies."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from stripewise.core import RunStatus

WRITE = "while :; do echo x >> out; sleep 0.01; done"


SPIN = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, other = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        MPI_Recv(&other, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank %d\\n", rank);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(scope="module", params=["mpich", "openmpi"])
def mpi(request, tmp_path_factory):
    wrapper, mpiexec = f"mpicc.{request.param}", f"mpiexec.{request.param}"
    if not shutil.which(wrapper) or not shutil.which(mpiexec):
        pytest.skip(f"no {request.param} here")
    directory = tmp_path_factory.mktemp(request.param)
    (directory / "spin.c").write_text(SPIN)
    subprocess.run(
        [wrapper, "-o", directory / "spin", directory / "spin.c"], check=True, cwd=directory
    )
    options = ["--oversubscribe"] if request.param == "openmpi" else []
    return [mpiexec, *options, "-n", "2"], str(directory / "spin")


@pytest.fixture
def as_root(monkeypatch):
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")


@pytest.mark.mpi
@pytest.mark.usefixtures("as_root")
class TestUnderMpi:
    @pytest.mark.extended(keep=1)
    def test_runs(self, runs, mpi):
        request = runs.request(*mpi[0], mpi[1])
        _, outcome = runs.run(request)
        assert (outcome.status, outcome.message) == (RunStatus.OK, "")
        lines = (request.record_directory / "stdout").read_text().splitlines()
        assert sorted(lines) == ["rank 0", "rank 1"]

    @pytest.mark.extended(keep=1)
    def test_a_deadlock_is_stopped(self, runs, mpi):
        request = runs.request(*mpi[0], mpi[1], "deadlock", timeout_seconds=1.0)
        _, outcome = runs.run(request)
        assert outcome.status is RunStatus.TIMEOUT
        assert runs.outside() == set()

    @pytest.mark.extended(keep=1)
    def test_cancel_ends_stubborn_ranks(self, runs, eventually, mpi):
        script = f"trap '' TERM INT HUP; {WRITE}"
        request = runs.request(*mpi[0], "sh", "-c", script)
        handle = runs.launcher.submit(request)
        eventually((request.directory / "out").exists)
        runs.launcher.cancel(handle)
        assert runs.outside() == set()

    @pytest.mark.extended(keep=1)
    def test_a_killed_rank_is_a_failure(self, runs, mpi):
        request = runs.request(*mpi[0], "sh", "-c", "sleep 0.2; kill -9 $$")
        _, outcome = runs.run(request)
        assert outcome.status is RunStatus.FAILED
        assert runs.outside() == set()

    @pytest.mark.extended(keep=1)
    def test_a_killed_tuner_leaves_no_rank(self, runs, eventually, mpi):
        tuner = runs.tuner(*mpi[0], mpi[1], "deadlock")
        eventually(lambda: len(runs.left()) >= 3)
        tuner.kill()
        eventually(lambda: runs.outside() == set())
