# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files of a library inside the directory that it presents as one file (ADIOS2's `out.bp`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import SYSTEM_LAYERS, IoLayer


def owners(rows: NDArray[Any], paths: Sequence[str]) -> NDArray[np.int64]:
    """(n,) int64: index of the path that each row is accounted under, mostly its own.

    Args:
        rows: (n,) `COUNTER_ROW`.
        paths: Of the files.
    """
    return np.asarray(owners_of_paths(rows, paths)[rows["file"]])


def owners_of_paths(rows: NDArray[Any], paths: Sequence[str]) -> NDArray[np.int64]:
    """(m,) int64: index of the path that each of the m paths is accounted under."""
    found = np.arange(len(paths))
    opened = rows["file"][rows["layer"] == IoLayer.ADIOS2]
    directories = {paths[row]: int(row) for row in opened}
    for row, path in enumerate(paths if directories else ()):
        parents = (str(parent) for parent in PurePosixPath(path).parents)
        found[row] = next((directories[p] for p in parents if p in directories), row)
    return found


def take_back_doubles(processes: NDArray[Any], rows: NDArray[Any], paths: Sequence[str]) -> None:
    """Take bytes that the library moved by itself out of what the program asked for, in place.

    A thread of ADIOS2 may write what the program put before, outside of any of its calls.
    """
    owner = owners(rows, paths)
    inside = owner != rows["file"]
    if not inside.any():
        return
    adios2 = rows["layer"] == IoLayer.ADIOS2
    for name in ("outermost_read_bytes", "outermost_write_bytes"):
        counted = rows["file"][adios2 & (rows[name] > 0)]
        double = inside & np.isin(rows["layer"], SYSTEM_LAYERS)
        double &= np.isin(owner, counted)
        np.subtract.at(processes[name], rows["process"][double], rows[name][double])
        rows[name][double] = 0
