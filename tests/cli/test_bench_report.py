# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench report` on a campaign that a model has made."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from stripewise.cli import main

SUITE = """
version = 1
name = "own"
title = "Two layouts of my own"
repeats = 3
[directories]
one = { stripe_count = 1 }
all = { stripe_count = -1 }
[all]
rank_size = "8 MiB"
nodes = [1, 2, 4]
ranks_per_node = 4
directory = ["one", "all"]
operation = "write-read"
[[case]]
series = "file per process"
layout = "per-process"
[[case]]
series = "shared file"
"""


def call(*words: object):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("campaign")
    (place / "own.toml").write_text(SUITE)
    done = call(
        "bench", "run", place / "own.toml", "-o", place / "own.campaign", "--in", place,
        "--on", "archer2-hdd", "--noise", "--launcher", "simulated",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return place / "own.campaign"


def test_the_page_is_beside_the_campaign_and_says_what_it_says(campaign):
    done = call("bench", "report", campaign)
    assert done.exit_code == 0, done.output
    page = (campaign / "report.html").read_text("utf-8")
    assert "Two layouts of my own" in page
    assert "simulated, nothing was written" in page
    assert "highest write rate" in done.stdout
    assert "report.html" in done.stdout


def test_tables_alone_leave_the_page_out(campaign, tmp_path):
    done = call("bench", "report", campaign, "--csv", tmp_path / "a.csv", "--no-limits")
    assert done.exit_code == 0, done.output
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 3 * 2 * 3 * 2
    assert list(tmp_path.iterdir()) == [tmp_path / "a.csv"]


def test_parquet(campaign, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    done = call("bench", "report", campaign, "--parquet", tmp_path / "a.parquet", "--no-limits")
    assert done.exit_code == 0, done.output
    assert parquet.read_table(tmp_path / "a.parquet").num_rows == 72


@pytest.mark.parametrize("chart", ["curves", "bars", "limits"])
def test_one_chart_as_a_picture(campaign, tmp_path, chart):
    done = call("bench", "report", campaign, "--picture", tmp_path / "a.svg", "--chart", chart)
    assert done.exit_code == 0, done.output
    assert "<svg" in (tmp_path / "a.svg").read_text("utf-8")


def test_a_chart_that_is_not_there_is_one_line(campaign, tmp_path):
    done = call("bench", "report", campaign, "--picture", tmp_path / "a.svg", "--chart",
                "percentiles")  # fmt: skip
    assert done.exit_code == 2
    assert "the campaign has no chart percentiles" in done.stderr
    assert not (tmp_path / "a.svg").exists()


def test_json_of_figures_and_limits(campaign):
    done = call("bench", "report", campaign, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["suite"] == "own"
    assert len(found["figures"]) == 24
    assert found["limits"]["limits"]


def test_limits_that_cannot_be_told_are_a_sentence(campaign, tmp_path, monkeypatch):
    from stripewise.bench import limits
    from stripewise.core.errors import UsageError

    def refuse(_: object) -> None:
        raise UsageError("no run ended well: run more")

    monkeypatch.setattr(limits, "find_limits", refuse)
    done = call("bench", "report", campaign, "-o", tmp_path / "a.html")
    assert done.exit_code == 0, done.output
    assert "does not show the limits of the storage: no run ended well: run more" in done.stdout
    assert "does not show the limits of the storage: no run ended well" in (
        tmp_path / "a.html"
    ).read_text("utf-8")
    done = call("bench", "report", campaign, "--picture", tmp_path / "a.svg", "--chart", "limits")
    assert "there are no limits to draw: no run ended well" in done.stderr


def test_no_campaign_is_one_line(tmp_path):
    done = call("bench", "report", tmp_path / "none.campaign")
    assert done.exit_code == 2
    assert "there is no such campaign" in done.stderr
