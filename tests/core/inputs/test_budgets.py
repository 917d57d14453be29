# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Budgets of what is read: stated, kept, and told in one line."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from stripewise.core import Measurement, ProgramFacts, RunStatus, from_json, inputs, to_json
from stripewise.core.errors import ConfigurationError, StripewiseError, TraceError, UsageError
from stripewise.core.inputs import (
    CONFIGURATION,
    InputBudget,
    input_lines,
    open_input,
    parse_json,
    parse_toml,
)
from stripewise.evidence.readers import read_evidence
from stripewise.settings import load_policy
from stripewise.settings.formats import load_configuration
from stripewise.study.plan import read_cases
from stripewise.study.training import Surface

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "budgets.md"
MIB = 1 << 20


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("deep.toml", "a." * 100_000 + "a=1\n"),
        ("long.toml", "a." * 500_000 + "a=1\n"),
        ("many.toml", "version=1\n" + '[[file]]\nmatch="a"\n' * 60_000),
        ("fewer.toml", "version=1\n" + '[[file]]\nmatch="a"\n' * 5_000),
        ("nested.toml", "a=" + "[" * 100_000),
        ("word.toml", "a" * (MIB - 1)),
        ("many.xml", "<P>" + '<alignment FileName="a">1,1</alignment>' * 20_000 + "</P>"),
        ("hints.txt", "".join(f"k{n} {n}\n" for n in range(60_000))),
    ],
)
def test_a_configuration_beyond_its_budget_is_refused_soon(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    begin = time.process_time()
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(tmp_path / name)
    assert time.process_time() - begin < 10
    assert "\n" not in str(caught.value)


def test_a_configuration_within_its_budget_is_read(tmp_path: Path) -> None:
    rule = '[[file]]\nmatch = "run.2020.01.02.03.04.05.*"\nmpiio = {cb_nodes = 1}\n'
    (tmp_path / "a.toml").write_text("version = 1\n" + rule * (CONFIGURATION.entries // 2))
    found = load_configuration(tmp_path / "a.toml").configuration
    assert len(found.files) == CONFIGURATION.entries // 2


@pytest.mark.parametrize(
    "read",
    [
        load_configuration,
        lambda path: load_policy(site=path, user=path),
        read_cases,
        Surface.load,
        read_evidence,
        open_input,
    ],
)
def test_a_pipe_is_never_waited_for(tmp_path: Path, read) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    with pytest.raises((StripewiseError, OSError)) as caught:
        read(pipe)
    assert "\n" not in str(caught.value)


def test_lines_come_one_by_one_until_the_budget_is_spent(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"a\r\n\n" + b"\xff" * 10)
    small = InputBudget("lines", 14, error=TraceError)
    assert list(input_lines(path, small)) == ["a\r", "", "\ufffd" * 10]
    path.write_bytes(b"first\n" + b"x" * 100)
    lines = input_lines(path, small)
    assert next(lines) == "first"
    with pytest.raises(TraceError, match=r"lines: more than 0 MiB, the budget of lines: check"):
        next(lines)


def test_json_has_no_infinity_and_no_depth_without_end() -> None:
    for text in ("Infinity", "NaN", "[1e999]", "[" * 100_000):
        with pytest.raises(ValueError, match=r"number of JSON|deeply"):
            parse_json(text)


def test_dots_in_values_are_no_deep_key() -> None:
    text = "x.y = 'a.b'\nz = [" + ", ".join(f"'{n}.h5'" for n in range(100)) + "]\n"
    assert parse_toml(text)["x"]["y"] == "a.b"


def test_records_go_to_json_and_back() -> None:
    facts = ProgramFacts(n_ranks=4, mpiio_alternatives=("ompio",), block=(1, 2), io_seconds=0.5)
    assert from_json(ProgramFacts, to_json(facts)) == facts
    run = Measurement("id", RunStatus.FAILED, -9, message="\udcff")
    assert from_json(Measurement, to_json(run)) == run


@pytest.mark.parametrize(
    "data",
    [
        {"n_ranks": "4"},
        {"n_ranks": True},
        {"n_ranks": 10**40},
        {"io_seconds": None},
        {"block": 3},
        {"block": [1.5]},
        {"mpi_family": ["x"]},
        [],
        None,
    ],
)
def test_a_record_of_wrong_types_is_refused(data) -> None:
    with pytest.raises(ValueError, match="not "):
        from_json(ProgramFacts, data)


def test_no_mutated_surface_is_a_fault(tmp_path: Path) -> None:
    header = (
        '{"format":"stripewise-surface","version":1,"command":["./a"],"facts":{"n_ranks":2},'
        '"provenance":{"host":"x"},"tunables":{"mpiio.cb_nodes":[1,2]},"plan":{"seed":1}}\n'
    )
    run = '{"settings":{"mpiio.cb_nodes":1},"elapsed_seconds":1.5,"io_seconds":0.5}\n'
    path = tmp_path / "a.jsonl"
    pieces = ('"x"', "[]", "{}", "null", "1e999", "-1", "Infinity", "[[[[", "true", "9" * 5000)
    for case in range(400):
        random = Random(case)
        text = list(header + run)
        place = random.randrange(len(text))
        text[place : place + random.randint(0, 6)] = random.choice(pieces)
        path.write_text("".join(text))
        with suppress(UsageError):
            Surface.load(path)


def test_the_page_has_every_budget() -> None:
    page = PAGE.read_text()
    for budget in (known for known in vars(inputs).values() if isinstance(known, InputBudget)):
        row = next(line for line in page.splitlines() if f"| {budget.what} |" in line)
        if budget.file_bytes < 1 << 40:
            assert f"| {budget.file_bytes // MIB} MiB |" in row
        if budget.entries:
            assert f"{budget.entries:,} {budget.entry}".replace(",", " ") in row
