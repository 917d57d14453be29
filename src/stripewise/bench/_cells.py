# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The cells of a campaign, and which cells of two campaigns belong together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from stripewise.bench._campaign import Campaign
from stripewise.bench._case import Case
from stripewise.bench._pooled import Floats
from stripewise.bench._statistics import operations_of, samples_of

DATA = ("write", "read")
_UNSEEN = ("series", "repeats")
_FIELD = re.compile(rf" ({'|'.join(field.name for field in fields(Case))})=")
_USUAL = ("operation", "runner", "backend", "layout", "mode", "pattern")
"""Fields that the name of a series says, as a rule."""


@dataclass(frozen=True, eq=False)
class Cell:
    """One operation of one case, with its runs.

    Attributes:
        case: Of the campaign.
        operation: "write", "create", ...
        logs: Natural logs of the rates of its good runs, by repeat.
    """

    case: Case
    operation: str
    logs: Floats

    @property
    def of_data(self) -> bool:
        """Whether rates are bytes a second, otherwise operations a second."""
        return self.operation in DATA

    @property
    def median(self) -> float:
        """Middle rate, bytes or operations a second."""
        return float(np.exp(np.median(self.logs)))

    @property
    def best(self) -> float:
        """Highest rate."""
        return float(np.exp(self.logs.max()))


def cells_of(campaign: Campaign) -> list[Cell]:
    """Return all cells that have a good run, in the order of the suite."""
    return [
        Cell(case, operation, np.log(rates))
        for case, runs in campaign.of_cases()
        for operation in operations_of(runs)
        if len(rates := _rates(runs, operation))
    ]


def _rates(runs: Sequence[object], operation: str) -> Floats:
    found = [one.rate for one in samples_of(runs, operation) if one.amount > 0]  # type: ignore[arg-type]
    return np.array(found, dtype=float)


def matched(first: Sequence[Cell], second: Sequence[Cell]) -> Iterator[tuple[Cell, Cell, str]]:
    """Yield cells of two campaigns that belong together, and why they are not alike ("": alike).

    Cells of the same case come first; of those that are left, cells of the same series,
    operation and nodes, with the same ranks before others.
    """
    rest_one, rest_two = list(first), list(second)
    for look in (_same, _same_ranks, _same_nodes):
        by_look = {look(cell): cell for cell in reversed(rest_two)}
        for one in list(rest_one):
            two = by_look.pop(look(one), None)
            if two is not None:
                rest_one.remove(one)
                rest_two.remove(two)
                yield one, two, "" if look is _same else _unlike(one.case, two.case)


def case_words(key: str) -> str:
    """Return the key of a case for people: "MPI-IO, 4 nodes, striped"."""
    series, *pairs = _FIELD.split(key)
    said = []
    for name, value in zip(pairs[::2], pairs[1::2], strict=True):
        if name in ("nodes", "ranks_per_node"):
            noun = "node" if name == "nodes" else "rank"
            one = f"{value} {noun}{'' if value == '1' else 's'}"
            said.append(one if name == "nodes" else f"{one} a node")
        elif name == "directory":
            said.append(value)
        elif name not in _USUAL:
            said.append(f"{name.replace('_', ' ')} {value}")
    return ", ".join([series, *said])


def _same(cell: Cell) -> tuple[object, ...]:
    return cell.case.key, cell.operation


def _same_ranks(cell: Cell) -> tuple[object, ...]:
    case = cell.case
    return case.series, cell.operation, case.directory, case.nodes, case.ranks_per_node


def _same_nodes(cell: Cell) -> tuple[object, ...]:
    return cell.case.series, cell.operation, cell.case.nodes


def _unlike(one: Case, two: Case) -> str:
    """Say in which of their fields two cases differ."""
    said = [
        f"{field.name.replace('_', ' ')} {_text(getattr(one, field.name))} against "
        f"{_text(getattr(two, field.name))}"
        for field in fields(one)
        if field.name not in _UNSEEN and getattr(one, field.name) != getattr(two, field.name)
    ]
    return "not like for like: " + ", ".join(said)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"{name}={one}" for name, one in value) or "no settings"
    return str(value) if value != "" else "the default"
