# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings that are right only on a condition: tried on proof alone, and stopped if they hang."""

from __future__ import annotations

import pytest
from system_cli import as_words, finished, journal, mpiexec, processes_of, require_mpi, tune

pytestmark = pytest.mark.mpi

TRANSFER = "hdf5.transfer"
ASK = ("--allow", "contract", "--only", TRANSFER, "--trials", "1", "--no-sync", "--no-memory")


def command(compiled, family: str, mode: str) -> list[str]:
    return as_words(mpiexec(family), compiled("h5order.c", family), "out.h5", mode)


@pytest.mark.extended
def test_matched_calls_let_collective_transfer_be_tried(work, compiled, mpich, steady):
    words = command(compiled, mpich, "matched")
    document = tune(*ASK, "--", *words, cwd=work, more=steady(mpich))
    (trial,) = document["trials"]
    assert trial["settings"] == {TRANSFER: "collective"}
    assert trial["state"] in ("complete", "hopeless")


@pytest.mark.extended
def test_without_the_request_it_is_not_tried(work, compiled, mpich):
    words = ("--only", TRANSFER, "--trials", "1", "--no-sync", "--no-memory")
    document = tune(*words, "--", *command(compiled, mpich, "matched"), cwd=work)
    assert document["trials"] == []
    assert document["left_out"][TRANSFER] == "class contract: only if requested"


@pytest.mark.extended
def test_uneven_calls_forbid_it(work, compiled):
    family = require_mpi("openmpi")
    document = tune(*ASK, "--", *command(compiled, family, "uneven"), cwd=work)
    assert document["trials"] == []
    assert "different numbers of calls" in document["left_out"][TRANSFER]


@pytest.mark.extended
def test_calls_in_another_order_are_stopped_early(work, compiled, family, steady):
    words = command(compiled, family, "chained")
    document = tune(*ASK, "--", *words, cwd=work, more=steady(family))
    (trial,) = document["trials"]
    assert trial["state"] == "failed"
    assert "with hdf5.transfer" in trial["message"]
    assert "wait for one another" in trial["message"]
    assert "stopped after" in trial["message"]
    stopped = float(trial["message"].split("stopped after ")[1].split(" s")[0])
    longest = max(run["seconds"] for run in document["runs"] if run["role"] == "baseline")
    assert stopped < max(20.0, 5 * longest), "not before any other run would be"
    assert document["result"] == "no improvement"
    assert journal(work / "h5order.stripewise")
    assert not processes_of(finished(work / "h5order.stripewise"))
