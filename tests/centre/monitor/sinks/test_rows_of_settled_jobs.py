# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of jobs are the same, whether all readings are settled or one in five."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.centre.monitor._records import Round, TargetJobs
from stripewise.centre.monitor.collectors import JobStatsReader
from stripewise.centre.monitor.sinks._store_books import Books, StoreLimits
from stripewise.centre.monitor.sinks._store_pending import JobRow
from support.job_stats_text import OST_ROWS, Target

T0 = 1_700_000_000.0
EACH = 5
NAMES = ("OST0000", "OST0001", "OST0002")
IDS = (b"7", b"8", b"9")


class Server:
    """Targets, each with a reader, and the books of a sink."""

    def __init__(self, each: int) -> None:
        self._each = each
        self._readers = [JobStatsReader() for _ in NAMES]
        limits = StoreLimits(60.0, 60.0 * EACH, 1, 1000)
        self._books = Books(limits, {}, {}, self._round(0, ()), 0.0)
        self.rows: list[JobRow] = []

    def look(self, minute: int, texts: Sequence[bytes | None]) -> None:
        """Read all targets; make the rows that are due."""
        is_settled = minute % self._each == 0
        jobs = []
        for name, reader, text in zip(NAMES, self._readers, texts, strict=True):
            if text is None:  # it cannot be read in this minute
                continue
            found = reader.read([text], is_settled=is_settled)
            jobs.append(
                TargetJobs(
                    "fs", name, found.changed, found.gone, found.count, found.is_first,
                    found.is_settled,
                )
            )  # fmt: skip
        self._books.take(self._round(minute, tuple(jobs)))
        found = self._books.cut()
        if found is not None:
            self.rows += found[0].rows

    @staticmethod
    def _round(minute: int, jobs: tuple[TargetJobs, ...]) -> Round:
        return Round("lustre-server", T0 + 60 * minute, 60.0 * minute, jobs=jobs)

    def told(self) -> list[tuple[object, ...]]:
        """Return the rows, in an order of their own."""
        rows = [(r.key, r.kind, r.at, r.seconds, r.work.as_list()) for r in self.rows]
        return sorted(rows, key=repr)


WORK = st.tuples(st.integers(0, 2), st.sampled_from(IDS), st.sampled_from([1, 4096]))
MINUTES = st.lists(st.lists(WORK, max_size=4), min_size=1, max_size=25)


@pytest.mark.extended
@given(MINUTES, st.booleans())
@settings(max_examples=200, deadline=None)
def test_rows_are_those_of_reading_all(
    minutes: list[list[tuple[int, bytes, int]]], is_steady: bool
) -> None:
    targets = [Target("2.16", OST_ROWS) for _ in NAMES]
    often, seldom = Server(1), Server(EACH)
    idle: list[list[tuple[int, bytes, int]]] = [[]] * (2 * EACH + 30)
    for minute, works in enumerate([[], *minutes, *idle]):
        if is_steady and 0 < minute <= len(minutes):
            works = [*works, (0, b"7", 1)]
        for place, raw, size in works:
            targets[place].work(raw, "write_bytes", size, 1)
        texts = [target.text() for target in targets]
        often.look(minute, texts)
        seldom.look(minute, texts)
    assert seldom.told() == often.told()
    done = sum(size for works in minutes for _, _, size in works) + is_steady * len(minutes)
    assert sum(row.work.moved_bytes or 0 for row in seldom.rows) == done


def test_a_target_that_cannot_be_read_for_a_while() -> None:
    targets = [Target("2.16", OST_ROWS) for _ in NAMES]
    server = Server(EACH)
    for minute in range(40):
        for target in targets[:2]:
            if 0 < minute < 20:
                target.work(b"7", "write_bytes", 1, 1)
        texts: list[bytes | None] = [target.text() for target in targets]
        if 8 <= minute <= 11:
            texts[1] = None
        server.look(minute, texts)
    assert sum(row.work.moved_bytes or 0 for row in server.rows) == 2 * 19
    assert [(row.at - int(T0), row.seconds) for row in server.rows] == [
        (1, 299.0), (300, 300.0), (300, 600.0), (900, 240.0),
    ]  # fmt: skip


def test_no_rows_are_made_before_all_is_told() -> None:
    target = Target("2.16", OST_ROWS)
    server = Server(EACH)
    for minute in range(11):
        if minute:
            target.work(b"7", "write_bytes", 1, 1)
        server.look(minute, [target.text(), None, None])
        assert sum(row.work.moved_bytes or 0 for row in server.rows) == minute - minute % EACH
