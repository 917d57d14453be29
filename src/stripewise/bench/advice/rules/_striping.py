# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advises over how many targets to stripe files, depending on their size and number."""

from __future__ import annotations

from collections.abc import Iterator

from stripewise.bench.advice.rules._base import (
    FACTOR,
    GAINS,
    UNIT,
    Advice,
    Basis,
    Claim,
    How,
    JobSize,
    Need,
    Rule,
    Trial,
)
from stripewise.bench.advice.rules._wording import (
    of_nodes,
    setstripe,
    shown,
    slower,
    stripes_text,
    verb,
)
from stripewise.present import rate_text, size_text

MIB = 1 << 20
_SIZES = (1 * MIB, 4 * MIB, 16 * MIB, 64 * MIB)
SMALL = 1 * MIB


class Striping(Rule):
    """Advises on stripes of files shared by many nodes, files per process, and small files."""

    name = "striping"
    topic = "Striping"

    needs = (
        Need(
            "users choose the stripes of their files on Lustre only",
            lambda basis: basis.storage.kind == "lustre",
        ),
        Need("the storage has one target", lambda basis: basis.targets > 1),
        Need.all_of(
            "how fast a process and a target are is not known: add cases of each",
            "servers.target_write", "client.process_write",
        ),
    )  # fmt: skip

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield how to stripe shared files and files per process."""
        program = basis.program
        if program is None or program.is_shared:
            yield from self._shared(basis)
        if program is None or not program.is_shared:
            yield from self._own(basis)

    def _shared(self, basis: Basis) -> Iterator[Advice]:
        job, targets = basis.largest, basis.targets
        count = basis.best_stripes(job)
        trials = {
            n: basis.into_one(job, {FACTOR: n}, stripes_text(n, targets))
            for n in basis.stripe_counts
        }
        best, one = basis.range(trials[count]), basis.rate(trials[1])
        others = tuple(trials.values())
        if best.value < GAINS * one:
            if len(others) > 1 and count == 1:
                yield self._by_command(
                    f"One stripe is enough also for a file that {of_nodes(job.nodes)} "
                    f"{verb(job.nodes, 'writes', 'write')} together: {shown(best)}.",
                    basis, Claim(trials[1], others), setstripe(1, targets),
                )  # fmt: skip
            return
        yield self._by_command(
            f"Stripe a large file that many nodes write together over "
            f"{stripes_text(count, targets)}: {of_nodes(job.nodes)} "
            f"{verb(job.nodes, 'writes', 'write')} it at {shown(best)}, and a file of one "
            f"stripe at {rate_text(one)}. Stripe the directory before the file is made.",
            basis, Claim(trials[count], others, (trials[1],)), setstripe(count, targets),
        )  # fmt: skip
        yield from self._size(basis, job, count, trials[count])

    def _size(self, basis: Basis, job: JobSize, count: int, usual: Trial) -> Iterator[Advice]:
        default = int(basis.storage.value("layout.stripe_size"))
        sizes = [default, *(one for one in _SIZES if one != default)]
        trials = [
            basis.into_one(job, {FACTOR: count, UNIT: one}, f"stripes of {size_text(one)}")
            for one in sizes
        ]
        chosen = basis.simplest(trials)
        rate = basis.range(chosen)
        if rate.value < GAINS * basis.rate(usual):
            return
        size = sizes[trials.index(chosen)]
        yield self._by_command(
            f"Give such a file stripes of {size_text(size)}: {shown(rate)} in place of "
            f"{rate_text(basis.rate(usual))} with the default of {size_text(default)}.",
            basis, Claim(chosen, tuple(trials), (usual,)), setstripe(count, basis.targets, size),
        )  # fmt: skip

    def _own(self, basis: Basis) -> Iterator[Advice]:
        job, targets = basis.largest, basis.targets
        kinds = [(0, "files that each process writes by itself")]
        if basis.program is None:
            kinds.append((SMALL, f"small files ({size_text(SMALL)})"))
        for size, what in kinds:
            single, all_ = (basis.into_own(job, n, size) for n in (1, targets))
            rate, lost = basis.range(single), basis.rate(all_)
            if rate.value < GAINS * lost:
                continue
            text = (
                f"Do not stripe {what}: with one stripe {of_nodes(job.nodes)} "
                f"{verb(job.nodes, 'writes', 'write')} them at {shown(rate)}, over all "
                f"{targets} targets at {rate_text(lost)} ({slower(rate.value, lost)})."
            )
            claim = Claim(single, loses=(all_,))
            yield self._by_command(text, basis, claim, setstripe(1, targets), warns=True)

    def _by_command(
        self, text: str, basis: Basis, claim: Claim, command: str, *, warns: bool = False
    ) -> Advice:
        """Return advice that is followed with one command."""
        rate, how = basis.range(claim.advised), How("command", command)
        return self.predicted(basis, text, rate, (how,), claim=claim, warns=warns)
