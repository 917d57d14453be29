# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Holds what a diagnosis says; docs/reference/profile.md defines every figure."""

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
    """How much a finding matters."""

    HIGH = "high"
    WARN = "warn"
    INFO = "info"


@dataclass(frozen=True)
class Figures(Figured):
    """The run in numbers; NaN: not known.

    "Cumulated" is the sum over ranks, "elapsed" that of the slowest rank.

    Attributes:
        run_seconds: Wall clock of the whole run.
        n_ranks / n_processes / n_hosts: 0: no MPI, not known.
        n_files: That were touched; of these `n_read_only`, `n_write_only`, `n_read_write` by
            what the program moved, `n_no_data`: only opened, looked at or removed.
        n_shared: Files whose data more than one rank moved.
        read_bytes / write_bytes: What the program asked to move.
        meta_operations: Calls of the program that move no data: opens, closes, syncs, others.
        system_meta_operations: The same as they reached the operating system.
        cumulated_read_seconds / cumulated_write_seconds / cumulated_meta_seconds: In the
            program's own calls, over ranks.
        elapsed_read_seconds / elapsed_write_seconds / elapsed_meta_seconds: Of the slowest rank
            in each of the three.
        io_seconds: I/O time of the run: outermost calls, maximum over ranks.
        io_low_seconds: At least this, where ranks are not told apart; otherwise `io_seconds`.
        io_exact: False where `io_seconds` is an upper estimate.
        io_share: Of `run_seconds`.
        rate_bytes_per_second: (read + written) / `io_seconds`.
        meta_share: Of the cumulated time.
        slowest_rank: Whose I/O time it is; -1: not known.
        missing: Figures that are not known, or of which this is the least, and why.
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
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def why_missing(self) -> str:
        """Why not all of the run is known; "": it is."""
        return reasons(self.missing.values())


@dataclass(frozen=True)
class FileRow(Figured):
    """One file, as the program used it.

    Attributes:
        path: Of the file.
        interface: Of the program's own calls: "HDF5", "MPI-IO", "POSIX", "POSIX + stdio", ...
        layer: The outermost one that moved data (`IoLayer`).
        read_bytes / write_bytes: What the program asked to move.
        read_calls / write_calls: Data calls of the outermost layer.
        read_sizes / write_sizes: Of these by size (`SIZE_EDGES`).
        common_sizes: (bytes, calls), most common first.
        collective: Share of the data calls that are collective; NaN without any.
        sequential / consecutive: Share of the calls of the lowest data layer that begin at or
            after, exactly at, the end of the one before in the same process; NaN: not known.
        opens / meta_operations: Of the program.
        elapsed_seconds: Slowest rank in outermost calls; `cumulated_seconds`: all ranks.
        rank_count: Ranks that used it; `data_rank_count`: that moved data. 0: not known.
        extent_bytes: End of the furthest byte; -1: not known.
        hints / layout: As far as known.
        missing: Figures that are not known, or of which this is the least, and why.
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
    """One interface over all files.

    Attributes:
        layer: `IoLayer`.
        files: That it was used for.
        read_calls / write_calls: Data calls, of which `collective_calls`.
        meta_operations: Opens, closes, syncs and others.
        read_bytes / write_bytes: Moved by its calls, also those that another layer made.
        cumulated_seconds: In its calls, over ranks; `own_seconds`: in those of the program.
        elapsed_seconds: In its calls, slowest rank; NaN: ranks are not told apart.
        missing: Figures that are not known, or of which this is the least, and why.
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

    Deviations are standard deviations over the ranks that used the file; NaN: not known.
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
    """Bytes and busy time by row and time, at most 128 x 240.

    Attributes:
        kind: "ranks" or "files".
        view: "program" (outermost calls) or "system" (what reached the operating system).
        labels: Of the rows: "rank 0", "ranks 16–31", a path.
        bin_seconds: Width of a column.
        read_bytes / write_bytes / busy_seconds: (n_rows, n_columns) float64.
        left_out: Files that found no row (the least active ones; their sum is the last row).
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
    """Whether the I/O comes in phases.

    Attributes:
        direction: "read" or "write".
        periodic: Whether a period is claimed.
        period_seconds: NaN if not periodic.
        confidence: 0 to 1: autocorrelation of the signal at the period.
        n_phases: Bursts that were seen, periodic or not.
        phase_seconds: Median length of a burst.
        phase_bytes: Median bytes of a burst.
        resolution_seconds: Width of a bin: nothing shorter can be told.
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
        path: Of the file; `writing`: direction.
        exact: From a trace, all its calls; otherwise from counters, where more fields are None.
        program_calls: MPI-IO calls; `collective_calls` of these; `program_ranks`: that made them.
        program_bytes: Asked of MPI-IO; `program_mean_bytes`: of one call.
        system_calls: Beneath MPI-IO; `system_ranks`: processes that made them (aggregators).
        system_bytes / system_mean_bytes: Likewise.
        modify_reads / modify_bytes: Reads of the system before writes (read-modify-write).
        gaps / mean_gap_bytes: System calls not beginning where the process's last one ended.
        aligned: Share of the system calls that begin at a multiple of `unit_bytes`.
        unit_sized: Share of exactly `unit_bytes`.
        unit_bytes: The stripe, where known; otherwise 1 MiB.
        system_seconds: Slowest process in the system calls.
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
    """Something that costs time, and what to do about it; docs/reference/findings.md.

    Attributes:
        code: Name of the rule: "small-independent".
        severity: How much it matters.
        phrase: What it is: "4 KiB independent writes to out.h5".
        text: What was seen, with numbers, in one or two sentences.
        evidence: The numbers by name; sizes in bytes, times in seconds.
        cost_seconds: What the remedy is expected to save, elapsed; None: a fact without a claim.
        least_seconds / most_seconds: Ends of the interval of that.
        measured: Whether the costs of the storage were measured; otherwise they are assumed.
        stake_seconds: Elapsed time in the calls concerned.
        cost_basis: What the time after the remedy is estimated from, one line.
        remedy: What to do, in words.
        lines: Shell lines that do it without Stripewise, if there are any.
        tune: The `stripewise tune` line; "" where tuning does not help.
        files: Paths, at most 16; `n_files`: how many there are.
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
        """What to do first, in a few words, without a full stop."""
        if self.lines and self.lines[0].startswith("export") and "=romio" not in self.lines[0]:
            return f"Add `{self.lines[0].split('   #')[0]}`"
        return self.remedy.split(". ")[0].split("; ")[0].rstrip(".")

    @property
    def title(self) -> str:
        """The phrase as a title."""
        return self.phrase[:1].upper() + self.phrase[1:]


@dataclass(frozen=True)
class Diagnosis:
    """All that is said of one run.

    Attributes:
        source / command / job_id: Of the run.
        figures: The run in numbers.
        files: By time, most first; `layers`: from the program down.
        variance: Shared files, slowest first.
        heat: Maps of ranks and of files over time; empty without time bins.
        phases: One of each direction that has data in time bins.
        requests: Files that were used through MPI-IO.
        mpiio_stats: Blocks in the manner of MPICH_MPIIO_STATS; empty without single calls.
        findings: By cost, most first.
        headline: The share of I/O, the costliest finding and its remedy, in whole sentences.
        summary: The same in one line with the number of further findings.
        partial: Some of the evidence is missing; `notes` say what.
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
    """`part / whole`, NaN if there is no whole."""
    return part / whole if whole > 0 else math.nan
