# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files of HDF5 whose calls cannot be seen, because the program holds HDF5 itself."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from stripewise.elf import holds
from stripewise.model import IoLayer, ProcessFlag, RunProfile
from stripewise.readers.sources import begins_with

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_LINKED = b"HDF5 library version: "
_SUFFIXES = (".h5", ".hdf5", ".hdf", ".he5", ".nc", ".nc4")
_MOST_FILES = 64


def hdf5_unseen(profile: RunProfile) -> tuple[int, ...]:
    """Find files of HDF5 that a program wrote or read without one call of HDF5 being seen.

    The program's executable holds HDF5 (it was linked statically), and the file begins as one
    of HDF5 does; where it is gone, its name counts.

    Returns:
        Indices into `RunProfile.paths`, those with most bytes first, and not more than 64.
    """
    seen = (profile.processes["flags"] & ProcessFlag.HDF5) != 0
    rows = profile.counters[profile.counters["process"] >= 0]
    rows = rows[~seen[rows["process"]] & (rows["layer"] < IoLayer.HDF5)]
    rows = rows[rows["outermost_read_bytes"] + rows["outermost_write_bytes"] > 0]
    programs = profile.processes["exe"][rows["process"]].tolist()
    holding = {program: holds(os.fsdecode(program), _LINKED) for program in set(programs)}
    rows = rows[np.array([holding[program] for program in programs], bool)]
    moved = np.zeros(len(profile.paths), np.int64)
    np.add.at(moved, rows["file"], rows["outermost_read_bytes"] + rows["outermost_write_bytes"])
    largest = np.argsort(-moved, kind="stable")[:_MOST_FILES]
    return tuple(int(file) for file in largest if moved[file] and _is_hdf5(profile.paths[file]))


def _is_hdf5(path: str) -> bool:
    """Whether a file begins as one of HDF5, or is gone and was called so."""
    if not os.path.exists(path):
        return path.endswith(_SUFFIXES)
    return begins_with(Path(path), _SIGNATURE)
