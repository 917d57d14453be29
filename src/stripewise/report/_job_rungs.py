# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rungs of a job script's study: how they are named, and which of them belong together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stripewise.model import JobStorage, JobStudy, RungRun, TrialState
from stripewise.report._text import format_bytes, format_ratio, plural
from stripewise.text import printable
from stripewise.tunables import format_settings, split_scope

DEFAULT_SERIES = "burst buffer, default"
TUNED_SERIES = "burst buffer, tuned"
FILE_SYSTEM_SERIES = "parallel file system"
AGGREGATORS, STRIPING_UNIT = "mpiio.cb_nodes", "mpiio.striping_unit"
FILES = "job.burst_buffer_files"
_SHORT: dict[str, str] = {
    JobStorage.PARALLEL_FILE_SYSTEM: "PFS",
    JobStorage.BURST_BUFFER: "BB",
    JobStorage.HYBRID: "HY",
}
SHORT_WORDS = "PFS: parallel file system; BB n: burst buffer of n nodes; HY n: hybrid"


@dataclass(frozen=True)
class Sweep:
    """Rungs that differ in one setting alone.

    Attributes:
        tunable: What is varied.
        runs: By its value, ascending; each value once, the fastest I/O of it.
    """

    tunable: str
    runs: tuple[RungRun, ...]

    @property
    def fastest(self) -> RungRun:
        """The one with the shortest I/O time."""
        return min(self.runs, key=lambda run: run.io_seconds)

    @property
    def where(self) -> str:
        """Where its files lay: "burst buffer, 2 nodes"."""
        return place(self.runs[0])


def place(run: RungRun) -> str:
    """Say where the files lay: "parallel file system", "hybrid, burst buffer of 2 nodes"."""
    if run.storage == JobStorage.PARALLEL_FILE_SYSTEM or not run.nodes:
        return printable(run.storage)
    between = "burst buffer of " if run.storage == JobStorage.HYBRID else ""
    return f"{printable(run.storage)}, {between}{plural(run.nodes, 'node')}"


def label(run: RungRun) -> str:
    """Name a rung where there is little room: "12 BB 4"."""
    short = _SHORT.get(run.storage, run.storage)
    return printable(f"{run.number} {short} {run.nodes or ''}".strip())


def name(run: RungRun) -> str:
    """Name a rung in a sentence: "the baseline", "run 12"."""
    return f"run {run.number}" if run.number else "the baseline"


def what_was_set(run: RungRun) -> str:
    """Say its settings beside the burst buffer's nodes: "cb_nodes=64", "defaults"."""
    beside = {n: v for n, v in run.settings.items() if n != "job.burst_buffer_nodes"}
    return format_settings(beside) or "defaults"


def state_word(run: RungRun) -> str:
    """Say how a rung ended: "measured", "stopped early", "failed"."""
    if run.state == TrialState.COMPLETE:
        return "measured" if run.ok else "no figure"
    return "stopped early" if run.state == TrialState.HOPELESS else printable(run.state)


def speedup_text(run: RungRun) -> str:
    """Format its I/O speed-up over the baseline: 3.8x; "–" without a figure."""
    return f"{format_ratio(1 / run.io_ratio)}x" if 0 < run.io_ratio < float("inf") else "–"


def size_or_dash(size_bytes: int | None) -> str:
    """Format a size, "–" where it is not known."""
    return format_bytes(size_bytes) if size_bytes is not None else "–"


def series(study: JobStudy) -> dict[str, list[RungRun]]:
    """Return the three series of bandwidth against nodes: the best run of each, by nodes.

    The one of the parallel file system has one run: the fastest.
    """
    found: dict[str, dict[int, RungRun]] = {}
    for run in study.runs:
        if not run.ok or not run.bandwidth_bytes_per_second > 0:
            continue
        known = found.setdefault(_series_of(run), {})
        key = run.nodes if run.storage != JobStorage.PARALLEL_FILE_SYSTEM else 0
        best = known.get(key)
        if best is None or run.bandwidth_bytes_per_second > best.bandwidth_bytes_per_second:
            known[key] = run
    order = (DEFAULT_SERIES, TUNED_SERIES, FILE_SYSTEM_SERIES)
    return {
        one: [found[one][nodes] for nodes in sorted(found[one])] for one in order if one in found
    }


def _series_of(run: RungRun) -> str:
    if run.storage == JobStorage.PARALLEL_FILE_SYSTEM:
        return FILE_SYSTEM_SERIES
    return DEFAULT_SERIES if run.is_default else TUNED_SERIES


def swept(run: RungRun, tunable: str) -> int | None:
    """Return the value of a tunable that is swept."""
    return run.aggregators if tunable == AGGREGATORS else run.striping_unit_bytes


def settings_but(run: RungRun, tunable: str) -> frozenset[tuple[str, object]]:
    """Return the settings of a run without one tunable: what it must share to be compared."""
    return frozenset((n, v) for n, v in run.settings.items() if split_scope(n)[0] != tunable)


def sweeps(runs: Sequence[RungRun], tunable: str) -> Iterator[Sweep]:
    """Yield the sweeps of a tunable with two values or more; the one with most values first."""
    groups: dict[object, dict[int, RungRun]] = {}
    for run in runs:
        value = swept(run, tunable)
        if not run.ok or not value:
            continue
        key = (run.storage, run.nodes, run.ranks, run.threads, settings_but(run, tunable))
        known = groups.setdefault(key, {})
        if value not in known or run.io_seconds < known[value].io_seconds:
            known[value] = run
    found = [
        Sweep(tunable, tuple(known[value] for value in sorted(known)))
        for known in groups.values()
        if len(known) > 1
    ]
    yield from sorted(found, key=lambda sweep: -len(sweep.runs))
