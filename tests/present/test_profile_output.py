# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A diagnosis as text, JSON, CSV and Drishti's codes."""

import csv
import io
import json
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from stripewise.evidence.diagnosis import diagnose, profile_to_json
from stripewise.evidence.patterns import Distribution, Pattern, PatternKind
from stripewise.evidence.report import files_to_csv, profile_content
from stripewise.evidence.report._profile_exports import CODES, drishti_csv
from stripewise.evidence.trace import IoLayer, Op
from stripewise.present import finite
from stripewise.present.renderers import as_lines

sys.path.insert(0, str(Path(__file__).parents[1] / "evidence/diagnosis"))
from runs import GIB, KIB, MIB, RunBuilder

SCHEMA = Path(__file__).parents[2] / "docs/reference/profile.schema.json"
PATTERN = Pattern(
    "/d/out.h5",
    "/x",
    True,
    PatternKind.DISTRIBUTED,
    (Distribution("BLOCK"), Distribution("*")),
    (6, 24),
    (4, 1),
)


def busy_run():
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    ops = {Op.OPEN: (1, 0, 0.1), Op.WRITE: (5000, 5000 * KIB, 28.0)}
    run.everyone("/d/out.h5", IoLayer.MPIIO, ops)
    run.everyone("/d/out.h5", IoLayer.POSIX, {Op.WRITE: (5000, 5000 * KIB, 20.0)}, own=False)
    run.everyone("/d/\x1b[31mnamelist\udcff", IoLayer.POSIX, {Op.READ: (1, 10, 0.01)})
    run.bin_seconds = 1.0
    for place in range(0, 100, 10):
        run.bin(0, "/d/out.h5", IoLayer.MPIIO, place, write=MIB, busy=0.5)
    return run


def text_of(run, files=10, **options):
    document = finite(profile_to_json(diagnose(run.evidence()), (PATTERN,), files=files))
    return "\n".join(as_lines(profile_content(document, files, **options)))


def test_text_holds_figures_findings_and_tables():
    text = text_of(busy_run())
    assert text.splitlines()[0].startswith(
        "28.1 % of the run was I/O (28.1 s of 100 s): 40 B read and 19.5 MiB written in 2 files, "
        "711 KiB/s. 28 s of it went into 1 KiB independent writes to out.h5. "
    )
    for words in (
        "Run time            100 s (4 ranks, 1 node)",
        "reading       40 ms  0.036 %         10 ms",
        "1. costly: 1 KiB independent writes to",
        "A change saves about 27.9 s (18.6 s to 28 s)",
        "$ stripewise tune -- mpiexec -n 4 ./program",
        "Shared files: slowest and fastest rank",
        "Requests before and after MPI-IO",
        "Writes come every 10 s",
        "write /d/out.h5:/x: <2D, (BLOCK, *), (6, 24)>",
    ):
        assert words in text


def test_piped_text_has_no_escapes_no_trailing_blanks_and_is_not_wrapped():
    text = text_of(busy_run())
    assert "\x1b" not in text
    assert "\\x1b[31mnamelist\\xff" in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_findings_only_leaves_the_tables_out():
    text = text_of(busy_run(), findings_only=True)
    assert "small-independent" in text
    assert "slowest and fastest" not in text
    assert "Time in I/O calls" not in text


def test_tables_tell_what_they_leave_out():
    text = text_of(busy_run(), files=1)
    assert "The 1 files with the most I/O time, of 2" in text
    assert "Each table has at most 1 row: --all shows all rows." in text


def test_no_finding_is_said():
    run = RunBuilder(n_ranks=1)
    run.add("/d/a", IoLayer.POSIX, 0, {Op.WRITE: (1, MIB, 0.001)})
    said = "I/O is less than 5 % of the run: there is little to gain."
    assert said in text_of(run)


@pytest.mark.parametrize(
    "run", [busy_run(), RunBuilder(n_ranks=0, elapsed=0.0)], ids=["busy", "empty"]
)
def test_json_is_valid_against_the_schema(run):
    document = finite(profile_to_json(diagnose(run.evidence()), (PATTERN,)))
    json.dumps(document, allow_nan=False)
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))


def test_json_tells_how_many_rows_are_left_out():
    document = profile_to_json(diagnose(busy_run().evidence()), files=1)
    assert (len(document["files"]), document["files_total"]) == (1, 2)
    assert document["findings"][0]["title"].startswith("1 KiB independent writes")


def test_csv_has_a_row_for_each_file():
    document = finite(profile_to_json(diagnose(busy_run().evidence())))
    rows = list(csv.DictReader(io.StringIO(files_to_csv(document))))
    assert [row["write_calls"] for row in rows] == ["20000", "0"]
    assert rows[0]["path"] == "/d/out.h5"
    assert float(rows[0]["elapsed_seconds"]) == pytest.approx(28.1)


def codes_of(run):
    header, row = drishti_csv(diagnose(run.evidence())).splitlines()
    names, values = header.split(","), row.split(",")
    assert names == ["JOB", *CODES]
    assert len(CODES) == 32
    assert values[0] == "42"
    assert set(values[1:]) <= {"True", "False"}
    return {name for name, value in zip(names, values, strict=True) if value == "True"}


def test_codes_of_small_independent_writes_without_collective_calls():
    assert codes_of(busy_run()) == {"P01", "P03", "P06", "P12", "P14", "P16", "M03"}


def test_codes_of_a_balanced_collective_run_describe_only():
    run = RunBuilder(n_ranks=2, elapsed=11.0)
    run.everyone("/d/o.h5", IoLayer.HDF5, {Op.WRITE_COLLECTIVE: (4, 512 * MIB, 9.0)})
    ops = {Op.WRITE_COLLECTIVE: (4, 512 * MIB, 8.5)}
    run.everyone("/d/o.h5", IoLayer.MPIIO, ops, own=False)
    run.add("/d/o.h5", IoLayer.POSIX, 0, {Op.WRITE: (78, GIB, 8.0)}, own=False)
    assert codes_of(run) == {"P01", "P03", "P14", "M05"}


def test_codes_of_imbalance():
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    for rank, seconds in enumerate(np.array([30.0, 5.0, 5.0, 5.0])):
        ops = {Op.READ: (8, 64 * MIB, seconds)}
        run.add("/d/in", IoLayer.POSIX, rank, ops, maximum_offset=64 * MIB)
    assert {"P02", "P04", "P19", "M01"} <= codes_of(run)
