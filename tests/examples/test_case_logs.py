# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The four CASE tables of the JAMSTEC survey, from logs that are built to have their figures.

Two published figures contradict others of the same table, and cannot come from any log:

* The I/O time of CASE4, 0.593 s, is longer than all times of all its processes (0.298 s).  It is
  their sum with the metadata counted twice: 0.298 s + 0.295 s.
* Rates that are not (READ + WRITE) / I/O time: CASE1's is 7 % off, others are in MiB or GiB.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from stripewise.centre.database._records import join
from stripewise.centre.database.ingest._profile_record import Origin, source_of
from stripewise.evidence.readers import read_evidence
from support.case_logs import write_case
from synthetic_centre import CASES, Case

pytestmark = pytest.mark.extended

darshan = pytest.importorskip("darshan")
MIB = 1 << 20
PRINTED = {
    "regional_atmosphere": (38.022e9, 1, 46),
    "global_ocean": (1.11e9, 5, 21),
    "tsunami": (601.87e6, 1, 14),
    "seqsearch": (1.04e6, 0.1, 99),
}
"""Bytes a second, percent of I/O in the run time, percent of metadata in the I/O time."""
SUMMARY = {
    "regional_atmosphere": (320e9, 1632, 15_000, 2e6),
    "global_ocean": (50e9, 898, 1000, 0.9e6),
    "tsunami": (5e9, 795, 4000, 0.7e6),
    "seqsearch": (300e3, 334, 400, 0.002e6),
}
"""Bytes, seconds, files, operations of metadata: rounded by the survey to a digit or two."""


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.program)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A case and its log."""
    return request.param, write_case(tmp_path_factory.mktemp("log") / "one.darshan", request.param)


@pytest.fixture(scope="module")
def told(made: tuple[Case, Path]) -> tuple[Case, dict[str, Any]]:
    """A case, and the profile that the database keeps of its log."""
    case, path = made
    record = source_of(read_evidence(path), Origin("darshan", "0" * 64, path.name))
    assert record.program == case.program
    return case, join(record.document, record.rows)


def test_our_reader_gives_the_printed_figures(told: tuple[Case, dict[str, Any]]) -> None:
    case, document = told
    figures = document["figures"]
    assert figures["n_ranks"] == case.n_ranks
    for name, expected in (
        ("n_files", case.read_only + case.write_only),
        ("n_read_only", case.read_only),
        ("n_write_only", case.write_only),
        ("n_read_write", 0),
        ("read_bytes", case.read_bytes),
        ("write_bytes", case.write_bytes),
        ("meta_operations", case.meta_operations),
    ):
        assert figures[name] == expected, name
    for name, seconds in (
        ("run_seconds", case.run_seconds),
        ("cumulated_read_seconds", case.read_seconds),
        ("cumulated_write_seconds", case.write_seconds),
        ("cumulated_meta_seconds", case.meta_seconds),
    ):
        assert figures[name] == pytest.approx(seconds, rel=1e-9), name
    assert figures["io_exact"]
    assert not document["partial"]


def test_io_time_is_that_of_the_slowest_rank(told: tuple[Case, dict[str, Any]]) -> None:
    case, document = told
    figures = document["figures"]
    seconds = figures["io_seconds"]
    if case.n_ranks == 1:  # all that there is; the published one counts the metadata twice
        assert seconds == pytest.approx(case.cumulated_seconds)
        seconds += figures["cumulated_meta_seconds"]
    assert seconds == pytest.approx(case.io_seconds, rel=1e-3)


def test_summary_follows_from_the_figures(told: tuple[Case, dict[str, Any]]) -> None:
    case, document = told
    figures = document["figures"]
    printed, percent_io, percent_meta = PRINTED[case.program]
    assert 100 * figures["io_share"] == pytest.approx(percent_io, abs=0.5)
    assert 100 * figures["meta_share"] == pytest.approx(percent_meta, abs=2.2)
    rate = figures["rate_bytes_per_second"]
    assert min(abs(math.log(rate / unit)) for unit in (printed, printed * MIB / 1e6)) < 0.07
    moved, seconds, files, operations = SUMMARY[case.program]
    assert figures["read_bytes"] + figures["write_bytes"] == pytest.approx(moved, rel=0.1)
    assert figures["run_seconds"] == seconds
    assert figures["n_files"] == pytest.approx(files, rel=0.05)
    assert figures["meta_operations"] == pytest.approx(operations, rel=0.15)


def test_pydarshan_gives_the_same(made: tuple[Case, Path]) -> None:
    case, path = made
    report = darshan.DarshanReport(str(path), read_all=True)
    records = report.records["POSIX"].to_df()
    counters, seconds = records["counters"], records["fcounters"]
    assert report.metadata["job"]["log_ver"] == "3.41"
    assert report.metadata["job"]["nprocs"] == case.n_ranks
    assert report.metadata["job"]["run_time"] == case.run_seconds
    assert len(set(report.name_records.values())) == len(counters)
    assert (counters["POSIX_BYTES_READ"] > 0).sum() == case.read_only
    assert (counters["POSIX_BYTES_WRITTEN"] > 0).sum() == case.write_only
    assert counters["POSIX_BYTES_READ"].sum() == case.read_bytes
    assert counters["POSIX_BYTES_WRITTEN"].sum() == case.write_bytes
    meta = counters[["POSIX_OPENS", "POSIX_STATS", "POSIX_SEEKS"]].sum().sum()
    assert meta == case.meta_operations
    for what, expected in (
        ("READ", case.read_seconds), ("WRITE", case.write_seconds), ("META", case.meta_seconds),
    ):  # fmt: skip
        assert seconds[f"POSIX_F_{what}_TIME"].sum() == pytest.approx(expected)
    found = _derived(records, case)
    if case.n_ranks > 1:
        assert found.unique_io_total_time_by_slowest == pytest.approx(case.io_seconds)
    else:
        twice = found.unique_io_total_time_by_slowest + found.unique_md_only_time_by_slowest
        assert twice == pytest.approx(case.io_seconds, rel=1e-3)


def _derived(records: Any, case: Case) -> Any:
    from darshan.backend.cffi_backend import accumulate_records

    return accumulate_records(records, "POSIX", case.n_ranks).derived_metrics
