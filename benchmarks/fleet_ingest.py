#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how many Darshan logs one core ingests per second, compared with job_stats.

python benchmarks/fleet_ingest.py [--copies 40] [--json]

The logs are those in PyDarshan, each copied by its own library with the data of many other jobs.
Both programs have the same single core.  PyDarshan's job_stats adds up the records of one module
(POSIX) and prints a line for each log; the ingest reads all modules, finds patterns and causes,
and stores profile, files and findings.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Engine, func, select

from stripewise.centre.database import create_engine, initialise
from stripewise.centre.database.ingest import IngestOptions, ingest
from stripewise.centre.database.tables import Job, JobFile

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.darshan_logs import copy_log
from support.fleet_inputs import darshan_logs, old

GOAL = 20.0
"""Target: median number of logs per second and core."""
STARTS = 5
"""Number of passes that measure the start-up time, which is subtracted for single logs."""


@dataclass(frozen=True)
class Row:
    """Result for the copies of one log.

    Attributes:
        log: Name of the log.
        log_bytes: Size of the log.
        logs_per_second: Number of logs that one core ingests per second.
        kept_bytes: Growth of the database for each log.
    """

    log: str
    log_bytes: int
    logs_per_second: float
    kept_bytes: float


def main() -> None:
    """Measure, and print the tables."""
    options = _options()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory(prefix="fleet-ingest-") as name:
        top = Path(name)
        trees = [_copies(top / f"{place:02d}", log, 1000 * place, options.copies)
                 for place, log in enumerate(darshan_logs(), 1)]  # fmt: skip
        start = _start(top, trees[0])
        rows = [_measured(top, tree, start) for tree in trees]
        whole = _whole(top, trees)
    document = {"copies": options.copies, "rows": [asdict(row) for row in rows], "whole": whole}
    print(json.dumps(document, indent=2) if options.json else markdown(document))


def markdown(document: dict[str, Any]) -> str:
    """Return the tables as Markdown."""
    rows = sorted(document["rows"], key=lambda row: row["log_bytes"])
    lines = [
        f"{document['copies']} copies of each log, one core; the aim is a median of {GOAL:.0f} "
        "logs a second.",
        "",
        "| log | bytes | logs/s | KiB kept |",
        "|---|--:|--:|--:|",
    ]
    for row in rows:
        lines.append(
            f"| {row['log']} | {row['log_bytes']:,} | {row['logs_per_second']:.1f} | "
            f"{row['kept_bytes'] / 1024:.1f} |"
        )
    numbers = ("log_bytes", "logs_per_second", "kept_bytes")
    size, taken, kept = (float(np.median([row[name] for row in rows])) for name in numbers)
    lines.append(f"| **median** | {size:,.0f} | **{taken:.1f}** | {kept / 1024:.1f} |")
    lines += ["", "| all of them | ingest | job_stats |", "|---|--:|--:|"]
    whole = document["whole"]
    for what, name in (
        ("logs", "logs"), ("seconds, with the start", "seconds"),
        ("bytes kept or printed", "bytes"), ("rows of jobs", "jobs"), ("rows of files", "files"),
    ):  # fmt: skip
        cells = (f"{whole[by][name]:,.4g}" if name == "seconds" else f"{whole[by][name]:,}"
                 for by in ("ingest", "job_stats"))  # fmt: skip
        lines.append(f"| {what} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _copies(tree: Path, log: Path, first: int, number: int) -> Path:
    tree.mkdir()
    for place in range(number):
        old(copy_log(log, tree / f"{log.stem}-{place}.darshan", job_id=first + place))
    return tree


def _start(top: Path, tree: Path) -> float:
    """Return the seconds to start, including those to ingest one small log."""
    logs = sorted(tree.iterdir())[:STARTS]
    engine = _database(top / "start.sqlite")
    return float(np.median([_ingest(engine, [log]) for log in logs]))


def _measured(top: Path, tree: Path, start: float) -> Row:
    logs = sorted(tree.iterdir())
    engine = _database(top / f"{tree.name}.sqlite")
    before = _size(engine)
    seconds = _ingest(engine, logs) - start
    name = logs[0].stem.rpartition("-")[0]
    return Row(
        name if len(name) < 40 else f"{name[:37]}...",
        logs[0].stat().st_size,
        (len(logs) - 1) / seconds,
        (_size(engine) - before) / len(logs),
    )


def _whole(top: Path, trees: list[Path]) -> dict[str, dict[str, float]]:
    logs = [log for tree in trees for log in sorted(tree.iterdir())]
    engine = _database(top / "whole.sqlite")
    empty = _size(engine)
    seconds = _ingest(engine, logs)
    with engine.connect() as connection:
        jobs, files = (connection.scalar(select(func.count()).select_from(table)) or 0
                       for table in (Job, JobFile))  # fmt: skip
    told, text = _job_stats(logs)
    return {
        "ingest": {"logs": len(logs), "seconds": seconds, "bytes": _size(engine) - empty,
                   "jobs": jobs, "files": files},
        "job_stats": {"logs": len(logs), "seconds": told, "bytes": len(text),
                      "jobs": text.count(b"\n") - 1, "files": 0},
    }  # fmt: skip


def _database(path: Path) -> Engine:
    engine = create_engine(str(path))
    initialise(engine)
    return engine


def _ingest(engine: Engine, logs: list[Path]) -> float:
    """Ingest logs; return the seconds."""
    begun = time.perf_counter()
    tally = ingest(engine, IngestOptions(tuple(logs), jobs=1, settle_seconds=0.0))
    seconds = time.perf_counter() - begun
    if tally.stored.total() != len(logs):
        raise SystemExit(f"{tally.stored.total()} of {len(logs)} logs stored: {tally.reasons}")
    return seconds


def _size(engine: Engine) -> int:
    with engine.connect() as connection:
        pages, size = (connection.exec_driver_sql(f"PRAGMA page_{what}").scalar_one()
                       for what in ("count", "size"))  # fmt: skip
    return int(pages * size)


def _job_stats(logs: list[Path]) -> tuple[float, bytes]:
    command = [sys.executable, "-m", "darshan", "job_stats", "--csv", "--limit", "-1"]
    begun = time.perf_counter()
    done = subprocess.run([*command, *map(str, logs)], capture_output=True, check=True)
    return time.perf_counter() - begun, done.stdout


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--copies", type=int, default=40, help="of each log")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the tables")
    return parser.parse_args()


if __name__ == "__main__":
    main()
