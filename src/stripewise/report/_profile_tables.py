# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Request sizes before and after MPI-IO, for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from stripewise.diagnosis import size_labels
from stripewise.model import IoLayer, RunProfile


def size_tables(profile: RunProfile) -> list[dict[str, Any]]:
    """Sizes of the requests of MPI-IO and of the system, for files that MPI-IO opened.

    Returns:
        A table for each direction that moved anything: `direction`, `columns` (what is counted,
        number of requests, largest count), `rows` (size, count in each column).
    """
    counters = profile.counters
    above = counters[counters["layer"] == IoLayer.MPIIO]
    beneath = counters[counters["layer"] == IoLayer.POSIX]
    beneath = beneath[np.isin(beneath["file"], above["file"])]
    levels = {"asked of MPI-IO": above, "reached the file system (POSIX)": beneath}
    tables = []
    for direction in ("write", "read"):
        counts = np.array([rows[f"{direction}_sizes"].sum(axis=0) for rows in levels.values()])
        used = np.flatnonzero(counts.any(axis=0))
        if used.size:
            shown = slice(used[0], used[-1] + 1)
            sums, tops = counts.sum(axis=1).tolist(), counts.max(axis=1).tolist()
            rows = zip(size_labels()[shown], counts[:, shown].T.tolist(), strict=True)
            columns = list(zip(levels, sums, tops, strict=True))
            tables.append({"direction": direction, "columns": columns, "rows": list(rows)})
    return tables
