#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of the storage monitoring agent on a large Lustre server.

python benchmarks/monitor_agent.py [--seconds 300] [--only WORD] [--json]

The real `stripewise centre monitor` runs on a server of 100 OSTs with 10,000 job entries, 100 on
each, simulated by a stub for lctl.  Counters grow every 15 s: those of all jobs, or of one in
ten.  Processor times are those of the kernel's accounting, separately for the agent and for the
commands it runs; the first two minutes do not count.  The environment is that of the systemd
unit.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from monitor_agent_server import Server

from stripewise.centre.database import create_engine, initialise
from stripewise.centre.monitor.collectors import JobStatsReader

ROOT = Path(__file__).resolve().parents[1]
AGENT = [
    sys.executable,
    "-c",
    "from stripewise.cli import main; main()",
    "centre",
    "monitor",
    "--config",
]
STEP_SECONDS = 15.0
WARM_UP_SECONDS = 120.0
_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "131072"}
"""Environment of the agent, as in the systemd unit."""
_AS_PROMETHEUS = {"Accept": "application/openmetrics-text", "Accept-Encoding": "gzip"}
_TICKS = os.sysconf("SC_CLK_TCK")
_SINKS = {
    "Prometheus": "",
    "Prometheus, database": '[sinks.store]\ndatabase = "{database}"\n',
}


@dataclass(frozen=True)
class Case:
    """Variant to run: sink, share of active jobs, seconds between readings of jobs."""

    sinks: str
    share: float
    job_seconds: float


CASES = (
    Case("Prometheus", 1.0, 60.0),
    Case("Prometheus, database", 1.0, 60.0),
    Case("Prometheus, database", 0.1, 60.0),
    Case("Prometheus, database", 1.0, 15.0),
)


@dataclass(frozen=True)
class Row:
    """Cost of a case.

    Attributes:
        case: Name of the case.
        agent_percent / commands_percent: Share of one core used by the agent and its commands.
        rss_bytes / most_rss_bytes: Memory at the end (median of samples), and at its maximum.
        round_seconds: Longest round of the collector that was observed.
        scrape_seconds / scrape_bytes: Median of scrapes, not compressed.
        database_bytes_per_hour: Growth of the file and its log.
        problems: Number of readings and rounds that were left out, failed or skipped; if there are
            any, the case is invalid.
    """

    case: Case
    agent_percent: float
    commands_percent: float
    rss_bytes: int
    most_rss_bytes: int
    round_seconds: float
    scrape_seconds: float
    scrape_bytes: int
    database_bytes_per_hour: float
    problems: float


@dataclass(frozen=True)
class Sample:
    """Agent's data in /proc: seconds of itself and its children, present and maximum bytes."""

    agent_seconds: float
    commands_seconds: float
    rss_bytes: int
    most_rss_bytes: int


def main() -> None:
    """Measure the cases and the reader of job_stats, and print the tables."""
    options = _options()
    reader = _reader_rates()
    rows = []
    for case in CASES:
        if options.only in f"{case.sinks} {case.share:g} {case.job_seconds:g}":
            with tempfile.TemporaryDirectory(prefix="monitor-agent-") as scratch:
                rows.append(_measured(case, Path(scratch), options.seconds))
            print(_line(rows[-1]), file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps({"reader": reader, "rows": [asdict(row) for row in rows]}, indent=1))
        return
    print("\n".join([*_HEAD, *map(_line, rows), "", *_reader_lines(reader)]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=300.0, help="of each case, after warm-up")
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--quick", action="store_true", help="60 s of the first two cases")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    found = parser.parse_args()
    if found.quick:
        found.seconds, found.only = 60.0, found.only or "1 60"
    return found


def _measured(case: Case, scratch: Path, seconds: float) -> Row:
    server = Server(scratch, case.share)
    database = scratch / "statistics.sqlite"
    engine = create_engine(f"sqlite:///{database}")
    initialise(engine)
    engine.dispose()
    port = _free_port()
    config = scratch / "monitor.toml"
    config.write_text(
        f'[agent]\nserver = "oss-01"\nuser = "root"\n'
        f'[collectors.lustre-server]\nenabled = true\nlctl = "{server.lctl}"\n'
        f"job_interval_seconds = {case.job_seconds}\n"
        f'[sinks.prometheus]\nlisten = "127.0.0.1:{port}"\n'
        + _SINKS[case.sinks].format(database=database)
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **_ENVIRONMENT}
    with open(scratch / "log", "wb") as log:
        agent = subprocess.Popen([*AGENT, str(config)], env=environment, stderr=log, cwd="/")
    try:
        _let_grow(server, agent, WARM_UP_SECONDS, lambda: _scrape(port))
        size, begun = _size(database), time.monotonic()
        first, (_, before) = _sample(agent.pid), _scrape(port)
        samples: list[Sample] = []
        scrapes: list[tuple[float, str]] = []

        def look() -> None:
            scrapes.append(_scrape(port))
            samples.append(_sample(agent.pid))

        _let_grow(server, agent, seconds, look)
        last, passed = _sample(agent.pid), time.monotonic() - begun
        grown = _size(database) - size
    finally:
        agent.send_signal(signal.SIGTERM)
        agent.wait(30)
    return Row(
        case,
        100 * (last.agent_seconds - first.agent_seconds) / passed,
        100 * (last.commands_seconds - first.commands_seconds) / passed,
        int(statistics.median(one.rss_bytes for one in samples)),
        last.most_rss_bytes,
        max(
            _value(text, r"stripewise_collector_duration_seconds\{.*lustre-server.*")
            for _, text in scrapes
        ),
        statistics.median(took for took, _ in scrapes),
        len(scrapes[-1][1]),
        3600 * grown / passed,
        _trouble(scrapes[-1][1]) - _trouble(before),
    )


def _let_grow(
    server: Server, agent: subprocess.Popen[bytes], seconds: float, look: Callable[[], object]
) -> None:
    """Let counters grow every 15 s, and take a sample shortly before that."""
    until = time.monotonic() + seconds
    due = time.monotonic()
    while due < until - 1:
        due += STEP_SECONDS
        time.sleep(max(0.0, due - 3 - time.monotonic()))
        if agent.poll() is not None:
            raise SystemExit(f"the agent has ended with {agent.returncode}")
        look()
        server.step()
        time.sleep(max(0.0, due - time.monotonic()))


def _sample(pid: int) -> Sample:
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own, other = int(stat[11]) + int(stat[12]), int(stat[13]) + int(stat[14])
    status = Path(f"/proc/{pid}/status").read_text()
    sizes = dict(re.findall(r"^(Vm\w+):\s+(\d+) kB$", status, re.MULTILINE))
    rss, most = (int(sizes[name]) << 10 for name in ("VmRSS", "VmHWM"))
    return Sample(own / _TICKS, other / _TICKS, rss, most)


def _scrape(port: int) -> tuple[float, str]:
    begun = time.perf_counter()
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers=_AS_PROMETHEUS)
    with urllib.request.urlopen(asked, timeout=60) as answer:
        body = answer.read()
    return time.perf_counter() - begun, gzip.decompress(body).decode()


def _value(text: str, pattern: str) -> float:
    found = re.findall(rf"^{pattern} (\S+)$", text, re.MULTILINE)
    return sum(map(float, found))


def _trouble(text: str) -> float:
    names = ("collector_failures_total", "collector_skipped_rounds_total", "sink_failures_total",
             "sink_lost_rounds_total", "collector_problems_total",
             "sink_problems_total")  # fmt: skip
    return sum(_value(text, rf"stripewise_{name}{{.*") for name in names)


def _size(database: Path) -> int:
    return sum(path.stat().st_size for path in database.parent.glob(f"{database.name}*"))


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _reader_rates() -> dict[str, float]:
    """Return the reader's rates in bytes per second, by workload."""
    with tempfile.TemporaryDirectory(prefix="monitor-agent-") as scratch:
        server = Server(Path(scratch), 1.0)
        paths = sorted(Path(scratch, "tree", "obdfilter").glob("*/job_stats"))
        readers = [JobStatsReader() for _ in paths]
        found: dict[str, list[float]] = {}
        for number, what in enumerate(("first", *3 * ("passed over", "changed", "unchanged"))):
            if number and what != "unchanged":
                server.step()
            texts = [path.read_bytes() for path in paths]
            begun = time.thread_time()
            for reader, text in zip(readers, texts, strict=True):
                if reader.read([text], is_settled=what != "passed over").problems:
                    raise SystemExit("the reader has problems with the texts of this benchmark")
            rate = sum(map(len, texts)) / (time.thread_time() - begun)
            found.setdefault(what, []).append(rate)
    return {what: statistics.median(rates) for what, rates in found.items()}


_HEAD = (
    "| sinks | jobs at work | jobs read every | agent | commands | memory (highest) "
    "| longest round | scrape | database an hour | left out |",
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
)


def _line(row: Row) -> str:
    case = row.case
    kept = f"{row.database_bytes_per_hour / 1e6:.0f} MB" if "database" in case.sinks else "-"
    return (
        f"| {case.sinks} | {case.share:.0%} | {case.job_seconds:g} s | {row.agent_percent:.2f} % "
        f"| {row.commands_percent:.2f} % "
        f"| {row.rss_bytes / 1e6:.0f} MB ({row.most_rss_bytes / 1e6:.0f} MB) "
        f"| {row.round_seconds:.2f} s | {1e3 * row.scrape_seconds:.0f} ms, "
        f"{row.scrape_bytes / 1e6:.1f} MB | {kept} | {row.problems:g} |"
    )


def _reader_lines(rates: dict[str, float]) -> Iterable[str]:
    words = {
        "first": "first reading",
        "changed": "all entries changed, and are parsed",
        "passed over": "all entries changed, and are parsed later",
        "unchanged": "none changed",
    }
    yield "| text of jobs | read |"
    yield "|---|--:|"
    for what, rate in rates.items():
        yield f"| {words[what]} | {rate / 1e6:.0f} MB/s |"


if __name__ == "__main__":
    main()
