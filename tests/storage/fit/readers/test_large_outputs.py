# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Large and hostile outputs: read or refused, in a time that grows as they do."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from stripewise.core.errors import UsageError
from stripewise.storage.results import read_tests

DATA = Path(__file__).parent / "data"
MIB = 1 << 20


def text_of(name: str) -> str:
    return (DATA / name).read_text()


def row() -> str:
    return next(x for x in text_of("ior-hdf5.txt").splitlines() if x.startswith("write"))


TITLE = "IOR-4.1: MPI Coordinated Test of Parallel I/O\n"
LAUNCHED = "mdtest-4.1 was launched with 2 total task(s) on 1 node(s)\n"
JSON = '{"Command line": "a", "tests": '
TABLE = "benchio-hdf5-lockmode2-as-documented.csv"
HOSTILE = {
    "rows": lambda: text_of("ior-hdf5.txt").replace(row(), f"{row()}\n" * 10_000),
    "options": lambda: TITLE + "Options:\n" + "a : b\n" * 100_000,
    "tests": lambda: TITLE + "TestID : 0\n" * 15_000,
    "more tests": lambda: TITLE + "TestID : 0\n" * 150_000,
    "short lines": lambda: TITLE + LAUNCHED + " Simple Parallel IO benchmark\n" + "ab\n" * 300_000,
    "one line": lambda: TITLE + "write " * 300_000,
    "spaces": lambda: LAUNCHED + "SUMMARY: (of 1 iterations)\n   File stat" + " " * 1_000_000,
    "runs of mdtest": lambda: text_of("mdtest-once.txt") * 500,
    "colours": lambda: TITLE + "\x1b[" * 500_000,
    "labels": lambda: "0: " + TITLE + " " * 1_000_000,
    "open brackets": lambda: JSON + "[" * 500_000,
    "open objects": lambda: JSON + '{"a":' * 100_000,
    "quotes": lambda: JSON + '"\\' * 500_000,
    "broken JSON": lambda: text_of("ior-romio.json") * 100,
    "digits": lambda: text_of("ior-fpp.csv").replace("7632", "7" * 1_000_000),
    "places": lambda: text_of("benchio-methods.txt") + " Writing to a/mpiio.dat\n" * 20_000,
    "sizes": lambda: text_of("benchio-methods.txt").replace("( ", "(" + " " * 1_000_000, 1),
    "table": lambda: text_of(TABLE) + "1, " + "1," * 300_000,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_output_costs_little(tmp_path: Path, what: str) -> None:
    name = "benchio-hdf5-lockmode2.csv" if what == "table" else "out"
    (tmp_path / name).write_text(HOSTILE[what]())
    begin, said = time.process_time(), ""
    try:
        read_tests([tmp_path / name], 4)
    except UsageError as error:
        said = str(error)
    assert time.process_time() - begin < 20
    assert "\n" not in said
    assert len(said) < 1000


@pytest.mark.extended
def test_more_repeats_than_the_budget_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text(text_of("ior-hdf5.txt").replace(row(), f"{row()}\n" * 200_001))
    with pytest.raises(UsageError, match="more than 200000 repeats"):
        read_tests([file])


def test_a_gigantic_number_of_repeats_costs_nothing(tmp_path: Path) -> None:
    file = tmp_path / "out"
    text = text_of("ior-hdf5.txt").replace(
        "repetitions         : 2", "repetitions         : 9999999"
    )
    file.write_text(text)
    (test,) = read_tests([file]).tests
    assert len(test.timed) == 4
    assert "2 repeats of write of 9999999 can be used" in " ".join(test.notes)
