# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files of one program that behave alike, and how their names tell them from all others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FileClass:
    """Files that behave alike.

    Attributes:
        match: Glob that matches these files and no other that was seen; "" if there is none,
            so that no setting can be given to them alone.
        n_files: How many were seen.
        layers: Interfaces, the one that the program called first: ("hdf5", "mpiio").
        writes / reads: The program wrote (read) a real share of what it moved.
        collective: Most bytes of MPI-IO were moved by collective calls.
        noncontiguous: A file view with holes was set.
        shared: Several ranks moved data of each file.
        call_bytes: Mean size of the program's data calls.
        amplification: Bytes that system calls moved for each byte that the program asked for.
        io_share: Of the I/O time on all files, 0 to 1.
    """

    match: str
    n_files: int = 1
    layers: tuple[str, ...] = ()
    writes: bool = False
    reads: bool = False
    collective: bool = False
    noncontiguous: bool = False
    shared: bool = False
    call_bytes: int = 0
    amplification: float = 1.0
    io_share: float = 0.0
