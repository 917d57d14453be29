# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Determines which job a profile belongs to, by which rule, and with which confidence.

A job id is not sufficient: ids wrap around, clusters have their own, and a requeued job keeps its
id. The result follows from all profiles and records with one job id, in whatever order they
arrive.

Anybody can write any job id into a report. So a run belongs to a job only if the owner of its file
is shown to be the job's user; files of root, and of whoever runs the ingest, are trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

CLOCKS_SECONDS = 120.0
"""Maximum difference between clocks of nodes and the reported start of a job (assumed)."""
ZONES_SECONDS = 86400.0
"""Maximum difference if a clock is wrong, for instance in its time zone (assumed)."""
SAME_JOB_SECONDS = 31 * 86400.0
"""Profiles with one job id within this time belong to one job, unless records show otherwise
(assumed: longer than jobs run, shorter than ids take to wrap around)."""


@dataclass(frozen=True)
class Span:
    """Time and user of a job, or of a run of a program.

    Attributes:
        start / end: Seconds since 1970; None if unknown, and for the end of a job that still runs.
        uid / user: None and "" if not known.
        is_vouched: Whether the file of a run belongs to a trusted user.
    """

    start: float | None
    end: float | None
    uid: int | None = None
    user: str = ""
    is_vouched: bool = False

    @property
    def is_believed(self) -> bool:
        """Return whether it is trusted; what has no user number comes from trusted users."""
        return self.is_vouched or self.uid is None

    def is_of_another_user(self, other: Span) -> bool:
        """Return whether both are known to belong to different users."""
        is_one_uid = self.uid is not None and self.uid == other.uid
        if self.user and other.user:
            if self.user == other.user:
                return False
            return not (is_one_uid and self.user.casefold() == other.user.casefold())
        return self.uid is not None and other.uid is not None and not is_one_uid

    def is_by_user_of(self, job: Span) -> bool:
        """Return whether the owner of this run is known to be the user of a job."""
        if self.is_of_another_user(job):
            return False
        if self.is_believed:
            return True
        if job.uid is not None:
            return job.uid == self.uid
        return bool(self.user) and self.user == job.user

    def distance(self, moment: float) -> float:
        """Return the seconds between a moment and this span, which has a start; 0 inside it."""
        assert self.start is not None
        after = 0.0 if self.end is None else moment - self.end
        return max(self.start - moment, after, 0.0)


@dataclass(frozen=True)
class Candidate:
    """A job, from the scheduler's record, that has the job id of a profile.

    Attributes:
        job_id: Key of the job in the database.
        cluster_id: Cluster of the job.
        submit_at: Time of submission, which distinguishes it from other jobs with its job id.
        span: Time and user of the job.
    """

    job_id: int
    cluster_id: int
    submit_at: int
    span: Span

    @property
    def never_ran(self) -> bool:
        """Return whether the job ended in the queue."""
        return self.span.start is None and self.span.end is not None

    def distance(self, moment: float) -> float:
        """Return the seconds from a moment to the job's time; a waiting job may start any time."""
        if self.span.start is None:
            return max(self.submit_at - moment, 0.0)
        return self.span.distance(moment)


@dataclass(frozen=True)
class ProfileRun:
    """Facts that a profile reports about its run of a program.

    Attributes:
        digest: Digest of the profile.
        cluster_id: Cluster of the run; None if not reported.
        span: Time and user of the run.
    """

    digest: str
    cluster_id: int | None
    span: Span


class Match(NamedTuple):
    """The job of a profile; `job_id` is None if no record describes it."""

    job_id: int | None
    rule: str
    confidence: float


@dataclass(frozen=True)
class Assignment:
    """Assignment of runs to jobs.

    Attributes:
        matches: Match of each run, by its digest.
        groups: Runs without a record, grouped by job.
    """

    matches: dict[str, Match]
    groups: tuple[tuple[ProfileRun, ...], ...]


def assign(runs: Iterable[ProfileRun], candidates: Sequence[Candidate]) -> Assignment:
    """Return the jobs of all runs with one job id.

    Args:
        runs: All such runs, on all clusters.
        candidates: All such jobs, on all clusters.
    """
    ordered = sorted(runs, key=_order)
    matches = {run.digest: match(run, candidates) for run in ordered}
    left = [run for run in ordered if matches[run.digest].job_id is None]
    groups = _grouped(left)
    for group in groups:
        for run in group if len(group) > 1 else ():
            if matches[run.digest].rule == "no record":
                matches[run.digest] = Match(None, "job id, no record", 0.7)
    return Assignment(matches, groups)


def match(run: ProfileRun, candidates: Sequence[Candidate]) -> Match:
    """Return the job to which a run of a program belongs.

    Args:
        run: Time, place and user of the run.
        candidates: Jobs with its job id.
    """
    here = [
        one for one in candidates if run.cluster_id in (None, one.cluster_id) and not one.never_ran
    ]
    own = [one for one in here if run.span.is_by_user_of(one.span)]
    if not own:
        return Match(None, _reason_for_no_owner(run, here), 0.0)
    start = run.span.start
    if start is None:
        if len(own) == 1:
            return Match(own[0].job_id, "job id", 0.8)
        return Match(None, "job id of several jobs, no time", 0.0)
    inside = [one for one in own if one.distance(start) <= CLOCKS_SECONDS]
    near = [one for one in own if one.distance(start) <= ZONES_SECONDS]
    if not near:
        return Match(None, "job id of another time", 0.0)
    exact = [one for one in inside if one.distance(start) == 0.0]
    ran = [one for one in exact if one.span.start is not None]
    return _nearest(start, ran or exact or inside or near, bool(inside))


def _reason_for_no_owner(run: ProfileRun, here: Sequence[Candidate]) -> str:
    """Return why none of the jobs with the job id of a run belongs to its owner."""
    if not here:
        return "no record"
    if all(one.span.is_of_another_user(run.span) for one in here):
        return "job id of another user"
    return "job id, not shown to be of this user"


def _nearest(start: float, found: Sequence[Candidate], is_inside: bool) -> Match:
    if len({one.cluster_id for one in found}) > 1:
        return Match(None, "job id on several clusters", 0.0)
    nearest = min(found, key=lambda one: _nearness(start, one))
    if is_inside:
        return Match(nearest.job_id, "job id and time", 1.0 if len(found) == 1 else 0.9)
    if len(found) == 1:
        return Match(nearest.job_id, "job id, clocks apart", 0.5)
    return Match(nearest.job_id, "job id, nearest in time", 0.3)


def _nearness(start: float, one: Candidate) -> tuple[float, float, int]:
    begin = float("-inf") if one.span.start is None else one.span.start
    return one.distance(start), -begin, -one.submit_at


def _order(run: ProfileRun) -> tuple[float, str]:
    return float("-inf") if run.span.start is None else run.span.start, run.digest


def _grouped(runs: Sequence[ProfileRun]) -> tuple[tuple[ProfileRun, ...], ...]:
    """Group runs of one cluster and user that follow each other closely."""
    groups: list[tuple[int | None, Span, list[ProfileRun]]] = []
    for run in runs:
        for index in range(len(groups) - 1, -1, -1):
            cluster_id, span, members = groups[index]
            if run.cluster_id == cluster_id and _is_close(run.span, span):
                members.append(run)
                groups[index] = (cluster_id, _joined(span, run.span), members)
                break
        else:
            groups.append((run.cluster_id, run.span, [run]))
    return tuple(tuple(members) for _, _, members in groups)


def _is_close(run: Span, group: Span) -> bool:
    if run.start is None or group.start is None or not _is_of_one(run, group):
        return False
    end = group.start if group.end is None else max(group.start, group.end)
    return run.start - end <= SAME_JOB_SECONDS


def _is_of_one(run: Span, group: Span) -> bool:
    """Return whether two runs belong to one user: a job id by itself gives no access to a run."""
    return run.is_by_user_of(group) and (group.is_believed or group.is_by_user_of(run))


def _joined(group: Span, run: Span) -> Span:
    ends = [end for end in (group.end, run.end, run.start) if end is not None]
    uid = group.uid if group.uid is not None else run.uid
    is_vouched = group.is_believed and run.is_believed
    return replace(
        group, end=max(ends), uid=uid, user=group.user or run.user, is_vouched=is_vouched
    )
