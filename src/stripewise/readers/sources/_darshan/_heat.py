# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""HEATMAP records -> heat rows; all bins made as wide as the widest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._folded import expanded_index
from stripewise.model import HEAT_ROW, IoLayer
from stripewise.readers._trace_sums import summed_heat
from stripewise.readers.sources._darshan._isolated import RawLog

_NAMED = {
    "heatmap:POSIX": IoLayer.POSIX,
    "heatmap:STDIO": IoLayer.STDIO,
    "heatmap:MPIIO": IoLayer.MPIIO,
}
# Ids of those names, which many logs do not list (PyDarshan 3.5, report.py).
_BY_ID = {
    16592106915301738621: IoLayer.POSIX,
    3989511027826779520: IoLayer.STDIO,
    3668870418325792824: IoLayer.MPIIO,
}


def heat_rows(log: RawLog) -> tuple[NDArray[Any], float]:
    """Rows of bins with data, and the width of a bin in seconds (0: no heat map)."""
    if "HEATMAP" not in log.arrays:
        return np.zeros(0, HEAT_ROW), 0.0
    records = log.arrays["HEATMAP"]
    widths = records["width"]
    layers = np.array([_layer(log, int(value)) for value in records["id"]])
    used = (layers >= 0) & np.isfinite(widths) & (widths > 0)
    if not used.any():
        return np.zeros(0, HEAT_ROW), 0.0
    width = float(widths[used].max())
    record, place = expanded_index(records["bins"])
    read, write = log.arrays["HEATMAP/read"], log.arrays["HEATMAP/write"]
    filled = used[record] & ((read > 0) | (write > 0))
    record, place = record[filled], place[filled]
    rows = np.zeros(len(record), HEAT_ROW)
    rows["rank"], rows["file"], rows["layer"] = records["rank"][record], -1, layers[record]
    rows["bin"] = np.floor(place * widths[record] / width + 1e-9).astype(np.int64)
    rows["read_bytes"], rows["write_bytes"] = read[filled], write[filled]
    return summed_heat(rows), width


def _layer(log: RawLog, record_id: int) -> int:
    name = log.meta["names"].get(str(record_id), "")
    return int(_NAMED.get(name, _BY_ID.get(record_id, -1)))
