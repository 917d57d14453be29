# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Made-up training: samples of kernels on a described storage, by simulation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from random import Random

from stripewise.core import ProgramFacts, Value
from stripewise.learning.performance import Training, TrainingSample, Way, ground_of
from stripewise.storage.machines import Storage, find_storage
from stripewise.storage.simulation import noise_factor, workload_from_kernel
from stripewise.study.procedure import simulated_workload

LADDERS: dict[str, tuple[int, ...]] = {
    "mpiio.striping_factor": (1, 2, 4, 8, 16, 32, 64, 96),
    "mpiio.striping_unit": tuple(1 << n for n in range(20, 27)),
    "mpiio.cb_nodes": (1, 2, 4, 8, 16, 32, 64, 128),
}


def trained(
    kernels: Sequence[str] = ("vorpal --steps 4", "gcrm"),
    ranks: Sequence[int] = (96, 192),
    each: int = 60,
    storage: str = "edison",
    truth: Storage | None = None,
) -> Training:
    """Return samples of kernels at random points of the published ladders, three repeats each."""
    described, random = find_storage(storage), Random(0)
    samples = []
    for kernel, scale in itertools.product(kernels, ranks):
        work = workload_from_kernel(kernel, scale // 24, 24)
        program = simulated_workload(truth or described, work)
        points = [
            dict(zip(LADDERS, values, strict=True))
            for values in itertools.product(*LADDERS.values())
        ]
        for settings in random.sample(points, each):
            taken: dict[str, Value] = dict(settings)
            seconds = program.seconds(taken) or 0.0
            times = tuple(seconds / noise_factor(random, 0.1) for _ in range(3))
            samples.append(TrainingSample(program.facts, taken, times, kernel.split()[0]))
    return Training(
        ground_of(samples[0].facts, storage=described), tuple(samples), 3 * len(samples),
        sum(sum(one.seconds) for one in samples), Way.SIMULATED,
    )  # fmt: skip


def facts_of(kernel: str, ranks: int, storage: str = "edison") -> ProgramFacts:
    """Return the facts of a kernel that nothing was trained with."""
    work = workload_from_kernel(kernel, ranks // 24, 24)
    return simulated_workload(find_storage(storage), work).facts
