# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A million job ids in a day, through the collector to Prometheus: no series more, no memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stripewise.centre.monitor.agent._collecting import Clock, read_round
from stripewise.centre.monitor.collectors._lustre_server import LustreServer, LustreServerSettings
from stripewise.centre.monitor.sinks._exposition import Exposition, Form
from support.amounts import share_of
from support.lustre_servers import server

TEXT = "obdfilter.home-a-OST0000.job_stats"
NEW_IDS = 1000
ALIVE_ROUNDS = 3
MOST_GROWTH_BYTES = 32 << 20


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def series(exposition: Exposition) -> set[str]:
    lines = exposition.text(Form.TEXT).splitlines()
    return {line.rpartition(" ")[0] for line in lines if not line.startswith("#")}


def run(rounds: int) -> None:
    """Let ids come and go; each lives for a few readings."""
    host = server()
    head, entry = str(host.parameters[TEXT]).split("- job_id:")[:2]
    numbers = entry.partition("\n")[2]
    collector = LustreServer(LustreServerSettings(job_interval_seconds=1, most_jobs=20_000))
    now = 0.0
    collector.monotonic = lambda: now
    exposition = Exposition("oss1")
    seen, first, begun = 0, set[str](), 0
    for number in range(rounds):
        alive = range(max(0, number - ALIVE_ROUNDS + 1) * NEW_IDS, (number + 1) * NEW_IDS)
        host.parameters[TEXT] = head + "".join(f"- job_id: {id_ + 1}\n{numbers}" for id_ in alive)
        now += 60.0
        host.asked.clear()
        host.timeouts.clear()
        found = read_round(collector, host, Clock()).round
        assert found.problems == ()
        (jobs,) = (one for one in found.jobs if one.target == "OST0000")
        assert jobs.count == len(alive)
        seen += sum(int(one.tag) > number * NEW_IDS for one in jobs.changed)
        exposition.take(found)
        if number == 0:
            first = series(exposition)
        elif number == 2 * ALIVE_ROUNDS:
            begun = resident_bytes()
        assert series(exposition) == first, "a series that names a job, or one that is lost"
    assert seen == rounds * NEW_IDS
    assert resident_bytes() - begun < MOST_GROWTH_BYTES


def test_ten_thousand_job_ids() -> None:
    run(10)


@pytest.mark.long
def test_a_million_job_ids() -> None:
    run(share_of(1000, 10))
