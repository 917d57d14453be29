# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which parts of a file or dataset each rank moved: what patterns are found in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, kw_only=True)
class _Access:
    """What all ranks moved in one direction.

    Attributes:
        file: Path.
        writing: Written, otherwise read.
        rank: (n,) int64, whose selection or range.
        order: (n,) int64, the rank's own order of its calls.
        collective: (n,) bool.
        n_ranks: Ranks of the run, also those that moved nothing.
        element_bytes: Of one element if known (the elementary type of a view), otherwise 1.
        notes: What is missing, in words.
    """

    file: str
    writing: bool
    rank: NDArray[np.int64]
    order: NDArray[np.int64]
    collective: NDArray[np.bool_]
    n_ranks: int
    element_bytes: int = 1
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Selections(_Access):
    """Regular hyperslabs of one dataset, by all ranks, one direction.

    Attributes:
        dataset: Name inside the file ("" for a whole file).
        extents: Elements per dimension, C order (last fastest); 0: not known.
        start / stride / count / block: (n, n_dims) int64, as H5Sselect_hyperslab takes them.
        irregular: Selections that are no regular hyperslab and are not listed here; the notes
            say what they are.
        source: "hdf5", "pnetcdf" or "adios2".
    """

    dataset: str
    extents: tuple[int, ...]
    start: NDArray[np.int64]
    stride: NDArray[np.int64]
    count: NDArray[np.int64]
    block: NDArray[np.int64]
    irregular: int = 0
    source: str = "hdf5"


@dataclass(frozen=True, eq=False, kw_only=True)
class Pieces(_Access):
    """Byte ranges of one file, by all ranks, one direction: where no dataset is known.

    They may be folded: row r stands for `repeat[r]` ranges of `size[r]` bytes whose offsets lie
    at i, j, l as in `TRACE_ROW`: `inner` (n, 2), `stride` (n, 3).

    Attributes:
        offset / size / repeat: (n,) int64; offset and size in bytes.
        call: (n,) int64, ranges of one call (one file view) share a number.
        source: "view" (MPI-IO) or "offsets" (POSIX, DXT).
    """

    offset: NDArray[np.int64]
    size: NDArray[np.int64]
    repeat: NDArray[np.int64]
    inner: NDArray[np.int64]
    stride: NDArray[np.int64]
    call: NDArray[np.int64]
    source: str = "offsets"
