# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted description predicts: cells that were measured, left out, or not run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import nan
from statistics import median

from stripewise.bench._campaign import Campaign
from stripewise.bench._limit_cells import Cell, cells_of
from stripewise.bench._limits import Predicted
from stripewise.bench._limits_fit import predicted
from stripewise.bench._sample import CaseRun, Sample
from stripewise.machines import Storage

EVERY = 4
"""One of so many cells is left out of the fit that predicts it."""
_LEAST = 6
"""Cells below which none is left out."""


def left_out(cells: Sequence[Cell], fit: Callable[[Sequence[Cell]], Storage]) -> list[Predicted]:
    """Predict cells that the fit does not see: every fourth, and those of the most nodes.

    Args:
        cells: That the model knows, in the order of the suite.
        fit: Cells -> description.
    """
    if len(cells) < _LEAST:
        return []
    most = max(one.case.nodes for one in cells)
    by_place = {id(one) for place, one in enumerate(cells) if place % EVERY == EVERY - 1}
    largest = {id(one) for one in cells if one.case.nodes > most / 2} if most > 1 else set()
    found: dict[tuple[str, str], Predicted] = {}
    for chosen in (by_place, largest):
        kept = [one for one in cells if id(one) not in chosen]
        if not chosen or len(kept) < _LEAST // 2:
            continue
        storage = fit(kept)
        for one in compared(storage, [one for one in cells if id(one) in chosen]):
            found[one.key, one.operation] = replace(one, left_out=True)
    return list(found.values())


def compared(storage: Storage, cells: Iterable[Cell]) -> Iterator[Predicted]:
    """Yield cells that were measured, as a description predicts them."""
    for one in cells:
        value = predicted(storage, one)
        if value is not None:
            yield Predicted(one.key, one.operation, value, one.best)


def not_run(storage: Storage, campaign: Campaign, own_stack: str) -> Iterator[Predicted]:
    """Yield the cells of a suite that have no good run, as a description predicts them."""
    runs = []
    for case, made in campaign.of_cases():
        if case.operation != "metadata" and not any(one.status == "ok" for one in made):
            ways = ("write", "read")[: 1 + (case.operation == "write-read")]
            runs.append(CaseRun(case.key, 1, "ok", tuple(Sample(way, 1.0, 1.0) for way in ways)))
    for cell in cells_of(replace(campaign, runs=tuple(runs)), own_stack):
        value = predicted(storage, cell)
        if value is not None:
            yield Predicted(cell.key, cell.operation, value, nan)


def error_of(found: Iterable[Predicted]) -> float:
    """Return the median relative error of cells that were left out; NaN: none was."""
    errors = [abs(one.predicted / one.measured - 1) for one in found if one.left_out]
    return median(errors) if errors else nan
