# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise simulate --tune`: a study of a job in virtual time."""

from __future__ import annotations

from stripewise.cli._common import answer
from stripewise.cli._simulate_jobs import Job, workload_of
from stripewise.machines import Storage
from stripewise.report import SimulatedStudy, simulated_study_json, simulated_study_lines
from stripewise.strategies import check_strategy_options
from stripewise.study import StudyOptions, simulated_workload, tune_simulated


def tune_job(
    storage: Storage,
    job: Job,
    as_json: bool,
    strategy: str,
    trials: int | None,
    seed: int | None,
) -> None:
    """Tune a job and print what was found.

    Raises:
        UsageError: There is no such strategy, or nothing to tune.
        ConfigurationError: The job is impossible on the storage.
    """
    check_strategy_options(strategy, {})
    work = workload_of(job)
    job.simulated(storage, work)  # what is impossible is said here
    program = simulated_workload(
        storage, work, job.stack, job.transport,
        capacity_bytes=job.capacity_bytes, private=job.private,
    )  # fmt: skip
    options = StudyOptions(("simulated",), strategy=strategy, trials=trials, seed=seed or 0)
    found = SimulatedStudy(program, strategy, tune_simulated(program, options))
    answer(as_json, lambda: simulated_study_json(found), lambda: simulated_study_lines(found))
