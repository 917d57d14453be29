# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records of the scheduler in a file: of sacct, or of Slurm's REST interface."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stripewise.errors import TraceError
from stripewise.fleet._of_profile import Origin
from stripewise.fleet._records import JobRecord
from stripewise.fleet.ingest._base import HEAD_BYTES, Feed, Reading
from stripewise.fleet.scheduler import parse_rest, parse_sacct, recognises_rest, recognises_sacct
from stripewise.inputs import JOBS, input_lines, open_input, read_input

_CLOCKS_SECONDS = 1800
"""By which clocks of hosts differ at most; zones differ by more (assumed)."""
_NO_CLUSTER = (
    "it does not say on which cluster its jobs ran, so that profiles which do are not found to be "
    "theirs: ask sacct for the column `cluster`"
)
_NO_UID = (
    "it does not tell the numbers of users, so that only runs of users whose names this host "
    "knows are found to be theirs: ask sacct for the column `uid`; its JSON has none"
)


class SchedulerFeed(Feed):
    """What the scheduler says of jobs; it tells of everybody, so not every user's is believed."""

    name = "scheduler"
    summary = "output of sacct, as text or JSON, or of Slurm's REST interface"
    budget = JOBS
    needs_trust = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether it begins as one of them does."""
        return path.is_file() and (recognises_rest(head) or recognises_sacct(head))

    def read(self, path: Path, origin: Origin) -> Reading:
        """Read records; jobs that cannot be read are named.

        Raises:
            TraceError: There is not one job in it that can be read, the file is too large, or its
                times are not in UTC.
        """
        with open_input(path) as file:
            is_json = recognises_rest(file.read(HEAD_BYTES))
        if is_json:
            found = parse_rest(read_input(path, JOBS).decode("utf-8", "replace"), origin.cluster)
        else:
            found = parse_sacct(input_lines(path, JOBS), origin.cluster, JOBS)
            _check_zone(found.records, path)
        if found.problems and not found.records:
            raise TraceError(f"{path}: no job in it can be read: {found.problems[0]}")
        lacking = []
        if not all(record.cluster for record in found.records):
            lacking.append(_NO_CLUSTER)
        if found.records and all(record.uid is None for record in found.records):
            lacking.append(_NO_UID)
        return Reading(found.records, (*lacking, *found.problems))


def _check_zone(records: Sequence[JobRecord], path: Path) -> None:
    """Refuse times that were still to come when the file was written: they are of another zone."""
    told = (moment for one in records for moment in (one.submit_at, one.start_at, one.end_at))
    ahead = max((moment for moment in told if moment), default=0) - path.stat().st_mtime
    if ahead > _CLOCKS_SECONDS:
        raise TraceError(
            f"{path}: it tells of times up to {ahead / 3600:.1f} h after it was written: "
            "run sacct with TZ=UTC"
        )
