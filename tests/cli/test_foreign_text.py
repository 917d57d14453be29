# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What comes from elsewhere never acts on the terminal or in a spreadsheet."""

from __future__ import annotations

import csv
import io
import unicodedata

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from stripewise.cli import main
from stripewise.cli._common import fitted
from stripewise.text import csv_cell, printable

EVIL = "a\x1b]0;owned\x07b\u202egpj.\u2066c"


def output_of(*words: object) -> str:
    result = CliRunner().invoke(main, [str(word) for word in words])
    return result.output + result.stderr


@pytest.mark.parametrize("command", ["show", "check"])
def test_settings_and_warnings_of_a_configuration(command, tmp_path):
    path = tmp_path / "c.toml"
    escaped = EVIL.replace("\x1b", "\\u001b").replace("\x07", "\\u0007")
    path.write_text(
        f'version = 1\n[[file]]\nmatch = "{escaped}*"\nmpiio = {{ "x{escaped}" = "{escaped}" }}\n'
    )
    shown = output_of("config", command, path)
    assert "\\x1b]0;owned\\x07b\\u202egpj" in shown
    assert not {"\x1b", "\x07", "\u202e", "\u2066"} & set(shown)


@pytest.mark.parametrize(
    "words",
    [
        ("config", "show", f"/none/{EVIL}"),
        ("run", "--config", f"/none/{EVIL}", "--", "true"),
        ("profile", f"/none/{EVIL}"),
        (f"tune{EVIL}",),
        ("tunables", f"--{EVIL}"),
    ],
)
def test_errors(words):
    shown = output_of(*words)
    assert "\\x1b]0;owned" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


@given(st.text())
def test_any_text_becomes_one_line_that_can_be_printed(text):
    shown = printable(text)
    assert printable(shown) == shown
    assert shown.encode("utf-8").decode().splitlines() in ([shown], [])
    assert not any(unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") for one in shown)


@pytest.mark.parametrize(
    "name", ["=cmd()", "+1", "-1+2", "@x", "\t=1", "\r=1", "\uff1d1", "\uff20x"]
)
def test_a_cell_is_no_formula(name):
    assert csv_cell(name).startswith("'")
    assert csv_cell(-1) == -1


@given(st.text())
def test_a_row_stays_a_row(text):
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow([csv_cell(text), 1])
    assert stream.getvalue().count("\n") == 1


def test_a_long_line_continues_below_its_last_column():
    line = "mpiio.cb_nodes  safe   " + "many words " * 12
    shown = fitted(line.rstrip(), 80).splitlines()
    assert all(len(one) <= 80 for one in shown)
    assert all(one.startswith(" " * 23 + "m") or one.startswith(" " * 23) for one in shown[1:])
    assert fitted("short", 80) == "short"
