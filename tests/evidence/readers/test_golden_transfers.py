# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Containers with HDF5's answers stay readable and mean the same.

container-v1-transfers: tests/mpi/programs/h5answers.c with the case "floats", on two ranks of
MPICH 4.0.2 with HDF5 1.10.8; calls were folded.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from stripewise.evidence.containers._join import evidence_of
from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.trace import Cause, Evidence, IoLayer, IoMode, Selections
from support.containers import parse_container

DATA = Path(__file__).parent / "data" / "container-v1-transfers.sw.gz"
RANKS, CALLS, BYTES = 2, 4, 8 * 64 * 4


@pytest.fixture(scope="module")
def golden() -> Evidence:
    return evidence_of([parse_container(gzip.decompress(DATA.read_bytes()), events=True)])


def test_answers(golden: Evidence) -> None:
    rows = golden.profile.transfers
    assert golden.profile.datasets == ("/q",)
    assert rows["rank"].tolist() == [0, 1]
    assert rows["writes"].all()
    for name in ("count", "compared", "converted", "collective", "answered"):
        assert rows[name].tolist() == [CALLS] * RANKS, name
    assert rows["bytes"].tolist() == rows["converted_bytes"].tolist() == [CALLS * BYTES] * RANKS
    assert rows["element_bytes"].tolist() == [8, 8]
    assert rows["modes"][:, IoMode.INDEPENDENT].tolist() == [CALLS] * RANKS
    assert rows["local_causes"][:, Cause.CONVERSION].tolist() == [CALLS] * RANKS
    assert rows["global_causes"].sum() == RANKS * CALLS
    assert (rows["independent_seconds"] > 0).all()


def test_what_nested_calls_cost(golden: Evidence) -> None:
    processes = golden.profile.program
    assert processes["own_samples"][:, [IoLayer.POSIX, IoLayer.MPIIO]].sum() > 0
    assert processes["own_ns"].sum() > 0


def test_what_was_asked_for_is_not_what_was_done(golden: Evidence) -> None:
    (access,) = [one for one in golden.accesses if isinstance(one, Selections)]
    assert not access.collective.any()
    diagnosis = diagnose(golden)
    assert diagnosis.files[0].collective == 0
    facts = {fact.code: fact for fact in diagnosis.facts}
    assert facts["fallback"].figures["cause"] == "conversion"
