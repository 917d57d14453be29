# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C and SIGTERM during a study, then `--resume`."""

from __future__ import annotations

import os
import signal

import pytest
from system_cli import (
    SHORT,
    as_words,
    finished,
    journal,
    mpiexec,
    planned,
    processes_of,
    start,
    stripewise,
    tree,
    wait_until,
)

from support.journal_checks import check_runs

pytestmark = pytest.mark.mpi


@pytest.fixture
def command(compiled, mpich) -> list[str]:
    return as_words(mpiexec(mpich), compiled("blocks.c", mpich), "out.dat", "4096", "8")


@pytest.mark.extended
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_interrupted_and_gone_on_with(work, command, number, losing):
    """No finished run is lost, at most half a pair repeated; nothing is left running."""
    before = tree(work)
    study = work / "blocks.stripewise"
    child = start("tune", *SHORT, "--", *command, cwd=work, more=losing)
    wait_until(lambda: len(finished(study)) >= 3, "three runs")
    child.send_signal(number)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, (out, err)
    said = [line for line in err.splitlines() if line.startswith("stripewise: ")]
    assert len(said) == 1, err
    assert "--resume" in said[0]
    assert "Traceback" not in err
    assert processes_of(planned(study)) == {}
    known = finished(study)
    assert len(known) >= 3

    done = stripewise("tune", "--resume", "--json", cwd=work, more=losing)
    document = done.json()
    ids = finished(study)
    assert ids[: len(known)] == known
    assert [run["run_id"] for run in document["runs"]] == ids
    assert check_runs(journal(study)) <= 1
    assert tree(work) == before
    assert processes_of(planned(study)) == {}


@pytest.mark.extended
def test_an_interrupt_reaches_a_run_that_hangs(work, command, planted, mpich):
    """Ctrl-C at a terminal goes to the tuner; its run is in a session of its own."""
    layer = {"LD_PRELOAD": str(planted(mpich)), "PLANTED_KEY": "romio_cb_write"}
    hang = layer | {"PLANTED_HANG": "automatic"}
    child = start("tune", "--trials", "1", "--", *command, cwd=work, more=hang)
    study = work / "blocks.stripewise"
    wait_until(lambda: len(processes_of(planned(study))) > 2, "the ranks")
    os.killpg(child.pid, signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert processes_of(planned(study)) == {}
