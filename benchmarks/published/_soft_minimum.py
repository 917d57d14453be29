# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fits a soft minimum of three limits to the same cells, for comparison with the laws.

bandwidth^-p = (streams x a)^-p + (writers x b)^-p + c^-p, where a stream is what one node moves
into one file, and a writer is a process that writes: an aggregator, one for each stripe or more.
It does not include sizes, rounds, locks or chance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from published._cases import case_of
from published._fit import REPEATED, ROUNDS, SINGLE
from published._predict import first_flow
from published._tables import load_table
from published._validate import Predicted, Validation
from stripewise.storage.fit._fit import Vector, minimised
from stripewise.storage.machines import find_storage

EXPECTED, SPREAD = np.log([1e9, 5e8, 5e10, 2.0]), 1.5
"""Expected a, b and c in bytes per second, and p; very wide spread of their logarithms."""


def soft_minimum(names: Sequence[str]) -> list[Validation]:
    """Fit it to the marked cells of tables together, and predict all their cells.

    Args:
        names: Names of tables of one machine, whose cells are bandwidths.
    """
    tables = [load_table(name) for name in names]
    cells = [(table, cell) for table in tables for cell in table.cells]
    flows = [first_flow(find_storage(table.machine), case_of(table, one)) for table, one in cells]
    counts = np.log([(max(one.nodes, one.files), one.processes) for one in flows])
    measured = np.log([one.value for _, one in cells])
    unsure = np.array([REPEATED if one.repeats else SINGLE for _, one in cells])
    marked = np.array([one.calibrate for _, one in cells])

    def residuals(place: Vector) -> Vector:
        wrong = (_bandwidths(counts, place) - measured) / unsure
        return np.concatenate([wrong[marked], (place - EXPECTED) / SPREAD])

    found, _ = minimised(residuals, EXPECTED, ROUNDS)
    values = iter(np.exp(_bandwidths(counts, found)).tolist())
    return [
        Validation(table, tuple(Predicted(one, next(values)) for one in table.cells))
        for table in tables
    ]


def _bandwidths(counts: Vector, place: Vector) -> Vector:
    """Return the logs of bandwidths, shape (n,), for given counts, shape (n, 2)."""
    power = np.exp(place[3])
    limits = np.column_stack([counts + place[:2], np.full(len(counts), place[2])])
    return np.asarray(-np.log(np.exp(-power * limits).sum(axis=1)) / power, np.float64)
