# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Asking sacct for its jobs, within `stripewise db ingest`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stripewise.cli._common import echo, note
from stripewise.errors import UsageError

if TYPE_CHECKING:
    from stripewise.fleet.ingest import Asked

_MOST_LINES = 10


@dataclass(frozen=True)
class Scheduler:
    """How sacct is asked.

    Attributes:
        since: From which moment on; None: since it was last asked.
        cluster: Which; "": sacct's own.
    """

    since: int | None
    cluster: str

    @classmethod
    def of(cls, slurm: bool, since: str, cluster: str) -> Scheduler | None:
        """Return how sacct is to be asked; None: not at all.

        Raises:
            UsageError: The day is none, or is given without a question.
        """
        if not slurm:
            if since:
                raise UsageError("--slurm-since says from when on: give --slurm too")
            return None
        from stripewise.fleet.queries import JobFilter

        return cls(JobFilter.parse({"since": since}).since, cluster)

    def ask(self, engine: Any, as_json: bool) -> None:
        """Ask, store, and say what came."""
        from stripewise.fleet.ingest import next_window, take_jobs
        from stripewise.fleet.scheduler import Sacct

        name = f"sacct {self.cluster}".strip()
        span = next_window(engine, name, self.since)
        parts = Sacct(self.cluster).read(span)
        self._say(name, take_jobs(engine, name, span, parts), as_json)

    def _say(self, name: str, asked: Asked, as_json: bool) -> None:
        from stripewise.text import plural

        if not as_json:
            days = (asked.span.end - asked.span.start) / 86400
            echo(f"{name}: {plural(asked.jobs, 'record')} of the last {days:.1f} days stored")
        for text in asked.problems[:_MOST_LINES]:
            note(f"{name}: {text}", kind="warning")
