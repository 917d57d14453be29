# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Logs of the 2013 Recorder: the lines that the paper prints, and what they leave open."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stripewise.core.errors import TraceError
from stripewise.evidence.patterns import find_patterns
from stripewise.evidence.readers import read_evidence, recognise
from stripewise.evidence.readers.recorder._hdf5_calls import (
    element_type,
    parse_line,
    split_arguments,
    vector,
)
from stripewise.evidence.readers.recorder._hdf5_read import Hdf5RecorderSource
from stripewise.evidence.trace import Op, Selections
from support.foreign_traces import PH5_EXAMPLE, write_ph5_example

HEAD = """\
1.00000 H5Fcreate (out.h5,H5F_ACC_TRUNC,0,1) 16 0.001
1.00100 H5Pset_dxpl_mpio (9,H5FD_MPIO_COLLECTIVE) 0 0.00001
1.00200 H5Screate_simple ({n_dims},{{{extents}}},NULL) 67 0.00001
1.00300 H5Dcreate2 (16,{name},{type},67,0,0,0) 83 0.00001
"""
PART = """\
1.00400 H5Dget_space (83) 68 0.00001
1.00500 H5Sselect_hyperslab (68,H5S_SELECT_SET,{start},{stride},{count},{block}) 0 0.00001
1.00600 H5Screate_simple ({n_dims},{count},NULL) 69 0.00001
1.00700 H5Dwrite (83,50,69,68,9) 0 0.5
"""


def _vector(numbers: tuple[int, ...]) -> str:
    return "{" + ";".join(map(str, numbers)) + "}"


def _write(
    folder: Path,
    extents: tuple[int, ...],
    starts: list[tuple[int, ...]],
    count: tuple[int, ...],
    block: str,
    type_name: str = "H5T_IEEE_F32LE",
) -> Path:
    folder.mkdir()
    head = HEAD.format(
        n_dims=len(extents), extents=";".join(map(str, extents)), name="x", type=type_name
    )
    for rank, start in enumerate(starts):
        part = PART.format(
            n_dims=len(extents),
            start=_vector(start),
            stride=_vector((1,) * len(extents)),
            count=_vector(count),
            block=block,
        )
        (folder / f"log.{rank}").write_text(head + part)
    return folder


def test_ph5_example(tmp_path: Path) -> None:
    path = write_ph5_example(tmp_path / "user_pH5Example")
    assert recognise(path).name == "hdf5-recorder"
    evidence = read_evidence(path)
    assert [entry.file for entry in evidence.accesses] == ["output/ParaEg0.h5"] * 2
    for entry, name in zip(evidence.accesses, ("/Data1", "/Data2"), strict=True):
        assert isinstance(entry, Selections)
        assert entry.dataset == name
        assert entry.extents == (24, 24)
        assert entry.element_bytes == 4
        assert entry.writing
        assert entry.rank.tolist() == [0, 1, 2, 3]
        assert entry.start.tolist() == [[0, 0], [6, 0], [12, 0], [18, 0]]
        assert entry.count.tolist() == [[6, 24]] * 4
        assert (entry.block == 1).all()
        assert (entry.stride == 1).all()
        assert not entry.collective.any()
    assert [found.notation for found in find_patterns(evidence.accesses)] == [
        "<2D, (BLOCK, *), (6, 24)>"
    ] * 2
    profile = evidence.profile
    assert profile.counters["count"][:, Op.WRITE].tolist() == [2] * 4
    assert profile.counters["outermost_write_bytes"].sum() == 2 * 24 * 24 * 4
    assert profile.start == pytest.approx(1396296304.23613, abs=1e-3)
    assert not profile.partial


@pytest.mark.parametrize(
    ("extents", "starts", "count", "notation"),
    [
        (
            (4 * 8388608,),
            [(rank * 8388608,) for rank in range(4)],
            (8388608,),
            "<1D, (BLOCK), (8388608)>",
        ),
        (
            (1, 26, 4 * 327680),
            [(0, 0, rank * 327680) for rank in range(4)],
            (1, 26, 327680),
            "<3D, (*, *, BLOCK), (1, 26, 327680)>",
        ),
        (
            (120, 200, 600),
            [(z, y, x) for z in (0, 60) for y in (0, 100) for x in (0, 300)],
            (60, 100, 300),
            "<3D, (BLOCK, BLOCK, BLOCK), (60, 100, 300)>",
        ),
    ],
    ids=["VPIC", "GCRM", "VORPAL"],
)
@pytest.mark.parametrize("zero_block", [True, False])
def test_kernels_of_the_paper(
    tmp_path: Path,
    extents: tuple[int, ...],
    starts: list[tuple[int, ...]],
    count: tuple[int, ...],
    notation: str,
    zero_block: bool,
) -> None:
    block = _vector((0,) * len(extents)) if zero_block else "NULL"
    path = _write(tmp_path / "user_program", extents, starts, count, block)
    evidence = Hdf5RecorderSource().read(path)
    (entry,) = evidence.accesses
    assert isinstance(entry, Selections)
    assert entry.collective.all()
    assert entry.start.tolist() == [list(start) for start in starts]
    (pattern,) = find_patterns(evidence.accesses)
    assert pattern.notation == notation


def test_one_log_alone(tmp_path: Path) -> None:
    path = write_ph5_example(tmp_path / "logs") / "log.2"
    evidence = read_evidence(path)
    assert evidence.profile.partial
    assert any("one rank's log" in note for note in evidence.profile.notes)
    first = evidence.accesses[0]
    assert isinstance(first, Selections)
    assert first.start.tolist() == [[12, 0]]
    assert first.rank.tolist() == [2]


def test_opened_datasets_without_extents_take_those_of_all_selections(tmp_path: Path) -> None:
    path = _write(tmp_path / "logs", (8, 4), [(0, 0), (4, 0)], (4, 4), "NULL")
    for log in path.iterdir():
        lines = log.read_text().replace("H5Fcreate (out.h5,H5F_ACC_TRUNC,0,1)", "H5Fopen (a,0,1)")
        lines = lines.replace("H5Dcreate2 (16,x,H5T_IEEE_F32LE,67,0,0,0)", "H5Dopen2 (16,x,0)")
        log.write_text(lines.replace("H5Dwrite", "H5Dread"))
    evidence = Hdf5RecorderSource().read(path)
    (entry,) = evidence.accesses
    assert isinstance(entry, Selections)
    assert entry.extents == (8, 4)
    assert not entry.writing
    notes = " ".join(evidence.profile.notes)
    assert "extents of 1 datasets" in notes
    assert "without a known size" in notes


def test_groups_copies_and_other_selections(tmp_path: Path) -> None:
    log = tmp_path / "log.0"
    log.write_text(
        "1.0 H5Fcreate (a.h5,2,0,0) 1 0.1\n"
        "1.1 H5Gcreate2 (1,g,0,0,0) 2 0.1\n"
        "1.2 H5Screate_simple (1,{10},NULL) 3 0.1\n"
        "1.3 H5Tcopy (H5T_C_S1) 4 0.1\n"
        "1.4 H5Tset_size (4,12) 0 0.1\n"
        "1.5 H5Dcreate2 (2,s,4,3,0,0,0) 5 0.1\n"
        "1.6 H5Dwrite (5,4,0,0,0) 0 0.1\n"
        "1.7 H5Scopy (3) 6 0.1\n"
        "1.8 H5Sselect_elements (6,0,3,x) 0 0.1\n"
        "1.85 H5Screate_simple (1,{3},NULL) 7 0.1\n"
        "1.9 H5Dwrite (5,4,7,6,0) 0 0.1\n"
        "2.0 H5Dwrite (77,4,0,0,0) 0 0.1\n"
        "2.1 open (/tmp/log.txt,577,438) 9 0.1\n"
        "2.2 write (9,0x1,100) 100 0.1\n"
    )
    evidence = Hdf5RecorderSource().read(log)
    selections = [entry for entry in evidence.accesses if isinstance(entry, Selections)]
    (entry,) = selections
    assert entry.dataset == "/g/s"
    assert entry.element_bytes == 12
    assert entry.irregular == 1
    assert any("points" in note for note in entry.notes)
    assert entry.block.tolist() == [[10]]
    assert any("1 reads and writes are of datasets" in note for note in evidence.profile.notes)
    assert "/tmp/log.txt" in evidence.profile.paths
    written = evidence.profile.counters["outermost_write_bytes"].sum()
    assert written == 120 + 36 + 100


def test_lines() -> None:
    line = parse_line("1.5 H5Sselect_hyperslab (67,0,{0;0},{1;1},{6;24},NULL) 0 0.00002")
    assert line is not None
    assert line.arguments == ("67", "0", "{0;0}", "{1;1}", "{6;24}", "NULL")
    assert (line.start, line.result, line.duration) == (1.5, "0", 0.00002)
    bare = parse_line("H5Sselect_hyperslab (...,H5S_SELECT_SET,{6;0},{1;1},{6;24},NULL) 0")
    assert bare is not None
    assert np.isnan(bare.start)
    assert bare.result == "0"
    for text in ("", "hello", "1.0 2.0", "1.0 f (a", "f (a) b c d"):
        assert parse_line(text) is None


def test_vectors_and_arguments() -> None:
    assert vector("{0;100;0}") == (0, 100, 0)
    assert vector("{0,0,327680}") == (0, 0, 327680)
    assert vector("{}") == ()
    for text in ("NULL", "{x}", "{-1}", "{1;2", "{99999999999999999999}"):
        assert vector(text) is None
    assert split_arguments("1,{2,3},NULL") == ("1", "{2,3}", "NULL")
    assert split_arguments("") == ()


def test_element_types() -> None:
    for name, n_bytes in (
        *(("H5T_STD_I32LE", 4), ("H5T_IEEE_F64BE", 8), ("H5T_NATIVE_DOUBLE", 8)),
        *(("H5T_NATIVE_INT64", 8), ("H5T_NATIVE_FLOAT", 4), ("H5T_STD_U8LE", 1)),
    ):
        found = element_type(name)
        assert found is not None
        assert found.n_bytes == n_bytes
    assert element_type("50331660") is None
    assert element_type("H5T_STD_I7LE") is None


def test_empty_logs_are_refused(tmp_path: Path) -> None:
    (tmp_path / "log.0").write_text("nothing here\n")
    with pytest.raises(TraceError, match="no call"):
        Hdf5RecorderSource().read(tmp_path)
    with pytest.raises(TraceError, match="cannot be read"):
        Hdf5RecorderSource().read(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TraceError, match="no files"):
        Hdf5RecorderSource().read(tmp_path / "empty")


def test_other_lines_are_counted(tmp_path: Path) -> None:
    (tmp_path / "log.0").write_text("# comment\n" + PH5_EXAMPLE % 0)
    profile = Hdf5RecorderSource().read(tmp_path).profile
    assert profile.partial
    assert "log.0: 1 lines are no calls" in profile.notes[0]
