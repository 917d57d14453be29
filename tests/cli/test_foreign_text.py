# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What comes from elsewhere never acts on the terminal or in a spreadsheet."""

from __future__ import annotations

import csv
import io
import logging
import sys
import unicodedata

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from stripewise.cli import main
from stripewise.cli._common import fitted
from stripewise.evidence.trace import Op
from stripewise.present import OneLine, csv_cell, printable
from support.containers import FakeFile, FakeProcess, build_container
from support.trace_samples import one_thread
from support.traces import FakeCall

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
    shown = output_of("settings", command, path)
    assert "\\x1b]0;owned\\x07b\\u202egpj" in shown
    assert not {"\x1b", "\x07", "\u202e", "\u2066"} & set(shown)


@pytest.mark.parametrize(
    "words",
    [
        ("settings", "show", f"/none/{EVIL}"),
        ("run", "--config", f"/none/{EVIL}", "--", "true"),
        ("profile", f"/none/{EVIL}"),
        (f"tune{EVIL}",),
        ("settings", "tunables", f"--{EVIL}"),
    ],
)
def test_errors(words):
    shown = output_of(*words)
    assert "\\x1b]0;owned" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


FORGED = "stripewise: refused: forged"
LINES = f"a\n{FORGED}\r{FORGED}\x1b[2Jb\u2028{FORGED}\u202ed\x85{FORGED}"
"""A name that looks like lines of ours, to whatever takes one of these for the end of a line."""


def is_harmless(shown: str) -> bool:
    """Whether nothing of `LINES` begins a line, or acts on a terminal."""
    begins = any(line.lstrip().startswith(FORGED) for line in shown.splitlines())
    return not begins and not {"\x1b", "\r", "\x85", "\u2028", "\u202e"} & set(shown)


@pytest.mark.parametrize(
    "words",
    [
        *(("profile", LINES), ("profile", "--export", LINES), ("simulate", "--pattern", LINES)),
        *(("profile", "--as", one, LINES) for one in ("info", "calls", "pattern")),
        *(("settings", one, LINES) for one in ("show", "check", "convert")),
        *(("centre", one, "--db", LINES) for one in ("status", "export", "prune")),
        *(("machine", one, LINES) for one in ("show", "check")),
        *(("bench", one, LINES) for one in ("report", "import", "history", "export")),
        ("centre", "ingest", LINES, "--db", LINES),
        ("knowledge", "model", "show", LINES),
        ("knowledge", "show", LINES),
        ("settings", "script", LINES),
        ("bench", "advise", LINES),
        ("doctor", "monitor", "--config", LINES),
        ("centre", "serve", "--config", LINES),
        ("run", "--config", LINES, "--", "true"),
        ("tune", "--resume", LINES),
        ("settings", "tunables", LINES),
        (LINES,),
    ],
)
def test_a_name_with_line_breaks_makes_no_line(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = output_of(*words)
    assert shown
    assert is_harmless(shown), shown


def test_names_in_a_trace_make_no_line(tmp_path):
    fields = {"start_ns": 10**18, "end_ns": 10**18 + 10**9, "command": f"./p\x1f{LINES}",
              "outermost_write_bytes": 100}  # fmt: skip
    file = FakeFile(f"/d/{LINES}", ops={Op.WRITE: (2, 200, 10**8)}, outermost=(10**8, 0, 200))
    calls = [FakeCall(f"/d/{LINES}", offset=place, bytes=100) for place in (0, 100)]
    process = FakeProcess(fields, [file], notes=[LINES], trace=one_thread(*calls))
    path = tmp_path / "vm.sw"
    path.write_bytes(build_container([process], host=LINES, run_id=LINES))
    for words in (
        *(("profile", path), ("profile", "--json", path), ("profile", "--as", "csv", path)),
        *(
            ("profile", "--as", "pattern", path),
            ("profile", "--as", "pattern", "--json", path),
            ("profile", "--as", "info", path),
        ),
        *(("profile", "--as", "calls", path), ("profile", "--as", "calls", "--json", path)),
        ("profile", path, "--export", tmp_path / "t.json"),
    ):
        shown = output_of(*words)
        assert is_harmless(shown), (words, shown)


@pytest.mark.parametrize("more", [(), ("--json",), ("--dry-run",)])
def test_names_of_inputs_make_no_line(more, tmp_path):
    logs = tmp_path / LINES.replace("/", "")
    logs.mkdir()
    (logs / f"{LINES}.darshan").write_bytes(b"3.41\0\0\0\0" + (6567223).to_bytes(8, "little"))
    (logs / f"{LINES}.json").write_text('{"version": 2, "command":')
    (logs / f"{LINES}.txt").write_text(LINES)
    (logs / f"link {LINES}").symlink_to(LINES)
    base = str(tmp_path / "base.sqlite")
    output_of("centre", "init", "--db", base)
    shown = output_of("centre", "ingest", logs, "--db", base, "--settle", 0, "--jobs", 1, *more)
    assert "\\x0a" in shown or "\\n" in shown
    assert is_harmless(shown), shown
    assert is_harmless(output_of("centre", "status", "--db", base))


def test_a_log_has_a_line_for_each_record():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(OneLine("%(levelname)s: %(message)s"))
    try:
        raise ValueError(LINES)
    except ValueError:
        record = logging.LogRecord("n", 40, "f", 1, "of %s", (LINES,), sys.exc_info())
    handler.emit(record)
    lines = stream.getvalue().splitlines()
    assert is_harmless(stream.getvalue())
    assert lines[0].startswith("ERROR: of a\\x0a")
    assert all(line.startswith("  | ") for line in lines[1:])


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
