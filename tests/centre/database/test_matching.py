# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.database.store._match import (
    CLOCKS_SECONDS,
    SAME_JOB_SECONDS,
    ZONES_SECONDS,
    Candidate,
    ProfileRun,
    Span,
    assign,
    match,
)

DAY = 86400.0
UNSHOWN = "job id, not shown to be of this user"


def run(start: float | None = 150.0, cluster_id: int | None = None, **given: Any) -> ProfileRun:
    digest = given.pop("digest", "d")
    return ProfileRun(
        digest, cluster_id, Span(start, None if start is None else start + 10, **given)
    )


def candidate(job_id: int, start: float | None = 100.0, end: float | None = 200.0,
              cluster_id: int = 1, submit_at: int = 0, **given: Any) -> Candidate:  # fmt: skip
    return Candidate(job_id, cluster_id, submit_at, Span(start, end, **given))


@pytest.mark.parametrize(
    ("one", "candidates", "expected"),
    [
        (run(), [], (None, "no record", 0.0)),
        (run(cluster_id=2), [candidate(1)], (None, "no record", 0.0)),
        (run(), [candidate(1)], (1, "job id and time", 1.0)),
        (run(100.0), [candidate(1)], (1, "job id and time", 1.0)),
        (run(200.0), [candidate(1)], (1, "job id and time", 1.0)),
        (run(100 - CLOCKS_SECONDS), [candidate(1)], (1, "job id and time", 1.0)),
        (run(99.0 - CLOCKS_SECONDS), [candidate(1)], (1, "job id, clocks apart", 0.5)),
        (run(200 + ZONES_SECONDS), [candidate(1)], (1, "job id, clocks apart", 0.5)),
        (run(201 + ZONES_SECONDS), [candidate(1)], (None, "job id of another time", 0.0)),
        (run(9999.0), [candidate(1), candidate(2, 500, 600)], (2, "job id, nearest in time", 0.3)),
        (run(9e9), [candidate(1, end=None)], (1, "job id and time", 1.0)),
        (run(None), [candidate(1)], (1, "job id", 0.8)),
        (run(None), [candidate(1), candidate(2)], (None, "job id of several jobs, no time", 0.0)),
        (run(user="x"), [candidate(1, user="y")], (None, "job id of another user", 0.0)),
        (run(uid=1), [candidate(1, uid=2)], (None, "job id of another user", 0.0)),
        (run(uid=1, user="x"), [candidate(1, uid=2, user="x")],
         (None, UNSHOWN, 0.0)),
        (run(uid=1, user="x", is_vouched=True), [candidate(1, uid=2, user="x")],
         (1, "job id and time", 1.0)),
        (run(user="x"), [candidate(1, uid=2)], (1, "job id and time", 1.0)),
        (run(), [candidate(1), candidate(2, cluster_id=2)],
         (None, "job id on several clusters", 0.0)),
        (run(), [candidate(1), candidate(2, 5000, 6000, 2)], (1, "job id and time", 1.0)),
        (run(9999.0), [candidate(1), candidate(2, 500, 600, 2)],
         (None, "job id on several clusters", 0.0)),
        (run(cluster_id=2), [candidate(1), candidate(2, cluster_id=2)],
         (2, "job id and time", 1.0)),
        # One that was cancelled in the queue has run nothing, and keeps nobody's place.
        (run(), [candidate(1, None, 50.0)], (None, "no record", 0.0)),
        (run(None), [candidate(1, None, 50.0), candidate(2)], (2, "job id", 0.8)),
        # One that waits may have begun since it was told of, but not before it was submitted.
        (run(), [candidate(1, None, None, submit_at=100)], (1, "job id and time", 1.0)),
        (run(), [candidate(1, None, None, submit_at=int(2 * DAY))],
         (None, "job id of another time", 0.0)),
        (run(), [candidate(1), candidate(2, None, None, 2, 90)], (1, "job id and time", 1.0)),
        (run(), [candidate(1), candidate(2, None, None, submit_at=201)],
         (1, "job id and time", 1.0)),
        (run(300.0), [candidate(1), candidate(2, None, None, submit_at=201)],
         (2, "job id and time", 1.0)),
        # Of a requeued job that is told to have run twice at once, the later run.
        (run(), [candidate(1), candidate(2, 140.0)], (2, "job id and time", 0.9)),
        # Between two runs of one job: the nearer one.
        (run(215.0), [candidate(1), candidate(2, 260.0, 300.0)], (1, "job id and time", 0.9)),
        (run(250.0), [candidate(1), candidate(2, 260.0, 300.0)], (2, "job id and time", 0.9)),
        (run(), [candidate(1, submit_at=5), candidate(2, submit_at=9)],
         (2, "job id and time", 0.9)),
    ],
)  # fmt: skip
def test_rules(one: ProfileRun, candidates: list[Candidate], expected: tuple[Any, ...]) -> None:
    assert match(one, candidates) == expected


@pytest.mark.parametrize(
    ("owner", "user", "rule"),
    [
        # nothing that both tell: an owner who is not shown to be the same is not the same
        ({"uid": 1}, {"user": "x"}, UNSHOWN),
        ({"uid": 1}, {}, UNSHOWN),
        ({"uid": 1, "user": "y"}, {}, UNSHOWN),
        ({"uid": 1, "user": "y"}, {"user": "x"}, "job id of another user"),
        ({"uid": 1, "user": "X"}, {"user": "x"}, "job id of another user"),
        ({"uid": 1, "user": "y"}, {"user": "x", "uid": 1}, "job id of another user"),
        ({"uid": 1, "user": "x"}, {"user": "x"}, "job id and time"),
        ({"uid": 1, "user": "x"}, {"uid": 1}, "job id and time"),
        ({"uid": 1}, {"user": "x", "uid": 1}, "job id and time"),
        ({"uid": 1, "user": "X"}, {"user": "x", "uid": 1}, "job id and time"),
        ({"uid": 0, "user": "root"}, {"user": "x"}, "job id of another user"),
        # of somebody who is believed it is enough that nothing speaks against it
        ({"uid": 1, "is_vouched": True}, {"user": "x"}, "job id and time"),
        ({"uid": 1, "is_vouched": True}, {}, "job id and time"),
        ({"uid": 1, "is_vouched": True}, {"user": "x", "uid": 2}, "job id of another user"),
        ({}, {"user": "x"}, "job id and time"),
    ],
)
def test_an_owner_is_the_user_only_if_it_is_shown(
    owner: dict[str, Any], user: dict[str, Any], rule: str
) -> None:
    found = match(run(**owner), [candidate(7, **user)])
    assert found.rule == rule
    assert (found.job_id, found.confidence) == (
        (7, 1.0) if rule == "job id and time" else (None, 0.0)
    )


def test_of_a_requeued_job_only_the_runs_that_are_shown_to_be_ones_own_are_looked_at() -> None:
    others = [candidate(1, user="x"), candidate(2, user="x", uid=1, submit_at=500)]
    assert match(run(uid=1), others) == (2, "job id and time", 1.0)


def test_nobody_joins_a_run_by_naming_its_job_id() -> None:
    runs = [run(10.0, digest="root's", user=""), run(11.0, digest="planted", uid=4, user="y"),
            run(12.0, digest="own", uid=4), run(13.0, digest="another", uid=5)]  # fmt: skip
    groups = [[one.digest for one in group] for group in assign(runs, []).groups]
    assert groups == [["root's"], ["planted", "own"], ["another"]]


def test_runs_without_a_record_are_of_one_job_unless_weeks_lie_between() -> None:
    near = [run(index * 20 * DAY, digest=f"d{index}") for index in range(3)]
    far = run(40 * DAY + SAME_JOB_SECONDS + 11, digest="far")
    found = assign([far, *near], [])
    assert [[one.digest for one in group] for group in found.groups] == [
        ["d0", "d1", "d2"], ["far"],
    ]  # fmt: skip
    assert found.matches["d1"] == (None, "job id, no record", 0.7)
    assert found.matches["far"] == (None, "no record", 0.0)


def test_runs_of_two_users_or_clusters_are_never_of_one_job() -> None:
    runs = [run(10.0, digest="a", user="x"), run(11.0, digest="b"),
            run(12.0, digest="c", user="y"), run(13.0, 1, digest="e"),
            run(None, digest="f"), run(None, digest="g")]  # fmt: skip
    groups = [[one.digest for one in group] for group in assign(runs, []).groups]
    assert groups == [["f"], ["g"], ["a", "b"], ["c"], ["e"]]


spans = st.builds(
    lambda start, lasted, uid, user, is_vouched: Span(
        start, None if start is None or lasted is None else start + lasted, uid, user, is_vouched
    ),
    st.none() | st.floats(0, 1e9), st.none() | st.floats(0, 1e6),
    st.sampled_from((None, 1, 2)), st.sampled_from(("", "x", "y", "Y")), st.booleans(),
)  # fmt: skip
runs = st.lists(st.tuples(st.sampled_from((None, 1, 2)), spans), max_size=6).map(
    lambda found: [ProfileRun(f"d{index}", *one) for index, one in enumerate(found)]
)
candidates = st.lists(st.tuples(st.integers(1, 2), spans), max_size=5).map(
    lambda found: [Candidate(index, one[0], index, one[1]) for index, one in enumerate(found)]
)


@given(runs=runs, candidates=candidates, seed=st.integers())
def test_invariants(runs: list[ProfileRun], candidates: list[Candidate], seed: int) -> None:
    found = assign(runs, candidates)
    others, again = random.Random(seed).sample(runs, len(runs)), list(reversed(candidates))
    assert assign(others, again) == found
    by_id = {one.job_id: one for one in candidates}
    grouped = [one.digest for group in found.groups for one in group]
    alone = [digest for digest, one in found.matches.items() if one.job_id is None]
    assert sorted(grouped) == sorted(alone)
    for one in runs:
        job_id, rule, confidence = found.matches[one.digest]
        assert rule
        assert 0 <= confidence <= 1
        if job_id is not None:
            assert confidence > 0
            job = by_id[job_id].span
            assert not job.is_of_another_user(one.span)
            assert one.span.is_believed or job.uid == one.span.uid or job.user == one.span.user
            assert one.cluster_id in (None, by_id[job_id].cluster_id)
    for group in found.groups:
        assert len({one.span.user.casefold() for one in group} - {""}) <= 1
        assert len({one.span.uid for one in group if not one.span.is_believed}) <= 1
        assert len({one.cluster_id for one in group}) == 1
