# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from stripewise.cli import main

JOB = ["simulate", "--on", "archer", "--nodes", "8", "--pattern", "vorpal"]


def run(*words):
    return CliRunner().invoke(main, [*JOB, *words])


def test_a_strategy_tunes_a_job_in_virtual_time():
    done = run("--tune", "random", "--seed", "3", "--json")
    found = json.loads(done.stdout)
    assert (found["strategy"], found["improved"]) == ("random", True)
    assert found["seconds"] < found["default_seconds"]
    assert found["runs"] > found["trials"] > 0


def test_variables_that_are_no_tunables_are_left_alone():
    words = ["simulate", "--on", "archer2-hdd", "--nodes", "2", "--pattern", "vorpal"]
    done = CliRunner().invoke(main, [*words, "--tune", "random", "--trials", "2"])
    assert done.exit_code == 0, done.output


def test_auto_is_the_default_strategy():
    done = run("--tune")
    assert done.exit_code == 0
    assert " strategy        auto: " in done.stdout
    assert "x faster" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tune", "bogus"], "no strategy 'bogus'"),
        (["--tune", "auto", "--sweep", "striping_factor=1,4"], "--tune chooses the settings"),
    ],
)
def test_what_cannot_be_tuned_is_said_in_one_line(words, said):
    done = run(*words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
