# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What waits for the database, within bounds: what is too much is merged, never dropped.  Pure.

A database that cannot be reached for long costs resolution, not amounts: intervals become longer,
and at last small jobs become part of the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stripewise.monitor.sinks._store_jobs import REST
from stripewise.monitor.sinks._store_pending import JobRow, TagKey
from stripewise.monitor.sinks._store_series import SeriesKey, Told
from stripewise.monitor.sinks._store_work import Work


@dataclass
class Batch:
    """What was cut at one time."""

    told: list[Told] = field(default_factory=list)
    rows: list[JobRow] = field(default_factory=list)


class WaitingBatches:
    """Batches that are not in the database, oldest first.

    Attributes:
        merged: How many have lost their own times.
    """

    def __init__(self, most: int, most_rows: int) -> None:
        """Begin without any.

        Args:
            most: Batches that may wait.
            most_rows: Rows of jobs that may wait, over all batches.
        """
        self._most = most
        self._most_rows = most_rows
        self._every: list[Batch] = []
        self._sent = 0
        self.merged = 0

    def __len__(self) -> int:
        return len(self._every)

    def add(self, batch: Batch) -> None:
        """Add a batch; if there are too many, two are merged."""
        self._every.append(batch)
        if len(self._every) - self._sent > self._most:
            self._merge(self._sent)
        while self._rows() > self._most_rows:
            if len(self._every) - self._sent > 1:
                self._merge(self._sent)
            elif not self._fold(self._every[self._sent]):
                break

    def send(self) -> list[Batch]:
        """Return all; they stay as they are until it is known what became of them."""
        self._sent = len(self._every)
        return list(self._every)

    def sent(self) -> None:
        """Note that those of the last `send` are in the database."""
        del self._every[: self._sent]
        self._sent = 0

    def _rows(self) -> int:
        return sum(len(one.rows) for one in self._every[self._sent :])

    def _merge(self, index: int) -> None:
        first, second = self._every[index], self._every.pop(index + 1)
        self._every[index] = Batch(
            _merged_told([*first.told, *second.told]), _merged_rows([*first.rows, *second.rows])
        )
        self.merged += 1

    def _fold(self, batch: Batch) -> bool:
        """Make the jobs that did least part of the rest; return whether rows are fewer."""
        before = len(batch.rows)
        ordered = sorted(batch.rows, key=lambda row: row.work.size, reverse=True)
        kept = ordered[: self._most_rows // 2]
        rest = [row._replace(key=(row.key[0], REST)) for row in ordered[len(kept) :]]
        batch.rows = _merged_rows([*kept, *rest])
        return len(batch.rows) < before


def _merged_told(every: Iterable[Told]) -> list[Told]:
    """Return samples of one series as one; pauses stay."""
    found: dict[SeriesKey, Told] = {}
    pauses = []
    for one in every:
        last = found.get(one.key)
        if one.value is None:
            pauses.append(one)
        elif last is None or last.value is None or last.is_counter != one.is_counter:
            found[one.key] = one
        else:
            seconds = last.seconds + one.seconds
            value = last.value + one.value
            if not one.is_counter:
                value = (last.value * last.seconds + one.value * one.seconds) / seconds
            found[one.key] = last._replace(seconds=seconds, value=value)
    return [*found.values(), *pauses]


def _merged_rows(every: Iterable[JobRow]) -> list[JobRow]:
    found: dict[tuple[TagKey, str], JobRow] = {}
    for row in every:
        place = (row.key, row.kind)
        last = found.get(place)
        if last is None:
            found[place] = row
            continue
        work = Work(*last.work.as_list())
        work.add(row.work)
        at = min(last.at, row.at)
        until = max(last.at + last.seconds, row.at + row.seconds)
        found[place] = last._replace(at=at, seconds=until - at, work=work)
    return list(found.values())
