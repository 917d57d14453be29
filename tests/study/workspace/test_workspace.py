# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Places of runs: what is in them, and what is removed with them."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from stripewise.core import OwnedDirectory
from stripewise.core.errors import StudyError, UsageError
from stripewise.storage.emulation import Layout, own_layout, set_layout
from stripewise.study.workspace import InputSnapshot, Workspace
from study.workspace.trees import LARGE, ODD_NAME, state

VANDAL = """
echo more >> input.nml
echo new > data/out
echo changed > data/mesh
echo through > link
echo abs > absolute
rm data/restart
rm -r data/deep
ln -s /etc/hosts made_link
mkdir -m 500 closed
chmod 777 a.out
echo up > ../up
mkfifo pipe
"""


@pytest.mark.parametrize("written", [None, ["data/mesh"], ["data/mesh", "data/restart"]])
def test_the_users_files_are_as_they_were(user, study, workspace, written):
    before, copied = state(user), state(study.path / "inputs")
    before = {path: seen for path, seen in before.items() if "mine.stripewise" not in path}
    if written is not None:
        workspace.first_run_known(written, 0)
    run = workspace.prepare("1").directory
    assert run.name == user.name
    subprocess.run(["/bin/sh", "-c", VANDAL], cwd=run, check=True)
    assert {file.path for file in workspace.outputs("1").files} == {
        "data/mesh", "data/out", "input.nml", "made_link",
    }  # fmt: skip
    workspace.release("1")
    after = {path: seen for path, seen in state(user).items() if "mine.stripewise" not in path}
    assert after == before
    assert state(study.path / "inputs") == copied
    assert study.inside("work").names() == ()
    assert Path("/etc/hosts").exists()


def test_a_run_sees_the_inputs_as_they_are(user, workspace):
    run = workspace.prepare("1").directory
    assert (run / "input.nml").read_text() == "small"
    assert (run / "folder" / "mesh").read_bytes() == b"m" * LARGE
    assert (run / "out_link").read_text() == "outside"
    assert stat.S_IMODE((run / "a.out").stat().st_mode) == 0o755
    assert not (run / "data" / "mesh").is_symlink()
    output = subprocess.run(["./a.out"], cwd=run, capture_output=True, text=True, check=True)
    assert output.stdout == "./a.out\n"
    assert workspace.outputs("1").files == ()


def test_large_inputs_that_are_only_read_are_linked(user, study, workspace):
    workspace.__dict__["_clones"] = False
    workspace.first_run_known(["data/restart"], 0)
    run = workspace.prepare("1").directory
    assert (run / "data" / "mesh").is_symlink()
    assert (run / "data" / "mesh").read_bytes() == b"m" * LARGE
    assert not (run / "data" / "restart").is_symlink()
    assert workspace.outputs("1").files == ()


def test_outputs_with_sizes(workspace):
    run = workspace.prepare("1").directory
    (run / "out").mkdir()
    (run / "out" / ODD_NAME).write_bytes(b"123")
    (run / "x").write_bytes(b"1" * 10)
    outputs = workspace.outputs("1")
    assert [(file.path, file.size_bytes) for file in outputs.files] == [
        (f"out/{ODD_NAME}", 3),
        ("x", 10),
    ]
    assert outputs.size_bytes == 13


def test_old_outputs_are_left_out_and_new_ones_found(workspace):
    workspace.first_run_known(["data/mesh"], 0, ["data/mesh"])
    run = workspace.prepare("1").directory
    assert not (run / "data" / "mesh").exists()
    assert workspace.outputs("1").files == ()
    (run / "data" / "mesh").write_bytes(b"m" * LARGE)
    assert [file.path for file in workspace.outputs("1").files] == ["data/mesh"]


def test_copies_are_for_their_owner_alone(user, study, workspace):
    """A study may lie in a public place, the user's directory in a private one."""
    workspace.prepare("1")
    for made in (workspace.snapshot.directory, study.path / "work"):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_runs_do_not_see_one_another(study, workspace):
    first, second = (workspace.prepare(name).directory for name in "12")
    (first / ".." / "up").write_text("x")
    assert not (second / ".." / "up").exists()
    assert study.inside("work").names() == ("1", "2")
    with pytest.raises(StudyError, match="exists already"):
        workspace.prepare("1")


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/etc", "a\0b"])
def test_names_that_lead_elsewhere_are_refused(workspace, name):
    for act in (workspace.prepare, workspace.release, workspace.outputs):
        with pytest.raises(UsageError, match="cannot name"):
            act(name)


def test_only_run_directories_are_removed(tmp_path, study, workspace):
    workspace.prepare("1")
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    (study.path / "work" / "2").symlink_to(precious)
    with pytest.raises(StudyError, match="left alone"):
        workspace.release("2")
    (study.path / "work" / "3").write_text("")
    with pytest.raises(StudyError, match="left alone"):
        workspace.release("3")
    run = workspace.find("1").directory
    (run / "trap").symlink_to(precious)
    workspace.release("1")
    assert (precious / "file").exists()
    workspace.release("1")
    workspace.release("never was")


def test_directories_without_permissions_are_removed(workspace):
    run = workspace.prepare("1").directory
    (run / "a" / "b").mkdir(parents=True)
    (run / "a" / "b" / "c").write_text("")
    (run / "a" / "b").chmod(0)
    (run / "a").chmod(0o500)
    workspace.release("1")
    assert not run.exists()


def test_runs_on_emulated_storage_have_their_inputs_and_layouts_within(
    user: Path, tmp_path: Path
) -> None:
    set_layout(user, Layout(4))
    set_layout(user / "data", Layout(-1, 1 << 20))
    (user / "input.nml").chmod(0o444)
    os.setxattr(user / "data" / "mesh", "user.stripewise.layout", b"2 0 -1")
    home = OwnedDirectory.take(tmp_path / "study", "study")
    home.make()
    snapshot = InputSnapshot.create(user, home)
    for loaded in (snapshot, InputSnapshot.load(home)):
        assert loaded is not None
        workspace = Workspace(loaded, home, emulated=True)
        workspace.first_run_known((), 0)
        place = workspace.prepare(f"run-{loaded is snapshot}")
        mesh = place.directory / "data" / "mesh"
        assert not mesh.is_symlink()
        assert own_layout(place.directory) == Layout(4)
        assert own_layout(place.directory / "data") == Layout(-1, 1 << 20)
        assert own_layout(mesh) == Layout(2)
        assert not workspace.outputs(f"run-{loaded is snapshot}").files
        snapshot.check()
    plain = Workspace(snapshot, home)
    plain.first_run_known((), 0)
    assert own_layout(plain.prepare("plain").directory) is None
