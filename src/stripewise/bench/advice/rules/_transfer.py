# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advises how large the requests of a process should be."""

from __future__ import annotations

from collections.abc import Iterator

from stripewise.bench.advice.rules._base import (
    GAINS,
    PROCESS,
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
from stripewise.bench.advice.rules._wording import shown
from stripewise.present import rate_text, size_text
from stripewise.storage.simulation import workload_from_notation

KIB = 1 << 10
SIZES = tuple(KIB << n for n in range(2, 17, 2))
"""Request sizes to compare: 4 KiB, 16 KiB, ..., 64 MiB."""
_BYTES = 64 << 20


class TransferSize(Rule):
    """Advises on the smallest requests that are nearly as fast as large ones."""

    name = "transfer-size"
    topic = "Size of requests"

    needs = (
        PROCESS,
        Need.any_of(
            "what a small request costs is not known: add the suite transfer-size",
            "client.request", "servers.target_request",
        ),
    )  # fmt: skip

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield the size from which requests of one process are fast."""
        job = JobSize(1, 1)
        trials = {size: _trial(job, size) for size in SIZES}
        best = basis.simplest(list(trials.values()))
        size = next(size for size, trial in trials.items() if trial is best)
        small = trials[SIZES[0]]
        rate, lost = basis.range(best), basis.rate(small)
        if rate.value < GAINS * lost or size == SIZES[0]:
            return
        text = (
            f"Write and read at least {size_text(size)} in one call: a process then moves "
            f"{shown(rate)}, and in calls of {size_text(SIZES[0])} that go to the storage one by "
            f"one {rate_text(lost)}. Collect smaller pieces in a buffer."
        )
        how = (
            How("code", f"setvbuf(file, NULL, _IOFBF, {size})"),
            How("code", f'open(name, "wb", buffering={size})'),
        )
        claim = Claim(best, tuple(trials.values()), (small,))
        yield self.predicted(basis, text, rate, how, claim=claim)


def _trial(job: JobSize, size: int) -> Trial:
    work = workload_from_notation(
        f"<1D,(BLOCK),({size})>", job.nodes, job.ranks_per_node,
        element_bytes=1, steps=_BYTES // size, collective=False,
    )  # fmt: skip
    return Trial(f"calls of {size_text(size)}", work, "posix-process", as_settings({}))
