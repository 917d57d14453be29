# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a job from the profiles of its runs.  Pure.

Programs that ran one after the other add up; of those that ran side by side the slowest counts.
Where two sources tell of one run, such as a trace and a Darshan log, one of them counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from stripewise.fleet._records import Row

_BEST = ("trace", "report", "recorder", "darshan", "mpiio-stats")
"""Kinds of sources, the one that tells most first."""
_SAME_RUN = 0.5
"""Share of the shorter run's time in which both ran: so much is one run (assumed)."""
_CLOCK_SECONDS = 1.0
"""Runs that follow each other may seem to overlap by so much: Darshan tells whole seconds."""


@dataclass(frozen=True)
class Told:
    """What one source tells.

    Attributes:
        kind / program: As in `tables.JobSource`.
        start / end: Seconds since 1970; None: not known.
        figures: Of the profile.
        findings: (code, expected gain in seconds; None: a fact).
        pattern: Form of the pattern that moved most; "" without one.
    """

    kind: str
    program: int | None
    start: float | None
    end: float | None
    figures: Row
    findings: Sequence[tuple[str, float | None]] = ()
    pattern: str = ""

    @property
    def best(self) -> tuple[str, float | None]:
        """The finding that gains most; ("", None) without any."""
        gains = [one for one in self.findings if one[1] is not None]
        return max(gains, key=lambda one: one[1] or 0.0, default=("", None))


_SUMS = (
    *("read_bytes", "write_bytes", "meta_operations", "cumulated_read_seconds"),
    *("cumulated_write_seconds", "cumulated_meta_seconds"),
)
_COUNTS = {
    "file_count": "n_files", "shared_file_count": "n_shared",
    "read_only_count": "n_read_only", "write_only_count": "n_write_only",
}  # fmt: skip
_SECONDS = {
    "io_seconds": "io_seconds", "read_seconds": "elapsed_read_seconds",
    "write_seconds": "elapsed_write_seconds", "meta_seconds": "elapsed_meta_seconds",
}  # fmt: skip


def totals(sources: Sequence[Told]) -> dict[str, Any]:
    """Return the columns of `tables.Job` that follow from its sources; {} without any."""
    counted = distinct(sources)
    if not counted:
        return {}
    groups = _together(counted)
    row: dict[str, Any] = {
        column: _sum(one.figures.get(column) for one in counted) for column in _SUMS
    }
    for column, name in _COUNTS.items():
        row[column] = _sum(one.figures.get(name) for one in counted)
    for column, name in _SECONDS.items():
        row[column] = _sum(_most(one.figures.get(name) for one in group) for group in groups)
    run = _sum(_most(one.figures.get("run_seconds") for one in group) for group in groups)
    row["io_share"] = _share(counted, row["io_seconds"], run)
    row["bytes_per_second"] = _rate(counted, row)
    row["rank_count"] = _most(one.figures.get("n_ranks") or None for one in counted)
    row["finding_count"] = sum(len(one.findings) for one in counted)
    best = max((one.best for one in counted), key=lambda found: found[1] or 0.0)
    row["top_finding"] = best[0] or None
    row["avoidable_seconds"] = _sum(_most(one.best[1] for one in group) for group in groups) or 0.0
    main = max(counted, key=lambda one: one.figures.get("io_seconds") or 0.0)
    row["program_id"], row["pattern"] = main.program, main.pattern or None
    row["profiled_seconds"] = run
    return row


def distinct(sources: Sequence[Told]) -> list[Told]:
    """Return one source of each run, the one that tells most."""
    kept: list[Told] = []
    ordered = sorted(sources, key=lambda one: (_place(one.kind), one.kind))
    for _, same_kind in groupby(ordered, key=lambda one: one.kind):  # each tells of its own run
        kept += [one for one in same_kind if not any(_is_same_run(one, it) for it in kept)]
    return sorted(kept, key=lambda one: one.start or 0.0)


def _place(kind: str) -> int:
    return _BEST.index(kind) if kind in _BEST else len(_BEST)


def _is_same_run(one: Told, other: Told) -> bool:
    if one.program != other.program:
        return False
    if one.start is None or other.start is None or one.end is None or other.end is None:
        return True
    both = min(one.end, other.end) - max(one.start, other.start)
    shorter = min(one.end - one.start, other.end - other.start)
    return both >= _SAME_RUN * shorter


def _together(sources: Sequence[Told]) -> list[list[Told]]:
    """Put sources whose times overlap side by side; those without times are apart."""
    groups = [[one] for one in sources if one.start is None or one.end is None]
    last: tuple[float, float] | None = None
    for one in sources:
        if one.start is None or one.end is None:
            continue
        if last is not None and _is_beside(one.start, one.end, *last):
            groups[-1].append(one)
        else:
            groups.append([one])
        if last is None or one.end > last[1]:
            last = (one.start, one.end)
    return groups


def _is_beside(start: float, end: float, other_start: float, other_end: float) -> bool:
    shorter = min(end - start, other_end - other_start)
    return min(end, other_end) - start > min(_CLOCK_SECONDS, _SAME_RUN * shorter)


def _share(counted: Sequence[Told], io_seconds: float | None, run: float | None) -> float | None:
    if len(counted) == 1:
        share: float | None = counted[0].figures.get("io_share")
        return share
    return None if io_seconds is None or not run else io_seconds / run


def _rate(counted: Sequence[Told], row: Row) -> float | None:
    if len(counted) == 1:
        rate: float | None = counted[0].figures.get("rate_bytes_per_second")
        return rate
    seconds = row["io_seconds"]
    moved = _sum((row["read_bytes"], row["write_bytes"]))
    return None if not seconds or moved is None else moved / seconds


def _sum(values: Any) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _most(values: Any) -> Any:
    return max((value for value in values if value is not None), default=None)
