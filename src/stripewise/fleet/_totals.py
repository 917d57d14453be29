# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a job from the profiles of its runs.  Pure.

Programs that ran one after the other add up; of those that ran side by side the slowest counts.
Where two sources tell of one run, such as a trace and a Darshan log, one of them counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from stripewise.fleet._records import Row, known_amount
from stripewise.model import NOT_TOLD, Amount, reasons, total
from stripewise.text import plural

_BEST = ("trace", "report", "recorder", "darshan", "mpiio-stats")
"""Kinds of sources, the one that tells most first."""
_SAME_RUN = 0.5
"""Share of the shorter run's time in which both ran: so much is one run (assumed)."""
NO_ESTIMATE = "no finding has an estimate"
_RATIOS = ("io_share", "bytes_per_second")
"""Which may have no value because there is nothing to divide by."""
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

    def amount(self, name: str) -> Amount:
        """Return a figure with what is missing of it."""
        return known_amount(self.figures, name)

    @property
    def avoidable(self) -> Amount:
        """What a change is expected to gain: that of the finding that gains most.

        Without a finding nothing is, unless the run is not known; with findings that have no
        estimate it is not known, or more than the others'.
        """
        without = sum(gain is None for _, gain in self.findings)
        if not self.findings:
            return Amount.of(0.0, self.amount("io_seconds").why)
        if without == len(self.findings):
            return Amount.of(None, NO_ESTIMATE)
        have = "has" if without == 1 else "have"
        why = f"{plural(without, 'finding')} {have} no estimate" if without else ""
        return Amount.of(self.best[1], why)

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
    """Return the columns of `tables.Job` that follow from its sources; {} without any.

    What one source does not tell makes a sum the least that it can be.
    """
    counted = distinct(sources)
    if not counted:
        return {}
    groups = _together(counted)
    found = {column: total(one.amount(column) for one in counted) for column in _SUMS}
    for column, name in _COUNTS.items():
        found[column] = total(one.amount(name) for one in counted)
    for column, name in _SECONDS.items():
        found[column] = total(_most(one.amount(name) for one in group) for group in groups)
    found["io_share"], run = _share(counted, groups, found["io_seconds"])
    found["bytes_per_second"] = _rate(counted, found)
    found["avoidable_seconds"] = total(_most(one.avoidable for one in group) for group in groups)
    row: dict[str, Any] = {name: amount.value for name, amount in found.items()}
    row["missing"] = {
        name: amount.why
        for name, amount in found.items()
        if amount.why and not (name in _RATIOS and amount.why == NOT_TOLD)
    }
    row["rank_count"] = max(one.figures.get("n_ranks") or 0 for one in counted) or None
    row["finding_count"] = sum(len(one.findings) for one in counted)
    best = max((one.best for one in counted), key=lambda found: found[1] or 0.0)
    row["top_finding"] = best[0] or None
    main = max(counted, key=lambda one: one.figures.get("io_seconds") or 0.0)
    row["program_id"], row["pattern"] = main.program, main.pattern or None
    row["profiled_seconds"] = run.value
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


def _share(
    counted: Sequence[Told], groups: Sequence[Sequence[Told]], io_seconds: Amount
) -> tuple[Amount, Amount]:
    """Return the share of I/O in the run, and how long the run took."""
    run = total(_most(one.amount("run_seconds") for one in group) for group in groups)
    if len(counted) == 1:
        return counted[0].amount("io_share"), run
    why = io_seconds.why or run.why
    if io_seconds.value is None or not run.value or run.why:
        return Amount.of(None, why), run
    return Amount.of(io_seconds.value / run.value, why), run


def _rate(counted: Sequence[Told], found: Mapping[str, Amount]) -> Amount:
    if len(counted) == 1:
        return counted[0].amount("rate_bytes_per_second")
    parts = [found[name] for name in ("read_bytes", "write_bytes", "io_seconds")]
    why = reasons(part.why for part in parts)
    if why or not parts[2].value:
        return Amount.of(None, why)
    return Amount.of(((parts[0].value or 0) + (parts[1].value or 0)) / parts[2].value)


def _most(amounts: Iterable[Amount]) -> Amount:
    """Return the largest of those that happened side by side; of what is known, the least."""
    parts = tuple(amounts)
    known = [part.value for part in parts if part.value is not None]
    return Amount.of(max(known, default=None), reasons(part.why for part in parts))
