# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Real requests of all cells, kept in a file: stacks are compared with them without an MPI.

Recorded anew, where the MPIs are (`make lustre-mpi`), by
    PYTHONPATH=tests .venv/bin/python -m support.recorded_requests
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from stripewise.storage.stacks import Requests
from support.real_requests import Cell, real_requests
from support.request_cells import CELLS

RECORDED = Path(__file__).resolve().parents[1] / "storage/simulation" / "real_requests.npz"


def recorded(cell: Cell) -> Requests:
    """What the real library asked for."""
    return _all()[str(cell)]


@cache
def _all() -> dict[str, Requests]:
    with np.load(RECORDED) as kept:
        return {name: kept[name] for name in kept.files}


def record() -> None:
    """Run all cells."""
    found = {}
    for cell in CELLS:
        with tempfile.TemporaryDirectory() as where:
            found[str(cell)] = real_requests(cell, Path(where))
            print(f"{len(found[str(cell)]):6d} {cell}")
    np.savez_compressed(RECORDED, **found)  # type: ignore[arg-type]


if __name__ == "__main__":
    record()
