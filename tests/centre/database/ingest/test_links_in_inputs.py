# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Nobody has somebody else's run read as their own by links, put there before or meanwhile."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from stripewise.centre.database.ingest import _work
from stripewise.centre.database.ingest._inputs import PassedOver, walk
from stripewise.centre.database.ingest._work import (
    Later,
    Look,
    Looked,
    Read,
    Refused,
    Stored,
    work,
)
from stripewise.centre.database.tables import JobSource
from support import fleet_inputs as inputs
from support.fleet_inputs import take
from support.foreign_traces import sample_calls, write_recorder_text

THIEF = 12345
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def given(path: Path) -> Path:
    """Make a file, or a directory with all below it, the thief's."""
    for one in (path, *path.rglob("*")):
        os.chown(one, THIEF, THIEF, follow_symlinks=False)
    return inputs.old(path) if not path.is_symlink() else path


@pytest.fixture
def others(tmp_path: Path) -> Path:
    """A trace of somebody else, which says of nobody that it is theirs."""
    return inputs.old(write_recorder_text(tmp_path / "home" / "trace", [sample_calls(0, 4)]))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "spool"
    made.mkdir()
    return made


def found(root: Path) -> Any:
    (one,) = walk([root], PassedOver())
    return one


def test_a_directory_of_a_trace_leads_nowhere(base: Engine, root: Path, others: Path) -> None:
    planted = root / "mine"
    planted.mkdir()
    (planted / "readme").write_text("x")
    (planted / "_text").symlink_to(others / "_text")
    given(planted)
    tally = take(base, root)
    assert (tally.stored.total(), tally.refused) == (0, 0)
    with base.connect() as connection:
        assert connection.scalars(select(JobSource.id)).all() == []


@pytest.mark.parametrize("task", [Look, lambda one: Read(one, "evidence", "d")])
def test_a_link_that_takes_the_place_of_a_file_is_not_followed(
    root: Path, others: Path, task: Any
) -> None:
    own = root / "0.txt"
    own.write_text("x")
    given(own)
    one = found(own)
    own.unlink()
    own.symlink_to(others / "_text" / "0.txt")
    assert work(task(one)) == Later("it changed before it was read")


def test_a_directory_that_leads_elsewhere_while_it_is_read(
    root: Path, others: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directory is put back before anybody looks whether the file is the same."""
    (root / "d").mkdir()
    own = root / "d" / "0.txt"
    own.write_text("x")
    given(root / "d")
    one = found(own)
    plain = _work._read

    def swapped(*given: Any) -> Any:
        (root / "d").rename(root / "aside")
        (root / "d").symlink_to(others / "_text")
        try:
            return plain(*given)
        finally:
            (root / "d").unlink()
            (root / "aside").rename(root / "d")

    monkeypatch.setattr(_work, "_read", swapped)
    answer = work(Read(one, "evidence", "d"))
    assert not isinstance(answer, Stored), answer


def test_a_file_that_comes_into_a_directory_later_is_not_of_the_input(
    root: Path, others: Path
) -> None:
    own = write_recorder_text(root / "mine", [sample_calls(0, 2)])
    (own / "_text").rename(root / "text")
    (root / "text" / "0.txt").rename(own / "0.txt")
    (root / "text").rmdir()
    given(own)
    one = found(own)
    before = work(Read(one, "evidence", "d"))
    (own / "_text").symlink_to(others / "_text")
    assert isinstance(before, Stored)
    assert work(Read(one, "evidence", "d")) == before


def test_what_is_read_elsewhere_is_named_as_it_was_found(root: Path) -> None:
    broken = root / "bad.report.json"
    broken.write_text('{"format": "stripewise-report"')
    given(broken)
    answer = work(Read(found(broken), "report", "d"))
    assert isinstance(answer, Refused)
    assert answer.reason.startswith("no report of a run")
    assert "/proc/" not in answer.reason
    trace = inputs.write_trace(root / "t", 1)
    given(trace)
    assert work(Look(found(trace))) == Looked("evidence", _digest(trace))


def test_a_run_of_many_nodes_is_held_as_a_whole(root: Path) -> None:
    own = root / "many"
    own.mkdir()
    for node in range(200):
        (own / f"{node}.sw").write_bytes(b"x")
    given(own)
    one = found(own)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, limits[1]))
    try:
        assert work(Look(one)) == Looked("", "")  # they are no containers, and all were opened
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def _digest(trace: Path) -> str:
    import hashlib

    return hashlib.sha256((trace / "node1.sw").read_bytes()).hexdigest()
