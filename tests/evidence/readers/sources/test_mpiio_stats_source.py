# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of MPICH_MPIIO_STATS in job outputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stripewise.core import Amount, MpiioSide, MpiioStats
from stripewise.core.errors import TraceError
from stripewise.evidence.diagnosis import diagnose, profile_to_json
from stripewise.evidence.figures._requests import _gap_bytes
from stripewise.evidence.readers import read_evidence, recognise
from stripewise.evidence.readers._job_evidence import _sum
from stripewise.evidence.readers._mpiio_stats import MpiioStatsSource, _remarks, parse_mpiio_stats
from stripewise.evidence.report import profile_content
from stripewise.evidence.report._profile_exports import mpiio_stats_text
from stripewise.evidence.trace import IoLayer, Op
from stripewise.present import finite
from stripewise.present.renderers import as_lines
from support.foreign_traces import MPIIO_STATS_BLOCKS

OLDER = """\
step 1 done
+--------------------------------------------------------+
| MPIIO write access patterns for large.cube
|   independent writes      = 106
|   collective writes       = 192
step 2 = 4
|   independent writers     = 1
|   aggregators             = 1
|   stripe count            = 1
|   stripe size             = 1048576
|   system writes           = 4286
|   aggregators active      = 192,0,0,0 (1, <= 1, > 1, 1)
|   total bytes for writes  = 4382277718 = 4179 MiB = 4 GiB
|   ave system write size   = 1022463
|   read-modify-write count = 3
|   read-modify-write bytes = 12288
|   number of write gaps    = 2
|   ave write gap size      = 512
| See "Optimizing MPI I/O on Cray XE Systems" S-0013-20 for explanations.
+--------------------------------------------------------+
+--------------------------------------------------------------------------+
| MPIIO write by phases, all ranks, for large.cube
|   number of ranks writing        =     1
"""


def test_both_sides_of_a_file() -> None:
    (stats,), _ = parse_mpiio_stats(MPIIO_STATS_BLOCKS)
    assert stats == MpiioStats(
        "example.data",
        MpiioSide(0, 4, 0, 1, 1, 4194304, 2, 0, (4, 0, 0, 0), 3600, 1800, 0, 0, 0, None),
        MpiioSide(0, 4, 0, 1, 1, 524288, 1, 0, None, 3200, 3200, None, None, 0, None),
    )


def test_several_files_between_other_output(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    path.write_text("x" * 100 + "\n" + MPIIO_STATS_BLOCKS + "more\n" + OLDER)
    assert recognise(path).name == "mpiio-stats"
    profile = read_evidence(path).profile
    assert profile.paths == ("example.data", "large.cube")
    assert not profile.partial
    upper = profile.counters[profile.counters["layer"] == IoLayer.MPIIO]
    assert upper["count"][1][Op.WRITE] == 106
    assert upper["count"][1][Op.WRITE_COLLECTIVE] == 192
    assert upper["outermost_write_bytes"].tolist() == [3600, 4382277718]
    lower = profile.counters[profile.counters["layer"] == IoLayer.POSIX]
    assert lower["count"][:, Op.WRITE].tolist() == [2, 4286]
    assert profile.layouts[1].stripe_bytes == 1048576
    assert profile.layouts[0].stripe_bytes == 4194304
    notes = " ".join(profile.notes)
    assert "no times" in notes
    assert "3 reads of 12288 bytes to modify" in notes
    assert "2 gaps of 512 bytes" in notes


def test_a_file_written_twice_adds_up(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    path.write_text(OLDER + OLDER)
    profile = MpiioStatsSource().read(path).profile
    assert len(parse_mpiio_stats(OLDER + OLDER)[0]) == 2
    upper = profile.counters[profile.counters["layer"] == IoLayer.MPIIO]
    assert upper["outermost_write_bytes"].tolist() == [2 * 4382277718]


def test_prefixed_lines_and_colours() -> None:
    text = "".join(f"[0] \x1b[1m{line}\x1b[0m\n" for line in MPIIO_STATS_BLOCKS.splitlines())
    assert parse_mpiio_stats(text) == parse_mpiio_stats(MPIIO_STATS_BLOCKS)


def test_a_block_that_is_cut_off_is_partial(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    path.write_text(OLDER[:300])
    profile = MpiioStatsSource().read(path).profile
    assert profile.partial
    assert "1 block is cut off" in profile.notes[0]
    assert profile.write_amount == Amount(None, "1 block is cut off or damaged")


def test_without_blocks_it_says_how(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    path.write_text("nothing\n")
    with pytest.raises(TraceError, match="MPICH_MPIIO_STATS=1"):
        MpiioStatsSource().read(path)


def test_found_far_into_the_output(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    path.write_text("step\n" * 1_500_000 + MPIIO_STATS_BLOCKS)
    assert recognise(path).name == "mpiio-stats"


def test_what_we_print_reads_back() -> None:
    blocks, _ = parse_mpiio_stats(MPIIO_STATS_BLOCKS + OLDER)
    assert parse_mpiio_stats(mpiio_stats_text(blocks)) == (blocks, 0)


def test_counted_zeros_are_zeros_and_the_rest_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    path.write_text(MPIIO_STATS_BLOCKS)
    diagnosis = diagnose(read_evidence(path))
    write, read = diagnosis.requests
    assert (write.gaps, write.modify_reads, write.modify_bytes, write.unit_sized) == (0, 0, 0, 0)
    assert (read.gaps, read.modify_reads, read.mean_gap_bytes) == (0, None, None)
    assert write.system_ranks == 1
    content = profile_content(finite(profile_to_json(diagnosis)), 10)
    (line,) = [line for line in as_lines(content) if "(write)" in line]
    assert line.count("–") == 1  # whether calls were aligned is not told
    assert diagnosis.figures.amount("meta_operations").value is None
    assert diagnosis.files[0].amount("elapsed_seconds").value is None


def test_a_number_that_is_no_count_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    wrong = "total bytes for writes  = 99999999999999999999999"
    path.write_text(OLDER.replace("total bytes for writes  = 4382277718", wrong))
    profile = read_evidence(path).profile
    assert profile.damaged
    assert profile.write_amount.value is None


def test_what_the_mpi_does_not_tell_of_gaps_is_not_zero() -> None:
    gaps = MpiioSide(gaps=3, modify_reads=2)
    assert "0 bytes" not in " ".join(_remarks(MpiioStats("f", gaps, None)))
    told = replace(gaps, average_gap_bytes=8)
    assert _gap_bytes(told) == 24
    assert _gap_bytes(gaps) is None
    assert _gap_bytes(MpiioSide(gaps=0)) == 0
    assert _sum(told, gaps).average_gap_bytes is None
    assert _sum(told, told).average_gap_bytes == 8
    assert _sum(told, MpiioSide()).gaps is None
