# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sends series of targets, and what jobs did, to the statistics database, exactly once.

Growth and the counters from which it was computed are written in one transaction. Whenever the
agent is ended, it continues from there: growth since the last delivery becomes one sample over all
that time, and the minutes in between are a gap. Times are those of `SinkClock`: batches are cut by
its clock, and converted at once to the times that are reported.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from pydantic import Field

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._records import Reading, Round
from stripewise.centre.monitor.sinks._base import Sink, SinkError, SinkSettings, check_private
from stripewise.centre.monitor.sinks._store_books import Batch, Books, StoreLimits, WaitingBatches
from stripewise.centre.monitor.sinks._store_pending import JobRow
from stripewise.centre.monitor.sinks._store_series import (
    SeriesSample,
    SetBack,
    SinkClock,
    target_of_move,
    was_set_right,
)
from stripewise.core.errors import ConfigurationError, StorageError, StripewiseError, UsageError
from stripewise.core.extras import missing
from stripewise.present import duration_text, plural, printable

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from stripewise.centre.database import EventRecord, SampleRecord
    from stripewise.centre.database.store import Delivery, Load, Template


PAUSE_EVENT = "monitoring-gap"
"""Kind of the event for growth that cannot be dated."""
CLOCK_EVENT = "monitoring-clock"
"""Kind of the event for samples in the future."""
TWICE_EVENT = "counted-twice"
"""Kind of the event for targets that two agents report."""
_TWICE_SECONDS = 600.0
_log = logging.getLogger("stripewise.centre.monitor.agent")
_MOST_ROWS = 50_000
_UNREAD = "nothing is counted until it is known what was delivered last"


class StoreSettings(SinkSettings):
    """Settings of the statistics database.

    Attributes:
        database: A URL, or the SQLite file; "" for the variable STRIPEWISE_DB, or the user's own
            database.
        password_file: File whose first line is the password; "" for ~/.pgpass, PGPASSWORD, or
            none.
        cluster: Cluster of the clients, as Slurm names it; "" to report none.
        jobid_name: Lustre's `jobid_name`, or several that are or were in use.
        sample_interval_seconds: Length of a sample of a series.
        job_interval_seconds: Time between rows of jobs.
        top_jobs: Number of jobs for each kind of work that get a row each time; others wait up to
            30 minutes.
        most_jobs: Number of jobs on targets that are distinguished; work of others is summed as
            the rest.
        queue_rounds: Number of samples that may wait for the database before they are merged.
        file_systems: Name in the database for each name that Lustre uses.
    """

    database: str = ""
    password_file: str = ""
    cluster: str = Field(default="", max_length=255)
    jobid_name: str | tuple[str, ...] = "%e.%u"
    sample_interval_seconds: float = Field(default=60.0, ge=1.0, le=3600.0)
    job_interval_seconds: float = Field(default=300.0, ge=1.0, le=86400.0)
    top_jobs: int = Field(default=200, ge=0, le=100_000)
    most_jobs: int = Field(default=100_000, ge=0, le=10_000_000)
    queue_rounds: int = Field(default=240, ge=2, le=100_000)
    file_systems: dict[str, str] = Field(default_factory=dict)


class StoreSink(Sink):
    """Delivers to the statistics database."""

    name: ClassVar[str] = "store"
    summary: ClassVar[str] = "the statistics database: series of targets, and what jobs did"
    settings_class: ClassVar[type[SinkSettings]] = StoreSettings
    settings: StoreSettings

    def __init__(self, settings: StoreSettings, server: str) -> None:
        """Store the settings and the name of this server.

        Raises:
            ConfigurationError: The database URL or a `jobid_name` is invalid.
        """
        super().__init__(settings, server)
        self._lock = threading.Lock()
        self._delivering = threading.Lock()
        self._engine: Engine | None = None
        self._state: dict[str, bytes] | None = None
        self._books: Books | None = None
        self._waiting = WaitingBatches(settings.queue_rounds, _MOST_ROWS)
        self._parts: dict[str, bytes] = {}
        self._waiting_events: list[EventRecord] = []
        self._twice: set[tuple[str, str]] = set()
        self._look_at = 0.0
        self._token = os.urandom(8).hex()
        self._number = 0
        self._mark: bytes | None = None
        self._tried: Delivery | None = None
        self._refused = ""
        self._is_failing = True
        if not self.missing():
            self._check()

    @property
    def settled_seconds(self) -> float:
        """Interval of the rows of jobs."""
        return self.settings.job_interval_seconds

    def missing(self) -> str:
        """Return why it cannot be used, with the remedy; "" if it can."""
        return missing("db")

    def _check(self) -> None:
        from stripewise.centre.database import database_url

        try:
            self._templates()
            database_url(self.settings.database)
            _check_names(self.settings.file_systems.values())
        except UsageError as error:
            raise ConfigurationError(f"[sinks.{self.name}]: {error}") from error

    def start(self) -> None:
        """Read what was delivered last; if the database is unreachable, `deliver` does it later.

        Raises:
            SinkError: The file with the password cannot be used.
        """
        if self.settings.password_file:
            check_private(Path(self.settings.password_file))
        try:
            self._connect()
        except StripewiseError as error:
            raise SinkError(str(error)) from error
        with suppress(StorageError):  # the first delivery tries again, and reports errors
            self._read_state()

    def take(self, found: Round) -> None:
        """Accept a round; before the state is read, nothing can be counted."""
        with self._lock:
            if self._state is None or self._refused:
                return
            if self._books is None:
                self._books = self._begin(found)
            if self._books is not None:
                self._books.take(found)

    def deliver(self) -> None:
        """Deliver what is due, once an interval is complete.

        Raises:
            SinkError: It failed; what was accepted is kept, within bounds.
        """
        with self._delivering:
            if self._refused:
                raise SinkError(self._refused)
            try:
                self._read_state()
                self._cut()
                self._send()
                self._is_failing = False
            except StripewiseError as error:
                raise SinkError(self._why(error)) from error

    def health(self) -> Sequence[Reading]:
        """Return the waiting batches, those merged, and the number of distinguished jobs."""
        with self._lock:
            jobs = self._books.jobs if self._books is not None else None
            return (
                Reading(metrics.SINK_QUEUED, (self.name,), len(self._waiting)),
                Reading(metrics.SINK_LOST, (self.name,), self._waiting.merged),
                Reading(metrics.JOBS_TRACKED, (), len(jobs) if jobs is not None else 0),
                Reading(metrics.JOBS_UNTRACKED, (), jobs.left_out if jobs is not None else 0),
            )

    def stop(self) -> None:
        """Stop. What is not delivered follows from the counters at the next start."""
        if not self._is_failing:
            with suppress(SinkError):
                self.deliver()
        if self._engine is not None:
            self._engine.dispose()

    def _why(self, error: StripewiseError) -> str:
        from stripewise.centre.database.store import TakenError

        self._is_failing = True
        if isinstance(error, TakenError):
            self._refused = str(error)
        return f"{error}; {_UNREAD}" if self._state is None else str(error)

    def _connect(self) -> Engine:
        from stripewise.centre.database.store import open_store

        if self._engine is None:
            self._engine = open_store(self.settings.database, self.settings.password_file)
        return self._engine

    def _templates(self) -> tuple[Template, ...]:
        from stripewise.centre.database.store import Template

        given = self.settings.jobid_name
        return tuple(Template(one) for one in ([given] if isinstance(given, str) else given))

    def _read_state(self) -> None:
        from stripewise.centre.database.store import MARK, read_state

        if self._state is not None:
            return
        found = read_state(self._connect(), self.server)
        self._mark = found.get(MARK)
        with self._lock:
            self._state = found

    def _begin(self, found: Round) -> Books | None:
        one = self.settings
        limits = StoreLimits(
            one.sample_interval_seconds, one.job_interval_seconds, one.top_jobs, one.most_jobs
        )
        try:
            first: dict[str, Any] = {"at": 0.0, "clock": {}}
            mark = json.loads(self._mark) if self._mark else first
            told_at, memory = float(mark["at"]), mark.get("clock", {"begin": mark["at"]})
            is_right_again = was_set_right(found.at, told_at, memory)
            lead_seconds = 0 if is_right_again else target_of_move(memory)
            at = max(found.at + lead_seconds, told_at)  # a reset clock is accepted later, or never
            books = Books(
                limits, one.file_systems, self._state or {}, replace(found, at=at), told_at
            )
            books.clock.recall(memory)
            if is_right_again:
                books.clock.follow(found.at)
            return books
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._refused = (
                f"{error}: nothing is delivered as {self.server!r}; delete its rows of the table "
                "monitor_state: what it counted since the last delivery is lost then"
            )
            return None

    def _cut(self) -> None:
        with self._lock:
            if self._books is None or self._books.clock.is_held:
                return
            found = self._books.cut()
            if found is not None:
                batch, parts = found
                self._books.clock.note_cut()
                dated = in_reported_times(batch, self._books.clock)
                self._waiting.add(dated)
                self._parts |= parts
                self._report_set_back({one.key[0] for one in dated.samples}, self._books.clock)

    def _report_set_back(self, file_systems: Iterable[str], clock: SinkClock) -> None:
        from stripewise.centre.database import EventRecord

        for one in clock.set_back():
            text = set_back_words(self.server, one)
            _log.warning("sink %s: %s", self.name, text)
            self._waiting_events += [
                EventRecord(name, int(one.at), None, CLOCK_EVENT, text)
                for name in sorted(file_systems)
            ]

    def _send(self) -> None:
        """Send what waits; a delivery that may have arrived before is sent first, unchanged."""
        from stripewise.centre.database.store import deliver

        if self._tried is not None:
            deliver(self._connect(), self._tried)
            self._arrived(self._tried)
        with self._lock:
            if not len(self._waiting):
                return
            self._tried = self._delivery(self._waiting.send())
        deliver(self._connect(), self._tried)
        delivery = self._tried
        self._arrived(delivery)
        if delivery.samples and abs(delivery.at - self._look_at) >= _TWICE_SECONDS:
            self._look_at = delivery.at
            self._look_for_others(delivery)

    def _look_for_others(self, delivery: Delivery) -> None:
        """Report once which other agent reports the same targets; its data are stored as well."""
        from stripewise.centre.database import EventRecord
        from stripewise.centre.database.store import other_agents

        for one in other_agents(self._connect(), self.server, delivery.samples):
            if (one.file_system, one.server) not in self._twice:
                self._twice.add((one.file_system, one.server))
                text = twice_words(self.server, one.file_system, one.server, one.targets)
                _log.warning("sink %s: %s", self.name, printable(text))
                at = int(delivery.at)
                self._waiting_events.append(
                    EventRecord(one.file_system, at, None, TWICE_EVENT, text)
                )

    def _arrived(self, delivery: Delivery) -> None:
        with self._lock:
            self._mark, self._tried = delivery.mark, None
            self._waiting.sent()
            self._waiting_events = [
                one for one in self._waiting_events if one not in delivery.events
            ]
            for part, data in delivery.parts.items():
                if self._parts.get(part) is data:
                    del self._parts[part]

    def _delivery(self, batches: Sequence[Batch]) -> Delivery:
        from stripewise.centre.database.store import Delivery

        assert self._books is not None
        self._number += 1
        clock = self._books.clock
        at = clock.wall(self._books.now)
        series_samples = [one for batch in batches for one in batch.samples]
        mark = json.dumps(
            {"agent": self._token, "number": self._number, "at": at, "clock": clock.memory()}
        )
        return Delivery(
            agent=self.server,
            cluster=self.settings.cluster,
            at=at - clock.lead_seconds,
            mark=mark.encode(),
            last_mark=self._mark,
            parts=dict(self._parts),
            samples=_samples(series_samples, self.server),
            events=[*_events(series_samples, self.server), *self._waiting_events],
            loads=[load for batch in batches for load in _loads(batch)],
            templates=self._templates(),
        )


def _check_names(names: Iterable[str]) -> None:
    """Refuse names of file systems that no portal page could have in its address.

    Raises:
        UsageError: There is such a name.
    """
    for name in names:
        if not name or "/" in name or name != printable(name):
            raise UsageError(f"file_systems: {name!r}: give a name of one line without a slash")


def _samples(series_samples: Sequence[SeriesSample], server: str) -> list[SampleRecord]:
    from stripewise.centre.database import SampleRecord

    found = []
    for one in series_samples:
        if one.value is not None:
            file_system, target, name = one.key
            values = ((one.at, one.seconds, float(one.value)),)
            found.append(
                SampleRecord(file_system, server, target, name, one.unit, one.is_counter, values)
            )
    return found


def _events(series_samples: Sequence[SeriesSample], server: str) -> list[EventRecord]:
    """Return an event for each file system with growth that cannot be dated."""
    from stripewise.centre.database import EventRecord

    pauses: dict[str, SeriesSample] = {}
    for one in series_samples:
        if one.value is None:
            pauses.setdefault(one.key[0], one)
    return [
        EventRecord(
            file_system, one.at, int(one.at + one.seconds), PAUSE_EVENT,
            f"{server} was not monitored for {one.seconds / 86400:.1f} days: what was read, "
            "written and done meanwhile is not in the statistics.",
        )
        for file_system, one in pauses.items()
    ]  # fmt: skip


def _loads(batch: Batch) -> list[Load]:
    from stripewise.centre.database.store import Load

    return [
        Load(
            row.key[0], row.key[1], row.kind, row.at, row.seconds, row.work.operations,
            row.work.moved_bytes, row.work.busy_seconds, _parts(row.work.parts),
        )
        for row in batch.rows
    ]  # fmt: skip


def _parts(parts: Mapping[str, int]) -> Mapping[str, Any]:
    return {name: number for name, number in parts.items() if number}


# Converts what was cut by the clock of the sink to the times that are reported.

_MOST_NAMES = 3
_Cut = TypeVar("_Cut", SeriesSample, JobRow)


def in_reported_times(batch: Batch, clock: SinkClock) -> Batch:
    """Return a batch in reported times, which differ only if a clock was set back."""
    return Batch(
        [_moved(one, clock) for one in batch.samples], [_moved(one, clock) for one in batch.rows]
    )


def _moved(one: _Cut, clock: SinkClock) -> _Cut:
    return one._replace(at=one.at - clock.target_of_move(one.at + one.seconds))


def set_back_words(server: str, one: SetBack) -> str:
    """Return a sentence about the times that are affected because a clock was set back."""
    return (
        f"the clock of {server} was ahead by {duration_text(one.seconds)} and was set back: what "
        f"it counted before is dated {_date(one.begin)} to {_date(one.end)} (UTC), up to "
        f"{duration_text(one.seconds)} too late"
    )


def twice_words(server: str, file_system: str, other: str, targets: Sequence[str]) -> str:
    """Return a sentence, with the remedy, that another agent reports the same targets."""
    verb = "is" if len(targets) == 1 else "are"
    shown = ", ".join(targets[:_MOST_NAMES]) + (", ..." if len(targets) > _MOST_NAMES else "")
    number = plural(len(targets), "target")
    return (
        f"{number} of {file_system} ({shown}) {verb} reported by the agents of {server} and of "
        f"{other} at the same time, so everything counted there is in the statistics twice: stop "
        "one of the two"
    )


def _date(at: float) -> str:
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
    except (ValueError, OverflowError, OSError):
        return f"{at:.0f} s since 1970"
