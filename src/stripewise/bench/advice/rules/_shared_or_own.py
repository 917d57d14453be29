# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advises whether to write one file or many, and against writing through one process."""

from __future__ import annotations

from collections.abc import Iterator

from stripewise.bench.advice.rules._base import (
    FACTOR,
    FIXED_SIZE,
    GAINS,
    MPIIO,
    PROCESS,
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
from stripewise.bench.advice.rules._collective_settings import best_shared
from stripewise.bench.advice.rules._wording import (
    hint_variable,
    of_nodes,
    shown,
    times,
    verb,
)
from stripewise.present import count_text, rate_text

_MOST = 256
EASIER = 1.25
"""Gain from which it is worth the trouble to have many files."""
FLAT = 1.1
"""Gain with twice the nodes below which a rate counts as saturated."""


class SharedOrOwn(Rule):
    """Advises which of the two is faster here, and from where more nodes bring nothing."""

    name = "shared-or-own"
    topic = "One file or many"

    needs = (
        FIXED_SIZE,
        MPIIO,
        Need.any_of(PROCESS.words, "client.process_write", "client.file_write"),
    )

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield the comparison at the largest job, saturation, and the shared file's ceiling."""
        job = basis.largest
        one, own = best_shared(basis, job), basis.into_own(job, 1)
        shared_rate, own_rate = basis.range(one), basis.range(own)
        if job.nodes > 1 and own_rate.value >= EASIER * shared_rate.value:
            yield self._own(basis, job, one, own)
            yield from self._ceiling(basis, job, one)
        elif job.nodes > 1:
            near = "" if shared_rate.value >= own_rate.value / FLAT else "nearly "
            text = (
                f"One shared file is written {near}as fast as a file for each process: "
                f"{of_nodes(job.nodes)} write it at {shown(shared_rate)}, and files of their "
                f"own at {rate_text(own_rate.value)}. Prefer the shared file, which is easier "
                "to keep."
            )
            claim = Claim(one, () if near else (own,))
            yield self.predicted(basis, text, shared_rate, hint_variable(basis, one), claim=claim)
        if basis.program is None:
            yield from self._saturates(basis)

    def _own(self, basis: Basis, job: JobSize, one: Trial, own: Trial) -> Advice:
        rate, other = basis.range(own), basis.rate(one)
        files = job.nodes * job.ranks_per_node
        seconds = files * (
            basis.storage.value("metadata.create") + basis.storage.value("metadata.object")
        )
        cost = (
            f" Creating the {count_text(files)} files takes {seconds:.1f} s."
            if seconds >= 0.1
            else ""
        )
        text = (
            f"A file for each process is {times(rate.value, other)} as fast as one shared file: "
            f"{of_nodes(job.nodes)} {verb(job.nodes, 'writes', 'write')} files of their own with "
            f"{shown(rate)}, and a shared file at {rate_text(other)} at best.{cost} "
            "Use it for what one job writes and the same job reads again, such as checkpoints."
        )
        how = How("code", "each process opens a file of its own, such as output.RANK")
        return self.predicted(basis, text, rate, (how,), claim=Claim(own, (one,), (one,)))

    def _ceiling(self, basis: Basis, job: JobSize, one: Trial) -> Iterator[Advice]:
        """Yield the maximum rate of a shared file, if more nodes do not increase it."""
        most = min(int(basis.storage.value("machine.nodes")), _MOST)
        if basis.program or most < 2 * job.nodes:
            return
        twice = basis.range(best_shared(basis, JobSize(2 * job.nodes, job.ranks_per_node)))
        rate = basis.range(one)
        if twice.value > FLAT * rate.value:
            return
        top = max(rate, twice, key=lambda found: found.value)
        text = (
            f"A shared file never exceeds {shown(top)} here, however many nodes write it. A "
            "program that needs more writes several files."
        )
        yield self.predicted(basis, text, top, warns=True)

    def _saturates(self, basis: Basis) -> Iterator[Advice]:
        each = basis.largest.ranks_per_node
        most = min(int(basis.storage.value("machine.nodes")), _MOST)
        nodes = [1 << n for n in range(9) if 1 << n <= most]
        trials = [basis.into_own(JobSize(n, each), 1) for n in nodes]
        rates = [basis.rate(one) for one in trials]
        top = max(rates)
        place = next(n for n, rate in enumerate(rates) if rate * FLAT >= top)
        if place == len(nodes) - 1 or top > basis.unproven_above:
            return
        number, rate = nodes[place], basis.range(trials[place])
        text = (
            f"Files of each process saturate the storage from {of_nodes(number)} with {each} "
            f"ranks each: {shown(rate)}. More nodes do not write faster."
        )
        yield self.predicted(basis, text, rate, claim=Claim(trials[place], tuple(trials)))


# Output that is collected and written by one process.


class SerialOutput(Rule):
    """Warns about the rate of one process that writes for all others."""

    name = "serial"
    topic = "One process that writes for all"

    needs = (FIXED_SIZE, MPIIO, PROCESS)

    def concerns(self, program: Program) -> bool:
        """Return whether the program writes no file collectively."""
        return not program.is_shared

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield the maximum rate at which one process writes for all."""
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
        claim = Claim(best, loses=(alone,))
        yield self.predicted(basis, text, rate, claim=claim, warns=True)
