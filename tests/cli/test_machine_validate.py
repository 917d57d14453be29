# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
import json

from click.testing import CliRunner

from stripewise.cli import main


def test_a_set_is_predicted_cell_by_cell():
    run = CliRunner().invoke(main, ["machine", "validate", "--set", "archer-file-per-process"])
    assert run.exit_code == 0, run.output
    assert "* 1 node " in run.output
    assert "5 cells predicted only: median error" in run.output


def test_json_has_bytes_a_second(tmp_path):
    picture, page = tmp_path / "a.svg", tmp_path / "a.html"
    words = ["machine", "validate", "--set", "archer2-hdd-mpiio-lock0", "--json"]
    run = CliRunner().invoke(main, [*words, "--picture", str(picture), "--html", str(page)])
    assert run.exit_code == 0, run.output
    (table,) = json.loads(run.stdout)["tables"]
    assert table["cells"][0]["measured"] > 2**30
    assert picture.is_file()
    assert page.is_file()


def test_an_unknown_set_is_one_line():
    run = CliRunner().invoke(main, ["machine", "validate", "--set", "nothing"])
    assert run.exit_code == 2
    assert run.output.startswith("stripewise: error: no set or table is called 'nothing'")
    assert run.output.count("\n") == 1
