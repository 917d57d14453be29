# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Time bins of all processes -> one heat map on common bins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import HEAT_ROW
from stripewise.readers._rows import summed_heat

_MOST_BINS = 4096
_SUMS = (("read_bytes", 1.0), ("write_bytes", 1.0), ("busy_ns", 1e-9))
_HEAT_NAME = {"busy_ns": "busy_seconds"}


def heat_of(bins: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Add bins up per rank, file and layer on bins of the largest width that occurs.

    Processes start at different times, so a process's bin may lie across two common ones; it
    is divided in proportion.  A process without a rank counts as rank -1.

    Args:
        bins: (n,) `BIN_ROW`.

    Returns:
        (m,) `HEAT_ROW` in order of rank, file, layer and bin; width of a bin in seconds, 0 if
        there are none.
    """
    if not len(bins):
        return np.zeros(0, HEAT_ROW), 0.0
    width = int(bins["width_ns"].max())
    span = int((bins["start_ns"] + bins["width_ns"]).max())
    while span // width > _MOST_BINS:
        width *= 2
    start = np.maximum(bins["start_ns"], 0)
    first = start // width
    inside = np.minimum((first + 1) * width - start, bins["width_ns"])
    share = inside / bins["width_ns"]
    parts = [_part(bins, first, share)]
    across = share < 1
    if across.any():
        parts.append(_part(bins[across], first[across] + 1, 1 - share[across]))
    return summed_heat(np.concatenate(parts)), width * 1e-9


def _part(bins: NDArray[Any], place: NDArray[np.int64], share: NDArray[Any]) -> NDArray[Any]:
    rows = np.zeros(len(bins), HEAT_ROW)
    for name in ("rank", "file", "layer"):
        rows[name] = bins[name]
    rows["bin"] = place
    for name, scale in _SUMS:
        rows[_HEAT_NAME.get(name, name)] = bins[name] * share * scale
    return rows
