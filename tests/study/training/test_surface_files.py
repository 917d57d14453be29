# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
from dataclasses import replace

import pytest

from stripewise.core import RunStatus
from stripewise.core.errors import StorageError
from stripewise.study.training import (
    Surface,
    SurfaceRole,
    SurfaceRun,
    SurfaceWriter,
)
from support.replayed import ReplayedLauncher
from support.study_fakes import lognormal
from support.surfaces import save_surface, synthetic_surface

KNOB = "mpiio.romio_ds_write"
VARY = {KNOB: ("disable",), "hdf5.alignment": ((1, 1), (4096, 4096))}
SURFACE = synthetic_surface(lambda s: 1.0 + len(s), VARY, noise=lognormal(0.1))
HEADER = replace(SURFACE, runs=())


def test_what_is_appended_is_what_is_loaded(tmp_path):
    path = tmp_path / "a.jsonl"
    with SurfaceWriter(path, HEADER) as writer:
        for run in SURFACE.runs[:7]:
            writer.append(run)
    with SurfaceWriter(path, HEADER) as writer:
        for run in SURFACE.runs[7:]:
            writer.append(run)
    loaded = Surface.load(path)
    assert [run.settings for run in loaded.runs] == [run.settings for run in SURFACE.runs]
    assert [run.sequence for run in loaded.runs] == list(range(1, len(SURFACE.runs) + 1))
    assert loaded.runs[0].io_seconds == pytest.approx(SURFACE.runs[0].io_seconds, abs=1e-6)
    assert replace(loaded, runs=()) == HEADER


@pytest.mark.parametrize(
    "torn",
    [
        '{"settings":{"a',
        '{"settings"',
        "{",
        "\x00\x00",
        '{"settings":{},"elapsed_seconds":1.0,"io_seconds":0.5}',
    ],
)
def test_a_torn_last_line_is_no_run(tmp_path, torn):
    path = tmp_path / "a.jsonl"
    with SurfaceWriter(path, HEADER) as writer:
        writer.append(SURFACE.runs[0])
    with path.open("a") as stream:
        stream.write(torn)
    assert len(Surface.load(path).runs) == 1
    with SurfaceWriter(path, HEADER) as writer:
        writer.append(SURFACE.runs[1])
    assert len(Surface.load(path).runs) == 2


def test_every_run_is_in_the_file_at_once(tmp_path):
    path = tmp_path / "a.jsonl"
    with SurfaceWriter(path, HEADER) as writer:
        for number, run in enumerate(SURFACE.runs[:3], start=1):
            writer.append(run)
            assert len(Surface.load(path).runs) == number


def test_lines_are_compact(tmp_path):
    path = tmp_path / "a.jsonl"
    save_surface(SURFACE, path)
    lines = path.read_text().splitlines()[1:]
    assert max(len(line) for line in lines) < 250
    assert "status" not in lines[0]


def test_a_file_without_the_newer_fields_is_read(tmp_path):
    path = tmp_path / "old.jsonl"
    header = {"format": "stripewise-surface", "version": 1, "command": ["a"]}
    run = {"settings": {"mpiio.cb_nodes": 2}, "elapsed_seconds": 1, "io_seconds": 0.5}
    path.write_text(json.dumps(header) + "\n" + json.dumps(run) + "\n")
    surface = Surface.load(path)
    assert surface.plan == {}
    assert surface.runs[0].role is SurfaceRole.POINT
    assert surface.runs[0].status is RunStatus.OK


def test_warm_ups_are_kept_and_never_drawn():
    warm = SurfaceRun({}, 99.0, 99.0, role=SurfaceRole.WARM_UP)
    counted = SurfaceRun({}, 1.0, 1.0)
    surface = Surface(("a",), runs=(warm, counted))
    assert surface.by_settings() == {(): [1]}
    assert ReplayedLauncher(surface).surface.runs[0] is warm


def test_a_directory_that_is_not_there(tmp_path):
    with pytest.raises(StorageError, match="cannot write"):
        SurfaceWriter(tmp_path / "none" / "a.jsonl", HEADER)


def test_values_that_look_alike_stay_apart():
    surface = Surface(("a",), tunables={"hdf5.coll_metadata_write": (True, 1)})
    assert surface.key({"hdf5.coll_metadata_write": True}) != surface.key(
        {"hdf5.coll_metadata_write": 1}
    )


def test_what_a_failed_run_said_is_kept(tmp_path):
    failed = SurfaceRun({}, 1.1, 0.0, status=RunStatus.FAILED, message="exit code 1: no room")
    save_surface(Surface(("a",), runs=(failed, SurfaceRun({}, 1.0, 1.0))), tmp_path / "a.jsonl")
    restored = Surface.load(tmp_path / "a.jsonl")
    assert [run.message for run in restored.runs] == ["exit code 1: no room", ""]
