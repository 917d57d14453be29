# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from uuid import uuid4

import pytest

from stripewise.core import ProgramFacts, RunStatus
from stripewise.core.errors import ProgramError, StorageError, UsageError
from stripewise.run.launch import RunRequest
from stripewise.study.training import Surface, SurfaceRun
from stripewise.testing.launcher_suite import LauncherSuite
from support.replayed import ReplayedLauncher
from support.surfaces import save_surface

SURFACE = Surface(
    command=("mpiexec", "./a.out"),
    facts=ProgramFacts(n_ranks=4, mpiio_alternatives=("ompio", "romio321")),
    provenance={"host": "here"},
    tunables={
        "mpiio.cb_nodes": (1, 2, 4),
        "hdf5.alignment": ((1, 1), (4096, 4096)),
    },
    runs=(
        SurfaceRun({}, 1.0, 0.8, 0, 100),
        SurfaceRun({}, 1.1, 0.9, 0, 100),
        SurfaceRun({"mpiio.cb_nodes": 2}, 0.5, 0.4, 0, 100),
        SurfaceRun({"mpiio.cb_nodes": 2, "hdf5.alignment": (4096, 4096)}, 9.0, 8.0, 0, 100),
        SurfaceRun({"mpiio.cb_nodes": 4}, 2.0, 0.0, status=RunStatus.FAILED),
    ),
)


def request(settings=None, timeout=None) -> RunRequest:
    return RunRequest(
        str(uuid4()), SURFACE.command, Path("/"), Path("/"),
        settings=settings or {}, timeout_seconds=timeout,
    )  # fmt: skip


class TestReplayed(LauncherSuite):
    def make_launcher(self, directory):
        return ReplayedLauncher(SURFACE, seed=1)

    def make_request(self, directory, kind):
        aligned = {"mpiio.cb_nodes": 2, "hdf5.alignment": (4096, 4096)}
        return {
            "ok": request({"mpiio.cb_nodes": 2}),
            "fail": request({"mpiio.cb_nodes": 4}),
            "limited": request(aligned, 0.5),
            "missing": request({"mpiio.cb_nodes": 3}),
        }.get(kind)


def test_a_surface_survives_the_file(tmp_path):
    save_surface(SURFACE, tmp_path / "surface.jsonl")
    assert Surface.load(tmp_path / "surface.jsonl") == SURFACE


def test_every_run_of_the_same_settings_is_drawn():
    launcher = ReplayedLauncher(SURFACE, seed=3)
    outcomes = [launcher.collect(launcher.submit(request())) for _ in range(60)]
    drawn = Counter(outcome.io_seconds for outcome in outcomes)
    assert set(drawn) == {0.8, 0.9}
    assert min(drawn.values()) > 10


def test_draws_depend_on_the_seed_and_not_on_the_order():
    def draws(seed, settings_between):
        launcher = ReplayedLauncher(SURFACE, seed)
        found = []
        for _ in range(20):
            found.append(launcher.submit(request()).data["run"])
            if settings_between:
                launcher.submit(request({"mpiio.cb_nodes": 2}))
        return found

    assert draws(1, False) == draws(1, True)
    assert draws(1, False) != draws(2, False)


def test_time_is_virtual():
    launcher = ReplayedLauncher(SURFACE)
    first = launcher.collect(launcher.submit(request({"mpiio.cb_nodes": 2})))
    second = launcher.collect(launcher.submit(request({"mpiio.cb_nodes": 2})))
    assert (first.started_unix_seconds, second.started_unix_seconds) == (0.0, 0.5)


def test_unknown_settings_name_the_nearest():
    wanted = {"mpiio.cb_nodes": 4, "hdf5.alignment": (4096, 4096)}
    with pytest.raises(ProgramError, match=r"nearest recorded settings are .*'mpiio.cb_nodes': 4"):
        ReplayedLauncher(SURFACE).submit(request(wanted))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "not json",
        "[1]",
        json.dumps({"format": "stripewise-surface", "version": 9, "command": []}),
        json.dumps({"format": "stripewise-surface", "version": 1}),
        json.dumps({"format": "stripewise-surface", "version": 1, "command": []}) + "\n{}\n",
    ],
)
def test_what_is_no_surface_is_refused(tmp_path, text):
    (tmp_path / "x").write_text(text)
    with pytest.raises(UsageError, match="surface"):
        Surface.load(tmp_path / "x")


def test_files_that_cannot_be_used(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        Surface.load(tmp_path / "none")
    with pytest.raises(StorageError, match="cannot write"):
        save_surface(SURFACE, tmp_path / "none" / "x")
