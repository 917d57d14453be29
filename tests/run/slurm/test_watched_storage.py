# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The whole chain: jobs of three users, emulated servers, the agent, databases, portal, alert."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select

from stripewise.centre.database.tables import Job
from stripewise.evidence.trace import Action
from support.watched_boards import (
    QUERIES,
    SILENT,
    UNTOLD,
    amid,
    asked,
    counted,
    expression,
    grown,
    names,
    told,
)
from support.watched_chain import LOAD_BYTES, LOADER, STEPS, Chain, watched_chain
from support.watched_portal import STAFF, Visitor, watched_portal

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.timeout(400),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: jobs of several users"),
]
TITLES = {"read": "Read", "write": "Written", "metadata": "Metadata"}


@pytest.fixture(scope="module")
def chain(cluster_of_root: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    with watched_chain(cluster_of_root, tmp_path_factory.mktemp("chain")) as made:
        yield made


@pytest.mark.extended
def test_the_jobs_did_what_is_compared(chain: Chain) -> None:
    assert chain.works["games"].total == {"read": 0, "write": 24 << 20}
    assert chain.works["news"].total == {"read": 8 << 20, "write": 2 * 100 * 4096}
    assert chain.works["backup"].total == {"read": 0, "write": 0}
    assert chain.works["backup"].names[Action.RENAME] == 80
    assert chain.works["load"].total["write"] > 1000 * LOAD_BYTES
    assert [chain.owner(name) for name in chain.jobs] == [LOADER, *STEPS]


# ---- counters, database, alert -------------------------------------------------------------


@pytest.mark.extended
@pytest.mark.parametrize("direction", ["read", "write"])
def test_targets_counted_what_was_captured(chain: Chain, direction: str) -> None:
    expected = chain.expected(direction)
    moved = chain.samples(f"lustre_target_{direction}_bytes_total")
    assert {key[1]: value for key, value in moved.items() if value} == {
        target: size for target, (_, size) in expected.items()
    }
    counts = chain.samples("lustre_target_operations_total")
    requests = {k[1]: v for k, v in counts.items() if k[2] == direction and v}
    assert requests == {t: number for t, (number, _) in expected.items()}


@pytest.mark.extended
def test_each_user_s_jobs_have_what_they_did(chain: Chain) -> None:
    served = chain.served()
    for name, work in chain.works.items():
        for direction in ("read", "write"):
            row = served.get((name, direction))
            found = (row.operations, row.moved_bytes) if row else (0, 0)
            assert found == (work.requests(direction), work.total[direction]), (name, direction)
    assert json.loads(served["news", "write"].parts) == {"4096": 200}


@pytest.mark.extended
@pytest.mark.parametrize("name", ["load", *STEPS])
def test_metadata_operations_are_those_of_the_calls(chain: Chain, name: str) -> None:
    row = chain.served()[name, "metadata"]
    expected = chain.metadata()[name]
    assert json.loads(row.parts) == expected
    assert row.operations == sum(expected.values())


@pytest.mark.extended
def test_every_kind_of_metadata_operation_is_compared(chain: Chain) -> None:
    kinds = {kind for one in chain.metadata().values() for kind in one}
    assert kinds == {"open", "close", "mknod", "getattr", "setattr", "mkdir", "rmdir", "rename",
                     "unlink"}  # fmt: skip


@pytest.mark.extended
def test_the_job_s_own_columns_say_the_same(chain: Chain) -> None:
    columns = (Job.raw_id, Job.server_read_bytes, Job.server_write_bytes)
    with chain.engine.connect() as connection:
        rows = {row[0]: tuple(row[1:]) for row in connection.execute(select(*columns))}
    for name, job in chain.jobs.items():
        total = chain.works[name].total
        if any(total.values()):
            assert rows[job] == (total["read"], total["write"]), name


@pytest.mark.extended
def test_series_of_targets_add_up_to_the_same(chain: Chain) -> None:
    expected = {target: float(size) for target, (_, size) in chain.expected("write").items()}
    assert chain.series("write_bytes") == expected


@pytest.mark.extended
def test_an_alert_names_the_target_that_became_slow(chain: Chain) -> None:
    assert {one["labels"]["target"] for one in chain.alerts} == {chain.slow}
    assert {one["labels"]["fs"] for one in chain.alerts} == {chain.watched.fs}
    assert chain.slow in chain.alerts[0]["annotations"]["summary"]


# ---- boards --------------------------------------------------------------------------------


@pytest.mark.extended
def test_every_expression_of_the_boards_gives_something(chain: Chain) -> None:
    there = told(chain)
    silent = {str(one) for one in QUERIES if not amid(chain, one)}
    unknown = {str(one) for one in QUERIES if not names(one.expression) <= there}
    undetermined = {name for one in QUERIES for name in names(one.expression)} - there
    assert [name for name in undetermined if not UNTOLD.fullmatch(name)] == []
    assert silent == unknown | SILENT


def _by(chain: Chain, direction: str, *places: str) -> dict[tuple[str, ...], float]:
    """Return the bytes that jobs moved, by some labels: those of the board's expression."""
    found: dict[tuple[str, ...], float] = {}
    for target, (_, size) in chain.expected(direction).items():
        labels = {"fs": chain.watched.fs, "server": "oss1", "target": target}
        key = tuple(labels[place] for place in places)
        found[key] = found.get(key, 0.0) + size
    return found


@pytest.mark.extended
@pytest.mark.parametrize(
    ("board", "panel", "refs", "places"),
    [
        ("overview", "Throughput", "AB", ("fs",)),
        ("overview", "Targets", "CD", ("fs", "target")),
        ("server", "Throughput", "AB", ("server",)),
        ("target", "Throughput", "AB", ("fs", "target")),
        ("load", "By file system", "AB", ("fs",)),
        ("load", "Targets", "AB", ("fs", "target")),
        ("load", "Servers", "AB", ("fs", "server")),
    ],
)
def test_boards_have_the_bytes_that_programs_moved(
    chain: Chain, board: str, panel: str, refs: str, places: tuple[str, ...]
) -> None:
    for ref, direction in zip(refs, ("read", "write"), strict=True):
        expected = _by(chain, direction, *places)
        assert counted(chain, board, panel, ref) == expected
        found, most = grown(chain, board, panel, ref)
        assert found.keys() == expected.keys()
        for key, size in expected.items():
            assert size * (1 - 1e-9) <= found[key] <= size * most, (direction, key)


@pytest.mark.extended
@pytest.mark.parametrize(
    ("board", "panel", "ref", "places"),
    [
        ("overview", "Metadata operations", "A", ("fs",)),
        ("overview", "Targets", "E", ("fs", "target")),
        ("server", "Metadata operations", "A", ("server",)),
        ("load", "Targets", "D", ("fs", "target")),
        ("load", "Servers", "C", ("fs", "server")),
        ("metadata", "By file system", "A", ("fs",)),
        ("metadata", "By target", "A", ("fs", "target")),
    ],
)
def test_boards_have_the_metadata_operations_of_the_programs(
    chain: Chain, board: str, panel: str, ref: str, places: tuple[str, ...]
) -> None:
    labels = {"fs": chain.watched.fs, "server": "oss1", "target": "MDT0000"}
    number = sum(sum(one.values()) for one in chain.metadata().values())
    expected = {tuple(labels[place] for place in places): float(number)}
    assert counted(chain, board, panel, ref) == expected
    found, most = grown(chain, board, panel, ref)
    assert number * (1 - 1e-9) <= found[next(iter(expected))] <= number * most


@pytest.mark.extended
def test_boards_have_each_kind_of_operation(chain: Chain) -> None:
    fs = chain.watched.fs
    kinds: dict[tuple[str, ...], float] = {}
    for one in chain.metadata().values():
        for kind, number in one.items():
            kinds[fs, kind] = kinds.get((fs, kind), 0.0) + number
    assert counted(chain, "metadata", "By kind", "A") == kinds
    of_targets = {
        (fs, direction, target): number
        for direction in ("read", "write")
        for target, (number, _) in chain.expected(direction).items()
    }
    of_targets |= {(fs, kind, "MDT0000"): number for (_, kind), number in kinds.items()}
    assert counted(chain, "target", "Operations by kind", "A") == of_targets


@pytest.mark.extended
def test_the_board_of_load_has_sizes_imbalance_and_jobs(chain: Chain) -> None:
    fs, both = chain.watched.fs, [chain.expected(way) for way in ("read", "write")]
    requests = sum(number for one in both for number, _ in one.values())
    moved: dict[str, int] = {}
    for one in both:
        for target, (_, size) in one.items():
            moved[target] = moved.get(target, 0) + size
    size = counted(chain, "load", "Size of a read or write", "A")
    assert size == {(fs,): pytest.approx(sum(moved.values()) / requests, rel=1e-12)}
    mean = sum(moved.values()) / 12
    imbalance = counted(chain, "load", "Imbalance", "A")
    assert imbalance == {(fs,): pytest.approx(max(moved.values()) / mean, rel=1e-12)}
    users = {
        target: sum(target in {t for _, t in work.moved} for work in chain.works.values())
        for target in moved
    }
    jobs = asked(chain, expression("load", "Targets", "E", "1m"), chain.ended)
    expected = {(fs, target): number for target, number in users.items()}
    expected[fs, "MDT0000"] = len(chain.jobs)
    assert {key: number for key, number in jobs.items() if number} == expected


@pytest.mark.extended
def test_boards_point_at_the_slow_target_alone(chain: Chain) -> None:
    at, window = chain.amid, "20s"
    assert asked(chain, expression("overview", "Slow targets", "A", window), at) == {(): 1.0}
    text = expression("target", "Time compared with others", "A", window)
    slow = {key[-1]: factor for key, factor in asked(chain, text, at).items() if factor > 3}
    assert slow.keys() == {chain.slow}
    firing = asked(chain, expression("overview", "Alerts firing", "A", window), at)
    assert [key for key in firing if "LustreTargetSlow" in key and chain.slow in key]
    assert asked(chain, expression("overview", "Targets missing", "A", window), at) == {(): 0.0}


# ---- portal --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def portal(chain: Chain) -> Iterator[str]:
    with watched_portal(chain) as address:
        yield address


def _keys(chain: Chain) -> dict[str, int]:
    with chain.engine.connect() as connection:
        rows = {row[0]: row[1] for row in connection.execute(select(Job.raw_id, Job.id))}
    return {name: rows[number] for name, number in chain.jobs.items()}


@pytest.mark.extended
@pytest.mark.parametrize("name", ["load", *STEPS])
def test_a_job_s_page_has_its_requests_beside_its_calls(
    chain: Chain, portal: str, name: str
) -> None:
    page = Visitor(portal, chain.owner(name)).page(f"/jobs/{_keys(chain)[name]}")
    work, names_of = chain.works[name], chain.metadata()[name]
    expected: dict[str, tuple[int, int | None]] = {
        TITLES[way]: (work.requests(way), work.total[way])
        for way in ("read", "write")
        if work.total[way]
    }
    expected[TITLES["metadata"]] = (sum(names_of.values()), None)
    rows = page["served"]["rows"]
    assert {row["kind"]: (row["operations"], row["moved_bytes"]) for row in rows} == expected
    assert page["served_operations"] == names_of
    for way, total in work.total.items():
        by_profile, by_servers, _ = page["witnesses"][f"{way}_bytes"]
        assert by_profile == total
        if any(work.total.values()):  # else the servers of data have never heard of the job
            assert by_servers == total
    assert f"{chain.slow} was slow:" in " ".join(page["load"])


@pytest.mark.extended
@pytest.mark.parametrize("user", STEPS)
def test_users_see_the_slow_target_and_no_names_of_others(
    chain: Chain, portal: str, user: str
) -> None:
    visitor, fs, keys = Visitor(portal, user), chain.watched.fs, _keys(chain)
    mine = {name for name in chain.jobs if chain.owner(name) == user}
    for name, key in keys.items():
        assert visitor.status(f"/jobs/{key}") == (200 if name in mine else 404), name
    (storage,) = visitor.page("/storage")["load"]["rows"]
    assert storage["health"].startswith(f"1 of 13 targets is slow: {chain.slow} (")
    top = visitor.page(f"/storage/{fs}/top?period=hour")
    assert top["sums"]["source"] == "the servers' counters"
    assert {row["raw_id"] for row in top["jobs"]["rows"]} == {chain.jobs[name] for name in mine}
    assert [row["name"] for row in top["users"]["rows"]] == [user]
    assert top["sums"]["seen_bytes"] == sum(sum(chain.works[n].total.values()) for n in mine)
    # Two or three others could be told apart: nothing is said of them.
    assert top["sums"]["other_bytes"] is None
    for path in ("/jobs", f"/storage/{fs}", f"/storage/{fs}/patterns", "/"):
        visitor.page(path)
    others = [one for one in STEPS if one != user]
    assert [one for one in others if any(f">{one}<" in t or f'"{one}"' in t
                                         for t in visitor.seen)] == []  # fmt: skip


@pytest.mark.extended
def test_staff_see_who_loads_the_file_system(chain: Chain, portal: str) -> None:
    top = Visitor(portal, STAFF).page(f"/storage/{chain.watched.fs}/top?period=hour")
    moved: dict[str, float] = dict.fromkeys(STEPS, 0.0)
    for name, work in chain.works.items():
        moved[chain.owner(name)] += sum(work.total.values())
    rows = {row["name"]: row["read_bytes"] + row["write_bytes"] for row in top["users"]["rows"]}
    assert rows == moved
    operations = {row["raw_id"]: row["meta_operations"] for row in top["jobs"]["rows"]}
    assert operations == {chain.jobs[name]: sum(one.values())
                          for name, one in chain.metadata().items()}  # fmt: skip
