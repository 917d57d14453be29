# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a stored study of a program says in its profile."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.trace import COUNTER_ROW, Evidence, FileHints, FileLayout, RunProfile
from stripewise.learning.adoption import with_study
from stripewise.learning.knowledge import (
    Effect,
    Fingerprint,
    Lesson,
    StudiedCase,
    describe_machine,
)

CANDIDATE = {"mca.io": "romio321", "mpiio.cb_nodes": 2}


class OneStudy:
    """A store with one study."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson

    def lessons(self, *, program: str, most: int) -> list[Lesson]:
        return [self.lesson] if self.lesson.case.fingerprint.program == program else []


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "solver"
    file.write_bytes(b"#!/bin/sh")
    file.chmod(0o755)
    return file


def lesson_of(program: Path, **fields: object) -> Lesson:
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    fingerprint = Fingerprint(program="solver", executable_sha256=digest, n_ranks=4)
    case = StudiedCase(describe_machine(program.parent), fingerprint=fingerprint)
    effect = Effect(2.5, 2.0, 3.0, 6)
    whole = Lesson("0" * 32, 1.8e9, case, improved=True, candidate=CANDIDATE, effect=effect)
    return replace(whole, **fields)


def profiled(program: Path, n_ranks: int = 4, **fields: object) -> tuple[object, RunProfile]:
    import numpy as np

    row = np.zeros(1, COUNTER_ROW)
    row["layer"], row["count"][0, 1], row["bytes"][0, 1] = 0, 10, 1 << 20
    row["seconds"][0, 1] = row["outermost_seconds"] = 5.0
    row["outermost_write_bytes"] = 1 << 20
    profile = RunProfile(
        source="synthetic",
        command=f"mpiexec -n {n_ranks} {program}",
        job_id="",
        n_ranks=n_ranks,
        n_processes=n_ranks,
        hosts=("a",),
        elapsed_seconds=10.0,
        paths=(str(program.parent / "out.dat"),),
        counters=row,
        **fields,  # type: ignore[arg-type]
    )
    return diagnose(Evidence(profile, None)), profile


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def store(lesson: Lesson) -> None:
        where = "stripewise.learning.adoption._studied"
        monkeypatch.setattr(f"{where}.own_store", lambda: OneStudy(lesson))
        monkeypatch.setattr(f"{where}.site_stores", lambda _: ())

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return store


def test_settings_that_a_study_found_come_first_with_their_lines(program, stored, tmp_path):
    stored(lesson_of(program))
    about = with_study(*profiled(program))
    found = about.findings[0]
    assert (found.code, found.severity) == ("studied", "high")
    assert found.cost_seconds == pytest.approx(5 * (1 - 1 / 2.5))
    assert "2.5x as fast with io=romio321 cb_nodes=2" in about.headline
    write, run = found.lines
    subprocess.run(["sh", "-c", write], cwd=tmp_path, check=True)
    assert "romio321" in (tmp_path / "solver.best.toml").read_text()
    assert run == f"stripewise run --config solver.best.toml -- mpiexec -n 4 {program}"


def test_a_study_without_a_gain_is_a_note(program, stored):
    stored(lesson_of(program, improved=False, effect=None, n_runs=22))
    about = with_study(*profiled(program))
    assert any("found no faster settings in 22 runs" in note for note in about.notes)
    assert all(found.code != "studied" for found in about.findings)


@pytest.mark.parametrize(
    "fields",
    [
        {"n_ranks": 8},
        {"hints": {0: FileHints({}, {"cb_nodes": "2"}, {})}},  # it ran under settings
        {"layouts": {0: FileLayout(1, 1, (), 4, True)}},  # on storage that is not told here
    ],
    ids=["other ranks", "settings", "emulated"],
)
def test_a_study_of_another_case_says_nothing(program, stored, fields):
    stored(lesson_of(program))
    before, profile = profiled(program, **fields)
    assert with_study(before, profile) is before


def test_another_executable_of_the_same_name_is_another_program(program, stored):
    stored(lesson_of(program))
    program.write_bytes(b"#!/bin/sh\ntrue")
    before, profile = profiled(program)
    assert with_study(before, profile) is before


def test_a_store_that_cannot_be_read_changes_nothing(program, monkeypatch):
    def broken() -> None:
        raise OSError("no")

    monkeypatch.setattr("stripewise.learning.adoption._studied.own_store", broken)
    before, profile = profiled(program)
    assert with_study(before, profile) is before
