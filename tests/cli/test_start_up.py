# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a command costs before the program starts: the libraries that it does not load."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = [sys.executable, "-c", "from stripewise.cli import main; main()"]
HEAVY = {"numpy", "scipy", "vl_convert", "pydantic", "h5py", "jinja2", "filelock", "rich"}


def imported(*words: str) -> set[str]:
    """Modules that are imported by `stripewise WORDS`."""
    command = [PYTHON[0], "-X", "importtime", *PYTHON[1:], *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    found = {line.split("|")[2].strip() for line in lines}
    assert "stripewise" in found, done.stderr
    return found


CONFIGURATION = """\
version = 1

[[file]]
match = "*.h5"
mpiio = { cb_nodes = 2 }
hdf5 = { meta_block_size = 65536 }
"""


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["run", "--", "./no-such-program"],
        ["run", "--trace", "t", "--", "./no-such-program"],
    ],
)
def test_the_program_starts_before_anything_heavy_is_loaded(
    blind: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert not {name.partition(".")[0] for name in imported(*words)} & HEAVY


def test_a_configuration_is_read_without_what_explains_faults_in_it(
    blind: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is what reads XML, and what changes a launcher's command line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "best.toml").write_text(CONFIGURATION)
    found = imported("run", "--config", "best.toml", "--", "./no-such-program")
    assert "stripewise.settings.formats._base" in found
    assert not {name.partition(".")[0] for name in found} & HEAVY
    spared = {"defusedxml", "xml.sax", "http", "ssl", "stripewise.settings.formats._toml_form"}
    assert not found & {*spared, "stripewise.run.runtime._resources"}


@pytest.mark.parametrize("words", [["run"], ["run", "--trace", "t"]])
def test_a_short_answer_needs_neither_single_calls_nor_masked_arrays(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """The counters of a program that wrote a file are told without them."""
    monkeypatch.chdir(tmp_path)
    found = imported(*words, "--", "dd", "if=/dev/zero", "of=out", "bs=4096", "count=4")
    assert "stripewise.evidence.containers._parse" in found
    spared = {
        "numpy.ma",
        "tomllib",
        "stripewise.evidence.trace._accesses",
        "stripewise.settings.tunables",
    }
    assert not found & spared


def test_the_program_gets_the_environment_that_was_given(
    blind: Path,
) -> None:
    """Numpy is kept from starting a thread on each processor; the program is not."""
    given = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([*PYTHON, "run", "--", "env"], env=given, capture_output=True, text=True)
    assert "LD_PRELOAD=" in done.stdout
    assert "OPENBLAS_NUM_THREADS=" not in done.stdout
