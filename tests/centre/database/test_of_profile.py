# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection

from stripewise.centre.database._records import join, known_amount
from stripewise.centre.database.ingest._profile_record import (
    Origin,
    _pattern_rows,
    file_class,
    file_system,
    form_of,
    program_of,
    record_of,
    source_of,
)
from stripewise.centre.database.store._figures import _largest
from stripewise.centre.database.store._writer import Writer
from stripewise.core import Amount, total
from stripewise.evidence.diagnosis import diagnose, profile_to_json
from stripewise.evidence.patterns import find_patterns
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import Evidence
from stripewise.present import finite
from stripewise.storage.machines import storage_of_files
from support.fleet_records import jobs_of

darshan = pytest.importorskip("darshan")
LOGS = Path(darshan.__file__).parent / "examples" / "example_logs"
WILD = "/scratch/\x00\x1b[31m\ud800\udcff\N{RIGHT-TO-LEFT OVERRIDE}" + "long" * 3000


def document_of(evidence: Evidence) -> dict[str, Any]:
    """Return what `stripewise profile --json` prints."""
    patterns = find_patterns(evidence.accesses)
    profile = evidence.profile
    costs = storage_of_files(profile.paths, profile.hosts).costs
    found: dict[str, Any] = finite(profile_to_json(diagnose(evidence, patterns, costs), patterns))
    return found


def stored(connection: Connection, evidence: Evidence) -> dict[str, Any]:
    Writer(connection).store([source_of(evidence, Origin("darshan", "d", "x.darshan"))])
    (row,) = jobs_of(connection)
    return row


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    "name", ["example.darshan", "ior_hdf5_example.darshan", "dxt.darshan", "sample-badost.darshan"]
)
def test_figures_are_those_of_the_profile_to_the_digit(connection: Connection, name: str) -> None:
    evidence = read_evidence(LOGS / name)
    profile, row = document_of(evidence), stored(connection, evidence)
    (kept,) = row["sources"]
    assert join(kept["document"], kept["rows"]) == profile
    assert list(join(kept["document"], kept["rows"])) == list(profile)
    told = profile["figures"]
    for column, figure in (
        ("io_seconds", "io_seconds"), ("io_share", "io_share"), ("read_bytes", "read_bytes"),
        ("write_bytes", "write_bytes"), ("read_seconds", "elapsed_read_seconds"),
        ("write_seconds", "elapsed_write_seconds"), ("meta_seconds", "elapsed_meta_seconds"),
        ("meta_operations", "meta_operations"), ("file_count", "n_files"),
        ("shared_file_count", "n_shared"), ("bytes_per_second", "rate_bytes_per_second"),
        ("rank_count", "n_ranks"), ("run_seconds", "run_seconds"),
    ):  # fmt: skip
        assert row[column] == told[figure], column
    assert row["raw_id"] == int(profile["job_id"])
    files = kept["parts"].get("job_file", [])
    assert [one["elapsed_seconds"] for one in files] == [
        one["elapsed_seconds"] for one in profile["files"]
    ]
    assert sum(one["write_bytes"] for one in files) == sum(
        one["write_bytes"] for one in profile["files"]
    )
    findings = kept["parts"].get("finding", [])
    assert [(one["code"], one["cost_seconds"]) for one in findings] == [
        (one["code"], one["cost_seconds"]) for one in profile["findings"]
    ]
    of_systems = kept["parts"].get("job_io", [])
    assert sum(one["read_bytes"] for one in of_systems) <= told["read_bytes"] or not of_systems
    assert all(isinstance(one["write_bytes"], int) for one in of_systems)


@pytest.mark.extended(keep=1)
def test_wild_names_are_stored(connection: Connection) -> None:
    evidence = read_evidence(LOGS / "example.darshan")
    paths = tuple(f"{WILD}{index}" for index, _ in enumerate(evidence.profile.paths))
    profile = replace(
        evidence.profile, paths=paths, command=f"{WILD} -x", job_id="9" * 5000, user="u\x00\ud800"
    )
    row = stored(connection, replace(evidence, profile=profile))
    assert row["raw_id"] is None
    assert row["person"].startswith("u\\x00\\ud800~")
    files = row["sources"][0]["parts"]["job_file"]
    assert files
    for one in files:
        assert "\x00" not in one["path"]
        assert "\x1b" not in one["path"] + one["file_class"]
        assert one["path"].startswith("/scratch/\\x00\\x1b[31m\\ud800\\xff\\u202elong")
    assert len(row["program"]) <= 255


@pytest.mark.extended(keep=1)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_no_number_is_not_known(connection: Connection) -> None:
    evidence = read_evidence(LOGS / "example.darshan")
    counters = evidence.profile.counters.copy()
    for name in counters.dtype.names or ():
        if np.issubdtype(counters.dtype[name].base, np.floating):
            counters[name] = np.nan
    profile = replace(
        evidence.profile, counters=counters, elapsed_seconds=float("nan"), start=float("nan")
    )
    row = stored(connection, replace(evidence, profile=profile))
    assert (row["start_at"], row["end_at"], row["io_share"]) == (None, None, None)
    assert row["write_bytes"] > 0


def document(**given: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "version": 1, "command": "/opt/bin/solver -n 3", "job_id": "7", "figures": {},
        "files": [], "variance": [], "requests": [], "mpiio_stats": [], "findings": [],
        "patterns": [], "partial": False,
    }  # fmt: skip
    return {**found, **given}


def file_row(path: str, **given: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "path": path, "interface": "POSIX", "read_bytes": 0, "write_bytes": 10, "read_calls": 0,
        "write_calls": 1, "meta_operations": 2, "elapsed_seconds": 0.5, "cumulated_seconds": 1.0,
        "rank_count": 1, "layout": {"stripe_count": 0, "stripe_bytes": 0},
        "hints": {"requested": {}, "applied": {}, "reported": {}},
    }  # fmt: skip
    return {**found, **given}


def pattern(path: str, notation: str, dataset: str = "", writing: bool = True) -> dict[str, Any]:
    return {"file": path, "notation": notation, "dataset": dataset, "writing": writing,
            "element_bytes": 8}  # fmt: skip


ORIGIN = Origin("trace", "d", "x.sw", "a", (("/scratch/big", "big"), ("/scratch", "small")))


@pytest.mark.parametrize(
    ("job_id", "raw_id"),
    [("7", 7), ("0", None), ("", None), ("123.server", None), ("-1", None), ("\u0663", None),
     ("9" * 18, int("9" * 18)), ("9" * 19, None), ("9" * 5000, None), ("7\n", None)],
)  # fmt: skip
def test_job_ids(job_id: str, raw_id: int | None) -> None:
    assert record_of(document(job_id=job_id), ORIGIN).raw_id == raw_id


def test_amounts_by_file_system() -> None:
    files = [file_row("/scratch/big/a"), file_row("/scratch/b"), file_row("/scratch/bigger"),
             file_row("<stdin>"), file_row("/home/me/c", write_bytes=(1 << 60) + 1)]  # fmt: skip
    rows = record_of(document(files=files), ORIGIN).io
    assert [(row["file_system"], row["file_count"], row["write_bytes"]) for row in rows] == [
        ("/home", 1, (1 << 60) + 1), ("big", 1, 10), ("small", 2, 20),
    ]  # fmt: skip


def test_a_file_of_several_datasets_counts_once() -> None:
    notation = "<3D, (BLOCK, *, *), (4, 2, 2)>"
    patterns = [pattern("/s/out.1", notation, "u"), pattern("/s/out.1", notation, "v"),
                pattern("/s/out.2", notation, "u"),
                pattern("/s/out.2", notation, "u", False)]  # fmt: skip
    files = [file_row("/s/out.1"), file_row("/s/out.2", read_bytes=5)]
    rows = record_of(document(files=files, patterns=patterns), ORIGIN).patterns
    assert [(row["form"], row["is_write"], row["moved_bytes"]) for row in rows] == [
        ("<3D, (BLOCK, *, *)>", True, 20), ("<3D, (BLOCK, *, *)>", False, 5),
    ]  # fmt: skip


def test_settings_by_class_of_files() -> None:
    hints = {"requested": {"cb_nodes": "4"}, "applied": {}, "reported": {"cb_nodes": "2"}}
    files = [file_row("/s/out.1", hints=hints), file_row("/s/out.2", hints=hints)]
    (row,) = record_of(document(files=files), ORIGIN).settings
    assert row == {"file_class": file_class("/s/out.1"), "name": "cb_nodes", "requested": "4",
                   "applied": None, "effective": "2"}  # fmt: skip


def test_names_that_follow_from_others() -> None:
    assert program_of("/opt/bin/solver.exe -n 3") == "solver.exe"
    assert program_of("   ") == ""
    assert form_of("<2D, (BLOCK, *), (1, 8)>") == "<2D, (BLOCK, *)>"
    assert form_of("irregular") == "irregular"
    assert file_system("/scratch2/x", ORIGIN.mounts) == "/scratch2"
    assert file_system("relative", ()) == ""


def pattern_rows_of(*files: dict[str, Any], names: tuple[str, ...] = ("/s/a.h5",)) -> Any:
    """Rows of one pattern of writes on each of some files."""
    one = {"writing": True, "notation": "<1D, (BLOCK), (4)>", "dataset": "d", "element_bytes": 8}
    patterns = [{**one, "file": name} for name in names]
    return _pattern_rows({"findings": [], "files": list(files), "patterns": patterns})


@pytest.mark.parametrize(
    ("file", "names", "moved", "why"),
    [
        ({"write_bytes": 7}, ("/s/a.h5",), 7, ""),
        ({"write_bytes": None, "missing": {"write_bytes": "x"}}, ("/s/a.h5",), None, "x"),
        ({"write_bytes": 7, "missing": {"write_bytes": "x"}}, ("/s/a.h5",), 7, "x"),
        ({"write_bytes": 0}, ("/s/a.h5",), None, "not told"),
        ({"write_bytes": 7}, ("/s/b.h5",), None, "the profile does not list all files"),
        ({"write_bytes": 7}, ("/s/a.h5", "/s/a1.h5"), 7, "the profile does not list all files"),
    ],
)
def test_what_a_pattern_moved_is_not_zero_where_it_is_not_known(file, names, moved, why) -> None:
    rows = pattern_rows_of({"path": "/s/a.h5", **file}, names=names)
    amounts = [known_amount(row, "moved_bytes") for row in rows]
    assert total(amounts) == Amount(moved, why)


@pytest.mark.parametrize(
    ("patterns", "largest"),
    [
        ([("a", Amount(5)), ("b", Amount(3))], "a"),
        ([("a", Amount(5)), ("b", Amount(None, "x"))], ""),
        ([("a", Amount(5, "x")), ("b", Amount(3))], "a"),
        ([("a", Amount(5)), ("b", Amount(3, "x"))], ""),
        ([("a", Amount(None, "x"))], "a"),
        ([], ""),
    ],
)
def test_no_pattern_moved_most_where_another_may_have(patterns, largest) -> None:
    assert _largest(patterns) == largest
