# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What staff ask: costs, ignored advice, coverage, agreement, intake, audit."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, insert

from stripewise.centre.database.queries import (
    NOBODY,
    Period,
    Role,
    agreements,
    audit_trail,
    costly_programs,
    coverage,
    disagreements,
    ignored_advice,
    intake_hours,
    intake_sums,
    match_rules,
    profiles_with_other_clocks,
    reasons,
    refused_inputs,
    unrecorded_jobs,
)
from stripewise.centre.database.tables import Audit, Ledger
from stripewise.core.errors import UsageError
from support.fleet_records import source
from support.survey_world import DAY, NOW, ran, staff, store, user

PERIOD = Period.parse({}, NOW)
SLOW, FAST = [("small", 20.0)], [("small", 1.0)]


def test_programs_by_what_could_be_saved(connection: Connection) -> None:
    store(connection, [
        ran(1, nodes=2, findings=[("small", 20.0)]), ran(2, nodes=3, findings=[("other", 30.0)]),
        ran(3, user="bob", is_profiled=False), ran(4, program="cheap", nodes=1),
        ran(5, program="dear", nodes=9, findings=[("small", 90.0)]),
    ])  # fmt: skip
    rows = costly_programs(connection, staff(), PERIOD)
    assert [row["program"] for row in rows] == ["dear", "ocean", "cheap"]
    assert rows[1] == {
        "program": "ocean", "area": None, "user_count": 1, "job_count": 2, "profiled_count": 2,
        "node_seconds": 500.0, "profiled_node_seconds": 500.0, "avoidable_node_seconds": 130.0,
        "top_finding": "other", "not_estimated": 0,
    }  # fmt: skip
    assert costly_programs(connection, NOBODY, PERIOD) == []


def test_advice_that_nobody_follows(connection: Connection) -> None:
    def runs(name: str, kinds: list[object], first: int) -> list[list[object]]:
        return [
            ran(first + n, user=name, days=30 - n, nodes=2, findings=kind)  # type: ignore
            for n, kind in enumerate(kinds)
        ]

    store(connection, [
        *runs("three", [SLOW] * 3, 100), *runs("two", [SLOW] * 2, 200),  # type: ignore
        *runs("followed", [SLOW, SLOW, SLOW, FAST], 300),  # type: ignore
        *runs("again", [SLOW, FAST, SLOW, SLOW, SLOW], 400),  # type: ignore
        *runs("broken", [SLOW, SLOW, FAST, SLOW, SLOW], 500),  # type: ignore
        ran(150, user="three", days=28.5, is_profiled=False),
    ])  # fmt: skip
    rows = {row["user"]: row for row in ignored_advice(connection, staff(), PERIOD)}
    assert sorted(rows) == ["again", "three"]
    assert rows["three"] == {
        "program": "ocean", "user": "three", "code": "small", "job_count": 3,
        "since_at": int(NOW - 30 * DAY), "last_at": int(NOW - 28 * DAY), "lost_seconds": 60.0,
        "lost_node_seconds": 120.0, "missing": {},
    }  # fmt: skip
    assert rows["again"]["since_at"] == int(NOW - 28 * DAY)
    more = ignored_advice(connection, staff(), PERIOD, least_seconds=20.5)
    assert more == []
    assert ignored_advice(connection, user(connection, "two"), PERIOD) == []


def test_coverage(connection: Connection) -> None:
    store(connection, [
        ran(1, days=10, seconds=100, nodes=1), ran(2, days=10, seconds=300, nodes=1,
                                                   is_profiled=False),
        ran(3, days=4, cluster="b", nodes=None), ran(4, days=4, columns={"run_seconds": 0.0},
                                                     is_profiled=False),
    ])  # fmt: skip
    days = coverage(connection, staff(), PERIOD)
    assert [row["group"] for row in days] == [
        int(NOW - day * DAY) // DAY * DAY for day in (10, 4)
    ]  # fmt: skip
    assert [tuple(row.values())[1:] for row in days] == [
        (2, 1, 400.0, 100.0, {"darshan": 1}), (2, 1, 0.0, None, {"darshan": 1}),
    ]  # fmt: skip
    clusters = coverage(connection, staff(), PERIOD, "cluster")
    assert [(row["group"], row["job_count"]) for row in clusters] == [("a", 3), ("b", 1)]
    [main] = coverage(connection, staff(), PERIOD, "partition")
    assert (main["group"], main["job_count"], main["profiled_count"]) == ("main", 4, 2)
    with pytest.raises(UsageError, match="by="):
        coverage(connection, staff(), PERIOD, "colour")
    why = {row["reason"]: row["job_count"] for row in reasons(connection, staff(), PERIOD)}
    assert why == {"no profile": 1, "did not run": 1}
    assert coverage(connection, NOBODY, PERIOD) == []


def _bytes(server: int | None, slurm: int | None) -> dict[str, int | None]:
    return {
        "server_read_bytes": server, "server_write_bytes": None if server is None else 0,
        "slurm_read_bytes": slurm, "slurm_write_bytes": None if slurm is None else 0,
    }  # fmt: skip


def test_three_witnesses(connection: Connection) -> None:
    store(connection, [  # the profiles say 3000 B
        ran(1, columns=_bytes(3100, None)), ran(2, columns=_bytes(1600, 3000)),
        ran(3, columns=_bytes(100, None), days=9), ran(4, columns=_bytes(None, 0), days=8),
        ran(5, columns=_bytes(5, 50), is_profiled=False, days=7),
        ran(6, user="bob", columns=_bytes(None, None)),
    ])  # fmt: skip
    found = {(one.first, one.second): one for one in agreements(connection, staff(), PERIOD)}
    one = found["profile", "server"]
    assert (one.job_count, one.close_count, one.near_count) == (3, 1, 2)
    assert (one.first_bytes, one.second_bytes) == (9000, 4800)
    assert found["server", "slurm"].job_count == 2
    rows = disagreements(connection, staff(), PERIOD).rows
    assert [(row["raw_id"], row["ratio"]) for row in rows] == [(5, 10.0), (4, None), (3, 30.0)]
    first = disagreements(connection, staff(), PERIOD, limit=1)
    then = disagreements(connection, staff(), PERIOD, limit=1, after=first.next)
    assert then.rows[0]["raw_id"] == 4
    assert disagreements(connection, user(connection, "bob"), PERIOD).rows == []


def test_the_largest_numbers_of_broken_profiles_are_added(connection: Connection) -> None:
    most = (1 << 63) - 1
    huge = {"read_bytes": most, "write_bytes": most}
    store(connection, [ran(n, columns=_bytes(most, 5), **huge) for n in (1, 2, 3)])
    (one, *_) = agreements(connection, staff(), PERIOD)
    assert (one.job_count, one.near_count) == (3, 3)
    rows = disagreements(connection, staff(), PERIOD).rows
    assert len(rows) == 3
    assert all(type(row["profile_bytes"]) is int for row in rows)


def test_matches_clocks_and_jobs_without_a_record(connection: Connection) -> None:
    start = int(NOW - 10 * DAY)
    store(connection, [
        ran(1), ran(2, is_profiled=False),
        [source("early", 2, cluster="a", user="ann", uid=sum(map(ord, "ann")),
                start_at=start - 500.0, end_at=start - 400.0)],
        [source("alone", 77, cluster="a", start_at=start + 0.0, end_at=start + 9.0)],
    ])  # fmt: skip
    [apart] = profiles_with_other_clocks(connection, staff(), PERIOD)
    assert (apart["raw_id"], apart["apart_seconds"], apart["total"]) == (2, -500.0, 1)
    [alone] = unrecorded_jobs(connection, staff(), PERIOD)
    assert (alone["raw_id"], alone["total"]) == (77, 1)
    rules = match_rules(connection, staff(), PERIOD)
    assert sum(row["source_count"] for row in rules) == 3
    assert [row["least_confidence"] for row in rules] == sorted(
        row["least_confidence"] for row in rules
    )


def test_intake(connection: Connection) -> None:
    at = int(NOW) - 5000
    rows = [
        {"digest": f"{n:02d}", "kind": "darshan", "name": f"n{n}", "size_bytes": 10,
         "outcome": "refused" if n % 3 == 0 else "stored", "reason": "broken", "at": at + n}
        for n in range(9)
    ]  # fmt: skip
    rows.append(rows[0] | {"digest": "old", "at": at - 100 * DAY})
    connection.execute(insert(Ledger), rows)
    sums = intake_sums(connection, staff(), PERIOD)
    assert [tuple(row.values()) for row in sums] == [
        ("darshan", "refused", 3, 30, at + 6), ("darshan", "stored", 6, 60, at + 8),
    ]  # fmt: skip
    assert all(type(row["size_bytes"]) is int for row in sums)
    hours = intake_hours(connection, staff(), PERIOD)
    assert sum(row["stored"] for row in hours) == 6
    assert sum(row["refused"] for row in hours) == 3
    seen, after = [], ""
    while True:
        part = refused_inputs(connection, staff(), after=after, limit=2)
        seen += [row["digest"] for row in part.rows]
        after = part.next
        if not after:
            break
    assert seen == ["06", "03", "00", "old"]
    assert intake_sums(connection, user(connection, "ann"), PERIOD) == ()
    assert refused_inputs(connection, NOBODY).rows == ()


@pytest.mark.parametrize("after", ["x", "W10", "WyItYXQiLDEsMV0", "WyItYXQiLDEsIlx1ZDgwMCJd"])
def test_a_cursor_that_is_none_is_refused(connection: Connection, after: str) -> None:
    with pytest.raises(UsageError, match="after"):
        refused_inputs(connection, staff(), after=after)


def test_the_audit_trail_is_for_admins(connection: Connection) -> None:
    connection.execute(insert(Audit), [
        {"at": n, "login": "ab"[n % 2], "action": "read", "target": f"job {n}"} for n in range(5)
    ])  # fmt: skip
    admin = staff(Role.ADMIN)
    assert [row["at"] for row in audit_trail(connection, admin).rows] == [4, 3, 2, 1, 0]
    assert [row["at"] for row in audit_trail(connection, admin, login="b").rows] == [3, 1]
    assert audit_trail(connection, staff()).rows == ()
