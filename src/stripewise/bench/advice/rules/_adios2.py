# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advises on ADIOS2, whose aggregators write their own files."""

from __future__ import annotations

from collections.abc import Iterator

from stripewise.bench.advice.rules._base import (
    FACTOR,
    FIXED_SIZE,
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
from stripewise.bench.advice.rules._collective_settings import best_shared
from stripewise.bench.advice.rules._wording import of_nodes, shown, times, verb
from stripewise.core import Value
from stripewise.present import rate_text

NUMBER = "adios2.NumAggregators"
PAYS = 1.5
"""Gain below which users are not advised to change the program's library."""


class Adios2(Rule):
    """Compares ADIOS2's subfiles with the best shared file."""

    name = "adios2"
    topic = "ADIOS2"

    needs = (
        FIXED_SIZE,
        MPIIO,
        Need.all_of(
            "what a process and a node write is not known: add cases of each",
            "client.process_write", "client.node_write",
        ),
    )  # fmt: skip

    def concerns(self, program: Program) -> bool:
        """Return whether the program writes shared files or already uses ADIOS2."""
        return program.is_shared or program.library == "ADIOS2"

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield the number of aggregators with which ADIOS2 beats the best shared file."""
        job = basis.largest
        one = best_shared(basis, job)
        trials = _trials(basis, job)
        best = basis.simplest(trials)
        rate, other = basis.range(best), basis.rate(one)
        uses = basis.program is not None and basis.program.library == "ADIOS2"
        if rate.value < PAYS * other and not uses:
            return
        number = dict(best.settings).get(NUMBER, 0)
        each = int(number) // job.nodes if isinstance(number, int) and number else 1
        text = (
            f"ADIOS2 (BP5) with {'one aggregator' if each == 1 else f'{each} aggregators'} a node "
            f"lets {of_nodes(job.nodes)} write at {shown(rate)}"
        )
        if not uses:
            text += (
                f", {times(rate.value, other)} the best shared file ({rate_text(other)}), because "
                "its aggregators write files of their own. Use it for output whose readers can "
                "read ADIOS2"
            )
        how = How("code", f'io.set_parameter("NumAggregators", "{each * job.nodes}")')
        claim = Claim(best, tuple(trials), () if uses else (one,))
        yield self.predicted(basis, f"{text}.", rate, (how,), claim=claim)


def _trials(basis: Basis, job: JobSize) -> list[Trial]:
    found = []
    for each in (1, 2, 4, 8, 16, 32, 64):
        if each > job.ranks_per_node:
            break
        settings: dict[str, Value] = {FACTOR: 1, NUMBER: each * job.nodes}
        words = f"{each} aggregators a node, {verb(each, 'one file', 'a file')} each"
        found.append(Trial(words, basis.shared(job), "adios2", as_settings(settings)))
    return found
