# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records into tables, within the transaction of their input.

Storing a record twice changes nothing; records may come in any order.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, insert, select

from stripewise.fleet._assigning import assign_sources
from stripewise.fleet._figures import store_figures
from stripewise.fleet._fitting import fitted
from stripewise.fleet._job_rows import JobRows, unnumbered_of, unrecorded_of_uids
from stripewise.fleet._locking import write_alone
from stripewise.fleet._names import Names, put
from stripewise.fleet._records import (
    CampaignRecord,
    EventRecord,
    JobRecord,
    PairRecord,
    Record,
    SampleRecord,
    SourceRecord,
)
from stripewise.fleet._samples import store_event, store_samples
from stripewise.fleet._source_rows import drop_source, store_source
from stripewise.fleet.served import settle
from stripewise.fleet.tables import CampaignFigure, CampaignRow, PairedRun

_BATCH = 500
"""Records of jobs that are looked up at a time."""


class Writer:
    """Stores records through one connection.

    On PostgreSQL one writes at a time, as on SQLite: what is looked up stays true until the end of
    the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        """Take a connection within a transaction."""
        self.connection = connection
        self.names = Names(connection)
        self._jobs: list[JobRecord] = []
        self._rows = JobRows(connection, self.names)
        write_alone(connection)

    def store(self, records: Iterable[Record]) -> None:
        """Store records, then bring the figures of their jobs up to date."""
        for record in records:
            self._store(record)
        self.finish()

    def finish(self) -> None:
        """Find the jobs of profiles and counters anew; bring the figures of jobs up to date."""
        self._flush()
        rows = self._rows
        rows.to_assign |= unnumbered_of(self.connection, self.names.renumbered)
        self.names.renumbered.clear()
        for raw_id in sorted(rows.to_assign):
            rows.to_total |= assign_sources(self.connection, raw_id, rows)
        rows.to_assign.clear()
        rows.to_total |= unrecorded_of_uids(self.connection, self.names.remapped)
        self.names.remapped.clear()
        for job_id in sorted(rows.to_total):
            store_figures(self.connection, self.names, job_id)
        rows.to_total.clear()
        settle(self.connection, rows.to_settle)
        rows.to_settle.clear()

    def _store(self, record: Record) -> None:
        if isinstance(record, JobRecord):
            self._jobs.append(record)
            if len(self._jobs) >= _BATCH:
                self._flush()
        elif isinstance(record, SourceRecord):
            store_source(self.connection, self.names, self._rows, record)
        elif isinstance(record, PairRecord):
            self._pair(record)
        elif isinstance(record, CampaignRecord):
            self._campaign(record)
        elif isinstance(record, SampleRecord):
            store_samples(self.connection, record)
        else:
            assert isinstance(record, EventRecord)
            store_event(self.connection, record)

    def _flush(self) -> None:
        self._rows.store(self._jobs)
        self._jobs = []

    def forget(self, digest: str) -> None:
        """Take a profile or a campaign out again, which its file does not hold any more."""
        drop_source(self.connection, self._rows, digest)
        self._drop_campaign(digest)

    def _pair(self, record: PairRecord) -> None:
        """Store what a study proved; one that went on tells it anew, or takes it back."""
        if not record.columns:
            self.connection.execute(delete(PairedRun).where(PairedRun.digest == record.digest))
            return
        values = {
            **record.columns,
            "program_id": self.names.program(record.program),
            "person_id": self.names.person(record.user),
        }
        key = {"digest": record.digest}
        put(self.connection, PairedRun, key, fitted(PairedRun, values))

    def _drop_campaign(self, digest: str) -> None:
        query = select(CampaignRow.id).where(CampaignRow.digest == digest)
        keys = self.connection.scalars(query).all()
        self.connection.execute(delete(CampaignFigure).where(CampaignFigure.campaign_id.in_(keys)))
        self.connection.execute(delete(CampaignRow).where(CampaignRow.id.in_(keys)))

    def _campaign(self, record: CampaignRecord) -> None:
        """Store a campaign; one that went on tells its figures anew."""
        values = fitted(CampaignRow, dict(record.columns))
        put(self.connection, CampaignRow, {"digest": record.digest}, values)
        query = select(CampaignRow.id).where(CampaignRow.digest == record.digest)
        key = self.connection.scalar(query)
        own = CampaignFigure.campaign_id == key
        self.connection.execute(delete(CampaignFigure).where(own))
        rows = [
            fitted(CampaignFigure, {"campaign_id": key, "number": number, **row})
            for number, row in enumerate(record.figures)
        ]
        if rows:
            self.connection.execute(insert(CampaignFigure), rows)
