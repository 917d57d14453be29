# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings of collective writes that users of each MPI-IO can choose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stripewise.advice._base import Trial
from stripewise.advice._basis import FACTOR, UNIT, Basis, Job, as_settings
from stripewise.model import Value
from stripewise.text import size_text

MULTIPLIER, MODE = "mpiio.cray_cb_nodes_multiplier", "mpiio.cray_cb_write_lock_mode"
RATIO, AGGREGATORS = "mpiio.romio_lustre_co_ratio", "mpiio.cb_nodes"
EXTENTS, RELAXED, AHEAD = 0, 1, 2
"""Lock modes: extent locks; one lock for all writers; locks that are asked for ahead."""
STRIPE_SIZES = (4 << 20, 16 << 20, 64 << 20)
TIMES = (1, 2, 4, 8, 16, 32)


def aggregator_choices(basis: Basis, job: Job) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield numbers of aggregators that can be chosen, each with its settings, the default first.

    The number is how many there are for each stripe (Cray) or in all.
    """
    stack = basis.storage.stack
    if stack == "cray":
        for times in TIMES:
            yield times, {MULTIPLIER: times} if times > 1 else {}
    elif stack in ("romio", "romio-lustre", "pnetcdf"):
        yield 0, {}
        for number in sorted({job.nodes * each for each in (1, 2, 4)} | {basis.targets}):
            if number <= job.nodes * job.ranks_per_node:
                config = f"*:{max(1, -(-number // job.nodes))}"
                yield number, {AGGREGATORS: number, "mpiio.cb_config_list": config}


def lock_choices(basis: Basis, *, collective_only: bool) -> tuple[int, ...]:
    """Return the lock modes that the MPI-IO has and the storage's figures tell of.

    Args:
        basis: With the storage.
        collective_only: Whether the program makes no independent calls at all, which one lock
            for all writers needs.
    """
    if basis.storage.stack != "cray":
        return (EXTENTS,)
    ahead = (AHEAD,) if basis.knows("locks.ahead") else ()
    relaxed = (RELAXED,) if collective_only and basis.knows("locks.revoke") else ()
    return (EXTENTS, *relaxed, *ahead)


def collective_trials(
    basis: Basis, job: Job, modes: tuple[int, ...], stripes: int = 0
) -> list[tuple[int, int, Trial]]:
    """Return aggregators, lock mode and trial of all choices, the defaults first."""
    count = stripes or basis.best_stripes(job)
    found = []
    for mode in modes:
        for number, settings in aggregator_choices(basis, job):
            locks: dict[str, Value] = {MODE: mode} if mode else {}
            words = f"{number or 'default'} aggregators, lock mode {mode}"
            found.append((number, mode, basis.into_one(
                job, {FACTOR: count, **settings, **locks}, words
            )))  # fmt: skip
    return found or [(0, EXTENTS, basis.into_one(job, {FACTOR: count}, "the defaults"))]


def best_shared(basis: Basis, job: Job) -> Trial:
    """Return the best way to write one file that any library allows."""
    modes = lock_choices(basis, collective_only=False)
    trials = [trial for _, _, trial in collective_trials(basis, job, modes)]
    if basis.storage.kind == "lustre":
        trials += [_in_stripes(one, size) for one in trials for size in STRIPE_SIZES]
    return max(trials, key=basis.rate)


def _in_stripes(trial: Trial, size: int) -> Trial:
    settings = as_settings({**dict(trial.settings), UNIT: size})
    return replace(trial, settings=settings, words=f"{trial.words}, stripes of {size_text(size)}")
