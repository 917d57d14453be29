# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advises how much of a burst buffer a job should request."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from stripewise.bench.advice.rules._base import (
    GAINS,
    Advice,
    Basis,
    Claim,
    How,
    JobSize,
    Need,
    Rule,
    Trial,
    as_settings,
)
from stripewise.bench.advice.rules._wording import of_nodes, shown
from stripewise.present import plural, rate_text, size_text

_GIB = 1 << 30


class BurstBuffer(Rule):
    """Advises on the number of burst-buffer nodes for each job size."""

    name = "burst-buffer"
    topic = "Burst buffer"

    needs = (
        Need(
            "the storage is not a burst buffer that is allocated by capacity",
            lambda basis: basis.storage.kind == "datawarp" and basis.by_capacity,
        ),
    )

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield the capacity to request, by job size."""
        for job in basis.jobs:
            yield from self._of(basis, job)

    def _of(self, basis: Basis, job: JobSize) -> Iterator[Advice]:
        grain = int(basis.storage.value("layout.granularity"))
        trials = {n: _trial(basis, job, n, grain) for n in basis.stripe_counts}
        best = basis.simplest(list(trials.values()))
        number = next(n for n, trial in trials.items() if trial is best)
        rate, least = basis.range(best), basis.rate(trials[1])
        if number == 1 or rate.value < GAINS * least:
            return
        capacity = ceil(number * grain / _GIB)
        text = (
            f"Ask for {size_text(best.capacity_bytes)} of the burst buffer for a job of "
            f"{of_nodes(job.nodes)}, whatever its files need: that is "
            f"{plural(number, 'burst-buffer node')}, to which the job "
            f"writes files of its processes at {shown(rate)}; one node "
            f"takes {rate_text(least)}. More nodes bring nothing."
        )
        line = f"#DW jobdw type=scratch access_mode=striped capacity={capacity}GiB"
        claim = Claim(best, tuple(trials.values()), (trials[1],))
        yield self.predicted(basis, text, rate, (How("directive", line),), claim=claim)


def _trial(basis: Basis, job: JobSize, number: int, grain: int) -> Trial:
    return Trial(
        plural(number, "burst-buffer node"), basis.own(job), "posix-process", as_settings({}),
        capacity_bytes=number * grain,
    )  # fmt: skip
