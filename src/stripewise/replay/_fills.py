# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files whose datasets are filled when they are created: as much is written as they are large."""

from __future__ import annotations

from math import prod

import numpy as np

from stripewise.model import IoLayer, Op, Trace

LEAST_SHARE = 0.5
"""Of the bytes of a file's datasets; metadata alone is far less."""


def filled_files(trace: Trace) -> frozenset[int]:
    """Return the files in which H5Dcreate itself wrote the datasets' fill values."""
    creating = [i for i, name in enumerate(trace.names) if name.startswith("H5Dcreate")]
    rows = trace.rows
    below = rows[
        np.isin(rows["parent"], creating)
        & np.isin(rows["layer"], (IoLayer.MPIIO, IoLayer.POSIX))
        & np.isin(rows["op"], (Op.WRITE, Op.WRITE_COLLECTIVE))
    ]
    found = []
    for file in map(int, np.unique(below["file"])):
        mine = below[below["file"] == file]
        written = int((mine["bytes"] * mine["count"]).sum())
        if written and written >= LEAST_SHARE * _dataset_bytes(trace, file):
            found.append(file)
    return frozenset(found)


def _dataset_bytes(trace: Trace, file: int) -> int:
    sizes = {
        one.name: prod(one.extents) * one.element_bytes
        for one in trace.objects
        if one.file == file and one.layer == IoLayer.HDF5
    }
    return sum(sizes.values())
