# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Each synthetic program shows what it is made to show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from stripewise.centre.database._records import SourceRecord
from stripewise.centre.database.ingest._profile_record import Origin, source_of
from stripewise.storage.machines import load_description
from synthetic_centre._behaviour import PRESET, Place, costs
from synthetic_centre._evidence import SYNTHETIC, RunOf, evidence_of
from synthetic_centre._people import PROJECTS, users
from synthetic_centre._programs import PROGRAMS, STRIPED_BADLY_DAY, TUNED_DAY, Program

BY_NAME = {one.name: one for one in PROGRAMS}
EXPECTED = {
    "plasma_pic": {"small-independent"},
    "lattice_qcd": {"small-independent"},
    "climate_post": {"repeated-stat"},
    "md_engine": {"small-requests", "imbalance"},
    "fem_crash": {"sync-per-write"},
    "genome_asm": {"redundant-reads", "stripes"},
    "ml_train": {"open-per-step"},
    "wave_model": {"idle-hints"},
    "turb_dns": {"shredded-collective", "stripes"},
}


@pytest.fixture(scope="module")
def storage() -> Mapping[str, float]:
    return costs(load_description(PRESET))


def _source(
    program: Program, storage: Mapping[str, float], *, day: int = 0, load: float = 1.0
) -> tuple[SourceRecord, Any]:
    behaviour = program.behaviour(day)
    assert behaviour is not None
    ranks = max(program.ranks)
    run = RunOf(7, 20_001, f"/apps/{program.name} in", ("n1",), "/scratch/p/u", 1.7e9,
                program.compute_seconds)  # fmt: skip
    place = Place(ranks, -(-ranks // 8), load)
    evidence = evidence_of(behaviour, place, run, storage, np.random.default_rng(1))
    return source_of(evidence, Origin("trace", "0" * 64, "x")), evidence


@pytest.mark.parametrize(
    "program", [one for one in PROGRAMS if one.versions], ids=lambda p: p.name
)
def test_findings_are_those_that_the_program_stands_for(
    program: Program, storage: Mapping[str, float]
) -> None:
    record, evidence = _source(program, storage)
    assert {found["code"] for found in record.findings} == EXPECTED.get(program.name, set())
    assert record.program == program.name
    assert SYNTHETIC in evidence.profile.notes
    figures = record.figures
    assert 0 < figures["io_seconds"] < figures["run_seconds"]
    assert figures["read_bytes"] + figures["write_bytes"] > 0
    for row in record.findings:
        gain = row["cost_seconds"]
        assert gain is None or 0 < gain <= figures["io_seconds"] * (1 + 1e-9)


def test_pattern_of_an_array_is_recognised(storage: Mapping[str, float]) -> None:
    record, _ = _source(BY_NAME["plasma_pic"], storage)
    written = [row for row in record.patterns if row["is_write"]]
    assert [row["form"] for row in written] == ["<3D, (BLOCK, *, *)>"]
    assert written[0]["lost_seconds"] > 10


def test_tuning_makes_later_runs_faster_and_shows_its_settings(
    storage: Mapping[str, float],
) -> None:
    program = BY_NAME["lattice_qcd"]
    before, _ = _source(program, storage, day=TUNED_DAY - 1)
    after, _ = _source(program, storage, day=TUNED_DAY)
    assert after.figures["io_seconds"] < before.figures["io_seconds"] / 10
    assert not after.findings
    settings = {row["name"]: (row["requested"], row["effective"]) for row in after.settings}
    assert settings["striping_factor"] == ("8", "8")
    assert settings["romio_cb_write"] == ("enable", "enable")


def test_new_version_that_does_not_stripe_is_slower(storage: Mapping[str, float]) -> None:
    program = BY_NAME["cfd_les"]
    before, _ = _source(program, storage, day=STRIPED_BADLY_DAY - 1)
    after, _ = _source(program, storage, day=STRIPED_BADLY_DAY)
    assert after.figures["io_seconds"] > 3 * before.figures["io_seconds"]
    stripes = [
        {row["stripe_count"] for row in record.files if "chk" in row["path"]}
        for record in (before, after)
    ]
    assert stripes == [{8}, {1}]


def test_busy_storage_makes_io_longer_and_nothing_else(storage: Mapping[str, float]) -> None:
    quiet, _ = _source(BY_NAME["seismic_fwi"], storage)
    busy, _ = _source(BY_NAME["seismic_fwi"], storage, load=3.0)
    assert busy.figures["io_seconds"] == pytest.approx(3 * quiet.figures["io_seconds"])
    assert busy.figures["write_bytes"] == quiet.figures["write_bytes"]


def test_every_project_has_programs_and_users() -> None:
    people = users()
    assert len({one.name for one in people}) == len({one.uid for one in people}) == len(people)
    assert {one.project for one in people} == set(PROJECTS)
    assert all(one.programs for one in people)
    assert {one.area for one in PROGRAMS} == set(PROJECTS.values())
