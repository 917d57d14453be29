# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of three users beside one that loads a slow target, watched from calls to databases."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, func, select

from stripewise.centre.database import create_engine, initialise
from stripewise.centre.database.tables import FileSystem, Job, JobServed, Person, Rollup, Series
from stripewise.storage.emulation import set_target_factor
from support.tsdb import Database, prometheus
from support.watched_cluster import ROOT, WatchedCluster, Work, command, until, watching

RULES = ROOT / "deploy" / "monitoring" / "prometheus" / "stripewise.rules.yaml"
SHORTER = {"[5m]": "[20s]", "interval: 1m": "interval: 1s", "for: 5m": "for: 4s",
           "[1d:5m]": "[1d:5s]"}  # fmt: skip
"""Times of rules and boards, and what they are here: nobody waits ten minutes."""
SCRAPE_SECONDS = 1
STEPS = {
    "games": (("write", "shared.dat", "1048576", "12", "12582912", "1048576"),),
    "news": (
        ("read", "shared.dat", "65536", "64", "4194304", "65536"),
        ("write", "small.dat", "4096", "100", "1048576", "4096"),
    ),
    "backup": (("names", ".", "40"),),
}
"""User -> commands of the program: large shared writes; reads and small writes; names."""
LOADER = "games"
"""User of the job that goes on beside the others."""
LOAD_RANKS, LOAD_BYTES = 4, 65536
SLOW, FACTOR = 3, 20.0
FEWEST = 100
"""Operations of a target from which on the portal says how long they took."""
MINUTE, KNOWN_SECONDS = 60, 24
"""Time over which the portal takes means, and how much of it has to be watched."""
LATEST_SECONDS = 45
"""In a minute, for jobs to be submitted: they begin in it, while the target is loaded."""
DELIVERED_SECONDS = 10
"""After so long, the database has what the agent read."""


class Chain:
    """What ran, and where it was counted.

    Attributes:
        metrics: Address of the agent's metrics.
        server: The Prometheus.
        jobs / works: By user; the job that loads the target is "load".
        alerts: That fired while the target was slow.
        began / amid / ended: Moments (seconds since 1970): before the load, while all ran with the
            alert firing, and when all of it was counted.
    """

    def __init__(
        self, watched: WatchedCluster, engine: Engine, metrics: str, server: Database
    ) -> None:
        self.watched, self.engine, self.metrics, self.server = watched, engine, metrics, server
        self.jobs: dict[str, int] = {}
        self.works: dict[str, Work] = {}
        self.alerts: list[dict[str, Any]] = []
        self.began = self.amid = self.ended = 0.0

    @property
    def database(self) -> Path:
        """The file of the statistics database."""
        return Path(str(self.engine.url.database))

    @property
    def slow(self) -> str:
        """Name of the slow target."""
        return f"OST{SLOW:04x}"

    def owner(self, job: str) -> str:
        """Return the user of a job by its name here."""
        return LOADER if job == "load" else job

    def run(self) -> None:
        """Run the jobs beside the load, the first user's before the others read its file."""
        self.began = time.time()
        stop = self.watched.cluster.directory / "stop"  # that users can look for
        set_target_factor(self.watched.mapping, SLOW, FACTOR)
        words = ("until", "load.dat", str(LOAD_BYTES), str(stop))
        self.jobs["load"] = self.watched.submit(LOADER, words, tasks=LOAD_RANKS)
        try:
            self.alerts = until(self._firing, "the alert", 90)
            for users in (("games",), ("news", "backup")):
                until(self._is_loaded, "operations of each target in this minute", 120)
                self._run(users)
            self.amid = time.time()
        finally:
            stop.touch()
        self.watched.wait(LOADER, self.jobs["load"])
        set_target_factor(self.watched.mapping, SLOW, 1.0)
        self.works = {
            name: self.watched.captured(self.owner(name), job) for name, job in self.jobs.items()
        }

    def _run(self, users: tuple[str, ...]) -> None:
        for user in users:
            self.jobs[user] = self.watched.submit(user, *STEPS[user])
        for user in users:
            self.watched.wait(user, self.jobs[user])

    def _firing(self) -> list[dict[str, Any]]:
        found = json.loads(self.server.ask("/api/v1/alerts"))["data"]["alerts"]
        return [
            one for one in found
            if one["labels"]["alertname"] == "LustreTargetSlow" and one["state"] == "firing"
        ]  # fmt: skip

    def _is_loaded(self) -> bool:
        """Whether the portal will tell of the minute in which jobs begin now."""
        now = time.time()
        minute = now // MINUTE * MINUTE
        if now - minute > LATEST_SECONDS or minute + MINUTE - self.began < KNOWN_SECONDS:
            return False
        if minute < self.began:
            return self._least_operations(self.began) >= FEWEST
        return self._least_operations(minute + 2 * SCRAPE_SECONDS) >= FEWEST

    def _least_operations(self, since: float) -> float:
        """Return the growth since a moment at the storage target in use that has the least."""
        name = 'lustre_target_service_operations_total{target=~"OST.*"}'
        then = {one["metric"]["target"]: float(one["value"][1])
                for one in self.server.query(name, time=str(since))}  # fmt: skip
        now = {one["metric"]["target"]: float(one["value"][1]) for one in self.server.query(name)}
        grown = [now[target] - then.get(target, 0.0) for target in now]
        return min((one for one in grown if one), default=0.0)

    def samples(self, name: str) -> dict[tuple[str, ...], float]:
        """Return the samples of a metric that the agent serves, by its labels' values."""
        with urllib.request.urlopen(f"http://{self.metrics}/metrics") as answer:
            text = answer.read().decode()
        found = {}
        for line in text.splitlines():
            if line.startswith(f"{name}{{"):
                labels, _, value = line[len(name) + 1 :].rpartition("} ")
                values = [part.partition("=")[2].strip('"') for part in labels.split(",")]
                found[tuple(values[1:])] = float(value)
        return found

    def expected(self, direction: str) -> dict[str, tuple[int, int]]:
        """Return requests and bytes of all jobs by target, as captured."""
        found: dict[str, tuple[int, int]] = {}
        for work in self.works.values():
            for (way, target), (requests, moved) in work.moved.items():
                if way == direction:
                    old = found.get(target, (0, 0))
                    found[target] = (old[0] + requests, old[1] + moved)
        return found

    def metadata(self) -> dict[str, dict[str, int]]:
        """Return the metadata operations of each job, by its calls."""
        found, there = {}, set[str]()
        for name, work in self.works.items():
            found[name] = work.metadata(there)
            there |= work.opened
        return found

    def served(self) -> dict[tuple[str, str], Any]:
        """Return what the database has of each job, by its name here and kind."""
        query = (
            select(Job.raw_id, Person.name, JobServed.kind, JobServed.operations,
                   JobServed.moved_bytes, JobServed.parts)
            .join(Job, Job.id == JobServed.job_id)
            .join(Person, Person.id == Job.person_id)
            .join(FileSystem, FileSystem.id == JobServed.file_system_id)
            .where(FileSystem.name == self.watched.fs)
        )  # fmt: skip
        names = {number: name for name, number in self.jobs.items()}
        with self.engine.connect() as connection:
            rows = connection.execute(query).all()
        assert all(row.name == self.owner(names[row.raw_id]) for row in rows)
        return {(names[row.raw_id], row.kind): row for row in rows}

    def series(self, metric: str) -> dict[str, float]:
        """Return what the series of the database have of each target, by its name."""
        query = (
            select(Series.target, func.sum(Rollup.total))
            .join(Series, Series.id == Rollup.series_id)
            .where(Series.metric == metric, Rollup.resolution_seconds == 86400)
            .group_by(Series.target)
        )
        with self.engine.connect() as connection:
            return {target: float(total) for target, total in connection.execute(query) if total}

    def settle(self) -> None:
        """Take in Slurm's records, and wait until all that was captured is counted everywhere."""
        words = ("centre", "ingest", "--db", str(self.database), "--slurm")
        done = subprocess.run(
            command(*words), env=os.environ | self.watched.cluster.environment, check=False,
            capture_output=True, text=True,
        )  # fmt: skip
        assert not done.returncode, done.stderr
        until(self._is_complete, "all that servers counted in the database", 90)
        known = max(self.began, self.amid // MINUTE * MINUTE) + KNOWN_SECONDS
        # At least a scrape of its own after the last round of the agent, and one more.
        time.sleep(max(known + DELIVERED_SECONDS - time.time(), 3 * SCRAPE_SECONDS))
        self.ended = time.time()

    def _is_complete(self) -> bool:
        moved = sum(size for _, size in self.expected("write").values())
        if sum(self.series("write_bytes").values()) < moved:
            return False
        wanted, there = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for name, work in self.works.items():
            wanted.update({(name, way): size for way, size in work.total.items()})
            wanted[name, "close"] = work.closes
        for (name, kind), row in self.served().items():
            if kind == "metadata":
                there[name, "close"] = json.loads(row.parts).get("close", 0)
            else:
                there[name, kind] = row.moved_bytes
        return wanted <= there


@contextmanager
def watched_chain(cluster: Any, directory: Path) -> Iterator[Chain]:
    """Run the jobs on a cluster that an agent and a Prometheus watch; they go on watching."""
    engine = create_engine(str(directory / "jobs.sqlite"))
    initialise(engine)
    watched = WatchedCluster(cluster, directory, tuple(STEPS))
    with watching(watched, directory / "jobs.sqlite") as metrics:
        scrape = f"""
global: {{scrape_interval: {SCRAPE_SECONDS}s, evaluation_interval: 1s}}
rule_files: [{_rules(directory)}]
scrape_configs:
- job_name: stripewise
  static_configs: [{{targets: ["{metrics}"]}}]
"""
        with prometheus(scrape) as server:
            until(lambda: server.query("lustre_target_write_bytes_total"), "the first scrape")
            chain = Chain(watched, engine, metrics, server)
            chain.run()
            chain.settle()
            yield chain
    engine.dispose()


def shortened(text: str) -> str:
    """Return a text with the times that this test has."""
    for long, short in SHORTER.items():
        text = text.replace(long, short)
    return text


def _rules(directory: Path) -> Path:
    path = directory / "rules.yaml"
    path.write_text(shortened(RULES.read_text()))
    return path
