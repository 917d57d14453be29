# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How many processes write for the others in collective calls, with the default locks."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from stripewise.advice._base import GAINS, Advice, Claim, Rule, Trial
from stripewise.advice._basis import GOOD, Basis, Job
from stripewise.advice._choices import (
    AHEAD,
    EXTENTS,
    MULTIPLIER,
    aggregator_choices,
    collective_trials,
    lock_choices,
)
from stripewise.advice._hints import hint_variable
from stripewise.advice._words import evidence, joined, of_nodes, shown, verb
from stripewise.model import Value
from stripewise.simulation import rate_text


class AggregatorNumber(Rule):
    """One writer for each stripe by default, and where more of them pay."""

    name = "aggregators"
    topic = "Collective buffering"

    def missing(self, basis: Basis) -> str:
        """An MPI-IO whose aggregators users choose, and what a process and a target do."""
        if basis.storage.stack not in ("cray", "romio", "romio-lustre"):
            return "users of this MPI-IO do not choose the number of aggregators"
        if not basis.knows("client.process_write", "servers.target_write"):
            return "nobody knows what one process and one target do: add cases of each"
        if not basis.knows("locks.revoke"):
            return (
                "nobody knows what it costs that several aggregators share a target: add the "
                "suite aggregators"
            )
        return ""

    def concerns(self, basis: Basis) -> bool:
        """Programs that make collective calls."""
        return basis.program is None or basis.program.is_collective

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield what the default is, and the number of aggregators for each size of job."""
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
        rate, what = basis.range(trial), _what(basis)
        each = joined([f"{count} for {of_nodes(one.nodes)}" for one, (count, _) in better.items()])
        text = (
            f"Set the {what} by the size of the job: {each}. {of_nodes(last.nodes)} then "
            f"{verb(last.nodes, 'writes', 'write')} one file with {shown(rate)} in place of "
            f"{rate_text(basis.rate(usual))}."
        )
        every = tuple(one for _, _, one in collective_trials(basis, last, (EXTENTS,)))
        yield Advice(
            self.name, self.topic, text, rate.value, rate.low, rate.high, "bytes per second",
            evidence(rate, basis), tuple(hint_variable(basis, trial)),
            defaults=site_defaults(basis), claim=Claim(trial, every, (usual,)),
        )  # fmt: skip

    def _writers(self, basis: Basis, job: Job) -> Advice:
        process = basis.storage.value("client.process_write")
        stripes = basis.best_stripes(job)
        usual = collective_trials(basis, job, (EXTENTS,), stripes)[0][2]
        rate = basis.range(usual)
        text = (
            "Collective calls use one writer for each stripe of the file, on different nodes: "
            f"with {stripes} stripes at most {stripes} times the {rate_text(process)} of one process. "
            f"With these defaults {of_nodes(job.nodes)} {verb(job.nodes, 'writes', 'write')} one "
            f"file with {shown(rate)}."
        )
        return Advice(
            self.name, self.topic, text, rate.value, rate.low, rate.high, "bytes per second",
            evidence(rate, basis), is_warning=True,
        )  # fmt: skip


def site_defaults(basis: Basis) -> dict[str, str]:
    """Return hints with which every size of job writes at least as well as without them.

    Source: chosen; the geometric mean over the sizes of jobs has to gain, and none may lose more
    than `GOOD` allows.
    """
    if basis.storage.stack != "cray" or basis.program is not None:
        return {}
    modes = [one for one in lock_choices(basis, collective_only=False) if one != AHEAD]
    found_means: list[tuple[float, dict[str, Value]]] = []
    for number, settings in aggregator_choices(basis, basis.largest):
        gains = []
        for job in basis.jobs:
            found = collective_trials(basis, job, tuple(modes))
            usual = found[0][2]
            trial = next(one for count, _, one in found if count == number)
            gains.append(basis.rate(trial) / max(basis.rate(usual), 1.0))
        mean = prod(gains) ** (1 / len(gains))
        if min(gains) >= GOOD and mean >= GAINS:
            found_means.append((mean, settings))
    if not found_means:
        return {}
    most = max(mean for mean, _ in found_means)
    chosen = next(settings for mean, settings in found_means if mean >= GOOD * most)
    return {"MPICH_MPIIO_HINTS": f"*:cray_cb_nodes_multiplier={chosen[MULTIPLIER]}"}


def _best(basis: Basis, job: Job) -> tuple[int, Trial, Trial]:
    """Return the number of aggregators, its trial, and that of the default."""
    found = collective_trials(basis, job, (EXTENTS,))
    chosen = basis.simplest([trial for _, _, trial in found])
    number = next(count for count, _, trial in found if trial is chosen)
    return number, chosen, found[0][2]


def _what(basis: Basis) -> str:
    if basis.storage.stack == "cray":
        return "number of aggregators for each stripe"
    return "number of aggregators"
