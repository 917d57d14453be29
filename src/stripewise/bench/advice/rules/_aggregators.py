# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advises when to use collective calls, and with how many aggregators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from stripewise.bench.advice.rules._base import (
    FACTOR,
    GAINS,
    GOOD,
    MPIIO,
    Advice,
    Basis,
    Claim,
    How,
    JobSize,
    Need,
    Program,
    Rule,
    Trial,
    as_settings,
)
from stripewise.bench.advice.rules._collective_settings import (
    EXTENTS,
    MULTIPLIER,
    aggregator_choices,
    by_number,
    collective_trials,
    measured_numbers,
)
from stripewise.bench.advice.rules._wording import (
    hint_variable,
    joined,
    of_nodes,
    shown,
    slower,
    times,
    verb,
)
from stripewise.present import rate_text

# Collective or independent calls, depending on what the ranks write.


_MOST_NODES = 16


class CollectiveCalls(Rule):
    """Advises whether two-phase I/O is worth it for interleaved data."""

    name = "collective"
    topic = "Collective calls"

    needs = (
        MPIIO,
        Need.any_of(
            "what a small request costs is not known: add the suite transfer-size",
            "client.request", "locks.revoke",
        ),
    )  # fmt: skip

    def concerns(self, program: Program) -> bool:
        """Return whether the program writes shared files."""
        return program.is_shared

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield which kind of calls is faster for a 3-D array, or for the program."""
        job = next(
            (one for one in reversed(basis.jobs) if one.nodes <= _MOST_NODES), basis.jobs[0]
        )
        together = basis.into_one(job, {FACTOR: basis.best_stripes(job)}, "collective calls")
        alone = replace(
            together, words="independent calls", workload=basis.shared(job, collective=False)
        )
        fast, slow = sorted((together, alone), key=basis.rate, reverse=True)
        rate, lost = basis.range(fast), basis.rate(slow)
        if not lost or rate.value < GAINS * lost:
            return
        what = "the program's data" if basis.program else "an array of several dimensions"
        who = f"{of_nodes(job.nodes)} {verb(job.nodes, 'writes', 'write')}"
        if fast is together:
            text = (
                f"Write {what} by collective calls: {who} one file at {shown(rate)}, and by "
                f"independent calls at {rate_text(lost)} ({slower(rate.value, lost)})."
            )
            code = "MPI_File_write_all; in HDF5 H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE)"
        else:
            text = (
                f"Independent calls write {what} faster: {who} one file at {shown(rate)}, and "
                f"by collective calls at {rate_text(lost)}."
            )
            code = "MPI_File_write_at"
        claim = Claim(fast, loses=(slow,))
        yield self.predicted(basis, text, rate, (How("code", code),), claim=claim)


class AggregatorNumber(Rule):
    """Advises where more than the default of one aggregator per stripe are faster."""

    name = "aggregators"
    topic = "Collective buffering"

    needs = (
        Need(
            "users of this MPI-IO do not choose the number of aggregators",
            lambda basis: basis.storage.stack in ("cray", "romio", "romio-lustre"),
        ),
        Need.all_of(
            "what one process and one target do is not known: add cases of each",
            "client.process_write", "servers.target_write",
        ),
        Need(
            "what it costs that several aggregators share a target is not known: add the "
            "suite aggregators",
            lambda basis: basis.knows("locks.revoke") or bool(by_number(basis.figures)),
        ),
    )  # fmt: skip

    def concerns(self, program: Program) -> bool:
        """Return whether most of the program's MPI-IO is collective."""
        return program.is_collective

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield the default, and the number of aggregators for each job size."""
        if not basis.knows("locks.revoke"):
            yield from measured_numbers(self, basis)
            return
        job = basis.largest
        chosen = {one: _best(basis, one) for one in basis.jobs}
        if basis.storage.stack == "cray":
            yield self._writers(basis, job)
        better = {
            one: (number, trial) for one, (number, trial, usual) in chosen.items()
            if basis.rate(trial) >= GAINS * basis.rate(usual)
        }  # fmt: skip
        if not better:
            return
        last = max(better, key=lambda one: one.nodes)
        trial = better[last][1]
        usual = chosen[last][2]
        rate, what = basis.range(trial), _program_phrase(basis)
        each = joined([f"{count} for {of_nodes(one.nodes)}" for one, (count, _) in better.items()])
        text = (
            f"Set the {what} by the size of the job: {each}. {of_nodes(last.nodes)} then "
            f"{verb(last.nodes, 'writes', 'write')} one file at {shown(rate)} in place of "
            f"{rate_text(basis.rate(usual))}."
        )
        every = tuple(one for _, _, one in collective_trials(basis, last, (EXTENTS,)))
        how = hint_variable(basis, trial)
        yield self.predicted(basis, text, rate, how, claim=Claim(trial, every, (usual,)))
        yield from self._default(basis, chosen)

    def _default(
        self, basis: Basis, chosen: dict[JobSize, tuple[int, Trial, Trial]]
    ) -> Iterator[Advice]:
        """Yield the number of aggregators that is good for jobs of every size, if there is one."""
        times_each = site_default(basis)
        if not times_each:
            return
        rates = {}
        for job, (_, _, usual) in chosen.items():
            settings = as_settings({**dict(usual.settings), MULTIPLIER: times_each})
            trial = replace(usual, settings=settings, words=f"{times_each} for each stripe")
            rates[job] = basis.range(trial), basis.rate(usual), trial
        gains = joined([
            f"{times(now.value, before)} on {of_nodes(job.nodes)}"
            for job, (now, before, _) in rates.items()
        ])  # fmt: skip
        rate, _, trial = rates[basis.largest]
        text = (
            f"As one value for jobs of every size, {times_each} aggregators for each stripe suit "
            f"best: they write one file {gains} as fast as the default."
        )
        defaults = {"MPICH_MPIIO_HINTS": f"*:cray_cb_nodes_multiplier={times_each}"}
        yield self.predicted(basis, text, rate, hint_variable(basis, trial), defaults=defaults)

    def _writers(self, basis: Basis, job: JobSize) -> Advice:
        process = basis.storage.value("client.process_write")
        stripes = basis.best_stripes(job)
        usual = collective_trials(basis, job, (EXTENTS,), stripes)[0][2]
        rate = basis.range(usual)
        text = (
            "Collective calls use one writer for each stripe of the file, on different nodes: "
            f"with {stripes} stripes at most {stripes} times the {rate_text(process)} of one "
            f"process. With these defaults {of_nodes(job.nodes)} "
            f"{verb(job.nodes, 'writes', 'write')} one file at {shown(rate)}."
        )
        return self.predicted(basis, text, rate)


def site_default(basis: Basis) -> int:
    """Return the aggregators per stripe with which jobs of every size write well; 0 if none.

    Source: chosen; the geometric mean over the job sizes must improve, and none may lose more
    than `GOOD` allows.
    """
    if basis.storage.stack != "cray" or basis.program is not None:
        return 0
    means: dict[int, float] = {}
    for number, _ in aggregator_choices(basis, basis.largest):
        gains = []
        for job in basis.jobs:
            found = collective_trials(basis, job, (EXTENTS,))
            trial = next(one for count, _, one in found if count == number)
            gains.append(basis.rate(trial) / max(basis.rate(found[0][2]), 1.0))
        mean = prod(gains) ** (1 / len(gains))
        if number > 1 and min(gains) >= GOOD and mean >= GAINS:
            means[number] = mean
    most = max(means.values(), default=0.0)
    return next((number for number, mean in means.items() if mean >= GOOD * most), 0)


def _best(basis: Basis, job: JobSize) -> tuple[int, Trial, Trial]:
    """Return the best number of aggregators, its trial, and the trial of the default."""
    found = collective_trials(basis, job, (EXTENTS,))
    chosen = basis.simplest([trial for _, _, trial in found])
    number = next(count for count, _, trial in found if trial is chosen)
    return number, chosen, found[0][2]


def _program_phrase(basis: Basis) -> str:
    if basis.storage.stack == "cray":
        return "number of aggregators for each stripe"
    return "number of aggregators"
