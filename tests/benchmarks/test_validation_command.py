# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The script that predicts published tables."""

import json

import pytest
import validation


def test_a_set_is_predicted_cell_by_cell(capsys):
    validation.main(["--set", "archer-file-per-process"])
    printed = capsys.readouterr().out
    assert "* 1 node " in printed
    assert "5 cells predicted only: median error" in printed


def test_json_has_bytes_a_second(tmp_path, capsys):
    picture = tmp_path / "a.svg"
    words = ["--set", "archer2-hdd-mpiio-lock0", "--json", "--picture", str(picture)]
    validation.main(words)
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    assert table["cells"][0]["measured"] > 2**30
    assert picture.is_file()


def test_scores_are_tables_in_markdown(capsys):
    validation.main(["--set", "archer-file-per-process", "--scores"])
    assert "| archer-file-per-process | 2 | 7.0% | 5 | 5.9% |" in capsys.readouterr().out


def test_an_unknown_set_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        validation.main(["--set", "nothing"])
    assert ended.value.code == 2
    assert "no set or table is called 'nothing'" in capsys.readouterr().err
