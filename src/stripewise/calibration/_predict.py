# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Published numbers as a description predicts them, through the same stacks and laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from stripewise.calibration._cases import Case, case_of, like_of, reference_of, settings_of
from stripewise.calibration._tables import Cell, Table
from stripewise.errors import UsageError
from stripewise.machines import Storage
from stripewise.simulation import Flow, Phase, Rates, chosen_transport, layout_of, phase_times
from stripewise.simulation.stacks import STACKS, Layout, Setup

KEPT = 24
"""Configurations of a ladder that stay in the race while figures change a little."""


class Predictor:
    """Predicts cells; keeps the requests, which do not depend on how fast the storage is."""

    def __init__(self) -> None:
        self._best: dict[tuple[str, Case], tuple[Case, ...]] = {}

    def value(self, storage: Storage, table: Table, cell: Cell) -> float | None:
        """Return a cell's number in base units; None: there is no such software stack.

        Raises:
            UsageError: The stack cannot do the workload.
        """
        if cell.workload["stack"] not in STACKS:
            return None
        case, mode = case_of(table, cell), cell.workload.get("mode", "")
        if mode == "tuned":
            case = self._tuned(storage, table, case)
        elif mode == "like":
            best = self._tuned(storage, table, like_of(table, cell))
            case = Case(case.workload, case.stack, best.settings, case.transport)
        reference = reference_of(table, cell)
        if reference is not None:
            return bandwidth(storage, case) / bandwidth(storage, reference)
        return seconds(storage, case) if table.is_time else bandwidth(storage, case)

    def _tuned(self, storage: Storage, table: Table, case: Case) -> Case:
        """Return the case with the best settings of the table's ladder."""
        race = self._best.get((storage.name, case))
        if race is None:
            possible = _ladder(table, case, int(storage.value("servers.targets")))
            race = tuple(sorted(possible, key=lambda one: seconds(storage, one)))
            self._best[storage.name, case] = race = race[:KEPT]
        return min(race, key=lambda one: seconds(storage, one))

    def forget(self) -> None:
        """Let the whole ladder take part again."""
        self._best.clear()


class Ready(NamedTuple):
    """The requests of a case, which do not depend on how fast the storage is.

    Attributes:
        phases: Of the stack.
        layout: Of the files.
        bytes: That the program asks to move.
        transport: Environment that chooses a variant of the storage.
    """

    phases: tuple[Phase, ...]
    layout: Layout
    bytes: int
    transport: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, storage: Storage, case: Case) -> Ready:
        """Make the requests of a case on a storage."""
        system = _system(storage, case.transport)
        layout = layout_of(_roomy(system, case), dict(case.settings))
        return cls(_phases(case, layout), layout, case.workload.bytes, case.transport)

    def seconds(self, rates: Rates) -> float:
        """Return how long they take."""
        return sum(one.seconds for one in phase_times(self.phases, rates, self.layout))


def bandwidths(storage: Storage, ready: Sequence[Ready]) -> list[float]:
    """Return the bytes a second of several cases on a storage, made ready on a like one.

    Args:
        storage: With the targets and the default striping of that on which they were made.
        ready: The cases.
    """
    rates = {
        one: Rates.of(_system(storage, one))
        for one in dict.fromkeys(case.transport for case in ready)
    }
    return [one.bytes / one.seconds(rates[one.transport]) for one in ready]


def seconds(storage: Storage, case: Case) -> float:
    """Return how long a case takes on a storage."""
    return Ready.of(storage, case).seconds(Rates.of(_system(storage, case.transport)))


def first_flow(storage: Storage, case: Case) -> Flow:
    """Return the first requests of a case that move data."""
    phases = _phases(case, layout_of(storage, dict(case.settings)))
    return next(flow for phase in phases for flow in phase.flows)


def bandwidth(storage: Storage, case: Case) -> float:
    """Return the bytes a second of a case on a storage."""
    return case.workload.bytes / seconds(storage, case)


def _system(storage: Storage, transport: tuple[tuple[str, str], ...]) -> Storage:
    return storage.over(chosen_transport(storage, dict(transport)))


def _roomy(storage: Storage, case: Case) -> Storage:
    """A burst buffer from which the job has as many nodes as its files have stripes."""
    wanted = dict(case.settings).get("mpiio.striping_factor", 0)
    granularity = storage.value("layout.granularity")
    if not granularity or not isinstance(wanted, int) or wanted <= 1:
        return storage
    return _with_stripes(storage, wanted)


def _with_stripes(storage: Storage, stripes: int) -> Storage:
    figure = replace(storage.figures["layout.stripe_count"], value=float(stripes))
    return replace(storage, figures={**storage.figures, "layout.stripe_count": figure})


@lru_cache(maxsize=100_000)
def _phases(case: Case, layout: Layout) -> tuple[Phase, ...]:
    work = case.workload
    return STACKS[case.stack].phases(work, Setup(layout, dict(case.settings), work.nodes))


def _ladder(table: Table, case: Case, targets: int) -> list[Case]:
    """All configurations that a search had to choose from."""
    if not table.search:
        raise UsageError(f"{table.name}: a tuned cell needs a table [search]")
    return [
        Case(
            case.workload,
            case.stack,
            tuple(sorted({**dict(case.settings), **dict(settings_of(chosen))}.items())),
            case.transport,
        )
        for values in product(*table.search.values())
        for chosen in [dict(zip(table.search, values, strict=True))]
        if chosen.get("striping_factor", 0) <= targets
    ]
