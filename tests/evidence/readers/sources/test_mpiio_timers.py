# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of MPICH_MPIIO_TIMERS, alone and beside MPICH_MPIIO_STATS; texts by the documentation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.core import MpiioPhase
from stripewise.evidence.readers import parse_mpiio_timers, read_evidence
from support.foreign_traces import MPIIO_STATS_BLOCKS

MIB = 2**20


def block(
    scale: str = "all ranks", name: str = ", for large.cube", direction: str = "write"
) -> str:
    return f"""\
+--------------------------------------------------------------------------+
| MPIIO {direction} by phases, {scale}{name}
|   number of ranks writing        =     4
|   number of ranks not writing    =    60
|   time scale: 1 = 2**7     clock ticks      min        max        ave
|                                      ----------  ---------  ---------
|   open/close/trunc time          =        10112      20224      15168
|   total                          =      4043240    4050000    4047000
|   imbalance                      =          120       6880       3440   0%
|   open/close/trunc               =        10112      20224      15168   0%
|   local compute                  =        80000      91000      85000   2%
|   wait for coll                  =            0     260000     130000   3%
|   collective                     =        30000      41000      35500   1%
|   exchange/write                 =        10000      12000      11000   0%
|   data send (*)                  =      1800000    1990000    1902090  47%
|   file write                     =      3400000    3520000    3480420  86%
|   other                          =         1000       2000       1500   0%
|   data send BW (MiB/s)           =                             1899.6
|   raw write BW (MiB/s)           =                             1035
|   net write BW (MiB/s)           =                              893.6
|   (*) overlaps with file write
+--------------------------------------------------------------------------+
"""


def test_a_block_is_read_with_its_scale_phases_and_rates() -> None:
    (found,) = parse_mpiio_timers("step 1\n" + block())
    assert (found.path, found.direction, found.scale) == ("large.cube", "write", "all ranks")
    assert (found.active_ranks, found.idle_ranks, found.ticks_per_unit) == (4, 60, 128)
    phases = {phase.name: phase for phase in found.phases}
    assert list(phases)[:3] == ["open/close/trunc time", "total", "imbalance"]
    assert phases["file write"] == MpiioPhase("file write", 3.4e6, 3.52e6, 3480420, 0.86)
    assert phases["data send"].share == pytest.approx(0.47)
    assert phases["total"].share is None
    assert found.data_send_bytes_per_second == pytest.approx(1899.6 * MIB)
    assert found.raw_bytes_per_second == 1035 * MIB
    assert found.net_bytes_per_second == pytest.approx(893.6 * MIB)


def test_several_scales_directions_files_and_runs_stay_apart() -> None:
    text = "".join(
        [
            block("writers"), block("aggregators"), block(name=", for b.nc", direction="read"),
            "srun: the second run\n", block("writers only"),
        ]
    )  # fmt: skip
    found = parse_mpiio_timers(text)
    assert [(one.path, one.direction, one.scale) for one in found] == [
        ("large.cube", "write", "writers"),
        ("large.cube", "write", "aggregators"),
        ("b.nc", "read", "all ranks"),
        ("large.cube", "write", "writers"),
    ]
    assert all(len(one.phases) == 11 for one in found)


def test_rows_may_leave_things_out_and_times_may_be_seconds() -> None:
    (found,) = parse_mpiio_timers(
        "12: | MPIIO read by phases, readers, for in.nc |\n"
        "12: |   time scale: 1 = 1 second |\n"
        "noise = 3\n"
        "12: |   wait for coll                  = 0.25 |\n"
        "12: |   data send                      = 1.0 2.0 |\n"
        "12: |   something new                  = 12.5 % |\n"
        "12: |   other                          = - |\n"
        "12: |   net read BW (GiB/s)            = 2 |\n"
    )
    assert found.path == "in.nc"
    assert found.ticks_per_unit is None
    assert found.phases == (
        MpiioPhase("wait for coll", average=0.25),
        MpiioPhase("data send", 1.0, 2.0),
        MpiioPhase("something new", share=0.125),
    )
    assert found.net_bytes_per_second == 2 * 2**30
    assert found.raw_bytes_per_second is None


def test_a_title_without_a_name_is_of_the_file_of_the_statistics_above() -> None:
    (found,) = parse_mpiio_timers(MPIIO_STATS_BLOCKS + block(name=""))
    assert found.path == "example.data"
    named_below = block(name="").replace("|   number", "| for other.nc\n|   number", 1)
    assert parse_mpiio_timers(named_below)[0].path == "other.nc"


def test_a_block_that_is_cut_off_keeps_what_was_told() -> None:
    lines = block().splitlines()
    assert parse_mpiio_timers("\n".join(lines[:2])) == ()
    (found,) = parse_mpiio_timers("\n".join(lines[:8]))
    assert [phase.name for phase in found.phases] == ["open/close/trunc time", "total"]


@given(st.text() | st.lists(st.sampled_from(block().splitlines())).map("\n".join))
def test_any_text_can_be_read(text: str) -> None:
    for one in parse_mpiio_timers(text):
        assert one.direction in ("write", "read")


def test_the_output_of_a_job_gives_both(tmp_path) -> None:
    path = tmp_path / "job.out"
    path.write_text(MPIIO_STATS_BLOCKS + block(name=", for example.data"))
    evidence = read_evidence(path)
    assert [one.path for one in evidence.mpiio_timers] == ["example.data"]
    assert len(evidence.mpiio_stats) == 1
    assert any(
        "phases of writes, all ranks" in note and "file write 86 %" in note
        for note in evidence.profile.notes
    )
