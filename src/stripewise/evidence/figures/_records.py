# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the records of a diagnosis; docs/reference/profile.md defines every figure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from stripewise.core import Figured, MpiioStats, reasons
from stripewise.evidence.trace import SIZE_EDGES, FileHints, FileLayout, IoLayer


class Severity(StrEnum):
    """Severity of a finding."""

    HIGH = "high"
    WARN = "warn"
    INFO = "info"


@dataclass(frozen=True)
class Figures(Figured):
    """Figures of the whole run; NaN if unknown.

    "Cumulated" is the sum over ranks, "elapsed" is the value of the slowest rank.

    Attributes:
        run_seconds: Wall-clock time of the whole run.
        n_ranks / n_processes / n_hosts: Numbers of these; 0 without MPI, or if unknown.
        n_files: Number of files touched; divided into `n_read_only`, `n_write_only`,
            `n_read_write` by what the program moved, and `n_no_data` (only opened, queried or
            removed).
        n_shared: Number of files whose data more than one rank moved.
        read_bytes / write_bytes: Bytes that the program requested to move.
        meta_operations: Calls of the program that move no data: opens, closes, syncs, others.
        system_meta_operations: Such calls that reached the operating system.
        cumulated_read_seconds / cumulated_write_seconds / cumulated_meta_seconds: Time in the
            program's own calls, summed over ranks.
        elapsed_read_seconds / elapsed_write_seconds / elapsed_meta_seconds: Time of the slowest
            rank in each of the three.
        io_seconds: I/O time of the run: time during which the slowest rank was in outermost
            calls. Time that several of its threads spend in calls counts once, and is at most
            `run_seconds`.
        io_low_seconds: Lower bound if ranks or threads are not distinguished; otherwise
            `io_seconds`.
        io_exact: False if `io_seconds` is an upper estimate.
        io_share: I/O time as a share of `run_seconds`, at most 1.
        rate_bytes_per_second: (read + written) / `io_seconds`.
        meta_share: Metadata time as a share of the cumulated time.
        slowest_rank: Rank with the largest I/O time; -1 if unknown.
        threads_seconds: Sum of the times in calls over the threads of the slowest rank if some of
            them were in calls at the same time; otherwise 0.
        waiting_seconds: Time of the slowest rank in pipes, sockets and devices, which is no I/O
            time, at most `run_seconds`; NaN if the source does not record it.
        n_waiting_files: Number of such files.
        missing: Figures that are unknown, or lower bounds, and the reasons.
    """

    run_seconds: float
    n_ranks: int
    n_processes: int
    n_hosts: int
    n_files: int
    n_read_only: int
    n_write_only: int
    n_read_write: int
    n_no_data: int
    n_shared: int
    read_bytes: int
    write_bytes: int
    meta_operations: int
    system_meta_operations: int
    cumulated_read_seconds: float
    cumulated_write_seconds: float
    cumulated_meta_seconds: float
    elapsed_read_seconds: float
    elapsed_write_seconds: float
    elapsed_meta_seconds: float
    io_seconds: float
    io_low_seconds: float
    io_exact: bool
    io_share: float
    rate_bytes_per_second: float
    meta_share: float
    slowest_rank: int = -1
    threads_seconds: float = 0.0
    waiting_seconds: float = math.nan
    n_waiting_files: int = 0
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def why_missing(self) -> str:
        """Reason why the run is known only in part; empty if it is fully known."""
        return reasons(self.missing.values())


@dataclass(frozen=True)
class FileRow(Figured):
    """Figures of one file, as the program used it.

    Attributes:
        path: Path of the file.
        interface: Interface of the program's own calls: "HDF5", "MPI-IO", "POSIX", "POSIX +
            stdio", ...
        layer: Outermost layer that moved data (`IoLayer`).
        read_bytes / write_bytes: Bytes that the program requested to move.
        read_calls / write_calls: Number of data calls of the outermost layer.
        read_sizes / write_sizes: Number of these calls by size (`SIZE_EDGES`).
        common_sizes: Pairs (bytes, calls), most common first.
        collective: Share of the data calls that were carried out collectively; NaN without any.
        sequential / consecutive: Share of the calls of the lowest data layer that begin at or
            after (sequential), or exactly at (consecutive), the end of the previous call of the
            process; NaN if unknown.
        opens / meta_operations: Number of such calls of the program.
        elapsed_seconds: Time in outermost calls, slowest rank; `cumulated_seconds`: all ranks.
        rank_count: Ranks that used the file; `data_rank_count`: ranks that moved data. 0 if
            unknown.
        extent_bytes: End of the furthest byte; -1 if unknown.
        hints / layout: Hints and layout of the file, as far as known.
        missing: Figures that are unknown, or lower bounds, and the reasons.
    """

    path: str
    interface: str
    layer: IoLayer
    read_bytes: int
    write_bytes: int
    read_calls: int
    write_calls: int
    read_sizes: tuple[int, ...]
    write_sizes: tuple[int, ...]
    common_sizes: tuple[tuple[int, int], ...]
    collective: float
    sequential: float
    consecutive: float
    opens: int
    meta_operations: int
    elapsed_seconds: float
    cumulated_seconds: float
    rank_count: int
    data_rank_count: int
    extent_bytes: int = -1
    hints: FileHints = field(default_factory=FileHints)
    layout: FileLayout = field(default_factory=FileLayout)
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LayerRow(Figured):
    """Figures of one interface over all files.

    Attributes:
        layer: `IoLayer` of the interface.
        files: Number of files it was used for.
        read_calls / write_calls: Data calls; `collective_calls` of these were collective.
        meta_operations: Opens, closes, syncs and others.
        read_bytes / write_bytes: Bytes moved by its calls, including those made by another layer.
        cumulated_seconds: Time in its calls, over ranks; `own_seconds`: in calls of the program.
        elapsed_seconds: Time in its calls, slowest rank; NaN if ranks are not distinguished.
        missing: Figures that are unknown, or lower bounds, and the reasons.
    """

    layer: IoLayer
    files: int
    read_calls: int
    write_calls: int
    collective_calls: int
    meta_operations: int
    read_bytes: int
    write_bytes: int
    cumulated_seconds: float
    own_seconds: float
    elapsed_seconds: float
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class VarianceRow:
    """Slowest and fastest rank of a shared file.

    Deviations are standard deviations over the ranks that used the file; NaN if unknown.
    """

    path: str
    processes: int
    fastest_rank: int
    fastest_seconds: float
    fastest_bytes: int
    slowest_rank: int
    slowest_seconds: float
    slowest_bytes: int
    seconds_deviation: float
    bytes_deviation: float


@dataclass(frozen=True, eq=False)
class HeatMap:
    """Bytes and busy time by row and time, at most 128 x 240 cells.

    Attributes:
        kind: "ranks" or "files".
        view: "program" (outermost calls) or "system" (calls that reached the operating system).
        labels: Labels of the rows: "rank 0", "ranks 16–31", a path.
        bin_seconds: Width of a column.
        read_bytes / write_bytes / busy_seconds: (n_rows, n_columns) float64.
        left_out: Number of files without their own row (the least active; the last row is their
            sum).
    """

    kind: str
    view: str
    labels: tuple[str, ...]
    bin_seconds: float
    read_bytes: NDArray[np.float64]
    write_bytes: NDArray[np.float64]
    busy_seconds: NDArray[np.float64]
    left_out: int = 0


@dataclass(frozen=True)
class Periodicity:
    """Whether the I/O occurs in periodic phases.

    Attributes:
        direction: "read" or "write".
        periodic: Whether a period was found.
        period_seconds: Length of the period, NaN if not periodic.
        confidence: Autocorrelation of the signal at the period, 0 to 1.
        n_phases: Number of bursts, periodic or not.
        phase_seconds: Median length of a burst; NaN if it is shorter than three bins, as bins do
            not show how long it took.
        phase_bytes: Median bytes of a burst.
        resolution_seconds: Width of a bin: shorter times cannot be resolved.
    """

    direction: str
    periodic: bool
    period_seconds: float
    confidence: float
    n_phases: int
    phase_seconds: float
    phase_bytes: float
    resolution_seconds: float


@dataclass(frozen=True)
class RequestRow:
    """Requests of one file before and after MPI-IO (collective buffering, data sieving).

    Attributes:
        path: Path of the file; `writing`: direction.
        exact: Whether the row includes all calls of a trace; from counters, more fields are None.
        program_calls: MPI-IO calls; `collective_calls` of these; `program_ranks`: ranks that made
            them.
        program_bytes: Bytes requested from MPI-IO; `program_mean_bytes`: of one call.
        system_calls: Calls below MPI-IO; `system_ranks`: processes that made them (aggregators).
        system_bytes / system_mean_bytes: Bytes of these calls, and of one of them.
        modify_reads / modify_bytes: System reads before writes (read-modify-write).
        gaps / mean_gap_bytes: System calls that begin elsewhere than the process's last one ended.
        aligned: Share of the system calls that begin at a multiple of `unit_bytes`.
        unit_sized: Share of the system calls of exactly `unit_bytes`.
        unit_bytes: Striping unit if known; otherwise 1 MiB.
        system_seconds: Time of the slowest process in the system calls.
    """

    path: str
    writing: bool
    exact: bool
    program_calls: int
    collective_calls: int
    program_ranks: int
    program_bytes: int
    program_mean_bytes: float
    system_calls: int
    system_bytes: int
    system_mean_bytes: float
    unit_bytes: int
    system_seconds: float
    system_ranks: int | None = None
    modify_reads: int | None = None
    modify_bytes: int | None = None
    gaps: int | None = None
    mean_gap_bytes: float | None = None
    aligned: float | None = None
    unit_sized: float | None = None


@dataclass(frozen=True)
class Finding:
    """Something that costs time, and its remedy; see docs/reference/findings.md.

    Attributes:
        code: Name of the rule: "small-independent".
        severity: Severity of the finding.
        phrase: The finding as a phrase: "4 KiB independent writes to out.h5".
        text: Description of what was observed, with numbers, in one or two sentences.
        evidence: Numbers by name; sizes in bytes, times in seconds.
        cost_seconds: Elapsed time that the remedy should save; None for a fact without a claim.
        least_seconds / most_seconds: Ends of the interval of that saving.
        measured: Whether the costs of the storage were measured; otherwise they are assumed.
        stake_seconds: Elapsed time in the calls concerned.
        cost_basis: One line on how the time after the remedy is estimated.
        remedy: Description of what to do.
        lines: Shell lines that apply the remedy without Stripewise, if there are any.
        tune: The `stripewise tune` line; empty if tuning does not help.
        files: Paths, at most 16; `n_files`: their full number.
    """

    code: str
    severity: Severity
    phrase: str
    text: str
    evidence: Mapping[str, float | int | str]
    cost_seconds: float | None
    stake_seconds: float
    cost_basis: str
    remedy: str
    lines: tuple[str, ...] = ()
    tune: str = ""
    files: tuple[str, ...] = ()
    n_files: int = 0
    least_seconds: float | None = None
    most_seconds: float | None = None
    measured: bool = False

    @property
    def advice(self) -> str:
        """First step of the remedy, in a few words, without a full stop."""
        if self.lines and self.lines[0].startswith("export") and "=romio" not in self.lines[0]:
            return f"Add `{self.lines[0].split('   #')[0]}`"
        return self.remedy.split(". ")[0].split("; ")[0].rstrip(".")

    @property
    def title(self) -> str:
        """The phrase as a title."""
        return self.phrase[:1].upper() + self.phrase[1:]


@dataclass(frozen=True)
class Fact:
    """Something that the run did and an expert would name, whether or not a saving is known.

    Attributes:
        code: Name of the fact, as in docs/reference/findings.md: "request-size".
        text: One sentence with its figures.
        share_of_io: Share of the I/O time of all ranks that the calls concerned took; NaN if
            unknown.
        seconds: Time in these calls, slowest rank; NaN if unknown.
        weight: Importance from 0 to 1, by which facts are ordered: the share of the I/O time, or
            without times of the bytes, that the fact explains.
        unusual: Whether the fact matters for this run; others are only listed.
        advice: What to try, as an imperative without a full stop; empty if nothing is known.
        figures: Numbers by name; sizes in bytes, times in seconds.
        files: Paths, at most 16; `n_files`: their full number.
    """

    code: str
    text: str
    share_of_io: float
    seconds: float
    weight: float
    unusual: bool
    advice: str = field(default="", kw_only=True)
    figures: Mapping[str, float | int | str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    n_files: int = 0


@dataclass(frozen=True)
class Check:
    """A fact that was looked for and not found.

    Attributes:
        code: Name of the fact.
        subject: What was looked at: "sizes of requests".
        why_unknown: Reason why this source cannot tell; empty if the run is as usual in this.
    """

    code: str
    subject: str
    why_unknown: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """Complete diagnosis of one run.

    Attributes:
        source / command / job_id: Source, command line and job of the run.
        figures: Figures of the whole run.
        files: Files by time, longest first; `layers`: layers, the program's first.
        variance: Shared files, slowest first.
        heat: Maps of ranks and of files over time; empty without time bins.
        phases: One record for each direction that has data in time bins.
        requests: Files that were used through MPI-IO.
        mpiio_stats: Blocks in the style of MPICH_MPIIO_STATS; empty without single calls.
        findings: Findings by cost, largest first.
        opening: Share of I/O and amounts, in one sentence.
        facts: What the run did, most important first; `checks`: what was looked for besides.
        headline: Opening with the costliest finding and its remedy, or the main facts.
        summary: Headline in one line with the number of further findings.
        partial: Whether some of the evidence is missing; `notes` describe what.
    """

    source: str
    command: str
    job_id: str
    figures: Figures
    files: tuple[FileRow, ...] = ()
    layers: tuple[LayerRow, ...] = ()
    variance: tuple[VarianceRow, ...] = ()
    heat: tuple[HeatMap, ...] = ()
    phases: tuple[Periodicity, ...] = ()
    requests: tuple[RequestRow, ...] = ()
    mpiio_stats: tuple[MpiioStats, ...] = ()
    findings: tuple[Finding, ...] = ()
    opening: str = ""
    facts: tuple[Fact, ...] = ()
    checks: tuple[Check, ...] = ()
    headline: str = ""
    summary: str = ""
    partial: bool = False
    notes: tuple[str, ...] = ()


def size_labels() -> tuple[str, ...]:
    """Return the names of the size bins: "0–100 B", ..., "1 GiB and more"."""
    names = ("0", "100 B", "1 KiB", "10 KiB", "100 KiB", "1 MiB", "4 MiB", "10 MiB", "100 MiB")
    ranges = [f"{low}–{high}" for low, high in itertools.pairwise(names)]
    labels = (*ranges, "100 MiB–1 GiB", "1 GiB and more")
    assert len(labels) == len(SIZE_EDGES)
    return labels


def share(part: float, whole: float) -> float:
    """Return `part / whole`, NaN if there is no whole."""
    return part / whole if whole > 0 else math.nan
