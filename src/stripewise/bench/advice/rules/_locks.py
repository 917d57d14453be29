# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advises on lock modes of collective writes, and which programs must not relax locks."""

from __future__ import annotations

from collections.abc import Iterator

from stripewise.bench.advice.rules._base import (
    GAINS,
    Advice,
    Basis,
    Claim,
    How,
    JobSize,
    Need,
    Program,
    Rule,
    Trial,
)
from stripewise.bench.advice.rules._collective_settings import (
    EXTENTS,
    RELAXED,
    by_mode,
    collective_trials,
    lock_choices,
    measured_modes,
)
from stripewise.bench.advice.rules._wording import (
    COLLECTIVE_ONLY,
    aggregators_text,
    hint_variable,
    joined,
    of_nodes,
    shown,
    times,
)
from stripewise.present import rate_text

WHY_NOT = (
    "Do not use lock mode 1 with HDF5 or NetCDF, nor in a program that makes any independent "
    "call on the same file: these libraries write metadata into the file by calls that are not "
    "collective, even where all calls of the program are, and one lock for all writers does not "
    "protect them."
)
WHY_SOURCES = (
    "Cray MPICH, intro_mpi(3): lock mode 1 is for files that collective calls alone write",
    "Henty (EPCC), Performance of Parallel IO on the 5860-node HPE Cray EX System ARCHER2: "
    "relaxed locking is no option for NetCDF and HDF5",
)


class LockModes(Rule):
    """Advises on lock modes with which several aggregators share a target."""

    name = "lock-mode"
    topic = "Locks of shared files"

    needs = (
        Need("only Cray MPICH has lock modes", lambda basis: basis.storage.stack == "cray"),
        Need(
            "what locks cost here is not known: add the suite aggregators",
            lambda basis: basis.knows("locks.revoke") or bool(by_mode(basis.figures)),
        ),
    )

    def concerns(self, program: Program) -> bool:
        """Return whether most of the program's MPI-IO is collective."""
        return program.is_collective

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield the gain of relaxed locks for MPI-IO, and what HDF5 and NetCDF can use."""
        above = basis.program.library in ("HDF5", "NetCDF", "PnetCDF") if basis.program else False
        found: list[Advice] = []
        if not basis.knows("locks.revoke"):
            found += measured_modes(self, basis)
        else:
            if not above:
                modes = lock_choices(basis, collective_only=True)
                found += self._modes(basis, modes, "a program whose I/O is all collective MPI-IO")
            if basis.program is None or above:
                modes = lock_choices(basis, collective_only=False)
                found += self._modes(basis, modes, "HDF5 and NetCDF")
        yield from found
        if found and (basis.program is None or above):
            one = found[0]
            yield Advice(
                self.name, self.topic, WHY_NOT, one.value, one.low, one.high, one.unit,
                WHY_SOURCES,
                is_warning=True,
            )  # fmt: skip

    def _modes(self, basis: Basis, modes: tuple[int, ...], who: str) -> Iterator[Advice]:
        chosen = {job: _best(basis, job, modes) for job in basis.jobs}
        better = {
            job: (number, mode, trial) for job, (number, mode, trial, usual) in chosen.items()
            if mode and basis.rate(trial) >= GAINS * basis.rate(usual)
        }  # fmt: skip
        if not better:
            return
        last = max(better, key=lambda one: one.nodes)
        number, mode, trial = better[last]
        usual = chosen[last][3]
        rate, without = basis.range(trial), basis.rate(usual)
        more = [one for one in chosen if one not in better]
        each = joined(
            [f"{count} on {of_nodes(one.nodes)}" for one, (count, _, _) in better.items()]
        )
        text = (
            f"For {who}, set lock mode {mode} and {aggregators_text(number)} for each stripe on "
            f"{of_nodes(last.nodes)}: they write one file at {shown(rate)}, "
            f"{times(rate.value, without)} the best of the default locks ({rate_text(without)})."
        )
        if len(better) > 1:
            text += f" Aggregators for each stripe: {each}."
        if more:
            text += f" On {joined([of_nodes(one.nodes) for one in more])} leave the default."
        how = list(hint_variable(basis, trial))
        if mode == RELAXED:
            how = [How(one.kind, one.text.replace('"*:', f'"*:{COLLECTIVE_ONLY}:')) for one in how]
        every = tuple(one for _, _, one in collective_trials(basis, last, modes))
        yield self.predicted(basis, text, rate, how, claim=Claim(trial, every, (usual,)))


def _best(basis: Basis, job: JobSize, modes: tuple[int, ...]) -> tuple[int, int, Trial, Trial]:
    """Return aggregators, mode and trial, and the best trial with the default locks."""
    found = collective_trials(basis, job, modes)
    chosen = basis.simplest([trial for _, _, trial in found])
    number, mode = next((n, m) for n, m, trial in found if trial is chosen)
    usual = max((one for _, m, one in found if m == EXTENTS), key=basis.rate)
    return number, mode, chosen, usual
