# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import profiles
import pytest

from stripewise.evidence.figures import Periodicity
from stripewise.evidence.figures import heat_cells as heat
from stripewise.evidence.report._profile_time import (
    RAMPS,
    describe,
    phase_marks,
    phase_words,
    time_chart,
    time_maps,
)
from stripewise.evidence.trace import HEAT_ROW, IoLayer, RunProfile
from stripewise.present.chart import time_unit


def profile_of(*rows, n_ranks=4, elapsed=10.0, paths=("a", "b")):
    return RunProfile(
        "test", n_ranks=n_ranks, elapsed_seconds=elapsed, paths=paths,
        heat=np.array(list(rows), HEAT_ROW), heat_bin_seconds=1.0,
    )  # fmt: skip


def maps_of(profile):
    axis = heat.time_axis(profile)
    return {(one.kind, one.title): one for one in time_maps(profile, axis)}, axis


def charts_of(profile, **more):
    """The charts of a run by their title."""
    parts = time_chart(profile, **more).spec["vconcat"]
    titles = [part["title"] for part in parts]
    return {t["text"] if isinstance(t, dict) else t: p for t, p in zip(titles, parts, strict=True)}


def test_time_runs_to_the_end_of_the_run_and_every_rank_has_its_row():
    profile = profile_of((2, 0, IoLayer.POSIX, 1, 0.0, 5e6, 0.5))
    maps, axis = maps_of(profile)
    written = maps["rank", "Written, each rank"]
    assert written.values.shape == (4, 10)
    assert written.values[2, 1] == 5e6
    assert written.values.sum() == 5e6
    assert written.labels == ("rank 0", "rank 1", "rank 2", "rank 3")
    assert axis.seconds == 10.0


def test_a_byte_that_passes_through_layers_counts_once():
    profile = profile_of(
        (0, 0, IoLayer.HDF5, 0, 0.0, 100.0, 0.9),
        (0, 0, IoLayer.MPIIO, 0, 0.0, 100.0, 0.8),
        (0, 0, IoLayer.POSIX, 0, 0.0, 100.0, 0.7),
        (0, 1, IoLayer.STDIO, 0, 0.0, 7.0, 0.1),
    )
    axis = heat.time_axis(profile)
    for level in ("program", "system"):
        assert heat.series(heat.moved_bytes(profile, axis, "write", level), axis)[0] == 107
    assert heat.series(heat.busy_seconds(profile, axis), axis)[0] == pytest.approx(1.0)


def test_gathered_writes_are_shown_at_both_levels():
    rows = [(rank, 0, IoLayer.MPIIO, 0, 0.0, 1e6, 0.9) for rank in range(4)]
    maps, _ = maps_of(profile_of(*rows, (0, 0, IoLayer.POSIX, 0, 0.0, 4e6, 0.8)))
    asked = maps["rank", "Written, each rank: what the program requested (MPI-IO)"]
    reached = maps["rank", "Written, each rank: what reached the file system (POSIX)"]
    assert (asked.values[:, 0] == 1e6).all()
    assert reached.values[:, 0].tolist() == [4e6, 0, 0, 0]


def test_reads_for_modify_are_not_the_programs():
    profile = profile_of(
        (0, 0, IoLayer.MPIIO, 0, 0.0, 1e6, 0.9), (0, 0, IoLayer.POSIX, 0, 3e6, 4e6, 0.8)
    )
    maps, axis = maps_of(profile)
    assert not heat.moved_bytes(profile, axis, "read", "program").value.any()
    title = "Read, each rank: beneath the program's calls (POSIX), which requested none"
    assert maps["rank", title].values[0, 0] == 3e6


def test_equal_levels_are_shown_once():
    rows = [(rank, 0, layer, 0, 0.0, 1e6, 0.9) for rank in range(4)
            for layer in (IoLayer.MPIIO, IoLayer.POSIX)]  # fmt: skip
    maps, _ = maps_of(profile_of(*rows))
    assert [title for kind, title in maps if kind == "rank"] == [
        "Written, each rank", "Time in I/O calls, each rank",
    ]  # fmt: skip


def test_records_of_all_ranks_together_are_spread():
    maps, _ = maps_of(profile_of((-2, 0, IoLayer.POSIX, 3, 0.0, 400.0, 0.0)))
    assert maps["rank", "Written, each rank"].values[:, 3].tolist() == [100.0] * 4


def test_a_process_without_mpi_has_a_row():
    maps, _ = maps_of(profile_of((-1, 0, IoLayer.POSIX, 0, 9.0, 0.0, 0.0), n_ranks=0))
    read = maps["rank", "Read, each rank"]
    assert read.labels == ("the program",)
    assert read.values[0, 0] == 9.0


def test_many_ranks_share_rows_by_their_mean():
    rows = [(rank, 0, IoLayer.POSIX, 0, 0.0, 8.0, 0.5) for rank in range(1000)]
    maps, _ = maps_of(profile_of(*rows, n_ranks=1000))
    one = maps["rank", "Written, each rank (mean of neighbours)"]
    assert one.values.shape[0] == 125
    assert one.labels[1] == "ranks 8–15"
    assert one.values[:, 0].tolist() == [8.0] * 125


def test_files_with_little_are_summed():
    paths = tuple(f"/f{number}" for number in range(100))
    rows = [(0, n, IoLayer.POSIX, 0, 0.0, 1e6 if n < 3 else 1.0, 0.0) for n in range(100)]
    maps, _ = maps_of(profile_of(*rows, paths=paths))
    one = maps["file", "Written, each file"]
    assert one.labels == ["/f0", "/f1", "/f2", "97 other files"]
    assert one.values[:, 0].tolist() == [1e6, 1e6, 1e6, 97.0]


def test_no_picture_by_file_where_bins_have_all_files_together():
    maps, _ = maps_of(profile_of((0, -1, IoLayer.POSIX, 0, 0.0, 5.0, 0.0)))
    assert {kind for kind, _ in maps} == {"rank"}


def test_a_cell_with_nothing_is_blank_and_a_wide_range_is_logarithmic():
    rows = [(r, 0, IoLayer.POSIX, r, 0.0, 10.0**r * 2**20, 0.5) for r in range(1, 4)]
    part = charts_of(profile_of(*rows))["Written, each rank, MiB/s"]
    assert part["data"]["values"] == [
        {"row": f"rank {n}", "c": [n], "v": [10.0**n]} for n in range(1, 4)
    ]
    assert part["encoding"]["color"]["scale"]["type"] == "log"
    assert part["encoding"]["color"]["scale"]["domain"] == [10.0, 1000.0]
    assert part["encoding"]["y"]["scale"]["domain"] == [f"rank {n}" for n in range(4)]


def test_reads_do_not_hide_writes():
    parts = charts_of(profile_of((0, 0, IoLayer.POSIX, 1, 5e6, 9e6, 0.5)))
    written = parts["Written, all ranks together, MiB/s"]
    read = parts["Read, all ranks together, MiB/s"]
    assert written["data"]["values"] == [{"row": 0, "c": [1], "v": [8.583]}]
    assert read["data"]["values"] == [{"row": 0, "c": [1], "v": [4.768]}]
    tops = [part["layer"][0]["encoding"]["y"]["scale"]["domain"][1] for part in (written, read)]
    assert tops[0] == tops[1]


def test_a_tooltip_names_one_row_only():
    rows = [(rank, 0, IoLayer.POSIX, 0, 0.0, 8.0, 0.5) for rank in range(1000)]
    part = charts_of(profile_of(*rows, n_ranks=1000))[
        "Written, each rank (mean of neighbours), MiB/s"
    ]
    assert part["data"]["values"][1]["row"] == "ranks 8–15"
    assert [tip["field"] for tip in part["encoding"]["tooltip"]] == ["row", "time", "v"]


@pytest.mark.parametrize("name", RAMPS)
def test_ramps_read_without_colour(name):
    colours = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in RAMPS[name]]) / 255
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    light = linear @ (0.2126, 0.7152, 0.0722)
    assert (np.diff(light) < 0).all()
    assert light[0] - light[-1] > 0.5


def test_panel_says_what_it_shows():
    maps, axis = maps_of(profile_of((2, 0, IoLayer.POSIX, 1, 0.0, 5 << 20, 0.5)))
    assert describe(maps["rank", "Written, each rank"], axis) == (
        "Heat map: Written, each rank. 1 of 4 rows and 1 of 10 spans of 1 s have any. "
        "Most in rank 2 at 1 s: 5 MiB/s."
    )
    busy = charts_of(profile_of((2, 0, IoLayer.POSIX, 1, 0.0, 5e6, 0.5)))
    colour = busy["Time in I/O calls, each rank, %"]["encoding"]["color"]
    assert colour["scale"]["domain"] == [0, 100.0]


@pytest.mark.parametrize(
    ("seconds", "unit"),
    [(0.05, "milliseconds"), (10.0, "seconds"), (1500.0, "minutes"), (36000.0, "hours")],
)
def test_times_have_a_unit_that_fits(seconds, unit):
    name, length = time_unit(seconds)
    assert name == unit
    assert 1 <= seconds / length < 1000


def test_period_is_marked_where_phases_begin():
    series = np.array(([0.0] * 5 + [100.0] * 3) * 4 + [0.0] * 32)
    phase = Periodicity("write", True, 8.0, 0.9, 4, 3.0, 300.0, 1.0)
    assert phase_marks({"write": series}, 2.0, (replace(phase, period_seconds=16.0),)) == {
        "write": (10.0, 26.0, 42.0, 58.0)
    }
    assert phase_marks({}, 1.0, (phase,)) == {}


def test_nothing_moved_has_no_chart():
    assert time_chart(profile_of((0, 0, IoLayer.POSIX, 1, 0.0, 0.0, 0.0))) is None


def test_phases_in_words():
    phase = Periodicity("read", False, math.nan, 0.1, 3, 2.0, 1 << 20, 0.5)
    assert phase_words(phase).startswith(
        "Reads: 3 phases of 2 s and 1 MiB each (medians), without"
    )
    assert phase_words(replace(phase, n_phases=1)) == "Reads: one phase of 2 s and 1 MiB."
    short = replace(phase, phase_seconds=math.nan, resolution_seconds=14.7)
    assert phase_words(short) == (
        "Reads: 3 phases of 1 MiB each (medians), without a regular period. They are shorter than "
        "three time bins of 14.7 s, so the time taken is not known."
    )
    assert "14.7 s and 1 MiB" not in phase_words(replace(short, n_phases=1))
    assert phase_words(replace(phase, n_phases=0)) == "Reads: no phases."


def test_long_runs_are_brought_down_to_few_columns():
    profile = replace(profiles.PROFILE, elapsed_seconds=1e5)
    axis = heat.time_axis(profile)
    assert axis.n_columns <= heat.MOST_COLUMNS
    assert axis.seconds >= 1e5
