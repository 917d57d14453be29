# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.database.store import _figures as _totals
from stripewise.centre.database.store._figures import SourceFigures, distinct, totals
from support.fleet_records import figures


def told(
    start: float | None = 0.0, end: float | None = 100.0, kind: str = "darshan",
    program: int | None = 1, findings: Any = (), pattern: str = "", **given: Any,
) -> SourceFigures:  # fmt: skip
    return SourceFigures(kind, program, start, end, figures(**given), findings, pattern)


def test_nothing_is_told_by_nothing() -> None:
    assert totals([]) == {}


def test_one_source_is_taken_as_it_is() -> None:
    row = totals([told(findings=[("a", 1.5), ("b", None)], pattern="<1D, (BLOCK)>")])
    assert row == {
        "read_bytes": 1000, "write_bytes": 2000, "meta_operations": 30, "file_count": 3,
        "shared_file_count": 1, "io_seconds": 3.5, "read_seconds": 1.0, "write_seconds": 2.0,
        "meta_seconds": 0.5, "io_share": 0.035, "bytes_per_second": 857.0, "rank_count": 4,
        "finding_count": 2, "top_finding": "a", "avoidable_seconds": 1.5, "program_id": 1,
        "pattern": "<1D, (BLOCK)>", "profiled_seconds": 100.0, "read_only_count": 1,
        "write_only_count": 2, "cumulated_read_seconds": 2.0, "cumulated_write_seconds": 5.0,
        "cumulated_meta_seconds": 1.0,
        "missing": {"avoidable_seconds": "1 finding has no estimate"},
    }  # fmt: skip


def test_runs_that_follow_each_other_add_up() -> None:
    row = totals([told(), told(100.0, 200.0, io_seconds=1.5)])
    assert (row["io_seconds"], row["profiled_seconds"]) == (5.0, 200.0)
    assert row["io_share"] == 0.025
    assert row["bytes_per_second"] == 6000 / 5.0


def test_runs_side_by_side_take_as_long_as_the_slowest() -> None:
    row = totals([told(), told(50.0, 250.0, io_seconds=1.5), told(60.0, 90.0, io_seconds=9.0)])
    assert (row["io_seconds"], row["read_bytes"]) == (9.0, 3000)


def test_a_second_of_overlap_is_the_clock() -> None:
    assert totals([told(0.0, 100.9), told(100.0, 200.0)])["io_seconds"] == 7.0
    assert totals([told(0.0, 0.4), told(0.0, 0.5)])["io_seconds"] == 3.5


def test_runs_without_times_are_apart() -> None:
    row = totals([told(None, None), told(0.0, 100.0), told(5.0, None), told(20.0, 90.0)])
    assert row["io_seconds"] == 3 * 3.5


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ({"kind": "trace"}, {}, 1),
        ({"kind": "trace"}, {"program": 2}, 2),
        ({"kind": "trace"}, {"start": 60.0, "end": 160.0}, 2),
        ({"kind": "trace"}, {"start": 40.0, "end": 140.0}, 1),
        ({"kind": "trace"}, {"start": None}, 1),
        ({}, {}, 2),
    ],
)
def test_two_sources_of_one_run_count_once(one: Any, other: Any, count: int) -> None:
    for sources in ([told(**one), told(**other)], [told(**other), told(**one)]):
        kept = distinct(sources)
        assert len(kept) == count
        assert "kind" not in one or "trace" in {source.kind for source in kept}


def test_many_logs_of_one_job_are_not_compared_with_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[bool] = []
    is_same = _totals._is_same_run
    monkeypatch.setattr(
        _totals, "_is_same_run", lambda *two: compared.append(True) or is_same(*two)
    )
    logs = [told(100.0 * at, 100.0 * at + 99) for at in range(500)]
    assert len(distinct([*logs, told(0.0, 99.0, "trace")])) == 500
    assert len(compared) == 500


def test_what_nobody_tells_is_not_known() -> None:
    unknown = dict.fromkeys(figures())
    row = totals(
        [
            SourceFigures("darshan", None, None, None, unknown),
            SourceFigures("x", None, 1.0, 2.0, unknown),
        ]
    )
    for name in ("io_seconds", "io_share", "read_bytes", "bytes_per_second", "rank_count"):
        assert row[name] is None
    assert (row["avoidable_seconds"], row["top_finding"], row["finding_count"]) == (None, None, 0)
    assert row["missing"]["read_bytes"] == row["missing"]["avoidable_seconds"] == "not told"
    assert "io_share" not in row["missing"]


def test_a_part_that_is_not_known_makes_a_sum_the_least() -> None:
    why = {"read_bytes": "the log is damaged"}
    row = totals([told(), told(100.0, 200.0, read_bytes=None, missing=why)])
    assert (row["read_bytes"], row["write_bytes"]) == (1000, 4000)
    assert row["missing"] == {**why, "bytes_per_second": "the log is damaged"}
    assert row["bytes_per_second"] is None
    nothing = totals([told(read_bytes=0), told(100.0, 200.0, read_bytes=None, missing=why)])
    assert nothing["read_bytes"] is None


@pytest.mark.parametrize(
    ("findings", "avoidable", "why"),
    [
        ((), 0.0, ""),
        ([("a", None)], None, "no finding has an estimate"),
        ([("a", None), ("b", None)], None, "no finding has an estimate"),
        ([("a", None), ("b", 2.0)], 2.0, "1 finding has no estimate"),
        ([("a", 0.0)], 0.0, ""),
    ],
)
def test_a_finding_without_an_estimate_is_no_gain_of_zero(
    findings: Any, avoidable: float | None, why: str
) -> None:
    row = totals([told(findings=findings)])
    assert row["avoidable_seconds"] == avoidable
    assert row["missing"].get("avoidable_seconds", "") == why


def test_no_finding_in_a_run_that_is_not_known_is_no_gain_of_zero() -> None:
    missing = {"io_seconds": "the MDHIM module holds 1 record that is not read"}
    row = totals([told(io_seconds=None, missing=missing)])
    assert row["avoidable_seconds"] is None
    assert row["missing"]["avoidable_seconds"] == missing["io_seconds"]


sources = st.lists(
    st.builds(
        lambda start, lasted, seconds, kind, program: told(
            start, None if start is None else start + lasted, kind, program, io_seconds=seconds
        ),
        st.none() | st.floats(0, 1e6), st.floats(0, 1e4), st.none() | st.floats(0, 1e4),
        st.sampled_from(("trace", "darshan", "odd")), st.sampled_from((None, 1, 2)),
    ), min_size=1, max_size=8,
)  # fmt: skip


@given(sources=sources)
def test_time_lies_between_the_slowest_and_the_sum(sources: list[SourceFigures]) -> None:
    row, kept = totals(sources), distinct(sources)
    seconds = [one.figures["io_seconds"] for one in kept if one.figures["io_seconds"] is not None]
    assert row["read_bytes"] == 1000 * len(kept)
    if not any(seconds):  # nothing beside something that is not known is not known
        assert row["io_seconds"] in (0.0, None)
        assert (row["io_seconds"] == 0.0) == (0 < len(seconds) == len(kept))
    else:
        assert max(seconds) <= row["io_seconds"] <= sum(seconds) * (1 + 1e-9)


def test_a_share_of_the_run_is_never_above_all_of_it() -> None:
    told = figures(io_seconds=764.0, run_seconds=100.0, io_share=7.64)
    one = SourceFigures("darshan", 1, 0.0, 100.0, told)
    assert totals([one])["io_share"] == 1.0
    later = SourceFigures("darshan", 1, 200.0, 300.0, told)
    assert totals([one, later])["io_share"] == 1.0
