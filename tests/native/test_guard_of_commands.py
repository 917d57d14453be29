# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The guard of the user's files, for shells and the commands that they start."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from native_hosts import Host, Programs

from stripewise.run.launch import Guarded, read_guarded


@dataclass
class Guard:
    """A directory of the user, a run beside it, and the record of the run."""

    host: Host
    user: Path
    record: Path

    def sh(self, text: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
        """Run a script as a job's; "$1" is the user's directory."""
        guard = {
            "STRIPEWISE_DIRECTORY": "",
            "STRIPEWISE_WRITABLE": str(self.host.directory),
            "STRIPEWISE_REFUSED": str(self.record / "refused"),
            "STRIPEWISE_TEMPORARY": "/nowhere",
        }
        return self.host.run("sh", "-c", text, "sh", self.user, **{**guard, **variables})

    @property
    def told(self) -> Guarded:
        """What the guard told."""
        return read_guarded(self.record)

    @property
    def content(self) -> dict[str, tuple[int, str]]:
        """All that is in the user's directory."""
        return {
            str(path.relative_to(self.user)): (
                path.lstat().st_mode,
                path.read_text() if path.is_file() else "",
            )
            for path in sorted(self.user.rglob("*"))
        }


@pytest.fixture
def guard(host: Host, tmp_path: Path) -> Guard:
    user, record = tmp_path / "user", tmp_path / "record"
    (user / "folder").mkdir(parents=True)
    (user / "file").write_text("precious")
    time.sleep(0.02)
    record.mkdir()
    (host.directory / "mine").write_text("mine\n")
    return Guard(host, user, record)


CHANGES = {
    "rm -rf $1/file": "file",
    "rm -r $1/folder": "folder",
    "rmdir $1/folder": "folder",
    "mv $1/file .": "file",
    "mv mine $1/file": "file",
    "cp mine $1/file": "file",
    "echo x > $1/file": "file",
    "echo x >> $1/file": "file",
    "exec 5<> $1/file": "file",
    "chmod 600 $1/file": "file",
    "touch $1/file": "file",
    "truncate -s 0 $1/file": "file",
    "dd if=/dev/zero of=$1/file count=1": "file",
    "echo x | tee $1/file": "file",
    "install mine $1/file": "file",
    "find $1 -name file -delete": "file",
    "cd $1 && rm file": "file",
    "ln -s $1/file link; echo x > link": "file",
}
NEW = {
    "echo x > $1/new": "new",
    "cp mine $1/": "mine",
    "mv mine $1/new": "new",
    "cp -r . $1/folder/new": "folder/new",
    "mkdir -p $1/a/b/c": "a",
    "mkdir $1/new/": "new",
    "ln -s mine $1/new": "new",
    "ln mine $1/new": "new",
    "touch $1/new": "new",
    "sed -i s/a/b/ $1/file": "folder/../sedXXXXXX",
    "tar cf $1/new.tar mine": "new.tar",
    "cd $1/folder; echo x > ../new": "new",
    "ln -s $1/new link; echo x > link": "new",
    "ln -s ../user/new link; echo x > ./link": "new",
}


@pytest.mark.parametrize("text", CHANGES)
def test_commands_do_not_change_what_was_there(guard: Guard, text: str) -> None:
    before = guard.content
    done = guard.sh(text)
    assert done.returncode != 0
    assert b"Read-only file system" in done.stderr or b"cross-device" in done.stderr
    assert guard.content == before
    assert guard.told.changed == (str(guard.user / CHANGES[text]),)


@pytest.mark.parametrize("text", NEW)
def test_commands_make_nothing_outside(guard: Guard, text: str) -> None:
    before = guard.content
    assert guard.sh(text).returncode != 0
    assert guard.content == before
    assert guard.told.made == (os.path.normpath(guard.user / NEW[text]),)


@pytest.mark.parametrize("text", [*CHANGES, *NEW])
def test_commands_change_what_they_may(guard: Guard, text: str) -> None:
    done = guard.sh(text, STRIPEWISE_WRITABLE=f"{guard.host.directory}:{guard.user}")
    assert done.returncode == 0, done.stderr
    assert guard.told == Guarded()


def test_what_a_run_may_change_need_not_be_there(guard: Guard) -> None:
    allowed = [str(guard.user / name) for name in ("new", "folder/n")]
    variables = {"STRIPEWISE_WRITABLE": ":".join([str(guard.host.directory), *allowed])}
    done = guard.sh(
        "mkdir -p $1/new/a && echo x > $1/new/a/b && echo x > $1/folder/n", **variables
    )
    assert done.returncode == 0, done.stderr
    assert {"new/a/b", "folder/n"} < set(guard.content)
    assert guard.sh("mkdir $1/newer", **variables).returncode != 0
    assert guard.told.made == (str(guard.user / "newer"),)


def test_a_run_works_in_its_directory_and_reads_all(guard: Guard) -> None:
    text = """
    set -e
    cp -r $1 copy && rm -r copy && mkdir -p a/b && mv mine a/b && echo x > /dev/null
    cat $1/file > in; ln -s in link; echo x > link; mkdir -p $1/folder $1
    ! mkdir $1/folder 2>/dev/null; tar cf - . | tar tf - > list; test -r $1/file
    """
    done = guard.sh(text)
    assert done.returncode == 0, done.stderr
    assert guard.told == Guarded()


def test_temporary_files_need_no_leave(guard: Guard, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    (scratch / "ompi.node.7").mkdir(parents=True)
    (scratch / "old").write_text("old")
    time.sleep(0.02)
    guard.record.rmdir()
    guard.record.mkdir()
    text = """
    D=$(mktemp -d) && mkdir $D/y && echo x > $D/y/x && rm -r $D && echo x > "$TMPDIR/new"
    mkdir -p "$TMPDIR/ompi.node.7/1" && echo x > "$TMPDIR/ompi.node.7/1/x"
    """
    plain = {"TMPDIR": str(scratch), "STRIPEWISE_TEMPORARY": ""}
    assert guard.sh(text, **plain).returncode == 0
    assert guard.told == Guarded()
    guard.sh('rm -r "$TMPDIR"/*', **plain)
    assert guard.told.changed == (f"{scratch}/old", f"{scratch}/ompi.node.7")
    assert sorted(os.listdir(scratch)) == ["old", "ompi.node.7"]


def test_somebodys_directory_among_temporary_files_takes_nothing(guard: Guard) -> None:
    scratch = {"TMPDIR": str(guard.user.parent), "STRIPEWISE_TEMPORARY": ""}
    before = guard.content
    guard.sh("echo x > $1/new; mkdir $1/folder/new", **scratch)
    assert guard.content == before
    assert guard.told.made == (f"{guard.user}/new", f"{guard.user}/folder/new")


def test_hidden_directories_of_the_user_take_new_files(guard: Guard) -> None:
    (guard.user / ".cache").mkdir()
    more = {"HOME": str(guard.user), "STRIPEWISE_TEMPORARY": "", "TMPDIR": "/tmp"}
    assert guard.sh("echo x > ~/.cache/x; echo x > ~/x", **more).returncode != 0
    assert (guard.user / ".cache" / "x").exists()
    assert guard.told.made == (str(guard.user / "x"),)


def test_errors_of_the_kernel_come_through(guard: Guard) -> None:
    for text, what in (
        ("rm $1/none", b"No such file"),
        ("mv $1/none $1/new", b"No such file"),
        ("echo x > $1/none/x", b""),
        ("mkdir $1/folder", b"File exists"),
        ("set -C; echo x > $1/file/x", b""),
    ):
        done = guard.sh(text)
        assert done.returncode != 0
        assert what in done.stderr
    assert guard.told == Guarded()


BY_SLURM = """
import ctypes, os, subprocess, sys
name, task, text, user = sys.argv[1:]
ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
if task:
    os.environ["SLURM_TASK_PID"] = task
sys.exit(subprocess.run(["sh", "-c", text, "sh", user]).returncode)
"""


@pytest.mark.parametrize(
    ("name", "task", "code"),
    [("slurmstepd", "1", 0), ("slurmstepd", "", 1), ("srun", "", 0), ("other", "1", 1)],
)
def test_prologs_of_the_site_are_not_guarded(
    guard: Guard, name: str, task: str, code: int
) -> None:
    text = 'sh -c \'mkdir "$1/a" && rm -r "$1/a"\' sh "$1"'
    (guard.host.directory / "by.py").write_text(BY_SLURM)
    quoted = f"{sys.executable} by.py {name} '{task}' {shlex.quote(text)} $1"
    assert (guard.sh(quoted).returncode != 0) is bool(code)
    assert bool(guard.told.made) is bool(code)


def test_what_escapes_the_guard_is_told(guard: Guard, programs: Programs) -> None:
    static = guard.host.directory / "static"
    (guard.host.directory / "x.c").write_text("int main(void) { return 0; }\n")
    built = subprocess.run(["cc", "-static", "-o", static, guard.host.directory / "x.c"])
    assert guard.sh("env -i /bin/true; env -i ls; /bin/true").returncode == 0
    why = "was started without the environment of the run"
    assert guard.told.escaped == (("/bin/true", why), ("/bin/ls", why))
    if built.returncode == 0:
        assert guard.sh("./static").returncode == 0
        assert guard.told.escaped[0] == ("./static", "is linked statically")


def test_a_program_that_runs_as_another_user_is_told(guard: Guard) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make one")
    program = guard.host.directory / "other"
    shutil.copy("/bin/true", program)
    os.chown(program, 65534, 65534)
    program.chmod(0o6755)
    assert guard.sh("./other").returncode == 0
    assert guard.told.escaped == (("./other", "runs as another user or group"),)


def test_a_bad_environment_is_the_kernels_to_refuse(guard: Guard, programs: Programs) -> None:
    assert guard.sh(str(programs.executable("badexec"))).returncode == 0


def test_what_is_told_has_a_bound(guard: Guard) -> None:
    guard.sh("for i in $(seq 60); do rm -f $1/file; done")
    (guard.record / "refused").write_bytes(b"c/x\0" * (1 << 17))
    guard.sh("rm -f $1/file")
    assert (guard.record / "refused").stat().st_size == 1 << 19
