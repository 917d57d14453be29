# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Derives the rungs of a job script's study from its result and Cray MPICH's output."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from stripewise.core import (
    JobFigures,
    JobStorage,
    JobStudy,
    Measurement,
    MpiioFigure,
    MpiioFile,
    ObservedFile,
    Reference,
    RungRun,
    Speedup,
    StudyResult,
    Trial,
    TrialState,
    Value,
)
from stripewise.present import plural
from stripewise.settings.formats import get, matches
from stripewise.settings.tunables import split_scope
from stripewise.study.report._digest import Digest, baseline_runs, best_runs, digest

SINGLE_RUNS = "single runs"
"""Method of a speed-up that is not based on pairs."""


def study_of_job(result: StudyResult) -> JobStudy | None:
    """Return the rungs and costs of a job script's study; None for other studies.

    Speed-ups relative to the baseline, and to other defaults with which the winner was paired, are
    those of the study's pairs; relative to anything else they are ratios of single runs, without
    an interval.
    """
    job = result.job
    if job is None:
        return None
    maker = _Rungs(result, job, _largest(baseline_runs(result)), _staging(result))
    runs = (maker.baseline(), *map(maker.trial, result.trials))
    best = result.winner if result.improved else None
    share = (job.winner_nodes or job.compute_nodes) / job.compute_nodes
    after = share * maker.cost(best_runs(result), best.number) if best is not None else math.nan
    hints = get("mpich-hints").write(best.configuration) if best is not None else None
    spent = job.node_seconds
    if spent is None:
        n_hosts = max(1, result.facts.n_hosts)  # the price refers to this number
        spent = result.price.node_seconds * job.compute_nodes / n_hosts
    paired = {_same_name(one): one.speedup for one in result.references}
    return JobStudy(
        script=job.script,
        step=job.step,
        runs=runs,
        speedups=_speedups(result, runs, best) | paired,
        best=best.number if best is not None else None,
        elapsed_speedup=result.elapsed_speedup if best is not None else None,
        node_seconds_spent=spent,
        node_seconds_per_run_before=maker.cost(baseline_runs(result), 0),
        node_seconds_per_run_after=after,
        node_share=share if best is not None else 1.0,
        n_jobs=job.n_jobs,
        controller_requests=job.controller_requests,
        hints=hints.text.strip() if hints is not None else "",
        hints_lost=hints.lost if hints is not None else (),
        rungs_left=result.rungs_left,
        stopped_because=result.stopped_because,
        left_open=result.left_open,
        mpiio=mpiio_figures(result),
    )


def _same_name(reference: Reference) -> str:
    """Return the name of the default with which the winner was compared."""
    nodes = _whole(reference.settings.get("job.burst_buffer_nodes")) or 0
    where = JobStorage.BURST_BUFFER if nodes else JobStorage.PARALLEL_FILE_SYSTEM
    return default_name(RungRun(0, where, nodes))


_Staging = Mapping[int, tuple[float | None, float | None]]
"""Trial number (0 for the baseline) to stage-in and stage-out seconds; None if unknown."""


def _staging(result: StudyResult) -> _Staging:
    """Return the medians of the staging times to and from the burst buffer of each trial."""
    made = {0: baseline_runs(result), **{t.number: t.measurements for t in result.trials}}
    return {
        number: (
            _median([run.stage_in_seconds for run in runs]),
            _median([run.stage_out_seconds for run in runs]),
        )
        for number, runs in made.items()
    }


def _median(seconds: Sequence[float | None]) -> float | None:
    known = [one for one in seconds if one is not None]
    return median(known) if known else None


def default_name(run: RungRun) -> str:
    """Return the name of a default: "parallel file system", "burst buffer, 2 nodes, defaults"."""
    if run.storage == JobStorage.PARALLEL_FILE_SYSTEM:
        return str(run.storage)
    return f"{run.storage}, {plural(run.nodes, 'node')}, defaults"


def _speedups(
    result: StudyResult, runs: Sequence[RungRun], best: Trial | None
) -> dict[str, Speedup]:
    """Return the speed-ups of the best run relative to each default that has figures."""
    if best is None:
        return {}
    winner = next(run for run in runs if run.number == best.number)
    found: dict[str, Speedup] = {}
    for run in runs:
        if not (run.ok and run.is_default) or run is winner or default_name(run) in found:
            continue
        if run.number == 0 and result.speedup is not None:
            found[default_name(run)] = result.speedup
        elif winner.ok:
            ratio = run.io_seconds / winner.io_seconds
            found[default_name(run)] = Speedup(ratio, math.nan, math.nan, 0, method=SINGLE_RUNS)
    return found


def _largest(runs: Sequence[Measurement]) -> str:
    return next((run.files[0].path for run in runs if run.ok and run.files), "")


@dataclass(frozen=True)
class _Rungs:
    """Makes the rungs of one study.

    Attributes:
        result: Result of the study.
        job: Figures of its jobs.
        studied: Path of the studied file.
        staging: Staging seconds of each trial.
    """

    result: StudyResult
    job: JobFigures
    studied: str
    staging: _Staging

    def baseline(self) -> RungRun:
        runs = baseline_runs(self.result)
        state = TrialState.COMPLETE if digest(runs).n_runs else TrialState.FAILED
        reason = "The job script as it is"
        ratio = 1.0 if digest(runs).n_runs else math.inf
        return self._rung(0, {}, runs, state, self.job.reasons.get(0, reason), ratio)

    def trial(self, trial: Trial) -> RungRun:
        reason = self.job.reasons.get(trial.number, "")
        reason = reason or trial.details.get("reason", "") or trial.message
        return self._rung(
            trial.number, trial.settings, trial.measurements, trial.state, reason, trial.io_ratio
        )

    def cost(self, runs: Sequence[Measurement], number: int) -> float:
        """Return the node-seconds of a run with its staging, on as many nodes as the job has."""
        stages = self.staging.get(number, (None, None))
        return self.job.compute_nodes * (digest(runs).seconds + sum(s or 0.0 for s in stages))

    def _rung(
        self,
        number: int,
        settings: Mapping[str, Value],
        runs: Sequence[Measurement],
        state: TrialState,
        reason: str,
        ratio: float,
    ) -> RungRun:
        figures: Digest = digest(runs)
        file = _studied(runs, self.studied)
        nodes = int(settings.get("job.burst_buffer_nodes", self.job.baseline_nodes))  # type: ignore[arg-type]
        stage_in, stage_out = self.staging.get(number, (None, None))
        return RungRun(
            number=number,
            storage=_storage(nodes, settings),
            nodes=nodes,
            aggregators=self._hint("cb_nodes", settings, file) or (file and file.writers) or None,
            striping_unit_bytes=self._hint("striping_unit", settings, file),
            buffer_bytes=self._hint("cb_buffer_size", settings, file),
            ranks=_whole(settings.get("job.ranks")),
            threads=_whole(settings.get("job.threads")),
            settings=settings,
            io_seconds=figures.io_seconds,
            elapsed_seconds=figures.seconds,
            stage_in_seconds=stage_in,
            stage_out_seconds=stage_out,
            bandwidth_bytes_per_second=figures.bandwidth_bytes_per_second,
            system_writes=file.system_writes if file else None,
            io_ratio=ratio,
            state=state,
            reason=reason,
            studied_file=self.studied,
        )

    def _hint(
        self, key: str, settings: Mapping[str, Value], file: ObservedFile | None
    ) -> int | None:
        """Return a hint of the studied file: as set for it, otherwise as reported by MPI."""
        value: Value | None = None
        for name, given in settings.items():
            tunable, scope = split_scope(name)
            acts = not scope or scope == self.studied or matches(scope, self.studied)
            if tunable == f"mpiio.{key}" and acts and (scope or value is None):
                value = given
        if value is None and file is not None:
            value = file.reported.get(key)
        return _whole(value)


def _whole(value: Value | None) -> int | None:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _storage(nodes: int, settings: Mapping[str, Value]) -> JobStorage:
    if nodes <= 0:
        return JobStorage.PARALLEL_FILE_SYSTEM
    hybrid = settings.get("job.burst_buffer_files")
    return JobStorage.HYBRID if hybrid else JobStorage.BURST_BUFFER


def _studied(runs: Sequence[Measurement], studied: str) -> ObservedFile | None:
    """Return the studied file of the last valid run; the largest one if it is a glob."""
    for run in reversed(runs):
        for file in run.files if run.ok else ():
            if file.path == studied or matches(studied, file.path):
                return file
    return None


# Cray MPICH's output for the baseline's files and those of the best run, side by side.

MOST_FILES = 8
_WHOLE = ("total", "open/close/trunc time")
_FIELDS = (
    ("collective {}s", "calls", "collective"),
    ("independent {}s", "calls", "independent"),
    ("aggregators", "", "aggregators"),
    ("stripe count", "", "stripe_count"),
    ("stripe size", "B", "stripe_bytes"),
    ("system {}s", "calls", "system_calls"),
    ("stripe-sized system {}s", "calls", "stripe_sized"),
    ("mean system {}", "B", "average_bytes"),
    ("reads before {}s", "calls", "modify_reads"),
    ("gaps between system {}s", "", "gaps"),
)


def mpiio_figures(result: StudyResult) -> tuple[MpiioFigure, ...]:
    """Compare the largest files of the last baseline run and of the last best run.

    The best run's figures are missing if no configuration won; the result is empty if MPI printed
    nothing.
    """
    before = _printed(baseline_runs(result))
    after = _printed(best_runs(result)) if result.improved else {}
    names = list(dict.fromkeys([*before, *after]))[:MOST_FILES]
    return tuple(
        figure
        for name in names
        for figure in _figures_of_file(name, before.get(name), after.get(name))
    )


def _printed(runs: Sequence[Measurement]) -> dict[str, MpiioFile]:
    last = next((run.mpiio for run in reversed(runs) if run.ok and run.mpiio), ())
    return {file.path: file for file in last}


def _figures_of_file(
    path: str, before: MpiioFile | None, after: MpiioFile | None
) -> Iterator[MpiioFigure]:
    one, two = (_figures(file) if file is not None else {} for file in (before, after))
    for key in dict.fromkeys([*one, *two]):
        values = one.get(key), two.get(key)
        if any(value is not None for value in values):
            yield MpiioFigure(path, *key, *values)


_Figures = dict[tuple[str, str], float | None]
"""Name and unit of a figure to its value; None if it was not printed."""


def _figures(file: MpiioFile) -> _Figures:
    found: _Figures = {}
    for direction, side in (("write", file.write), ("read", file.read)):
        for name, unit, key in _FIELDS if side is not None else ():
            text = name.format(direction)
            text = text if direction in text else f"{text}, {direction}s"
            found[text, unit] = getattr(side, key)
        found |= _timed(direction, file)
    return found


def _timed(direction: str, file: MpiioFile) -> _Figures:
    """Return shares of time and rates, over all ranks if MPI printed them."""
    blocks = [block for block in file.timers if block.direction == direction]
    if not blocks:
        return {}
    block = min(blocks, key=lambda block: block.scale != "all ranks")
    shares: _Figures = {
        (f"time in {phase.name}, {direction}s", "%"): 100 * phase.share
        for phase in block.phases
        if phase.share is not None and phase.name not in _WHOLE
    }
    return shares | {
        (f"data send rate, {direction}s", "B/s"): block.data_send_bytes_per_second,
        (f"raw {direction} rate", "B/s"): block.raw_bytes_per_second,
        (f"net {direction} rate", "B/s"): block.net_bytes_per_second,
    }
