# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Interleaved collective write through mpi4py: writer_mpi4py.py FILE."""

import sys

from mpi4py import MPI

BLOCK, BLOCKS = 4096, 64
comm = MPI.COMM_WORLD
view = MPI.BYTE.Create_vector(BLOCKS, BLOCK, BLOCK * comm.size)
view.Commit()
handle = MPI.File.Open(comm, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR)
handle.Set_view(comm.rank * BLOCK, MPI.BYTE, view)
handle.Write_all(bytes([comm.rank + 1]) * (BLOCK * BLOCKS))
handle.Close()
