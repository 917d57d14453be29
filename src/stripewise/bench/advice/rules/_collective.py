# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Collective calls or independent ones, by what the ranks write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stripewise.bench.advice.rules._base import FACTOR, GAINS, Advice, Basis, Claim, How, Rule
from stripewise.bench.advice.rules._wording import evidence, of_nodes, shown, slower, verb
from stripewise.present import rate_text

_MOST_NODES = 16


class CollectiveCalls(Rule):
    """What two-phase I/O brings to interleaved data."""

    name = "collective"
    topic = "Collective calls"

    def missing(self, basis: Basis) -> str:
        """What small requests, or locks between nodes, cost."""
        if not basis.storage.stack:
            return "the description does not say which MPI-IO its users have"
        if basis.knows("client.request") or basis.knows("locks.revoke"):
            return ""
        return "nobody knows what a small request costs: add the suite transfer-size"

    def concerns(self, basis: Basis) -> bool:
        """Programs that write shared files."""
        return basis.program is None or basis.program.is_shared

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield which of the two is faster for a 3-D array, or for the program."""
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
                f"Write {what} by collective calls: {who} one file with {shown(rate)}, and by "
                f"independent calls with {rate_text(lost)} ({slower(rate.value, lost)})."
            )
            code = "MPI_File_write_all; in HDF5 H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE)"
        else:
            text = (
                f"Independent calls write {what} faster: {who} one file with {shown(rate)}, and "
                f"by collective calls with {rate_text(lost)}."
            )
            code = "MPI_File_write_at"
        yield Advice(
            self.name, self.topic, text, rate.value, rate.low, rate.high, "bytes per second",
            evidence(rate, basis), (How("code", code),), claim=Claim(fast, (), (slow,)),
        )  # fmt: skip
