# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sizes with units, misspelt names, and programs with and without `--`."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from stripewise.cli import main
from stripewise.cli._profile import _COMMAND
from stripewise.cli._profile import profile_command as command
from stripewise.settings.tunables import parse_vary, size_bytes

TOML = 'version = 1\n[[file]]\nmatch = "*"\nmpiio = {{ {} }}\n'


def call(*words: object):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.parametrize(
    ("text", "number"),
    [("16MiB", 16 << 20), ("16 MiB", 16 << 20), ("100 GB", 10**11), ("7", 7), ("1.5 KiB", 1536)],
)
def test_sizes(text, number):
    assert size_bytes(text) == number


@pytest.mark.parametrize("text", ["", "MiB", "16 miles", "-1 MiB", "1e3"])
def test_what_is_no_size(text):
    assert size_bytes(text) is None


def test_sizes_have_units_in_toml(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(
        TOML.format('cb_buffer_size = "16MiB"') + 'hdf5 = { alignment = ["64 KiB", "1 MiB"] }\n'
    )
    assert call("settings", "check", path).exit_code == 0
    rule = json.loads(call("settings", "show", path, "--json").output)["file"][0]
    assert rule["mpiio"] == {"cb_buffer_size": 16 << 20}
    assert rule["hdf5"] == {"alignment": [64 << 10, 1 << 20]}


def test_sizes_have_units_in_vary():
    assert parse_vary(["mpiio.cb_buffer_size=1MiB,4 MiB,65536"]) == {
        "mpiio.cb_buffer_size": (1 << 20, 4 << 20, 65536)
    }
    assert parse_vary(["hdf5.alignment=64 KiB:64KiB,1MiB:4096"]) == {
        "hdf5.alignment": ((64 << 10, 64 << 10), (1 << 20, 4096))
    }


def test_a_misspelt_hint_is_a_problem(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(TOML.format('romio_cb_wirte = "enable"'))
    result = call("settings", "check", path)
    assert result.exit_code == 3
    assert "did you mean romio_cb_write" in result.output
    assert result.output.count("romio_cb_wirte") == 1
    path.write_text(TOML.format('site_special_hint = "1"'))
    assert call("settings", "check", path).exit_code == 0


@pytest.mark.parametrize("option", ["--only", "--exclude"])
def test_a_misspelt_tunable_is_refused_before_any_study_is_looked_at(
    option, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "true.stripewise").mkdir()
    (tmp_path / "true.stripewise" / "journal.jsonl").write_text("not a journal\n")
    result = call("tune", option, "mpiio.cb_nodse", "--", "true")
    assert result.exit_code == 2
    assert "did you mean mpiio.cb_nodes" in result.stderr


@pytest.mark.parametrize(
    ("words", "program"),
    [
        (["--", "ls", "-l"], ("ls", "-l")),
        (["--json", "--", "ls", "--json"], ("ls", "--json")),
        (["--", "env", "--", "ls"], ("env", "--", "ls")),
        (["x.trace"], None),
        (["x.trace", "--json"], None),
    ],
)
def test_profile_takes_logs_or_a_program_behind_dashes(words, program):
    parent = main.make_context("stripewise", ["profile"], resilient_parsing=True)
    context = command.make_context("profile", list(words), parent, resilient_parsing=True)
    assert context.meta.get(_COMMAND) == program
