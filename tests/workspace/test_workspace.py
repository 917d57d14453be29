# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import hashlib
import os
import shutil
import socket
import stat
import subprocess
from collections import namedtuple
from pathlib import Path

import pytest

from stripewise.emulation import Layout, own_layout, set_layout
from stripewise.errors import StorageError, StudyError, UsageError
from stripewise.owned import OwnedDirectory
from stripewise.workspace import InputSnapshot, Workspace, _disk_space, _snapshot

LARGE = (1 << 20) + 10
ODD_NAME = os.fsdecode(b"caf\xe9")


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """A user's working directory with a bit of everything."""
    directory = tmp_path / "user"
    (directory / "data" / "deep").mkdir(parents=True)
    (directory / "a.out").write_text("#!/bin/sh\necho $0\n")
    (directory / "a.out").chmod(0o755)
    (directory / "input.nml").write_text("small")
    (directory / "data" / "mesh").write_bytes(b"m" * LARGE)
    (directory / "data" / "restart").write_bytes(b"r" * LARGE)
    (directory / "data" / "deep" / ODD_NAME).write_text("odd")
    (directory / "link").symlink_to("data/mesh")
    (directory / "absolute").symlink_to(directory / "input.nml")
    (directory / "folder").symlink_to("data")
    (directory / "dangling").symlink_to("nowhere")
    (directory / ".git").mkdir()
    (directory / ".git" / "HEAD").write_text("x")
    (directory / "old.stripewise").mkdir()
    (directory / "old.stripewise" / "best.toml").write_text("x")
    (tmp_path / "outside").write_text("outside")
    (directory / "out_link").symlink_to("../outside")
    (directory / "secret").write_text("x")
    return directory


def state(directory: Path) -> dict[str, tuple[object, ...]]:
    """Everything that can be seen of a tree, but access times."""
    found = {}
    for folder, folders, files in os.walk(directory):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            content = b""
            if stat.S_ISREG(status.st_mode):
                content = hashlib.sha256(Path(path).read_bytes()).digest()
            elif stat.S_ISLNK(status.st_mode):
                content = os.fsencode(os.readlink(path))
            found[path] = (status.st_ino, status.st_mode, status.st_mtime_ns, content)
    return found


@pytest.fixture
def study(user: Path) -> OwnedDirectory:
    return OwnedDirectory.take(user / "mine.stripewise", "study")


@pytest.fixture
def workspace(user: Path, study: OwnedDirectory) -> Workspace:
    return Workspace(InputSnapshot.create(user, study), study)


# -- snapshot ----------------------------------------------------------------------------------


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
    with pytest.raises(StudyError, match=r"holds 2\.0 MiB .*1\.0 MiB .*--input PATH"):
        InputSnapshot.create(user, study)
    monkeypatch.setattr(_snapshot, "MAX_ENTRIES", 3)
    with pytest.raises(StudyError, match=r"more than 3 files.*--input PATH"):
        InputSnapshot.create(user, study)


def test_no_room_is_refused_before_copying(user, study, monkeypatch):
    monkeypatch.setattr(_snapshot, "can_clone", lambda *_: False)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1, 1, 1 << 20))
    with pytest.raises(StorageError, match=r"needs 2\.0 MiB .*there is: 1\.0 MiB; make room"):
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


# -- runs --------------------------------------------------------------------------------------

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


def test_a_run_that_does_not_fit_is_refused(study, workspace):
    workspace.first_run_known((), 10**18)
    with pytest.raises(StorageError, match=r"a run needs 888\.\d PiB .*make room"):
        workspace.prepare("1")
    assert study.inside("work").names() == ()


def test_a_quota_is_asked_for_once_per_size(workspace, monkeypatch):
    workspace.prepare("1")
    asked = []
    monkeypatch.setattr(_disk_space, "_reserve", lambda _file, size: asked.append(size) or 0)
    for needed in (8 << 20, 8 << 20, 9 << 20):
        workspace.first_run_known((), needed)
        workspace.check_after_failure("1")
    assert asked == [8 << 20, 9 << 20]


def test_a_quota_that_refuses_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(_disk_space, "_reserve", lambda *_: 122)
    with pytest.raises(StorageError, match="there is: disk quota exceeded"):
        _disk_space.check_quota(tmp_path, 5000, "a run")
    assert list(tmp_path.iterdir()) == []


def test_reserving_leaves_nothing(tmp_path):
    _disk_space.check_quota(tmp_path, 1 << 20, "a run")
    _disk_space.check_quota(tmp_path, 0, "a run")
    assert list(tmp_path.iterdir()) == []


def test_format_bytes():
    assert [_disk_space.format_bytes(n) for n in (0, 1023, 1536, 3 << 30)] == [
        "0 bytes",
        "1023 bytes",
        "1.5 KiB",
        "3.0 GiB",
    ]


# -- commands ----------------------------------------------------------------------------------


def command_of(workspace, study, command):
    return Workspace(workspace.snapshot, study, command).find("1").command


def test_commands_follow_the_run(user, study, workspace):
    run = str(workspace.find("1").directory)
    command = ("mpiexec", "./a.out", "{run_dir}/x", "--in=../outside", "../outside", "/etc/hosts")
    outside = str(user.parent / "outside")
    assert command_of(workspace, study, command) == (
        "mpiexec", "./a.out", f"{run}/x", f"--in={outside}", outside, "/etc/hosts",
    )  # fmt: skip
    same = ("data/../input.nml", "../user/x", "a..b", "../no/where")
    assert command_of(workspace, study, same) == same


def test_an_output_outside_is_refused(study, workspace):
    with pytest.raises(UsageError, match=r"\.\./out\.h5 would be made outside"):
        command_of(workspace, study, ("./a.out", "../out.h5"))


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
