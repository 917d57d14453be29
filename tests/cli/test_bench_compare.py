# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench compare`, `history`, `export` and `what-if`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from stripewise.bench.campaign import write_campaign
from stripewise.bench.comparison import add_night
from stripewise.bench.running import read_campaign
from stripewise.cli import main
from support.campaigns import made_campaign, target_campaign, usual_cases, usual_rate

DAY = 86400.0


def run(*words: object):
    return CliRunner().invoke(main, ["bench", *map(str, words)])


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write_campaign(made_campaign(usual_cases(), usual_rate), tmp_path / "ours.json")
    faster = made_campaign(usual_cases(), lambda *a: 3 * usual_rate(*a), seed=2)
    write_campaign(faster, tmp_path / "theirs.json")
    write_campaign(target_campaign(0), tmp_path / "before.json")
    write_campaign(target_campaign(1, {5: 0.1}), tmp_path / "after.json")
    return tmp_path


def test_systems_have_factors(files: Path) -> None:
    found = run("compare", files / "ours.json", files / "theirs.json")
    assert found.exit_code == 0, found.output
    assert "best median of any case on 8 nodes" in found.output
    assert "as fast on theirs" in found.output


def test_a_regression_of_one_target_names_it(files: Path) -> None:
    found = run("compare", files / "before.json", files / "after.json", "--json")
    document = json.loads(found.stdout)
    (target,) = document["changed_targets"][1]
    assert (target["target"], target["operation"]) == (5, "write")
    assert 0.85 < target["ratio"] < 0.95
    assert document["changed_targets"][0] == []


def test_a_comparison_becomes_a_page(files: Path) -> None:
    page = files / "compared.html"
    found = run("compare", files / "ours.json", files / "theirs.json", "--html", page)
    assert found.exit_code == 0, found.output
    assert "theirs" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["compare", "missing.json", "missing.json"], "no such campaign"),
        (["compare", "ours.json"], "two campaigns"),
        (["compare", "ours.json", "broken.json"], "not JSON"),
        (["history", "nothing"], "--add"),
        (["history", ".", "--add", "ours.json"], "is not empty"),
        (["export", "missing", "-o", "x.json"], "no such campaign"),
        (["what-if", "nothing", "archer"], "no survey"),
        (["what-if", "jamstec-2018", "nothing"], "nothing"),
    ],
)
def test_bad_input_is_told_in_one_line(
    files: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(files)
    (files / "broken.json").write_text("{")
    found = run(*words)
    assert found.exit_code in (2, 3)
    assert said in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_an_exported_campaign_has_no_names_and_compares(files: Path) -> None:
    secret = replace(read_campaign(files / "ours.json"), storage="/scratch/secret", name="secret")
    write_campaign(secret, files / "secret.json")
    assert run("export", files / "secret.json", "-o", files / "out.json").exit_code == 0
    assert "secret" not in (files / "out.json").read_text()
    assert run("compare", files / "secret.json", files / "out.json").exit_code == 0
    run("export", files / "secret.json", "-o", files / "whole.json", "--with-names")
    assert read_campaign(files / "whole.json") == secret


def test_nights_are_added_and_checked(tmp_path: Path) -> None:
    nights = tmp_path / "nights"
    for night in range(60):
        lost = {3: 0.15} if night >= 48 else {}
        one = target_campaign(night, lost, repeats=3, targets=6, started=1.778e9 + night * DAY)
        write_campaign(one, tmp_path / "tonight.json")
        if night:
            add_night(nights, one)
        else:
            assert run("history", nights, "--add", tmp_path / "tonight.json").exit_code == 0
    found = run("history", nights, "--check", "--html", tmp_path / "nights.html")
    assert found.exit_code == 1
    assert "write on target 3" in found.stdout.splitlines()[0]
    assert "target 3" in (tmp_path / "nights.html").read_text("utf-8")
    assert run("history", nights, "--check", "--known", "2026-12-31").exit_code == 0
    document = json.loads(run("history", nights, "--json").stdout)
    assert document["verdict"] == "slower"
    assert len(document["nights"]) == 60


def test_what_if_ranks_systems() -> None:
    found = run("what-if", "jamstec-2018", "jamstec-da", "earth-simulator")
    assert found.exit_code == 0, found.output
    assert "1 writer" in found.output
    document = json.loads(
        run("what-if", "jamstec-2018", "jamstec-da", "earth-simulator", "--json").stdout
    )
    assert document["ranking"] == ["jamstec-da", "earth-simulator"]
    assert document["simulated"] is True
