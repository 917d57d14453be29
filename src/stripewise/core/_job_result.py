# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Represents the result of a study of a job script: its rungs and their costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from stripewise.core._configuration import Value
from stripewise.core._trial import Speedup, TrialState


class JobStorage(StrEnum):
    """The storage that contains the files of a job."""

    PARALLEL_FILE_SYSTEM = "parallel file system"
    BURST_BUFFER = "burst buffer"
    HYBRID = "hybrid"
    """The job works on the parallel file system, and some files are on the burst buffer."""


@dataclass(frozen=True)
class RungRun:
    """One rung: a run of the job script's step with one configuration.

    Attributes:
        number: Number of the trial; 0 for the baseline.
        storage: Storage that contained its files: a value of `JobStorage`.
        nodes: Number of burst-buffer nodes; 0 without a burst buffer.
        aggregators: Number of MPI-IO aggregators of the studied file, as set or as observed.
        striping_unit_bytes / buffer_bytes: Striping unit and collective buffer size of the studied
            file; None if unknown.
        ranks / threads: Numbers of ranks and of threads per rank; None if they are as in the job
            script.
        settings: Tunable to value; empty if nothing was changed.
        io_seconds / elapsed_seconds: I/O time and elapsed time of the step; NaN if unknown.
        stage_in_seconds / stage_out_seconds: Staging times before and after the step; None if
            unknown.
        bandwidth_bytes_per_second: I/O bandwidth of the step; NaN if unknown.
        system_writes: Number of system writes to the studied file; None if unknown.
        io_ratio: I/O time divided by that of the baseline; infinite if unknown.
        state: How the run ended: a value of `TrialState`.
        reason: The rule that proposed this run, in words.
        studied_file: File, or glob of files, that the study tunes.
    """

    number: int
    storage: str
    nodes: int = 0
    aggregators: int | None = None
    striping_unit_bytes: int | None = None
    buffer_bytes: int | None = None
    ranks: int | None = None
    threads: int | None = None
    settings: Mapping[str, Value] = field(default_factory=dict)
    io_seconds: float = math.nan
    elapsed_seconds: float = math.nan
    stage_in_seconds: float | None = None
    stage_out_seconds: float | None = None
    bandwidth_bytes_per_second: float = math.nan
    system_writes: int | None = None
    io_ratio: float = math.inf
    state: str = TrialState.COMPLETE
    reason: str = ""
    studied_file: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    @property
    def ok(self) -> bool:
        """Whether the run gave valid figures; a clearly slower run was measured once."""
        is_run = self.state in (TrialState.COMPLETE, TrialState.HOPELESS)
        return is_run and 0 < self.io_seconds < math.inf

    @property
    def is_default(self) -> bool:
        """Whether nothing but the burst buffer was changed."""
        return all(name == "job.burst_buffer_nodes" for name in self.settings)

    @property
    def staging_seconds(self) -> float:
        """The total of stage-in and stage-out; 0 if neither is known."""
        return (self.stage_in_seconds or 0.0) + (self.stage_out_seconds or 0.0)


@dataclass(frozen=True)
class RungAhead:
    """A number of burst-buffer nodes that a search has not reached.

    Attributes:
        nodes: Number of burst-buffer nodes.
        fewest_trials / most_trials: Minimum and maximum number of further trials needed to reach
            it.
    """

    nodes: int
    fewest_trials: int
    most_trials: int


@dataclass(frozen=True)
class MpiioFigure:
    """One figure that MPI printed for a file.

    Attributes:
        file: Path of the file, relative to the job's directory if it is inside.
        name: Name of the figure: "system writes", "time in file write, writes", "net write rate".
        unit: Unit of the figure: "calls", "B", "B/s", "%" or "".
        before / after: Values in the baseline and in the best run; None if not printed.
    """

    file: str
    name: str
    unit: str
    before: float | None
    after: float | None


@dataclass(frozen=True)
class JobStudy:
    """Result of a study of a job script.

    Attributes:
        script: Path of the job script.
        step: Number of the step that was tuned, from 1.
        runs: The baseline first, then the trials in order.
        speedups: I/O speed-up of the best run over each default ("parallel file system", "burst
            buffer, 1 node, defaults"); bounds are NaN, and there are no pairs, if it comes from
            single runs.
        best: Number of the best run; None if nothing was faster than the baseline.
        elapsed_speedup: Speed-up of the elapsed time of the step over the baseline, from pairs;
            None if there were no pairs.
        node_seconds_spent: Compute nodes times seconds of all runs of the study.
        node_seconds_per_run_before / node_seconds_per_run_after: Node seconds of one run of the
            job, including staging, without and with the best settings.
        node_share: Compute nodes of a run with the best settings divided by those without; below 1
            if fewer ranks need fewer nodes.
        n_jobs: Number of jobs that were submitted.
        controller_requests: Number of requests that the study sent to the batch system.
        hints: Line for a job script that sets the best hints for each file; empty if there are
            none.
        hints_lost: The best settings that this line cannot express, a line each.
        rungs_left: Numbers of burst-buffer nodes that the search has not reached.
        stopped_because: Why the search ended.
        left_open: Why the budget ended before anything was decided; empty if something was.
        mpiio: Figures that MPI printed for the files, before and after; empty if it printed none.
    """

    script: str
    step: int
    runs: tuple[RungRun, ...] = ()
    speedups: Mapping[str, Speedup] = field(default_factory=dict)
    best: int | None = None
    elapsed_speedup: Speedup | None = None
    node_seconds_spent: float = 0.0
    node_seconds_per_run_before: float = math.nan
    node_seconds_per_run_after: float = math.nan
    node_share: float = 1.0
    n_jobs: int = 0
    controller_requests: int = 0
    hints: str = ""
    hints_lost: tuple[str, ...] = ()
    rungs_left: tuple[RungAhead, ...] = ()
    stopped_because: str = ""
    left_open: str = ""
    mpiio: tuple[MpiioFigure, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "speedups", MappingProxyType(dict(self.speedups)))

    @property
    def best_run(self) -> RungRun | None:
        """The best run; None if there is none."""
        return next((run for run in self.runs if run.number == self.best), None)
