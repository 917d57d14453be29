# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The rungs of a job script's study, made from the result of a study."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
import studies
from study_parts import COMMAND, Clock

from stripewise.core import (
    JobFigures,
    JobStorage,
    JobStudy,
    Measurement,
    MpiioFile,
    MpiioPhase,
    MpiioSide,
    MpiioTimers,
    RunRole,
    RunStatus,
    Speedup,
    StudyResult,
    Trial,
    TrialState,
    Value,
)
from stripewise.settings.tunables import build_configuration
from stripewise.study.report import job_lines, study_of_job
from stripewise.study.report._outputs import mpiio_text

MIB = 2**20
POINTS: tuple[tuple[dict[str, Value], float], ...] = (
    ({"job.burst_buffer_nodes": 1}, 0.9),
    ({"job.burst_buffer_nodes": 1, "mpiio.cb_nodes@out*": 8, "mpiio.cb_nodes": 2}, 0.5),
    (
        {
            "job.burst_buffer_nodes": 4,
            "job.burst_buffer_files": "out*",
            "mpiio.cb_nodes@out*": 16,
            "mpiio.striping_unit@out*": 4 * MIB,
            "job.threads": 2,
        },
        0.25,
    ),
)


def result(*, improved: bool = True) -> StudyResult:
    clock = Clock()
    baseline = tuple(clock.run(RunRole.BASELINE, 40.0, noise=0) for _ in range(2))
    trials = []
    for number, (settings, ratio) in enumerate(POINTS, 1):
        run = clock.run(RunRole.TRIAL, 40.0 * ratio, trial=number, settings=settings, noise=0)
        trials.append(
            Trial(
                number, settings, build_configuration(settings), measurements=(run,),
                io_ratio=ratio, elapsed_ratio=0.8, message=f"message {number}",
            )
        )  # fmt: skip
    broken = clock.run(RunRole.TRIAL, 9.0, trial=4, status=RunStatus.FAILED)
    lost: dict[str, Value] = {"job.burst_buffer_nodes": 8}
    trials.append(
        Trial(4, lost, build_configuration(lost), TrialState.FAILED, (broken,), message="exit 1")
    )
    pairs = []
    for number in range(1, 7):
        first = clock.run(RunRole.PAIR_BASELINE, 40.0, pair=number, noise=0)
        second = clock.run(RunRole.PAIR_WINNER, 10.0, trial=3, pair=number, noise=0)
        pairs.append((first, second))
    return StudyResult(
        command=COMMAND,
        directory="/tmp/a.stripewise",
        runs=tuple(clock.runs),
        baseline=baseline,
        trials=tuple(trials),
        winner=trials[2],
        improved=improved,
        pairs=tuple(pairs),
        speedup=Speedup(4.0, 3.8, 4.2, 6),
        elapsed_speedup=Speedup(68 / 38, 1.7, 1.9, 6),
    )


JOB = JobFigures(
    "run.sh",
    1,
    compute_nodes=8,
    n_jobs=3,
    controller_requests=21,
    reasons={3: "The whole run got slower: hybrid"},
)
STAGES = {1: (5.0, 7.0), 3: (5.0, None)}
"""Trial to its stage-in and stage-out."""


def staged(run: Measurement, trial: int | None) -> Measurement:
    before, after = STAGES.get(trial or 0, (None, None))
    return replace(run, stage_in_seconds=before, stage_out_seconds=after)


def studied(made: StudyResult, job: JobFigures = JOB) -> JobStudy:
    """Return the study of a job script whose runs were staged."""
    trials = tuple(
        replace(one, measurements=tuple(staged(run, one.number) for run in one.measurements))
        for one in made.trials
    )
    found = study_of_job(replace(made, trials=trials, job=job))
    assert found is not None
    return found


def test_rungs_have_settings_figures_and_rules() -> None:
    study = studied(result())
    assert [run.number for run in study.runs] == [0, 1, 2, 3, 4]
    assert [run.storage for run in study.runs] == [
        JobStorage.PARALLEL_FILE_SYSTEM,
        JobStorage.BURST_BUFFER,
        JobStorage.BURST_BUFFER,
        JobStorage.HYBRID,
        JobStorage.BURST_BUFFER,
    ]
    assert [run.nodes for run in study.runs] == [0, 1, 1, 4, 8]
    best = study.best_run
    assert best is not None
    assert (best.number, best.aggregators, best.threads) == (3, 16, 2)
    assert best.striping_unit_bytes == 4 * MIB
    assert best.studied_file == "out.h5"
    assert best.io_seconds == pytest.approx(10.0)
    assert best.reason == "The whole run got slower: hybrid"
    assert study.runs[2].reason == "message 2"
    assert (study.runs[1].stage_in_seconds, study.runs[1].stage_out_seconds) == (5.0, 7.0)


def test_settings_for_the_studied_file_win_over_those_for_all() -> None:
    study = studied(result())
    assert study.runs[2].aggregators == 8
    made = result()
    renamed = tuple(
        (replace(one, files=(replace(one.files[0], path="other.nc"),)), two)
        for one, two in made.pairs
    )
    other = studied(replace(made, pairs=renamed))
    assert other.runs[2].aggregators == 2
    assert other.runs[1].aggregators is None


def test_what_is_not_set_is_what_was_observed() -> None:
    study = studied(result())
    assert study.runs[0].aggregators == 16
    assert study.runs[0].buffer_bytes == 16 * MIB
    assert study.runs[0].system_writes == 98_304


def test_a_trial_that_failed_has_no_figures() -> None:
    run = studied(result()).runs[4]
    assert not run.ok
    assert math.isnan(run.io_seconds)
    assert run.io_ratio == math.inf


def test_speedups_against_each_default() -> None:
    study = studied(result())
    assert list(study.speedups) == ["parallel file system", "burst buffer, 1 node, defaults"]
    assert study.speedups["parallel file system"].n_pairs == 6
    single = study.speedups["burst buffer, 1 node, defaults"]
    assert single.median == pytest.approx(3.6)
    assert math.isnan(single.low)
    on_buffer = studied(result(), JobFigures("run.sh", 1, baseline_nodes=2))
    assert "burst buffer, 2 nodes, defaults" in on_buffer.speedups


def test_costs_are_those_of_the_job_with_its_staging() -> None:
    study = studied(result())
    assert study.node_seconds_per_run_before == pytest.approx(8 * 68.0)
    assert study.node_seconds_per_run_after == pytest.approx(8 * (38.0 + 5.0))
    seconds = sum(run.measurement.elapsed_seconds for run in result().runs)
    assert study.node_seconds_spent == pytest.approx(8 * seconds)
    fewer = studied(result(), replace(JOB, winner_nodes=4))
    assert fewer.node_seconds_per_run_before == study.node_seconds_per_run_before
    assert fewer.node_seconds_per_run_after == study.node_seconds_per_run_after / 2
    assert (study.node_share, fewer.node_share) == (1.0, 0.5)
    told = studied(result(), replace(JOB, node_seconds=7.0))
    assert told.node_seconds_spent == 7.0


def test_the_hints_are_those_of_each_class_of_files() -> None:
    study = studied(result())
    assert study.hints.startswith("export MPICH_MPIIO_HINTS=")
    assert "out*:" in study.hints
    assert "cb_nodes=16" in study.hints
    assert "striping_unit=4194304" in study.hints
    assert any("burst_buffer_nodes=4" in one for one in study.hints_lost)


def test_without_improvement_there_is_no_best_and_nothing_to_set() -> None:
    study = studied(result(improved=False))
    assert (study.best, study.hints, dict(study.speedups)) == (None, "", {})
    assert study.elapsed_speedup is None


@pytest.mark.parametrize("name", studies.ALL)
def test_any_result_of_a_study_can_be_told(name) -> None:
    assert job_lines(studied(studies.ALL[name]()))


# ---- what MPI printed -----------------------------------------------------------------------


def printed(*, improved: bool = True) -> StudyResult:
    """A study in whose pairs MPI printed statistics and timers of a file."""
    timers = MpiioTimers(
        "out.nc",
        "write",
        "all ranks",
        phases=(MpiioPhase("total", average=9.0), MpiioPhase("file write", share=0.86)),
        net_bytes_per_second=500.0 * MIB,
    )
    only = MpiioTimers("out.nc", "write", "writers", phases=(MpiioPhase("file write", share=1.0),))
    before = MpiioFile("out.nc", MpiioSide(4, 16, aggregators=2, system_calls=64), None, (only,))
    after = replace(before, write=MpiioSide(4, 16, aggregators=8), timers=(only, timers))
    made = result(improved=improved)
    pairs = tuple(
        (replace(one, mpiio=(before,)), replace(two, mpiio=(after,))) for one, two in made.pairs
    )
    runs = tuple(
        replace(run, measurement=replace(run.measurement, mpiio=(before,))) for run in made.runs
    )
    return replace(made, pairs=pairs, runs=runs)


def test_what_mpi_printed_stands_side_by_side() -> None:
    study = studied(printed())
    figures = {one.name: (one.before, one.after, one.unit) for one in study.mpiio}
    assert figures["system writes"] == (64, 0, "calls")
    assert figures["aggregators, writes"] == (2, 8, "")
    assert figures["time in file write, writes"] == (100, pytest.approx(86), "%")
    assert figures["net write rate"] == (None, 500 * MIB, "B/s")
    assert "stripe size, writes" not in figures  # not printed
    assert not [name for name in figures if "total" in name]
    text = mpiio_text(study)
    assert re.search(r"net write rate +– +500 MiB/s", text)


def test_without_a_winner_what_mpi_printed_is_the_baselines() -> None:
    study = studied(printed(improved=False))
    assert {one.after for one in study.mpiio} == {None}
    assert {one.before for one in study.mpiio if one.name == "system writes"} == {64}
    assert studied(result()).mpiio == ()
