# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings that corrupt, or hang, and look fast: a preloaded layer plants them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from system_cli import as_words, mpiexec, planned, processes_of, stripewise, tree, tune

pytestmark = pytest.mark.mpi

KNOB = "mpiio.romio_cb_write"
ONLY = ("--only", KNOB, "--trials", "2", "--no-sync")


def layer(library: Path, **more: str) -> dict[str, str]:
    return {"LD_PRELOAD": str(library), "PLANTED_KEY": "romio_cb_write", **more}


@pytest.fixture
def command(compiled, mpich) -> list[str]:
    return as_words(mpiexec(mpich), compiled("blocks.c", mpich), "out.dat", "4096", "8")


def trial_of(document: dict, value: str) -> dict:
    return next(t for t in document["trials"] if t["settings"].get(KNOB) == value)


@pytest.mark.extended
def test_a_flipped_bit_loses_although_it_is_the_fastest(work, command, planted, mpich):
    """`disable` is fastest and wrong, `enable` is right and faster than the default."""
    wrong = layer(planted(mpich), PLANTED_SLEEP="disable=0,enable=20,=800", PLANTED_FLIP="disable")
    done = stripewise("tune", "--json", *ONLY, "--", *command, cwd=work, more=wrong)
    document = done.json()
    bad, good = trial_of(document, "disable"), trial_of(document, "enable")
    assert bad["state"] == "rejected"
    assert "out.dat" in bad["message"]
    assert good["state"] == "complete"
    assert document["settings"] == {KNOB: "enable"}
    assert document["verified"] is True
    rejected = document["verification"]["rejected"]
    assert [entry["trial"] for entry in rejected] == [bad["number"]]
    assert "out.dat" in rejected[0]["differences"]
    assert "REJECTED" in " ".join(document["warnings"])
    assert any("REJECTED" in decision["text"] for decision in document["decisions"])
    assert "REJECTED" in done.err
    assert "disable" not in (work / "blocks.stripewise" / "best.toml").read_text()
    assert "REJECTED" in (work / "blocks.stripewise" / "report.html").read_text().upper()


@pytest.mark.extended
def test_nothing_is_won_where_only_the_wrong_setting_is_fast(work, command, planted, mpich):
    slow = "disable=0,enable=1600,=800"
    wrong = layer(planted(mpich), PLANTED_SLEEP=slow, PLANTED_FLIP="disable")
    done = stripewise("tune", *ONLY, "--", *command, cwd=work, more=wrong)
    assert done.code == 0, done
    assert "REJECTED" in done.out
    assert "no improvement" in done.out
    document = json.loads((work / "blocks.stripewise" / "result.json").read_text())
    assert document["result"] == "no improvement"
    assert document["verified"] is False
    assert document["settings"] == {}
    assert not (work / "blocks.stripewise" / "best.toml").exists()


@pytest.mark.extended
def test_a_deadlock_is_stopped_and_recorded(work, command, planted, mpich):
    before = tree(work)
    hang = layer(planted(mpich), PLANTED_SLEEP="=300", PLANTED_HANG="disable")
    document = tune(*ONLY, "--timeout", "8s", "--", *command, cwd=work, more=hang)
    stopped = trial_of(document, "disable")
    assert stopped["state"] == "failed"
    assert "8" in stopped["message"]
    runs = [run for run in document["runs"] if run["trial_number"] == stopped["number"]]
    statuses = [run["status"] for run in runs if run["role"] == "trial"]
    assert statuses == ["timeout", "timeout"]  # a hang counts when it repeats
    assert document["settings"].get(KNOB) != "disable"
    assert processes_of(planned(work / "blocks.stripewise")) == {}
    assert tree(work) == before
