# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from stripewise.storage.machines import find_storage
from stripewise.storage.simulation import workload_from_notation
from stripewise.study.plan import StudyOptions
from stripewise.study.procedure import simulated_workload, tune_simulated

STORAGE = find_storage("archer")
WORK = workload_from_notation("<3D,(BLOCK,BLOCK,BLOCK),(128,128,128)>", 16, 24)


def tuned(strategy, seed=1, cv=0.1):
    program = simulated_workload(STORAGE, WORK, "romio-lustre")
    options = StudyOptions(command=("simulated",), strategy=strategy, seed=seed)
    return program, tune_simulated(program, options, cv=cv)


@pytest.mark.parametrize("strategy", ["auto", "random", "genetic"])
def test_any_strategy_tunes_a_described_storage(strategy):
    program, result = tuned(strategy)
    assert result.improved
    chosen = program.seconds(result.winner.settings)
    assert chosen < program.seconds({}) / 2
    low, high = result.speedup.low, result.speedup.high
    assert low < program.seconds({}) / chosen < high


def test_only_what_the_stack_looks_at_is_tried():
    program, result = tuned("random")
    tried = {name for trial in result.trials for name in trial.settings}
    assert tried
    assert tried <= program.tunables


def test_the_same_seed_gives_the_same_study():
    _, one = tuned("auto", seed=5)
    _, other = tuned("auto", seed=5)
    assert [t.settings for t in one.trials] == [t.settings for t in other.trials]
    assert one.speedup == other.speedup


@pytest.mark.parametrize("stack", ["ompio", "ompio-lustre"])
def test_a_job_over_ompio_is_one_of_open_mpi(stack):
    facts = simulated_workload(STORAGE, WORK, stack).facts
    assert (facts.mpi_family, facts.mpiio_implementation) == ("openmpi", "ompio")
