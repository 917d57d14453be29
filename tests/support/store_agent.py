# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A process that counts a fake server into the statistics database until it is killed.

python store_agent.py DATABASE COUNTERS: COUNTERS is a file of JSON, which somebody else lets grow.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from pathlib import Path

from stripewise.centre.monitor.sinks._base import SinkError
from stripewise.centre.monitor.sinks._store import StoreSettings, StoreSink
from support.monitor_targets import T0, Reader, Target

SPEED = 600.0
"""Seconds of the server in one second of the test."""


def targets_of(path: Path) -> list[Target]:
    """Return targets with the counters of a file."""
    every = []
    for name, jobs in json.loads(path.read_text()).items():
        one = Target(name)
        for tag, amount in jobs.items():
            one.jobs[tag] = defaultdict(int, {"write": amount, "n_write": amount})
            one.started[tag] = 0
            one.totals["write"] += amount
        every.append(one)
    return every


def main(database: str, counters: Path, began: float) -> None:
    """Take and deliver for ever."""
    settings = StoreSettings(
        database=database, sample_interval_seconds=10.0, job_interval_seconds=20.0, top_jobs=2
    )
    sink = StoreSink(settings, "oss1")
    sink.start()
    reader = Reader(starts=False)
    print("started", flush=True)
    while True:
        now = T0 + (time.monotonic() - began) * SPEED
        sink.take(reader.round(targets_of(counters), now))
        try:
            sink.deliver()
        except SinkError as error:
            print(error, flush=True)
        time.sleep(0.005)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))
