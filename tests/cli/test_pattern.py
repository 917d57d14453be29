# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise profile --as pattern`, on the text trace that the published example shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stripewise.cli import main

LINES = """\
1396296304.23583 H5Pcreate (H5P_FILE_ACCESS) 167772177 0.00003
1396296304.23587 H5Pset_fapl_mpio (167772177,MPI_COMM_WORLD,469762048) 0 0.00025
1396296304.23613 H5Fcreate (output/ParaEg0.h5,2,0,167772177) 16777216 0.00069
1396296304.23683 H5Pclose (167772177) 0 0.00002
1396296304.23685 H5Screate_simple (2,{24;24},NULL) 67108866 0.00002
1396296304.23688 H5Dcreate2 (16777216,Data1,H5T_STD_I32LE,67108866,0,0,0) 83886080 0.00012
1396296304.23702 H5Dcreate2 (16777216,Data2,H5T_STD_I32LE,67108866,0,0,0) 83886081 0.00003
1396296304.23707 H5Dget_space (83886080) 67108867 0.00001
1396296304.23708 H5Sselect_hyperslab (67108867,0,{START;0},{1;1},{6;24},NULL) 0 0.00002
1396296304.23710 H5Screate_simple (2,{6;24},NULL) 67108868 0.00001
1396296304.23710 H5Dwrite (83886080,50331660,67108868,67108867,0) 0 0.00009
1396296304.23721 H5Dwrite (83886081,50331660,67108868,67108867,0) 0 0.00002
1396296304.23724 H5Sclose (67108867) 0 0.00000
1396296304.23724 H5Dclose (83886080) 0 0.00001
1396296304.23726 H5Dclose (83886081) 0 0.00001
1396296304.23727 H5Sclose (67108866) 0 0.00000
1396296304.23728 H5Fclose (16777216) 0 0.00043
"""


@pytest.fixture
def run() -> Callable[..., Result]:
    return lambda *words: CliRunner().invoke(
        main, ["profile", *words, "--as", "pattern"], catch_exceptions=False
    )


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Traces of four ranks, as the first Recorder wrote them."""
    place = tmp_path / "logs"
    place.mkdir()
    for rank in range(4):
        (place / f"log.{rank}").write_text(LINES.replace("START", str(6 * rank)))
    return place


def test_the_published_trace(run: Callable[..., Result], trace: Path) -> None:
    said = run(str(trace))
    assert said.exit_code == 0, said.output
    assert "2 datasets output/ParaEg0.h5:" in said.output
    assert "<2D, (BLOCK, *), (6, 24)>" in said.output
    assert "grid 4 x 1, 4 ranks, 4 bytes an element" in said.output


def test_json(run: Callable[..., Result], trace: Path) -> None:
    found = json.loads(run(str(trace), "--json", "--dataset", "*Data1").output)["patterns"]
    assert [one["notation"] for one in found] == ["<2D, (BLOCK, *), (6, 24)>"]
    assert (found[0]["kind"], found[0]["grid"]) == ("distributed", [4, 1])


def test_words_and_globs(run: Callable[..., Result], trace: Path) -> None:
    said = run(str(trace), "--words", "--file", "*.h5").output
    assert "4 ranks write an array of 24 x 24 elements of 4 bytes" in said
    assert "nothing" not in said
    assert run(str(trace), "--file", "*.nc").exit_code == 0


def test_compare(run: Callable[..., Result], trace: Path) -> None:
    said = run(str(trace), "--compare", str(trace))
    assert "0.000  write" in said.output
    pairs = json.loads(run(str(trace), "--compare", str(trace), "--json").output)["pairs"]
    assert [pair["distance"] for pair in pairs] == [0]


def test_what_is_missing_is_told(run: Callable[..., Result], tmp_path: Path) -> None:
    assert run().exit_code == 2
    assert run("--compare", "a").exit_code == 2
    said = run(str(tmp_path / "none.sw"))
    assert said.exit_code == 9
