# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots of the inputs."""

from __future__ import annotations

import os
import shutil
import socket
import stat
from collections import namedtuple
from pathlib import Path

import pytest

from stripewise.core.errors import StorageError, StudyError, UsageError
from stripewise.study.workspace import InputSnapshot, _snapshot
from study.workspace.trees import LARGE, ODD_NAME


def test_a_snapshot_holds_the_inputs_and_nothing_else(user, study, workspace):
    names = set(workspace.snapshot.entries)
    assert {"a.out", "data/mesh", f"data/deep/{ODD_NAME}", "link", "folder"} <= names
    assert not any(".git" in name or "stripewise" in name for name in names)
    copy = study.path / "inputs"
    assert (copy / "data" / "mesh").read_bytes() == b"m" * LARGE
    assert (copy / "data" / "mesh").stat().st_mtime_ns == (user / "data/mesh").stat().st_mtime_ns
    assert stat.S_IMODE((copy / "a.out").stat().st_mode) == 0o555
    assert sum(entry.size_bytes for entry in workspace.snapshot.entries.values()) == sum(
        path.stat().st_size
        for path in user.rglob("*")
        if path.is_file()
        and not path.is_symlink()
        and not {".git", "old.stripewise"} & set(path.parts)
        and "mine.stripewise" not in path.parts
    )


def test_links_stay_inside_or_keep_their_target(user, study, workspace):
    copy = study.path / "inputs"
    assert os.readlink(copy / "link") == "data/mesh"
    assert os.readlink(copy / "absolute") == "input.nml"
    assert os.readlink(copy / "dangling") == "nowhere"
    assert (copy / "out_link").read_text() == "outside"


def test_a_snapshot_is_found_again(study, workspace):
    again = InputSnapshot.load(study)
    assert again is not None
    assert again.entries == workspace.snapshot.entries
    again.check()
    assert InputSnapshot.load(study.inside("none")) is None


def test_an_interrupted_snapshot_is_made_anew(user, study, workspace):
    (study.path / "inputs.json").unlink()
    (study.path / "inputs" / "junk").write_text("x")
    assert InputSnapshot.load(study) is None
    InputSnapshot.create(user, study).check()
    assert not (study.path / "inputs" / "junk").exists()


def test_what_is_no_file_is_skipped(user, study):
    os.mkfifo(user / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(user / "sock"))
        snapshot = InputSnapshot.create(user, study)
    assert "input.nml" in snapshot.entries
    assert not {"pipe", "sock"} & set(snapshot.entries)


def test_only_named_inputs_and_the_program(user, study):
    snapshot = InputSnapshot.create(
        user,
        study,
        inputs=[Path("data/deep"), user / "input.nml"],
        command=["mpiexec", "./a.out", "--in=input.nml", "out.h5"],
    )
    expected = {"a.out", "data", "data/deep", f"data/deep/{ODD_NAME}", "input.nml"}
    assert set(snapshot.entries) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("none", "there is no input none"),
        ("../outside", "lies outside"),
        ("/etc/hosts", "outside"),
    ],
)
def test_inputs_that_cannot_be_taken(user, study, given, message):
    with pytest.raises(UsageError, match=message):
        InputSnapshot.create(user, study, inputs=[Path(given)])


def test_too_much_is_refused_with_size_and_remedy(user, study, monkeypatch):
    monkeypatch.setattr(_snapshot, "can_clone", lambda *_: False)
    monkeypatch.setattr(_snapshot, "MAX_BYTES", 1 << 20)
    with pytest.raises(StudyError, match=r"holds 2 MiB .*1 MiB .*--input PATH"):
        InputSnapshot.create(user, study)
    monkeypatch.setattr(_snapshot, "MAX_ENTRIES", 3)
    with pytest.raises(StudyError, match=r"more than 3 files.*--input PATH"):
        InputSnapshot.create(user, study)


def test_no_room_is_refused_before_copying(user, study, monkeypatch):
    monkeypatch.setattr(_snapshot, "can_clone", lambda *_: False)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1, 1, 1 << 20))
    with pytest.raises(StorageError, match=r"needs 2 MiB .*there is: 1 MiB; free some space"):
        InputSnapshot.create(user, study)
    assert list((study.path / "inputs").iterdir()) == []


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda copy: (copy / "input.nml").unlink(), "input.nml is missing from"),
        (lambda copy: (copy / "new").write_text(""), "new was added to"),
        (lambda copy: (copy / "a.out").write_text("changed"), "a.out was changed in"),
        (lambda copy: shutil.rmtree(copy / "data" / "deep"), "data/deep"),
        (lambda copy: os.utime(copy / "data/mesh"), "data/mesh was changed"),
    ],
)
def test_damage_is_noticed_before_the_next_run(study, workspace, damage, message):
    for path in (study.path / "inputs").rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755)
    workspace.prepare("1")
    damage(study.path / "inputs")
    with pytest.raises(StudyError, match=message):
        workspace.prepare("2")
