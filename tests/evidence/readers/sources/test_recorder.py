# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Traces of Recorder, written in both its forms from the published layouts."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from stripewise.core.errors import TraceError
from stripewise.evidence.readers import read_evidence, recognise
from stripewise.evidence.readers.recorder._interpret import FUNCTIONS, mpi_data, open_bits
from stripewise.evidence.readers.recorder._read import RecorderSource, parse_line
from stripewise.evidence.trace import COUNTER_ROW, EventFlag, IoLayer, Op, OpenBit, Pieces
from support.foreign_traces import (
    ForeignCall,
    sample_calls,
    write_recorder_directory,
    write_recorder_text,
)

RANKS = [sample_calls(0), sample_calls(1)]


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    return write_recorder_directory(tmp_path / "binary", RANKS)


def test_all_forms_tell_the_same(tmp_path: Path, binary: Path) -> None:
    merged = write_recorder_directory(tmp_path / "merged", RANKS, merged=True)
    text = write_recorder_text(tmp_path / "text", RANKS)
    first, *others = [read_evidence(path) for path in (binary, merged, text, text / "_text")]
    assert not first.profile.partial
    for other in others:
        assert other.profile.paths == first.profile.paths
        for name in COUNTER_ROW.names or ():
            np.testing.assert_array_equal(
                other.profile.counters[name], first.profile.counters[name]
            )
        assert len(other.accesses) == len(first.accesses)
    assert first.trace is not None
    assert first.trace.start == 1_700_000_000.25


def test_layers_nest(binary: Path) -> None:
    evidence = RecorderSource().read(binary)
    trace = evidence.trace
    assert trace is not None
    system = trace.rows[(trace.rows["layer"] == IoLayer.POSIX) & (trace.rows["op"] == Op.WRITE)]
    assert {trace.names[parent] for parent in system["parent"]} == {"MPI_File_write_at"}
    assert (system["depth"] == 2).all()
    own = trace.rows[trace.rows["parent"] < 0]
    assert {trace.names[name] for name in own["name"]} == {
        *("H5Fcreate", "H5Dwrite", "H5Fclose", "fopen", "fwrite", "fseek", "fclose"),
    }
    rows = evidence.profile.counters
    hdf5 = rows[rows["layer"] == IoLayer.HDF5]
    assert hdf5["outermost_write_bytes"].sum() == 100 * 4096
    assert rows["outermost_write_bytes"].sum() == 100 * 4096 + 110


def test_positions_are_followed(binary: Path) -> None:
    evidence = RecorderSource().read(binary)
    log = next(entry for entry in evidence.accesses if entry.file == "/scratch/run.log")
    assert isinstance(log, Pieces)
    assert log.offset.tolist() == [0, 120]
    assert log.size.tolist() == [100, 10]
    assert log.n_ranks == 2


def test_offsets_of_mpiio_are_the_pattern(binary: Path) -> None:
    evidence = RecorderSource().read(binary)
    (data,) = [entry for entry in evidence.accesses if entry.file == "/scratch/out.h5"]
    assert isinstance(data, Pieces)
    for rank in (0, 1):
        mine = np.sort(data.offset[data.rank == rank])
        assert mine.tolist() == [(2 * step + rank) * 4096 for step in range(50)]
    assert any("addresses" in note for note in evidence.profile.notes)


def test_derived_types_fall_back_to_the_system_calls(tmp_path: Path) -> None:
    path = "/scratch/x"
    calls = [
        ForeignCall(0, 9, "MPI_File_open", 0, ("MPI_COMM_WORLD", path, "5", "0x1", "0-0"), 1),
        ForeignCall(
            *(10, 19, "MPI_File_set_view", 0),
            ("0-0", "64", "MPI_INT", "MPI_TYPE_UNKNOWN", "0x1", "0x1"),
            1,
        ),
        ForeignCall(20, 40, "MPI_File_write_all", 0, ("0-0", "0x1", "4", "MPI_INT", "[0_0]"), 1),
        ForeignCall(25, 30, "pwrite", 1, (path, "0x1", "16", "64")),
        ForeignCall(
            *(50, 60, "MPI_File_write", 0), ("0-0", "0x1", "2", "MPI_TYPE_UNKNOWN", "[0_0]"), 1
        ),
    ]
    evidence = RecorderSource().read(write_recorder_directory(tmp_path / "trace", [calls]))
    (data,) = evidence.accesses
    assert isinstance(data, Pieces)
    assert data.offset.tolist() == [64]
    assert any("system calls" in note for note in data.notes)
    notes = " ".join(evidence.profile.notes)
    assert "1 MPI-IO calls use derived datatypes" in notes
    assert "1 file views are derived datatypes" in notes
    assert "derived datatypes" in evidence.profile.write_amount.why


def test_contiguous_views_place_pointer_calls(tmp_path: Path) -> None:
    calls = [
        ForeignCall(0, 9, "MPI_File_open", 0, ("MPI_COMM_WORLD", "/x", "2", "0x1", "0-0"), 1),
        ForeignCall(
            *(10, 19, "MPI_File_set_view", 0),
            ("0-0", "100", "MPI_DOUBLE", "MPI_DOUBLE", "0x1", "0x1"),
            1,
        ),
        ForeignCall(20, 21, "MPI_File_seek", 0, ("0-0", "3", "MPI_SEEK_SET"), 1),
        ForeignCall(30, 40, "MPI_File_read_all", 0, ("0-0", "0x1", "4", "MPI_DOUBLE", "s"), 1),
        ForeignCall(50, 60, "MPI_File_read_all", 0, ("0-0", "0x1", "4", "MPI_DOUBLE", "s"), 1),
    ]
    evidence = RecorderSource().read(write_recorder_text(tmp_path / "trace", [calls]))
    (data,) = evidence.accesses
    assert isinstance(data, Pieces)
    assert data.offset.tolist() == [124, 156]
    assert data.size.tolist() == [32, 32]
    assert data.collective.all()
    assert not data.writing


def test_one_ranks_text_is_read_alone(tmp_path: Path) -> None:
    text = write_recorder_text(tmp_path / "text", RANKS)
    profile = read_evidence(text / "_text" / "1.txt").profile
    assert profile.partial
    assert set(profile.counters["rank"]) == {1}


def test_what_is_cut_off_is_partial(binary: Path) -> None:
    times = binary / "1.ts"
    times.write_bytes(times.read_bytes()[:100])
    profile = RecorderSource().read(binary).profile
    assert profile.partial
    assert 0 < profile.counters["count"][profile.counters["rank"] == 1].sum() <= 12
    (binary / "0.cfg").write_bytes(b"")
    (binary / "1.cst").unlink()
    with pytest.raises(TraceError, match="no call can be read"):
        RecorderSource().read(binary)


def test_a_grammar_that_turns_in_circles_ends(binary: Path) -> None:
    circle = struct.pack("<i", 2) + struct.pack("<iiii", -1, 1, -2, 1)
    circle += struct.pack("<iiiiii", -2, 2, 0, 1, -2, 1_000_000)
    (binary / "0.cfg").write_bytes(circle)
    profile = RecorderSource().read(binary).profile
    assert profile.partial


def test_other_versions_are_told_how(binary: Path) -> None:
    (binary / "VERSION").write_text("3.0.0")
    assert recognise(binary).name == "recorder"
    with pytest.raises(TraceError, match="recorder2text"):
        RecorderSource().read(binary)


def test_text_lines() -> None:
    record = parse_line("0.0000100 0.0000900 pwrite 2 0 ( /a 0x1 16 64 )\n")
    assert record is not None
    assert record.arguments == ("/a", "0x1", "16", "64")
    assert record.level == 2
    for line in ("", "x", "1.2.3 4 open 0 0 ( )", "1 2 open (", "1 2 open 9999 0 ( )"):
        assert parse_line(line) is None


def test_names_of_mpi_reads_and_writes() -> None:
    found = mpi_data("MPI_File_iwrite_at")
    assert found is not None
    assert found.op == Op.WRITE
    assert found.flags == EventFlag.NONBLOCKING
    ordered = mpi_data("MPI_File_read_ordered_begin")
    assert ordered is not None
    assert ordered.op == Op.READ_COLLECTIVE
    assert ordered.flags == EventFlag.SHARED | EventFlag.SPLIT
    assert mpi_data("MPI_File_seek") is None


def test_open_flags() -> None:
    bits = open_bits(FUNCTIONS["open"], str(0o102))
    assert bits == OpenBit.READ | OpenBit.WRITE | OpenBit.CREATE
    assert OpenBit.APPEND in open_bits(FUNCTIONS["fopen"], "a+")
    assert open_bits(FUNCTIONS["open"], "0x1") == OpenBit.READ


def test_threads_are_numbered_and_nest_apart(tmp_path: Path) -> None:
    calls = [
        ForeignCall(0, 100, "pwrite", 0, ("/a", "0x1", "8", "0"), thread=0x7F1122334455),
        ForeignCall(10, 20, "pwrite", 1, ("/a", "0x1", "8", "8"), thread=0x7F9988776655),
    ]
    trace = RecorderSource().read(write_recorder_directory(tmp_path / "trace", [calls])).trace
    assert trace is not None
    assert trace.rows["thread"].tolist() == [0, 1]
    assert trace.rows["parent"].tolist() == [-1, -1]
