#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of storing a storage server's counters in the statistics database.

python benchmarks/monitor_store.py [--hours 24] [--json]

Rounds of a synthetic server, one per minute, are given to the sink like those of the agent,
without the time between them.  Each scenario runs in its own process.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, text

from stripewise.centre.database import create_engine, initialise
from stripewise.centre.database.tables import JobLoad, MonitorState, Rollup, Sample
from stripewise.centre.database.upkeep import KEPT_LOAD_DAYS
from stripewise.centre.monitor.sinks._store import StoreSettings, StoreSink

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.monitor_day import Day

YEAR_DAYS = 365
KEPT = {"sample": 14, "rollup 60": 90, "rollup 3600": 365, "rollup 86400": 365,
        "job": KEPT_LOAD_DAYS}  # fmt: skip
"""Number of days for which rows are kept, at the end of a year."""


def worlds(hours: float) -> dict[str, Day]:
    """Return the scenarios to measure; jobs are given for a day."""
    rounds = int(60 * hours)
    share = rounds / 1440
    return {
        "8 targets, 2,000 jobs a day": Day(8, int(2000 * share), rounds, 120, 8),
        "8 targets, 20,000 jobs a day": Day(8, int(20_000 * share), rounds, 30, 2),
        "2 targets, 1,000,000 jobs a day": Day(2, int(1_000_000 * share), rounds, 10, 1),
    }


def measure(path: Path, day: Day) -> dict[str, Any]:
    """Deliver a day; return the costs."""
    engine = create_engine(str(path))
    sink = StoreSink(StoreSettings(database=str(path)), "oss1")
    sink.start()
    took = given = 0.0
    largest = 0
    for number, found in enumerate(day.moments()):
        began = time.process_time()
        sink.take(found)
        middle = time.process_time()
        sink.deliver()
        took, given = took + middle - began, given + time.process_time() - middle
        if number % 60 == 0:
            with engine.connect() as connection:
                size = connection.scalar(select(func.sum(func.length(MonitorState.state))))
            largest = max(largest, size or 0)
    sink.stop()
    return {"take": took, "deliver": given, "rounds": number + 1, "state_bytes": largest,
            "rss_bytes": _peak_bytes(), **_sizes(engine, day)}  # fmt: skip


def _peak_bytes() -> int:
    line = next(one for one in open("/proc/self/status") if one.startswith("VmHWM"))
    return int(line.split()[1]) << 10


def _sizes(engine: Any, day: Day) -> dict[str, Any]:
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT m.tbl_name, sum(pgsize) FROM dbstat s JOIN sqlite_schema m USING (name) " \
                "WHERE s.aggregate = 1 GROUP BY 1"  # fmt: skip
        tables = {row[0]: row[1] for row in connection.execute(text(query))}
        rollups = dict(
            tuple(row) for row in connection.execute(
                select(Rollup.resolution_seconds, func.count()).group_by(Rollup.resolution_seconds)
            )
        )  # fmt: skip
        samples = connection.scalar(select(func.count()).select_from(Sample))
        loads = connection.scalar(select(func.count()).select_from(JobLoad))
    days = day.rounds / 1440
    every = sum(rollups.values())
    parts = {f"rollup {one}": tables["rollup"] * count / every for one, count in rollups.items()}
    parts |= {"sample": tables["sample"], "job": tables["job_load"] + tables["job_tag"]}
    series = sum(size * KEPT[name] for name, size in parts.items() if name != "job")
    return {
        "samples": samples, "loads": loads,
        "series_year_bytes": series / days / day.targets,
        "jobs_year_bytes": parts["job"] * KEPT["job"] / days / day.targets,
        "load_bytes": parts["job"] / loads if loads else 0.0,
    }  # fmt: skip


def table(hours: float, found: dict[str, dict[str, Any]]) -> str:
    """Return the table as Markdown."""
    lines = [
        f"{hours:g} hours of rounds, a minute each; SQLite.", "",
        "| server | rows of jobs | bytes a row | series, MiB a target and year | "
        "jobs, MiB a target and year | state, KiB | CPU a round, ms | peak of the process, MiB |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]  # fmt: skip
    for name, one in found.items():
        cpu = 1000 * (one["take"] + one["deliver"]) / one["rounds"]
        lines.append(
            f"| {name} | {one['loads']:,} | {one['load_bytes']:.0f} | "
            f"{one['series_year_bytes'] / 2**20:.1f} | {one['jobs_year_bytes'] / 2**20:,.0f} | "
            f"{one['state_bytes'] / 1024:.0f} | {cpu:.0f} | {one['rss_bytes'] / 2**20:.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--database", type=Path, help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.one:
        print(json.dumps(measure(words.database, worlds(words.hours)[words.one])))
        return
    found = {}
    for name in worlds(words.hours):
        with tempfile.TemporaryDirectory() as directory:
            path = f"{directory}/fleet.sqlite"
            initialise(create_engine(path))
            command = [sys.executable, __file__, f"--hours={words.hours}", "--one", name]
            done = subprocess.run([*command, "--database", path], check=True, capture_output=True)
            found[name] = json.loads(done.stdout)
    if words.json:
        print(json.dumps(found, indent=2))
    else:
        print(table(words.hours, found))


if __name__ == "__main__":
    main()
