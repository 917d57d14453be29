# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Data that is collected on one process to be written."""

from __future__ import annotations

from collections.abc import Iterator

from stripewise.bench.advice.rules._base import (
    FACTOR,
    GAINS,
    Advice,
    Basis,
    Claim,
    Rule,
    Trial,
    as_settings,
)
from stripewise.bench.advice.rules._collective_settings import best_shared
from stripewise.bench.advice.rules._wording import evidence, of_nodes, shown, times, verb
from stripewise.present import rate_text


class SerialOutput(Rule):
    """What one process that writes for all others costs."""

    name = "serial"
    topic = "One process that writes for all"

    def missing(self, basis: Basis) -> str:
        """What one process writes."""
        if basis.by_capacity:
            return "it depends on the capacity that a job asks for: see burst-buffer"
        if not basis.storage.stack:
            return "the description does not say which MPI-IO its users have"
        if not basis.knows("client.process_write"):
            return "nobody knows what one process writes: add cases with one process"
        return ""

    def concerns(self, basis: Basis) -> bool:
        """Programs that write no file together."""
        return basis.program is None or not basis.program.is_shared

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield what one process writes for all at most."""
        job = basis.largest
        alone = Trial(
            "one process writes for all", basis.shared(job), "posix-serial",
            as_settings({FACTOR: basis.targets}),
        )  # fmt: skip
        best = max(best_shared(basis, job), basis.into_own(job, 1), key=basis.rate)
        rate, better = basis.range(alone), basis.rate(best)
        if better < GAINS * rate.value:
            return
        text = (
            f"Do not collect the data on one process to write it: that never exceeds "
            f"{shown(rate)}, however many nodes the job has. {of_nodes(job.nodes)} that "
            f"{verb(job.nodes, 'writes', 'write')} in parallel "
            f"{verb(job.nodes, 'reaches', 'reach')} {rate_text(better)}, "
            f"{times(better, rate.value)} as much."
        )
        yield Advice(
            self.name, self.topic, text, rate.value, rate.low, rate.high, "bytes per second",
            evidence(rate, basis), is_warning=True, claim=Claim(best, (), (alone,)),
        )  # fmt: skip
