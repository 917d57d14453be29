# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks and threads of a winner, for machines and for those who run without Stripewise."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
from studies import improved

from stripewise.core import Configuration, JobSettings, StudyResult
from stripewise.present.blocks import Block, Notice
from stripewise.settings import configuration_document
from stripewise.study.report._settings import recipes

JOB = Configuration(job=JobSettings(ranks=4, threads=2))


def result_with(command: tuple[str, ...]) -> StudyResult:
    found = improved()
    assert found.winner is not None
    return replace(found, command=command, winner=replace(found.winner, configuration=JOB))


def ways(result: StudyResult) -> list[Block]:
    """Return the ways to apply the settings, which stand below the settings themselves."""
    return recipes(result)[1:]


def test_the_document_holds_them():
    document = configuration_document(JOB)
    assert document["job"] == {"ranks": 4, "threads": 2}


@pytest.mark.skipif(not shutil.which("mpiexec.mpich"), reason="needs MPICH")
def test_the_command_is_written_out():
    recipe = ways(result_with(("mpiexec.mpich", "-n", "16", "./a b")))[1]
    assert recipe.lines == ["export OMP_NUM_THREADS=2", "mpiexec.mpich -n 4 './a b'"]


def test_a_command_that_is_not_understood_is_said():
    recipe = ways(result_with(("jsrun", "-n", "16", "./a")))[1]
    assert isinstance(recipe, Notice)
    assert "This form cannot express: " in recipe.text[0]
    assert "jsrun" in recipe.text[0]


@pytest.mark.parametrize(("user", "exports"), [(0, True), (1000, False)])
def test_root_is_told_what_open_mpi_asks_of_it(
    user: int, exports: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("os.geteuid", lambda: user)
    found = result_with(("aprun", "-n", "16", "./a"))
    assert found.winner is not None
    chosen = Configuration(job=JobSettings(mca={"io": "romio321"}))
    winner = replace(found.winner, configuration=chosen)
    facts = replace(found.facts, mpi_family="openmpi")
    recipe = ways(replace(found, winner=winner, facts=facts))[1]
    assert ("export OMPI_ALLOW_RUN_AS_ROOT=1" in recipe.lines) == exports
    assert recipe.lines[-1] == "export OMPI_MCA_io=romio321"
