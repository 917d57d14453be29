# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares aggregator counts and lock modes of collective writes, by model or by campaign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stripewise.bench.advice.rules._base import (
    FACTOR,
    GAINS,
    UNIT,
    Advice,
    Basis,
    How,
    JobSize,
    Rule,
    Trial,
    as_settings,
    keys_of,
)
from stripewise.bench.advice.rules._wording import (
    COLLECTIVE_ONLY,
    aggregators_text,
    joined,
    of_nodes,
    times,
    verb,
)
from stripewise.bench.campaign import CaseFigures
from stripewise.core import Value
from stripewise.present import rate_text, size_text

Figures = Sequence[CaseFigures]


def by_mode(figures: Figures) -> dict[int, list[CaseFigures]]:
    """Return the collective writes with most nodes by lock mode; empty if only one was used."""
    chosen = _chosen(figures)
    most = max((one.case.nodes for one in chosen), default=0)
    modes: dict[int, list[CaseFigures]] = {}
    for one in chosen:
        if one.case.nodes == most:
            modes.setdefault(_setting(one, MODE, EXTENTS), []).append(one)
    return modes if len(modes) > 1 and EXTENTS in modes else {}


def by_number(figures: Figures) -> dict[int, dict[int, CaseFigures]]:
    """Return collective writes with the default locks: nodes to aggregators to figures.

    Only numbers of nodes measured with both one and more aggregators per stripe are included.
    """
    found: dict[int, dict[int, CaseFigures]] = {}
    for one in _chosen(figures):
        if _setting(one, MODE, EXTENTS) == EXTENTS:
            numbers = found.setdefault(one.case.nodes, {})
            number = _setting(one, MULTIPLIER, 1)
            if number not in numbers or numbers[number].median < one.median:
                numbers[number] = one
    return {
        nodes: group for nodes, group in sorted(found.items()) if 1 in group and len(group) > 1
    }


def measured_modes(rule: Rule, basis: Basis) -> Iterator[Advice]:
    """Yield the measured gain of relaxed locks."""
    best = {
        mode: max(group, key=lambda one: one.median)
        for mode, group in by_mode(basis.figures).items()
    }
    usual = best.pop(EXTENTS)
    mode, found = max(best.items(), key=lambda one: one[1].median)
    if found.median < GAINS * usual.median:
        return
    count = _setting(found, MULTIPLIER, 1)
    who = "shared files" if mode == AHEAD else "a program whose I/O is all collective MPI-IO"
    text = (
        f"For {who}, set lock mode {mode} and {aggregators_text(count)} for each stripe on "
        f"{of_nodes(found.case.nodes)}: they write one file at {_shown(found)}, "
        f"{times(found.median, usual.median)} the best of the default locks."
    )
    words = f"cray_cb_write_lock_mode={mode}:cray_cb_nodes_multiplier={count}"
    if mode == RELAXED:
        words = f"{COLLECTIVE_ONLY}:{words}"
    yield _measured(rule, text, found, usual, words)


def measured_numbers(rule: Rule, basis: Basis) -> Iterator[Advice]:
    """Yield the numbers of aggregators that were measured to be better than the default."""
    better = {}
    for nodes, group in by_number(basis.figures).items():
        number, found = max(group.items(), key=lambda one: one[1].median)
        if found.median >= GAINS * group[1].median:
            better[nodes] = number, found, group[1]
    if not better:
        return
    nodes = max(better)
    number, found, usual = better[nodes]
    each = joined([f"{count} for {of_nodes(n)}" for n, (count, _, _) in better.items()])
    text = (
        f"Set the number of aggregators for each stripe by the size of the job: {each}. "
        f"{of_nodes(nodes)} then {verb(nodes, 'writes', 'write')} one file with "
        f"{_shown(found)} in place of {rate_text(usual.median)}."
    )
    words = f"cray_cb_nodes_multiplier={number}"
    yield _measured(rule, text, found, usual, words)


def _measured(rule: Rule, text: str, found: CaseFigures, usual: CaseFigures, words: str) -> Advice:
    how = How("variable", f'export MPICH_MPIIO_HINTS="*:{words}"')
    return Advice(
        rule.name, rule.topic, text, found.median, found.low, found.high, "bytes per second",
        keys_of((found, usual)), (how,),
    )  # fmt: skip


def _chosen(figures: Figures) -> list[CaseFigures]:
    return [
        one for one in figures
        if one.operation == "write" and one.case.backend == "mpiio"
        and one.case.mode == "collective"
        and {MODE, MULTIPLIER} & dict(one.case.settings).keys()
    ]  # fmt: skip


def _setting(one: CaseFigures, name: str, default: int) -> int:
    value = dict(one.case.settings).get(name, default)
    return value if isinstance(value, int) else default


def _shown(one: CaseFigures) -> str:
    return f"{rate_text(one.median)} ({rate_text(one.low)} to {rate_text(one.high)})"


# Settings of collective writes that users of each MPI-IO can choose.

MULTIPLIER, MODE = "mpiio.cray_cb_nodes_multiplier", "mpiio.cray_cb_write_lock_mode"
RATIO, AGGREGATORS = "mpiio.romio_lustre_co_ratio", "mpiio.cb_nodes"
EXTENTS, RELAXED, AHEAD = 0, 1, 2
"""Lock modes: extent locks; one lock for all writers; locks that are requested ahead."""
STRIPE_SIZES = (4 << 20, 16 << 20, 64 << 20)
TIMES = (1, 2, 4, 8, 16, 32)


def aggregator_choices(basis: Basis, job: JobSize) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield possible numbers of aggregators with their settings, the default first.

    The number is per stripe (Cray) or in total.
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
    """Return the lock modes of the MPI-IO for which the storage has figures.

    Args:
        basis: Basis with the storage.
        collective_only: Whether the program makes no independent calls at all, as one lock for
            all writers requires.
    """
    if basis.storage.stack != "cray":
        return (EXTENTS,)
    ahead = (AHEAD,) if basis.knows("locks.ahead") else ()
    relaxed = (RELAXED,) if collective_only and basis.knows("locks.revoke") else ()
    return (EXTENTS, *relaxed, *ahead)


def collective_trials(
    basis: Basis, job: JobSize, modes: tuple[int, ...], stripes: int = 0
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


def best_shared(basis: Basis, job: JobSize) -> Trial:
    """Return the best way to write one file with any library."""
    modes = lock_choices(basis, collective_only=False)
    trials = [trial for _, _, trial in collective_trials(basis, job, modes)]
    if basis.storage.kind == "lustre":
        trials += [_in_stripes(one, size) for one in trials for size in STRIPE_SIZES]
    return max(trials, key=basis.rate)


def _in_stripes(trial: Trial, size: int) -> Trial:
    settings = as_settings({**dict(trial.settings), UNIT: size})
    return replace(trial, settings=settings, words=f"{trial.words}, stripes of {size_text(size)}")
