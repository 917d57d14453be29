# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The whole chain: jobs of three users, emulated servers, the agent, databases, portal, alert."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from stripewise.emulation import set_target_factor
from stripewise.fleet import create_engine, initialise
from stripewise.fleet.tables import FileSystem, Job, JobServed, Person, Rollup, Series
from support.tsdb import Database, prometheus
from support.watched_cluster import ROOT, WatchedCluster, Work, command, until, watching

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.timeout(300),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: jobs of several users"),
]

RULES = ROOT / "deploy" / "monitoring" / "prometheus" / "stripewise.rules.yaml"
STEPS = {
    "games": (("write", "shared.dat", "1048576", "12", "12582912", "1048576"),),
    "news": (
        ("read", "shared.dat", "65536", "64", "4194304", "65536"),
        ("write", "small.dat", "4096", "100", "1048576", "4096"),
    ),
    "backup": (("names", ".", "40"),),
}
"""User -> commands of the program: large shared writes; reads and small writes; names."""
SLOW = 3


class Chain:
    """What ran, and where it was counted."""

    def __init__(self, watched: WatchedCluster, engine: Engine, metrics: str) -> None:
        self.watched, self.engine, self.metrics = watched, engine, metrics
        self.jobs: dict[str, int] = {}
        self.works: dict[str, Work] = {}

    def run(self) -> None:
        """Run a job of each user, the first one's before the others read its file."""
        for users in (("games",), ("news", "backup")):
            for user in users:
                self.jobs[user] = self.watched.submit(user, *STEPS[user])
            for user in users:
                self.watched.wait(user, self.jobs[user])
        self.works = {user: self.watched.captured(user, job) for user, job in self.jobs.items()}

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


@pytest.fixture(scope="module")
def chain(cluster_of_root: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    directory = tmp_path_factory.mktemp("chain")
    database = directory / "jobs.sqlite"
    engine = create_engine(str(database))
    initialise(engine)
    watched = WatchedCluster(cluster_of_root, directory, tuple(STEPS))
    with watching(watched, database) as metrics:
        until(lambda: _answers(metrics), "the agent's first answer")
        made = Chain(watched, engine, metrics)
        made.run()
        yield made


def _answers(metrics: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{metrics}/metrics") as answer:
            return b"lustre_target_write_bytes_total" in answer.read()
    except OSError:
        return False


def _expected(chain: Chain, direction: str) -> dict[str, tuple[int, int]]:
    """Return requests and bytes of all jobs by target, as captured."""
    found: dict[str, tuple[int, int]] = {}
    for work in chain.works.values():
        for (way, target), (requests, moved) in work.moved.items():
            if way == direction:
                old = found.get(target, (0, 0))
                found[target] = (old[0] + requests, old[1] + moved)
    return found


def test_the_jobs_did_what_is_compared(chain: Chain) -> None:
    assert chain.works["games"].total == {"read": 0, "write": 24 << 20}
    assert chain.works["news"].total == {"read": 8 << 20, "write": 2 * 100 * 4096}
    assert chain.works["backup"].names["unlink"] == 80


@pytest.mark.parametrize("direction", ["read", "write"])
def test_targets_counted_what_was_captured(chain: Chain, direction: str) -> None:
    expected = _expected(chain, direction)
    moved = until(
        lambda: _sums_to(chain.samples(f"lustre_target_{direction}_bytes_total"), expected, 1),
        "all bytes counted",
    )
    assert {key[1].lower(): value for key, value in moved.items() if value} == {
        target.lower(): size for target, (_, size) in expected.items()
    }
    counted = chain.samples("lustre_target_operations_total")
    requests = {k[1].lower(): v for k, v in counted.items() if k[2] == direction and v}
    assert requests == {t.lower(): number for t, (number, _) in expected.items()}


def _sums_to(
    found: dict[tuple[str, ...], float], expected: dict[str, tuple[int, int]], place: int
) -> dict[tuple[str, ...], float] | None:
    whole = sum(one[place] for one in expected.values())
    return found if sum(found.values()) >= whole else None


def _served(chain: Chain) -> dict[tuple[str, str], Any]:
    """Return what the database has of each user and kind."""
    query = (
        select(Person.name, JobServed.kind, JobServed.operations, JobServed.moved_bytes,
               JobServed.parts)
        .join(Job, Job.id == JobServed.job_id)
        .join(Person, Person.id == Job.person_id)
        .join(FileSystem, FileSystem.id == JobServed.file_system_id)
        .where(FileSystem.name == chain.watched.fs)
    )  # fmt: skip
    with chain.engine.connect() as connection:
        return {(row[0], row[1]): row for row in connection.execute(query)}


def _ingest(chain: Chain) -> None:
    """Take in what Slurm has on record of the jobs."""
    words = ("db", "ingest", "--db", str(chain.engine.url.database), "--slurm")
    done = subprocess.run(
        command(*words), env=os.environ | chain.watched.cluster.environment, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert not done.returncode, done.stderr


def _is_complete(chain: Chain) -> dict[tuple[str, str], Any] | None:
    served = _served(chain)
    wanted = sum(sum(work.total.values()) for work in chain.works.values())
    there = sum(row.moved_bytes or 0 for row in served.values())
    names = served.get(("backup", "metadata"))
    return served if there >= wanted and names and names.operations >= 400 else None


def test_each_user_s_jobs_have_what_they_did(chain: Chain) -> None:
    _ingest(chain)
    served = until(lambda: _is_complete(chain), "all jobs' counters in the database", 90)
    for user, work in chain.works.items():
        for direction in ("read", "write"):
            requests = sum(n for (way, _), (n, _) in work.moved.items() if way == direction)
            row = served.get((user, direction))
            found = (row.operations, row.moved_bytes) if row else (0, 0)
            assert found == (requests, work.total[direction]), (user, direction)
    sizes = json.loads(served["news", "write"].parts)
    assert sizes == {"4096": 200}


def test_metadata_operations_are_those_of_the_calls(chain: Chain) -> None:
    served = until(lambda: _is_complete(chain), "all jobs' counters in the database", 90)
    counted = json.loads(served["backup", "metadata"].parts)
    names = chain.works["backup"].names
    calls = {"open": names["open"], "close": names["close"], "unlink": names["unlink"],
             "getattr": names["stat"], "mknod": names["open"]}  # fmt: skip
    assert {name: counted.get(name) for name in calls} == calls


def test_the_job_s_own_columns_say_the_same(chain: Chain) -> None:
    until(lambda: _is_complete(chain), "all jobs' counters in the database", 90)
    columns = (Job.raw_id, Job.server_read_bytes, Job.server_write_bytes)
    with chain.engine.connect() as connection:
        rows = {row[0]: tuple(row[1:]) for row in connection.execute(select(*columns))}
    for user, job in chain.jobs.items():
        total = chain.works[user].total
        if any(total.values()):
            assert rows[job] == (total["read"], total["write"]), user


def test_series_of_targets_add_up_to_the_same(chain: Chain) -> None:
    until(lambda: _is_complete(chain), "all jobs' counters in the database", 90)
    query = (
        select(Series.target, Rollup.total)
        .join(Series, Series.id == Rollup.series_id)
        .where(Series.metric == "write_bytes", Rollup.resolution_seconds == 86400)
    )
    expected = {t.lower(): float(size) for t, (_, size) in _expected(chain, "write").items()}

    def there() -> bool:
        with chain.engine.connect() as connection:
            rows = connection.execute(query).all()
        found: dict[str, float] = {}
        for target, total in rows:
            found[target.lower()] = found.get(target.lower(), 0.0) + total
        return {target: total for target, total in found.items() if total} == expected

    until(there, "the series of the database")


def _rules(directory: Path) -> Path:
    """Return the rules as they are shipped, with shorter times: nobody waits ten minutes here."""
    text = RULES.read_text()
    for long, short in (
        ("[5m]", "[20s]"),
        ("interval: 1m", "interval: 1s"),
        ("for: 5m", "for: 4s"),
    ):
        assert long in text
        text = text.replace(long, short)
    path = directory / "rules.yaml"
    path.write_text(text)
    return path


def test_an_alert_names_the_target_that_became_slow(chain: Chain) -> None:
    directory = chain.watched.directory
    scrape = f"""
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{_rules(directory)}]
scrape_configs:
- job_name: stripewise
  static_configs: [{{targets: ["{chain.metrics}"]}}]
"""
    steps = [("write", f"load-{n}.dat", "65536", "2000", "0", "1048576") for n in range(1)]
    with prometheus(scrape) as server:
        set_target_factor(chain.watched.mapping, SLOW, 20.0)
        job = chain.watched.submit("games", *steps, tasks=4)
        try:
            alerts = until(lambda: _firing(server, "LustreTargetSlow"), "the alert", 90)
        finally:
            set_target_factor(chain.watched.mapping, SLOW, 1.0)
            chain.watched.cluster.run("scancel", str(job))
    assert {one["labels"]["target"].lower() for one in alerts} == {f"ost{SLOW:04x}"}
    assert {one["labels"]["fs"] for one in alerts} == {chain.watched.fs}
    assert f"OST{SLOW:04x}".lower() in alerts[0]["annotations"]["summary"].lower()


def _firing(server: Database, name: str) -> list[dict[str, Any]]:
    found = json.loads(server.ask("/api/v1/alerts"))["data"]["alerts"]
    return [
        one for one in found if one["labels"]["alertname"] == name and one["state"] == "firing"
    ]
