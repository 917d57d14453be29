# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A small parallel program: each rank writes interleaved rows of a dataset.

Needs h5py built with MPI, and mpi4py (Debian: python3-h5py-mpi, python3-mpi4py).

    mpiexec -n 2 python3 write_h5.py out.h5
"""

import sys

import h5py
import numpy as np
from mpi4py import MPI

ROWS, COLUMNS = 2048, 1024


def main(path: str) -> None:
    """Write one dataset, rows dealt out to the ranks in turn."""
    world = MPI.COMM_WORLD
    with h5py.File(path, "w", driver="mpio", comm=world) as file:
        dataset = file.create_dataset("field", (ROWS, COLUMNS), dtype="f8")
        mine = np.arange(world.rank, ROWS, world.size)
        for row in mine:
            dataset[row] = np.full(COLUMNS, row, dtype="f8")


if __name__ == "__main__":
    main(sys.argv[1])
