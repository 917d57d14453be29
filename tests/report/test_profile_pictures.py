# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import base64
import io
import math
from dataclasses import replace

import numpy as np
import profiles
import pytest
from PIL import Image

from stripewise.diagnosis import Periodicity
from stripewise.diagnosis import _heat_cells as heat
from stripewise.model import HEAT_ROW, IoLayer, RunProfile
from stripewise.report._profile_bandwidth import bandwidth_of, phase_words
from stripewise.report._profile_image import RAMPS, heat_picture, ramp_colours, scale_of
from stripewise.report._profile_panels import panel_of, ticks_of, time_maps


def profile_of(*rows, n_ranks=4, elapsed=10.0, paths=("a", "b")):
    return RunProfile(
        "test", n_ranks=n_ranks, elapsed_seconds=elapsed, paths=paths,
        heat=np.array(list(rows), HEAT_ROW), heat_bin_seconds=1.0,
    )  # fmt: skip


def maps_of(profile):
    axis = heat.time_axis(profile)
    return {(one.kind, one.title): one for one in time_maps(profile, axis)}, axis


def pixels(address):
    data = base64.b64decode(address.partition("base64,")[2])
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))


def test_time_runs_to_the_end_of_the_run_and_every_rank_has_its_row():
    profile = profile_of((2, 0, IoLayer.POSIX, 1, 0.0, 5e6, 0.5))
    maps, axis = maps_of(profile)
    written = maps["ranks", "Written, each rank"]
    assert written.values.shape == (4, 10)
    assert written.values[2, 1] == 5e6
    assert written.values.sum() == 5e6
    assert written.rows.labels == ("rank 0", "rank 1", "rank 2", "rank 3")
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
    asked = maps["ranks", "Written, each rank: what the program asked for (MPI-IO)"]
    reached = maps["ranks", "Written, each rank: what reached the file system (POSIX)"]
    assert (asked.values[:, 0] == 1e6).all()
    assert reached.values[:, 0].tolist() == [4e6, 0, 0, 0]


def test_reads_for_modify_are_not_the_programs():
    profile = profile_of(
        (0, 0, IoLayer.MPIIO, 0, 0.0, 1e6, 0.9), (0, 0, IoLayer.POSIX, 0, 3e6, 4e6, 0.8)
    )
    maps, axis = maps_of(profile)
    assert not heat.moved_bytes(profile, axis, "read", "program").value.any()
    title = "Read, each rank: beneath the program's calls (POSIX), which asked for none"
    assert maps["ranks", title].values[0, 0] == 3e6


def test_equal_levels_are_shown_once():
    rows = [(rank, 0, layer, 0, 0.0, 1e6, 0.9) for rank in range(4)
            for layer in (IoLayer.MPIIO, IoLayer.POSIX)]  # fmt: skip
    maps, _ = maps_of(profile_of(*rows))
    assert [title for kind, title in maps if kind == "ranks"] == [
        "Written, each rank", "Time in I/O calls, each rank",
    ]  # fmt: skip


def test_records_of_all_ranks_together_are_spread():
    maps, _ = maps_of(profile_of((-2, 0, IoLayer.POSIX, 3, 0.0, 400.0, 0.0)))
    assert maps["ranks", "Written, each rank"].values[:, 3].tolist() == [100.0] * 4


def test_a_process_without_mpi_has_a_row():
    maps, _ = maps_of(profile_of((-1, 0, IoLayer.POSIX, 0, 9.0, 0.0, 0.0), n_ranks=0))
    read = maps["ranks", "Read, each rank"]
    assert read.rows.labels == ("the program",)
    assert read.values[0, 0] == 9.0


def test_many_ranks_share_rows_by_their_mean():
    rows = [(rank, 0, IoLayer.POSIX, 0, 0.0, 8.0, 0.5) for rank in range(1000)]
    maps, _ = maps_of(profile_of(*rows, n_ranks=1000))
    one = maps["ranks", "Written, each rank (mean of neighbours)"]
    assert one.values.shape[0] == 125
    assert one.rows.labels[1] == "ranks 8–15"
    assert one.values[:, 0].tolist() == [8.0] * 125


def test_files_with_little_are_summed():
    paths = tuple(f"/f{number}" for number in range(100))
    rows = [(0, n, IoLayer.POSIX, 0, 0.0, 1e6 if n < 3 else 1.0, 0.0) for n in range(100)]
    maps, _ = maps_of(profile_of(*rows, paths=paths))
    one = maps["files", "Written, each file"]
    assert one.rows.labels == ("/f0", "/f1", "/f2", "97 other files")
    assert one.values[:, 0].tolist() == [1e6, 1e6, 1e6, 97.0]


def test_no_picture_by_file_where_bins_have_all_files_together():
    maps, _ = maps_of(profile_of((0, -1, IoLayer.POSIX, 0, 0.0, 5.0, 0.0)))
    assert {kind for kind, _ in maps} == {"ranks"}


def test_picture_has_a_pixel_a_cell_and_blank_is_transparent():
    values = np.array([[0.0, 1.0], [10.0, 1000.0]])
    scale = scale_of(values)
    assert (scale.low, scale.high, scale.logarithmic) == (1.0, 1000.0, True)
    shown = pixels(heat_picture(values, scale, "write").light)
    assert shown.shape == (2, 2, 4)
    assert shown[0, 0, 3] == 0
    assert shown[0, 1, :3].tolist() == ramp_colours(RAMPS["write"][0])[0].tolist()
    assert shown[1, 1, :3].tolist() == ramp_colours(RAMPS["write"][0])[-1].tolist()


@pytest.mark.parametrize("name", RAMPS)
def test_ramps_read_without_colour(name):
    for anchors, sign in zip(RAMPS[name], (-1, 1), strict=True):
        colours = ramp_colours(anchors).astype(float) / 255
        linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
        light = linear @ (0.2126, 0.7152, 0.0722)
        assert (sign * np.diff(light) > -1e-3).all()
        assert abs(light[0] - light[-1]) > 0.5


def test_panel_says_what_it_shows():
    maps, axis = maps_of(profile_of((2, 0, IoLayer.POSIX, 1, 0.0, 5 << 20, 0.5)))
    panel = panel_of(maps["ranks", "Written, each rank"], axis)
    assert panel.description == (
        "Heat map: Written, each rank. 1 of 4 rows and 1 of 10 spans of 1.00 s have any. "
        "Most in rank 2 at 1.00 s: 5.00 MiB/s."
    )
    busy = panel_of(maps["ranks", "Time in I/O calls, each rank"], axis)
    assert busy.ends == ("0", "50 %", "100 %")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (10.0, "0 s,2 s,4 s,6 s,8 s,10 s"),
        (120.0, "0 s,25 s,50 s,75 s,100 s"),
        (0.05, "0 ms,10 ms,20 ms,30 ms,40 ms,50 ms"),
        (1500.0, "0 min,5 min,10 min,15 min,20 min,25 min"),
        (36000.0, "0 h,2 h,4 h,6 h,8 h,10 h"),
    ],
)
def test_times_are_round(seconds, words):
    assert ",".join(tick.text for tick in ticks_of(seconds)) == words


def test_period_is_marked_where_phases_begin():
    series = np.array(([0.0] * 5 + [100.0] * 3) * 4 + [0.0] * 32)
    phase = Periodicity("write", True, 8.0, 0.9, 4, 3.0, 300.0, 1.0)
    shown = bandwidth_of({"write": series, "read": np.zeros(64)}, 1.0, (phase,))
    assert [round(at * 64 / 100) for at in shown.marks] == [5, 13, 21, 29]
    assert shown.period == "writes come every 8.00 s"
    assert [band.direction for band in shown.bands] == ["write"]
    assert "1.17 KiB in all" in shown.description


def test_nothing_moved_has_no_curve():
    assert bandwidth_of({"write": np.zeros(4), "read": np.zeros(4)}, 1.0, ()) is None


def test_phases_in_words():
    phase = Periodicity("read", False, math.nan, 0.1, 3, 2.0, 1 << 20, 0.5)
    assert phase_words(phase).startswith("Reads: 3 phases of 2.00 s and 1 MiB each (medians), at")
    assert phase_words(replace(phase, n_phases=1)) == "Reads: one phase of 2.00 s and 1 MiB."
    assert phase_words(replace(phase, n_phases=0)) == "Reads: no phases."


def test_long_runs_are_brought_down_to_few_columns():
    profile = replace(profiles.PROFILE, elapsed_seconds=1e5)
    axis = heat.time_axis(profile)
    assert axis.n_columns <= heat.MOST_COLUMNS
    assert axis.seconds >= 1e5
