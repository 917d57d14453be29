# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a run did is told whether or not a saving is known, and the same on every storage."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from runs import MIB, RunBuilder
from storages import LOCAL

from stripewise.core import StorageCosts
from stripewise.evidence.diagnosis import FACT_RULES, diagnose
from stripewise.evidence.trace import NAMES_ROW, PROCESS_ROW, Action, IoLayer, Op

FILE = "/scratch/out.h5"
DOCS = Path(__file__).parents[3] / "docs/reference"


def unusual(run: RunBuilder, **fields: object) -> list[str]:
    told = diagnose(run.evidence(**fields))
    return [fact.code for fact in told.facts if fact.unusual]


def small_writes(count: int = 100_000, size: int = 32, n_ranks: int = 1) -> RunBuilder:
    run = RunBuilder(n_ranks=n_ranks, elapsed=20.0)
    ops = {Op.WRITE: (count, count * size, 15.0)}
    for rank in range(n_ranks):
        run.add(f"/scratch/a.{rank}", IoLayer.POSIX, rank, ops)
    return run


def test_small_requests_are_named_with_number_and_size() -> None:
    told = diagnose(small_writes().evidence())
    text = "3.05 MiB were written in 100 000 writes of 32 B on average to a.0."
    assert told.facts[0].text == text
    assert told.opening.startswith("75 % of the run was I/O (15 s of 20 s): 3.05 MiB written in ")
    assert unusual(small_writes(count=100, size=4 * MIB)) == []
    assert unusual(small_writes(count=20)) == []


def beneath(asked: Op, calls: int, size: int, system_calls: int, system_size: int, read: int = 0):
    """One file of MPI-IO with the calls beneath it."""
    run = RunBuilder(n_ranks=2, elapsed=20.0)
    run.everyone(FILE, IoLayer.MPIIO, {asked: (calls, calls * size, 10.0)})
    below = {Op.WRITE: (system_calls, system_calls * system_size, 4.0)}
    if read:
        below[Op.READ] = (system_calls, read, 2.0)
    run.everyone(FILE, IoLayer.POSIX, below, own=False)
    return run


def test_bytes_beyond_those_requested_are_named() -> None:
    larger = beneath(Op.WRITE, 4, 16 * MIB, 64, 4 * MIB)
    told = diagnose(larger.evidence()).facts[0]
    assert told.code == "amplification"
    assert told.text.startswith("The program asked for 128 MiB to be written and 512 MiB were")
    back = beneath(Op.WRITE_COLLECTIVE, 4, 16 * MIB, 16, 4 * MIB, read=60 * MIB)
    assert "read-modify-write" in diagnose(back.evidence()).facts[0].text
    assert unusual(beneath(Op.WRITE_COLLECTIVE, 4, 16 * MIB, 16, 4 * MIB)) == ["library-time"]


def test_time_inside_a_library_is_told_from_that_of_requests() -> None:
    def made(seconds):
        run = RunBuilder(n_ranks=1, elapsed=20.0)
        run.add(FILE, IoLayer.HDF5, 0, {Op.READ: (10, 400 * MIB, 10.0)})
        run.add(FILE, IoLayer.POSIX, 0, {Op.READ: (100, 400 * MIB, seconds)}, own=False)
        return diagnose(run.evidence()).facts

    (fact,) = made(1.0)
    assert fact.text.startswith("90 % of the I/O time is spent inside HDF5 (compression, ")
    assert "compression" in fact.advice
    assert made(9.0) == ()


def test_seeks_of_streams_are_no_metadata() -> None:
    run = RunBuilder(n_ranks=1, elapsed=20.0)
    run.add(FILE, IoLayer.STDIO, 0, {Op.WRITE: (50, MIB, 1.0), Op.META: (5000, 0, 8.0)})
    assert "metadata" not in [fact.code for fact in diagnose(run.evidence()).facts]


def test_calls_that_became_many_requests_are_named() -> None:
    split = beneath(Op.WRITE_COLLECTIVE, 4, 16 * MIB, 65536, 1024)
    texts = [fact.text for fact in diagnose(split.evidence()).facts]
    assert "8 write calls of 16 MiB became 131 072 requests of 1 KiB on average." in texts


def test_metadata_syncs_and_opens_are_told_apart() -> None:
    def made(ops):
        run = RunBuilder(n_ranks=2, elapsed=20.0)
        run.everyone(FILE, IoLayer.POSIX, {Op.WRITE: (4, 64 * MIB, 1.0), **ops})
        return unusual(run)

    assert made({}) == []
    assert made({Op.SYNC: (50, 0, 8.0)}) == ["sync"]
    assert made({Op.META: (50, 0, 8.0)}) == ["metadata"]
    assert made({Op.OPEN: (500, 0, 8.0)}) == ["metadata", "opens"]


def test_calls_on_names_of_files_that_were_never_opened_are_metadata() -> None:
    run = RunBuilder(n_ranks=1, elapsed=10.0)
    run.add(FILE, IoLayer.POSIX, 0, {Op.WRITE: (1, MIB, 0.5)})
    rows = np.zeros(1, NAMES_ROW)
    rows["count"][:, Action.UNLINK] = 5000
    rows["seconds"][:, Action.UNLINK] = 4.0
    processes = np.zeros(1, PROCESS_ROW)
    processes["is_program"], processes["outermost_ns"] = True, 4.5e9
    evidence = run.evidence(names=rows, directories=("/scratch",), processes=processes)
    (fact,) = [fact for fact in diagnose(evidence).facts if fact.unusual]
    assert fact.code == "metadata"
    assert "5000 unlinks" in fact.text


def test_one_rank_that_moves_all_is_named() -> None:
    run = RunBuilder(n_ranks=4, elapsed=20.0)
    run.add(FILE, IoLayer.POSIX, 0, {Op.WRITE: (100, 400 * MIB, 10.0)})
    assert set(unusual(run)) == {"single-writer", "slowest-rank"}


def test_bytes_that_are_read_again_are_named() -> None:
    run = RunBuilder(n_ranks=1, elapsed=20.0)
    run.add(FILE, IoLayer.POSIX, 0, {Op.READ: (400, 400 * MIB, 10.0)}, maximum_offset=40 * MIB)
    (fact,) = [fact for fact in diagnose(run.evidence()).facts if fact.unusual]
    assert fact.text == "400 MiB were read from out.h5, which has 40 MiB: 10 times over."


def test_many_small_files_are_named() -> None:
    run = RunBuilder(n_ranks=1, elapsed=20.0)
    for place in range(200):
        ops = {Op.OPEN: (1, 0, 0.02), Op.READ: (1, 4096, 0.001), Op.CLOSE: (1, 0, 0.01)}
        run.add(f"/scratch/f{place}", IoLayer.POSIX, 0, ops)
    assert {"many-files", "metadata"} <= set(unusual(run))


def test_random_and_strided_access_are_told_apart() -> None:
    def made(order, forward):
        run = RunBuilder(n_ranks=1, elapsed=20.0)
        row = run.add(FILE, IoLayer.POSIX, 0, {Op.READ: (5000, 5000 * 4096, 9.0)}, order=order)
        row["sequential_reads"] = round(forward * 5000)
        return unusual(run)

    assert made(1.0, 1.0) == ["request-size"]
    assert made(0.0, 0.1) == ["request-size", "random"]
    assert made(0.0, 1.0) == ["request-size", "gaps"]


@pytest.mark.parametrize("storage", [None, LOCAL, replace(LOCAL, processors=1)])
def test_facts_are_the_same_on_every_storage(storage: StorageCosts | None) -> None:
    for run in (small_writes(), beneath(Op.WRITE, 4, 16 * MIB, 64, 4 * MIB)):
        told = diagnose(run.evidence(), storage=storage)
        assert told.facts == diagnose(run.evidence()).facts


def test_little_io_is_no_concern() -> None:
    run = small_writes()
    run.elapsed = 1000.0
    told = diagnose(run.evidence())
    assert told.headline.endswith("Nothing stands out: I/O is less than 5 % of the run.")
    assert told.facts[0].code == "request-size"


def test_what_is_as_usual_is_listed() -> None:
    told = diagnose(small_writes(count=100, size=4 * MIB).evidence())
    assert "Nothing stands out among " in told.headline
    assert "sizes of requests" in [check.subject for check in told.checks]


def test_bytes_that_are_not_known_make_no_fact() -> None:
    run = RunBuilder(n_ranks=1, elapsed=20.0)
    run.add(FILE, IoLayer.MPIIO, 0, {Op.WRITE: (5000, 0, 9.0)})
    told = json.dumps([fact.text for fact in diagnose(run.evidence()).facts])
    assert "0 B" not in told


def test_every_fact_is_documented() -> None:
    text = (DOCS / "findings.md").read_text()
    for rule in FACT_RULES:
        assert f"| `{rule.code}` |" in text, rule.code
