# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lock modes of collective writes: what relaxed locks bring, and for whom they are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from stripewise.advice._base import GAINS, Advice, Claim, How, Rule, Trial
from stripewise.advice._basis import Basis, Job, keys_of
from stripewise.advice._choices import (
    AHEAD,
    EXTENTS,
    MODE,
    MULTIPLIER,
    RELAXED,
    collective_trials,
    lock_choices,
)
from stripewise.advice._hints import hint_variable
from stripewise.advice._words import evidence, joined, of_nodes, shown, times
from stripewise.bench import CaseFigures
from stripewise.simulation import rate_text

_ALL = "romio_no_indep_rw=true"
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
    """Modes of locks with which several aggregators share a target."""

    name = "lock-mode"
    topic = "Locks of shared files"

    def missing(self, basis: Basis) -> str:
        """Cray MPICH, and what its locks cost: described, or measured in each mode."""
        if basis.storage.stack != "cray":
            return "only Cray MPICH has lock modes"
        if basis.knows("locks.revoke") or _by_mode(basis.figures):
            return ""
        return "nobody knows what locks cost here: add the suite aggregators"

    def concerns(self, basis: Basis) -> bool:
        """Programs that make collective calls."""
        return basis.program is None or basis.program.is_collective

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield what relaxed locks bring to MPI-IO, and what HDF5 and NetCDF can have."""
        above = basis.program.library in ("HDF5", "NetCDF", "PnetCDF") if basis.program else False
        found: list[Advice] = []
        if not basis.knows("locks.revoke"):
            found += _measured(basis)
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
            f"For {who}, set lock mode {mode} and {_aggregators(number)} for each stripe on "
            f"{of_nodes(last.nodes)}: they write one file with {shown(rate)}, "
            f"{times(rate.value, without)} the best of the default locks ({rate_text(without)})."
        )
        if len(better) > 1:
            text += f" Aggregators for each stripe: {each}."
        if more:
            text += f" On {joined([of_nodes(one.nodes) for one in more])} leave the default."
        how = list(hint_variable(basis, trial))
        if mode == RELAXED:
            how = [How(one.kind, one.text.replace('"*:', f'"*:{_ALL}:')) for one in how]
        every = tuple(one for _, _, one in collective_trials(basis, last, modes))
        yield Advice(
            self.name, self.topic, text, rate.value, rate.low, rate.high, "bytes per second",
            evidence(rate, basis), tuple(how), claim=Claim(trial, every, (usual,)),
        )  # fmt: skip


def _best(basis: Basis, job: Job, modes: tuple[int, ...]) -> tuple[int, int, Trial, Trial]:
    """Return aggregators, mode and trial, and the best trial with the default locks."""
    found = collective_trials(basis, job, modes)
    chosen = basis.simplest([trial for _, _, trial in found])
    number, mode = next((n, m) for n, m, trial in found if trial is chosen)
    usual = max((one for _, m, one in found if m == EXTENTS), key=basis.rate)
    return number, mode, chosen, usual


def _aggregators(number: int) -> str:
    return "one aggregator" if number == 1 else f"{number} aggregators"


# ---- from a campaign's cases -------------------------------------------------------------------


def _by_mode(figures: tuple[CaseFigures, ...]) -> dict[int, list[CaseFigures]]:
    """Return the collective writes of the most nodes that were measured in several modes."""
    chosen = [
        one for one in figures
        if one.operation == "write" and one.case.backend == "mpiio"
        and one.case.mode == "collective"
        and {MODE, MULTIPLIER} & dict(one.case.settings).keys()
    ]  # fmt: skip
    most = max((one.case.nodes for one in chosen), default=0)
    modes: dict[int, list[CaseFigures]] = {}
    for one in chosen:
        mode = dict(one.case.settings).get(MODE, EXTENTS)
        if one.case.nodes == most and isinstance(mode, int):
            modes.setdefault(mode, []).append(one)
    return modes if len(modes) > 1 and EXTENTS in modes else {}


def _measured(basis: Basis) -> Iterator[Advice]:
    modes = _by_mode(basis.figures)
    best = {mode: max(group, key=lambda one: one.median) for mode, group in modes.items()}
    usual = best.pop(EXTENTS)
    mode, found = max(best.items(), key=lambda one: one[1].median)
    if found.median < GAINS * usual.median:
        return
    number = dict(found.case.settings).get(MULTIPLIER, 1)
    count = number if isinstance(number, int) else 1
    who = "a program whose I/O is all collective MPI-IO" if mode != AHEAD else "shared files"
    text = (
        f"For {who}, set lock mode {mode} and {_aggregators(count)} for each stripe on "
        f"{of_nodes(found.case.nodes)}: they write one file with {rate_text(median(found.rates))} "
        f"({rate_text(found.low)} to {rate_text(found.high)}), "
        f"{times(found.median, usual.median)} the best of the default locks."
    )
    words = f"cray_cb_write_lock_mode={mode}:cray_cb_nodes_multiplier={count}"
    if mode == RELAXED:
        words += f":{_ALL}"
    yield Advice(
        LockModes.name, LockModes.topic, text, found.median, found.low, found.high,
        "bytes per second", keys_of((found, usual)),
        (How("variable", f'export MPICH_MPIIO_HINTS="*:{words}"'),),
    )  # fmt: skip
