# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What IOR, mdtest and benchio print here and now, in each form, is read.

Needs the source archives of the programs: STRIPEWISE_PEERS names their directory, and
tools/peers.sh has built them (`make peers`).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from stripewise.bench.campaign import import_campaign
from stripewise.storage.results import Found, Test, read_tests
from support.peers import FAMILIES, peer

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(
        not os.environ.get("STRIPEWISE_PEERS"),
        reason="STRIPEWISE_PEERS does not name the archives of IOR, mdtest and benchio",
    ),
]


ROWS = [("write", 1), ("read", 1), ("write", 2), ("read", 2)]


def program(family: str, name: str) -> Path:
    return peer(name, family)[0]


def printed(family: str, place: Path, *words: str, ranks: int = 2) -> str:
    more = ["--oversubscribe"] if family == "openmpi" else []
    command = [f"mpiexec.{family}", *more, "-n", str(ranks), *words]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    made = subprocess.run(command, cwd=place, env={**os.environ, **root}, capture_output=True,
                          text=True, timeout=120, check=False)  # fmt: skip
    return made.stdout


def read(place: Path, text: str) -> Found:
    file = place / "printed.out"
    file.write_text(text)
    assert import_campaign([file], "peers", 2).runs
    return read_tests([file], 2)


def outputs_of(place: Path, text: str) -> tuple[Test, ...]:
    return read(place, text).tests


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("form", ["default", "JSON", "CSV"])
@pytest.mark.parametrize("verbose", ["", "-v", "-vvvv"])
def test_each_form_of_ior(tmp_path: Path, family: str, form: str, verbose: str) -> None:
    ior = str(program(family, "ior"))
    words = ["-a", "POSIX", "-F", "-w", "-r", "-i", "2", "-b", "1m", "-t", "256k", "-e", "-o", "f"]
    text = printed(family, tmp_path, ior, *words, "-O", f"summaryFormat={form}",
                   *([verbose] if verbose else []))  # fmt: skip
    found = read(tmp_path, text)
    (test,) = found.tests
    rows = [(one.operation, one.repeat) for one in test.timed]
    if len(rows) < len(ROWS) and verbose == "-vvvv":
        # Ranks that print at the same time tear one another's lines: such a row is named.
        assert rows == [row for row in ROWS if row in rows], text
        assert any("cannot be read" in note for note in found.notes), text
    else:
        assert rows == ROWS, text
    assert {one.amount for one in test.timed} == {2 << 20}, text
    if form != "CSV":
        assert test.work.layout == "per-process"  # type: ignore[union-attr]
        assert test.work.sync is True  # type: ignore[union-attr]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", FAMILIES)
def test_hints_of_ior(tmp_path: Path, family: str) -> None:
    ior = str(program(family, "ior"))
    words = [
        "-a",
        "MPIIO",
        "-c",
        "-w",
        "-b",
        "1m",
        "-t",
        "256k",
        "--mpiio.showHints",
        "-o",
        "h.dat",
    ]
    (test,) = outputs_of(tmp_path, printed(family, tmp_path, ior, *words))
    assert test.work.mode == "collective"  # type: ignore[union-attr]
    assert family == "openmpi" or "cb_nodes" in test.hints


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("words", ["", "-u", "-F", "-D", "-N 1", "-i 3", "-v", "-P", "-W 1 -F",
                                   "--showRankStatistics"])  # fmt: skip
def test_each_option_of_mdtest(tmp_path: Path, family: str, words: str) -> None:
    mdtest = str(program(family, "mdtest"))
    text = printed(family, tmp_path, mdtest, "-n", "20", "-d", "md", *words.split())
    (test,) = outputs_of(tmp_path, text)
    assert test.rates("create-directory" if words == "-D" else "create")
    assert test.work.files == 20  # type: ignore[union-attr]
    assert test.work.sharing == ("own" if words == "-u" else "shared")  # type: ignore[union-attr]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", FAMILIES)
def test_methods_of_benchio(tmp_path: Path, family: str) -> None:
    benchio = str(program(family, "benchio"))
    for name in ("unstriped", "striped", "fullstriped"):
        (tmp_path / name).mkdir()
    text = printed(family, tmp_path, benchio, *"16 16 16 local serial proc node mpiio".split())
    tests = outputs_of(tmp_path, text)
    assert len(tests) == 12
    assert all(len(one.timed) == 1 for one in tests)
