# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records what a study of a job script found: its rungs, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from stripewise.core._configuration import Value
from stripewise.core._trial import Speedup, TrialState


class JobStorage(StrEnum):
    """Where the files of a job lie."""

    PARALLEL_FILE_SYSTEM = "parallel file system"
    BURST_BUFFER = "burst buffer"
    HYBRID = "hybrid"
    """The job works on the parallel file system, and some files lie on the burst buffer."""


@dataclass(frozen=True)
class RungRun:
    """One rung: one run of the job script's step under one set of settings.

    Attributes:
        number: Of the trial; 0: the baseline.
        storage: Where its files lay: a value of `JobStorage`.
        nodes: Of the burst buffer; 0 without one.
        aggregators: MPI-IO aggregators of the studied file, as set or as observed.
        striping_unit_bytes / buffer_bytes: Of the studied file; None: not known.
        ranks / threads: None: as the job script says.
        settings: Tunable to value; empty: nothing was changed.
        io_seconds / elapsed_seconds: I/O time and whole time of the step; NaN without a figure.
        stage_in_seconds / stage_out_seconds: Before and after the step; None: not known.
        bandwidth_bytes_per_second: NaN without a figure.
        system_writes: On the studied file; None: not known.
        io_ratio: I/O time over that of the baseline; infinite without a figure.
        state: How it ended: a value of `TrialState`.
        reason: The rule by which it was made, in plain words.
        studied_file: File or glob of files that the rungs are about.
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
        """Whether it gave figures that count; a run that was clearly slower gave them once."""
        is_run = self.state in (TrialState.COMPLETE, TrialState.HOPELESS)
        return is_run and 0 < self.io_seconds < math.inf

    @property
    def is_default(self) -> bool:
        """Whether nothing but the burst buffer was chosen."""
        return all(name == "job.burst_buffer_nodes" for name in self.settings)

    @property
    def staging_seconds(self) -> float:
        """Stage-in and stage-out together; 0 where neither is known."""
        return (self.stage_in_seconds or 0.0) + (self.stage_out_seconds or 0.0)


@dataclass(frozen=True)
class RungAhead:
    """A number of burst-buffer nodes that a search has not come to.

    Attributes:
        nodes: Of the burst buffer.
        fewest_trials / most_trials: So many more trials it takes to come to it, by what they show.
    """

    nodes: int
    fewest_trials: int
    most_trials: int


@dataclass(frozen=True)
class MpiioFigure:
    """One figure that MPI printed of a file.

    Attributes:
        file: Relative to the job's directory where it lies inside.
        name: "system writes", "time in file write, writes", "net write rate".
        unit: "calls", "B", "B/s", "%" or "".
        before / after: Of the baseline and of the best run; None: not printed.
    """

    file: str
    name: str
    unit: str
    before: float | None
    after: float | None


@dataclass(frozen=True)
class JobStudy:
    """A study of a job script.

    Attributes:
        script: Path of the job script.
        step: Number of the step that was tuned, from 1.
        runs: The baseline first, then the trials in order.
        speedups: Name of a default ("parallel file system", "burst buffer, 1 node, defaults")
            to the I/O speed-up of the best run against it; NaN as bounds, and no pairs, where it
            comes from single runs.
        best: Number of the best run; None: nothing was faster than the baseline.
        elapsed_speedup: Of the whole time of the step, best against baseline, from pairs;
            None: there were none.
        node_seconds_spent: Compute nodes times seconds of all runs of the study.
        node_seconds_per_run_before / node_seconds_per_run_after: Of one run of the job, staging
            included, without and with the best settings.
        node_share: Compute nodes of a run with the best settings over those without; below 1
            where fewer ranks need fewer nodes.
        n_jobs: Jobs that were submitted.
        controller_requests: Requests that the study sent to the batch system.
        hints: Line for a job script that sets the best hints for each file; "" without any.
        hints_lost: What of the best settings that line cannot hold, a line each.
        rungs_left: Numbers of burst-buffer nodes that the search has not come to.
        stopped_because: Why the search ended.
        left_open: Why a budget let nothing be decided; "" if something was.
        mpiio: What MPI printed of the files, before and after; empty where it printed nothing.
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
        """The best run; None without one."""
        return next((run for run in self.runs if run.number == self.best), None)
