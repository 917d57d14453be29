# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The four programs of the JAMSTEC survey as Darshan logs that have the published figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from support.darshan_logs import posix_record, write_log
from synthetic_centre._survey import REQUEST_BYTES, Case, shares, times

_BINS = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M")
_EDGES = (100, 1 << 10, 10 << 10, 100 << 10, 1 << 20)


def write_case(path: Path, case: Case, *, job_id: int = 1, start: int = 1_530_000_000) -> Path:
    """Write the log of a case."""
    return write_log(
        path,
        case_records(case),
        [f"/scratch/{case.program}/{name}" for name in case.paths],
        command=f"/opt/survey/bin/{case.program} run.nml",
        n_ranks=case.n_ranks,
        start=start,
        run_seconds=case.run_seconds,
        job_id=job_id,
    )


def case_records(case: Case) -> NDArray[np.void]:
    """(n,) records of POSIX, one for each file."""
    whole, reading = np.ones(case.n_files, bool), case.reading
    rows = np.zeros(case.n_files, posix_record())
    rows["id"], rows["rank"] = np.arange(case.n_files) + 1, case.ranks
    further = shares(case.meta_operations - case.n_files, whole)
    rows["OPENS"], rows["SEEKS"] = 1, further // 2
    rows["STATS"] = further - rows["SEEKS"]
    _set_data(rows, "READ", case.read_bytes, reading)
    _set_data(rows, "WRITE", case.write_bytes, ~reading)
    for what, seconds in times(case):
        rows[f"F_{what}_TIME"] = seconds
    for what, of in (("OPEN", whole), ("READ", reading), ("WRITE", ~reading), ("CLOSE", whole)):
        rows[f"F_{what}_START_TIMESTAMP"][of] = 1.0
        rows[f"F_{what}_END_TIMESTAMP"][of] = case.run_seconds - 1.0
    return rows


def _set_data(rows: NDArray[np.void], what: str, total: int, of: NDArray[np.bool_]) -> None:
    """Set bytes and calls of one direction, calls of 1 MiB or smaller, one after the other."""
    done = {"READ": "READ", "WRITE": "WRITTEN"}[what]
    moved = shares(total, of)
    calls = -(-moved // REQUEST_BYTES)
    rows[f"BYTES_{done}"] = moved
    rows[f"MAX_BYTE_{done}"] = np.maximum(moved - 1, 0)
    rows[f"{what}S"] = calls
    rows[f"CONSEC_{what}S"] = rows[f"SEQ_{what}S"] = np.maximum(calls - 1, 0)
    size = int(moved.max() // max(calls.max(), 1))
    rows[f"SIZE_{what}_{_BINS[int(np.searchsorted(_EDGES, size, 'right'))]}"] = calls
