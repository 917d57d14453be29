# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares published tables with the predictions of descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from scipy.stats import spearmanr

from published._predict import Predictor
from published._tables import Cell, Table, load_table, table_names
from stripewise.core.errors import UsageError
from stripewise.settings.tunables import suggest
from stripewise.storage.machines import find_storage

SETS: Mapping[str, tuple[str, ...]] = {
    "archer2-shared-file": (
        "archer2-hdd-mpiio-lock2", "archer2-hdd-mpiio-lock0", "archer2-nvme-mpiio-lock0",
    ),
    "archer2-libraries": ("archer2-hdd-hdf5-lock2", "archer2-hdd-adios2", "archer2-nvme-adios2"),
    "archer": ("archer-mpiio", "archer-file-per-process"),
    "hopper": ("hopper-kernels-model", "hopper-kernels-genetic", "hopper-kernels-pattern"),
    "edison": ("edison-kernels-model", "edison-kernels-pattern"),
    "stampede": ("stampede-kernels-model", "stampede-kernels-genetic"),
    "burst-buffer": (
        "shaheen2-datawarp-btio", "shaheen2-datawarp-scaling", "shaheen2-datawarp-small-files",
    ),
    "io500": ("archer-io500", "archer2-hdd-io500", "shaheen2-lustre-io500",
              "shaheen2-datawarp-io500"),
    "aggregators-of-one-stripe": ("sisu-cp2k",),
}  # fmt: skip
"""Name to the published tables that are judged together."""


@dataclass(frozen=True)
class Predicted:
    """A published number and its prediction, both in base units."""

    cell: Cell
    predicted: float

    @property
    def ratio(self) -> float:
        """Predicted value relative to the measured one."""
        return self.predicted / self.cell.value


@dataclass(frozen=True)
class Validation:
    """One published table with predictions.  `cells` is empty if no software stack predicts it."""

    table: Table
    cells: tuple[Predicted, ...]


@dataclass(frozen=True)
class Score:
    """Accuracy of the predictions for some numbers.

    Attributes:
        number: Number of cells.
        error: Median absolute error relative to the measured number; NaN without cells.
        rho: Spearman's rank correlation; NaN with fewer than three cells.
    """

    number: int
    error: float
    rho: float


def names_of(chosen: Sequence[str]) -> tuple[str, ...]:
    """Return the tables of sets and of tables by name; all if none is named.

    Raises:
        UsageError: There is no such set or table.
    """
    known = (*SETS, *table_names())
    for name in chosen:
        if name not in known:
            raise UsageError(
                f"no set or table is called {name!r}{suggest(name, known)}: use one of "
                f"{', '.join(known)}"
            )
    names = [table for name in chosen or SETS for table in SETS.get(name, (name,))]
    return tuple(dict.fromkeys(names))


def validate(names: Iterable[str], storage: str = "") -> list[Validation]:
    """Predict published tables.

    Args:
        names: Names of tables.
        storage: Description to predict with; empty for the one that each table names.

    Raises:
        ConfigurationError: There is no such description.
    """
    predictor, found = Predictor(), []
    for name in names:
        table = load_table(name)
        described = find_storage(storage or table.machine)
        values = [(cell, predictor.value(described, table, cell)) for cell in table.cells]
        found.append(
            Validation(table, tuple(Predicted(cell, v) for cell, v in values if v is not None))
        )
    return found


def score(found: Iterable[Validation], *, calibrated: bool) -> Score:
    """Score the cells that a fit used, or all others; bounds are not counted."""
    cells = [
        one for table in found for one in table.cells
        if one.cell.calibrate is calibrated and not one.cell.bound
    ]  # fmt: skip
    if not cells:
        return Score(0, nan, nan)
    measured = np.array([one.cell.value for one in cells])
    predicted = np.array([one.predicted for one in cells])
    error = float(np.median(np.abs(predicted / measured - 1)))
    rho = nan if len(cells) < 3 else float(spearmanr(predicted, measured).statistic)
    return Score(len(cells), error, rho)
