# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Inputs that are made to cost much cost little, and what is refused is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from stripewise.centre.database.tables import JobSource
from support import fleet_inputs as inputs
from support.fleet_inputs import take

STATS = b"| MPIIO write access patterns for /lus/out.dat\n"
DARSHAN = b"3.41\0\0\0\0" + (6567223).to_bytes(8, "little")


def test_a_container_that_was_extended_is_what_it_was(base: Engine, tmp_path: Path) -> None:
    trace = inputs.write_trace(tmp_path / "logs", 1)
    os.truncate(trace / "node1.sw", 20 << 30)
    inputs.old(trace)
    told = take(base, tmp_path / "logs")
    assert told.stored == {"trace": 1}
    assert any("20 GiB after its end are not read" in text for _, text in told.problems)
    os.truncate(trace / "node1.sw", 200 << 30)
    inputs.old(trace, 1800.0)
    told = take(base, tmp_path / "logs")
    assert (told.known, told.stored) == (1, {})
    with base.connect() as connection:
        assert len(connection.execute(select(JobSource.id)).all()) == 1


@pytest.mark.parametrize(
    ("name", "head", "budget"),
    [
        ("a.darshan", DARSHAN, "more than 2048 MiB, the budget of a Darshan log"),
        ("job.out", STATS, "more than 256 MiB, the budget of the output of a job"),
        ("0.report.json", b'{"format": "stripewise-report"', "the budget of the report of a run"),
        ("jobs.txt", b"JobID|JobIDRaw|User|Submit|Start|End|State\n", "records of the scheduler"),
        ("a.jsonl", b'{"event": "failover", "file_system": "s", "at": 1, "text": "x"}\n',
         "samples of a storage system"),
    ],
)  # fmt: skip
def test_what_is_beyond_its_budget_is_refused_unread(
    base: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, head: bytes,
    budget: str,
) -> None:  # fmt: skip
    path = tmp_path / name
    path.write_bytes(head)
    os.truncate(path, 3 << 30)
    told = take(base, inputs.old(path))
    ((_, reason),) = told.reasons
    assert budget in reason


def test_no_pipe_is_waited_for(base: Engine, tmp_path: Path) -> None:
    for name in ("a.campaign", "b.stripewise", "c.trace"):
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "a.campaign" / "journal.jsonl")
    os.mkfifo(tmp_path / "b.stripewise" / "journal.jsonl")
    os.mkfifo(tmp_path / "b.stripewise" / "result.json")
    os.mkfifo(tmp_path / "c.trace" / "node1.sw")
    os.mkfifo(tmp_path / "pipe.sw")
    inputs.write_trace(tmp_path, 1)
    told = take(base, inputs.old(tmp_path))
    assert told.stored == {"trace": 1}
    assert sum(told.passed.counts.values()) >= 4


def test_directories_that_lead_back_and_down(base: Engine, tmp_path: Path) -> None:
    inputs.write_trace(tmp_path, 1)
    (tmp_path / "loop").symlink_to(tmp_path)
    deep = os.open(tmp_path, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d" * 40, dir_fd=deep)
        below = os.open("d" * 40, os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = below
    os.close(deep)
    told = take(base, tmp_path)
    assert told.stored == {"trace": 1}
    assert told.passed.counts["link, not followed"] == 1
    assert any("cannot be read" in reason for reason in told.passed.counts)
