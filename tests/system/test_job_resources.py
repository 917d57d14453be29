# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The job's ranks and threads: tried when asked for, kept, applied by `run`."""

from __future__ import annotations

import tomllib

import pytest
from system_cli import as_words, mpiexec, run, stripewise, tune

pytestmark = pytest.mark.mpi

ASK = ("--only", "job.ranks", "--trials", "1", "--no-sync", "--no-memory")


@pytest.mark.extended
def test_ranks_are_tried_when_asked_for(work, compiled, steady, family):
    command = as_words(mpiexec(family), compiled("blocks.c", family), "out.dat", "4096", "8")
    document = tune(*ASK, "--ranks", "1,2", "--", *command, cwd=work, more=steady(family))
    (trial,) = document["trials"]
    assert trial["settings"] == {"job.ranks": 1}  # two is what the command says
    assert trial["state"] in ("complete", "hopeless", "rejected")
    assert any("ranks and threads are tried too" in text for text in document["warnings"])


@pytest.mark.extended
def test_a_launcher_that_is_not_understood_is_said_before_anything_runs(work, compiled, mpich):
    program = compiled("blocks.c", mpich)
    command = as_words("bash", "-c", f"{' '.join(mpiexec(mpich))} {program} out.dat 4096 8")
    done = stripewise("tune", *ASK, "--ranks", "1", "--", *command, cwd=work)
    done.only_error(2, "ranks", "'bash'", "mpiexec, mpirun or srun")


@pytest.mark.extended(keep=1)
def test_run_puts_the_configuration_into_the_command(work, compiled, family):
    settings = "version = 1\n[job]\nranks = 1\nthreads = 3\n"
    assert tomllib.loads(settings)["job"]["ranks"] == 1
    (work / "job.toml").write_text(settings)
    command = as_words(mpiexec(family), compiled("blocks.c", family), "out.dat", "4096", "8")
    document = run("--config", "job.toml", "--", *command, cwd=work)
    assert document["facts"]["n_ranks"] == 1
    done = stripewise("run", "--config", "job.toml", "--", *command, cwd=work)
    assert "the command is now: OMP_NUM_THREADS=3" in done.err
