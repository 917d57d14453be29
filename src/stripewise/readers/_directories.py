# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files of a library inside the directory that it presents as one file (ADIOS2's `out.bp`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.readers._container import ContainerLayer

SYSTEM_LAYERS = (ContainerLayer.POSIX, ContainerLayer.STDIO)


def owners(records: NDArray[Any], paths: Sequence[str]) -> NDArray[np.int64]:
    """(n_paths,) int64: index of the path that a path is accounted under, mostly its own.

    Args:
        records: As in `Profile.records`.
        paths: As in `Profile.paths`.
    """
    found = np.arange(len(paths))
    opened = np.unique(records["path"][records["layer"] == ContainerLayer.ADIOS2])
    directories = {paths[row]: int(row) for row in opened}
    for row, path in enumerate(paths if directories else ()):
        parents = (str(parent) for parent in PurePosixPath(path).parents)
        found[row] = next((directories[p] for p in parents if p in directories), row)
    return found


def take_back_doubles(
    processes: NDArray[Any], records: NDArray[Any], paths: Sequence[str]
) -> None:
    """Take bytes that the library moved by itself out of what the program asked for, in place.

    A thread of ADIOS2 may write what the program put before, outside of any of its calls.
    """
    owner = owners(records, paths)
    inside = owner[records["path"]] != records["path"]
    if not inside.any():
        return
    adios2 = records["layer"] == ContainerLayer.ADIOS2
    for name in ("outermost_read_bytes", "outermost_write_bytes"):
        counted = np.unique(records["path"][adios2 & (records[name] > 0)])
        double = inside & np.isin(records["layer"], SYSTEM_LAYERS)
        double &= np.isin(owner[records["path"]], counted)
        np.subtract.at(processes[name], records["process"][double], records[name][double])
        records[name][double] = 0
