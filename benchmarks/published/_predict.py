# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Predicts published numbers from a description, with the same stacks and laws."""

from __future__ import annotations

from itertools import product

from published._cases import case_of, like_of, reference_of
from published._tables import Cell, Table
from stripewise.core.errors import UsageError
from stripewise.storage.fit import ModelCase, bandwidth
from stripewise.storage.fit._predict import Ready, seconds
from stripewise.storage.machines import Storage
from stripewise.storage.results._tables import settings_of
from stripewise.storage.stacks import STACKS, Flow

KEPT = 24
"""Number of a ladder's configurations that stay candidates while figures change a little."""


class Predictor:
    """Predicts cells; caches the requests, which do not depend on the speed of the storage."""

    def __init__(self) -> None:
        self._best: dict[tuple[str, ModelCase], tuple[ModelCase, ...]] = {}

    def value(self, storage: Storage, table: Table, cell: Cell) -> float | None:
        """Return a cell's number in base units; None if there is no such software stack.

        Raises:
            UsageError: The stack does not support the workload.
        """
        if cell.workload["stack"] not in STACKS:
            return None
        case, mode = case_of(table, cell), cell.workload.get("mode", "")
        if mode == "tuned":
            case = self._tuned(storage, table, case)
        elif mode == "like":
            best = self._tuned(storage, table, like_of(table, cell))
            case = ModelCase(case.workload, case.stack, best.settings, case.transport)
        reference = reference_of(table, cell)
        if reference is not None:
            return bandwidth(storage, case) / bandwidth(storage, reference)
        return seconds(storage, case) if table.is_time else bandwidth(storage, case)

    def _tuned(self, storage: Storage, table: Table, case: ModelCase) -> ModelCase:
        """Return the case with the best settings of the table's ladder."""
        race = self._best.get((storage.name, case))
        if race is None:
            possible = _ladder(table, case, int(storage.value("servers.targets")))
            race = tuple(sorted(possible, key=lambda one: seconds(storage, one)))
            self._best[storage.name, case] = race = race[:KEPT]
        return min(race, key=lambda one: seconds(storage, one))

    def forget(self) -> None:
        """Make the whole ladder candidates again."""
        self._best.clear()


def first_flow(storage: Storage, case: ModelCase) -> Flow:
    """Return the first requests of a case that move data."""
    return next(flow for phase in Ready.of(storage, case).phases for flow in phase.flows)


def _ladder(table: Table, case: ModelCase, targets: int) -> list[ModelCase]:
    """Return all configurations among which a search could choose."""
    if not table.search:
        raise UsageError(f"{table.name}: a tuned cell needs a table [search]")
    return [
        ModelCase(
            case.workload,
            case.stack,
            tuple(sorted({**dict(case.settings), **dict(settings_of(chosen))}.items())),
            case.transport,
        )
        for values in product(*table.search.values())
        for chosen in [dict(zip(table.search, values, strict=True))]
        if chosen.get("striping_factor", 0) <= targets
    ]
