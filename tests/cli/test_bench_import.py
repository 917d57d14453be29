# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench import`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from stripewise.bench.campaign import import_campaign, parse_campaign
from stripewise.cli._bench import command_import
from stripewise.core.errors import UsageError

DATA = Path(__file__).parents[1] / "storage/fit" / "readers" / "data"


def run(*words):
    return CliRunner().invoke(command_import, [*map(str, words)])


def test_a_campaign_is_written_that_is_read_again(tmp_path):
    file = tmp_path / "July runs.json"
    sources = [DATA / "ior-shared-sync.txt", DATA / "mdtest-tree.txt", DATA / "benchio-failed.txt"]
    made = run(*sources, "-o", file)
    assert made.exit_code == 0, made.output
    assert "4 cases and 7 runs, 1 run without a figure" in made.stdout
    assert "the order of the iterations is not reported" in made.stderr
    assert f"wrote {file}" in made.stderr
    campaign = parse_campaign(file.read_text(), str(file))
    assert campaign.name == "July-runs"
    wanted = import_campaign(sources, "July-runs")
    assert campaign.runs == wanted.runs
    assert campaign.suite.cases == wanted.suite.cases


def test_json_says_what_was_made(tmp_path):
    made = run(DATA / "ior-fpp.csv", "--ranks-per-node", 2, "--name", "csv", "-o",
               tmp_path / "a.json", "--json")  # fmt: skip
    assert made.exit_code == 0, made.output
    said = json.loads(made.stdout)
    assert (said["name"], said["cases"], said["runs"], said["failed"]) == ("csv", 1, 2, 0)
    assert "does not say the API" in said["notes"][0]


def test_what_cannot_be_imported_leaves_no_file(tmp_path):
    made = run(DATA / "ior-aborted.txt", "-o", tmp_path / "a.json")
    assert isinstance(made.exception, UsageError)
    assert not (tmp_path / "a.json").exists()


def test_each_output_survives_the_exchange(tmp_path):
    for source in sorted(DATA.iterdir()):
        try:
            wanted = import_campaign([source], "a", 4)
        except UsageError:
            continue
        made = run(source, "-o", tmp_path / "a.json", "--ranks-per-node", 4)
        assert made.exit_code == 0, source
        found = parse_campaign((tmp_path / "a.json").read_text(), "a")
        assert (found.runs, found.suite.cases) == (wanted.runs, wanted.suite.cases), source


@pytest.mark.parametrize("words", [("-o", "x"), (str(DATA / "ior-hdf5.txt"),)])
def test_files_are_needed(words):
    assert run(*words).exit_code == 2
