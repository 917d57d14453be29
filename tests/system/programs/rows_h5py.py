# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of one dataset through parallel h5py: rows_h5py.py FILE."""

import sys

import h5py
import numpy as np
from mpi4py import MPI

ROWS, COLUMNS = 64, 1024
comm = MPI.COMM_WORLD
mine = ROWS // comm.size
first = comm.rank * mine
with h5py.File(sys.argv[1], "w", driver="mpio", comm=comm) as file:
    data = file.create_dataset("steps/a", (ROWS, COLUMNS), "f8")
    with data.collective:
        data[first : first + mine] = np.full((mine, COLUMNS), comm.rank + 1.0)
