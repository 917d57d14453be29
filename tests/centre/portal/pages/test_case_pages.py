# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The CASE tables and the summary of the JAMSTEC survey, as pages over logs with its figures.

Where a published figure contradicts others of its table, tests/examples/test_case_logs.py tells.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from sqlalchemy import update

from stripewise.centre.database.ingest._profile_record import Origin, source_of
from stripewise.centre.database.queries import Role
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import Job, Program
from stripewise.evidence.readers import read_evidence
from support.case_logs import write_case
from support.survey_portal import SurveyPortal, portal
from support.survey_world import DAY, NOW, staff, user
from synthetic_centre import CASES, Case

pytestmark = pytest.mark.extended

pytest.importorskip("darshan")
MIB = 1 << 20
PRINTED = {
    "regional_atmosphere": (38.022e9, 1, 46),
    "global_ocean": (1.11e9, 5, 21),
    "tsunami": (601.87e6, 1, 14),
    "seqsearch": (1.04e6, 0.1, 99),
}
"""Bytes a second, percent of I/O in the run time, percent of metadata in the I/O time."""


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SurveyPortal]:
    """A portal over the four logs, whose jobs are Nakagawa's."""
    directory = tmp_path_factory.mktemp("survey")
    with pytest.MonkeyPatch.context() as patch:
        viewers = {"owner": partial(user, name="nakagawa"), "admin": lambda _: staff(Role.ADMIN)}
        made = portal(directory, viewers, patch)
        with made.engine.execution_options(writing=True).begin() as connection:
            writer = Writer(connection)
            for number, case in enumerate(CASES):
                path = directory / f"{case.program}.darshan"
                write_case(path, case, job_id=number + 1, start=int(NOW - (20 - number) * DAY))
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                origin = Origin("darshan", digest, path.name)
                writer.store([source_of(read_evidence([path]), origin)])
                connection.execute(
                    update(Program).where(Program.name == case.program).values(area=case.area)
                )
            key = writer.names.person("nakagawa")
            connection.execute(update(Job).values(person_id=key))
        yield made
        made.engine.dispose()


@pytest.mark.parametrize("who", ["owner", "admin"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.program)
def test_the_case_table(survey: SurveyPortal, case: Case, who: str) -> None:
    rows = survey.data(who, f"/programs/{case.program}")["case"]["rows"]
    told = {row["figure"]: row["job"] for row in rows}
    for figure, expected in (
        ("Ranks", case.n_ranks),
        ("Total # files", case.read_only + case.write_only),
        ("read_only", case.read_only),
        ("write_only", case.write_only),
        ("Total READ", case.read_bytes),
        ("Total WRITE", case.write_bytes),
        ("Total META (operations)", case.meta_operations),
    ):
        assert told[figure] == expected, figure
    for figure, seconds in (
        ("Run time", case.run_seconds),
        ("Total READ_TIME", case.read_seconds),
        ("Total WRITE_TIME", case.write_seconds),
        ("Total META_TIME", case.meta_seconds),
    ):
        assert told[figure] == pytest.approx(seconds, rel=1e-9), figure
    io_seconds = case.io_seconds if case.n_ranks > 1 else case.cumulated_seconds
    printed, percent_io, _ = PRINTED[case.program]
    assert told["I/O time"] == pytest.approx(io_seconds, rel=1e-3)
    assert 100 * told["I/O share of run time"] == pytest.approx(percent_io, abs=0.5)
    rate = told["Estimated I/O rate"]
    assert min(abs(math.log(rate / unit)) for unit in (printed, printed * MIB / 1e6)) < 0.07
    for row in rows:
        assert row["median"] == row["high"] == pytest.approx(row["job"]), row["figure"]


def test_the_summary_table(survey: SurveyPortal) -> None:
    names = [case.program for case in CASES]
    data = survey.data("owner", f"/programs/summary?programs={','.join(names)}")
    rows = {row["figure"]: row for row in data["summary"]["rows"]}
    for case in CASES:
        told: dict[str, Any] = {name: row[f"program {case.program}"] for name, row in rows.items()}
        _, percent_io, percent_meta = PRINTED[case.program]
        assert told["Research area"] == case.area
        assert told["Total I/O size"] == case.read_bytes + case.write_bytes
        assert told["Running time"] == case.run_seconds
        assert 100 * told["% I/O time"] == pytest.approx(percent_io, abs=0.5)
        assert told["# I/O File"] == case.read_only + case.write_only
        assert told["# meta operation"] == case.meta_operations
        assert 100 * told["% meta / IO time"] == pytest.approx(percent_meta, abs=2.2)
        assert told["# Case run simultaneously"] == 1
