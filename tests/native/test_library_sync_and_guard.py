# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sync at close, the guard of the user's files, and what is kept of removed ones."""

from __future__ import annotations

import errno
import os
import shutil
import time
from pathlib import Path

import pytest
from native_hosts import Host, Programs, has, operations

from stripewise.evidence.trace import IoLayer, Op, ProcessFlag


def system_calls(
    host: Host, *command: str | Path, inject: str = "", **variables: str
) -> list[str]:
    """The fsync and close calls of a program, in order; `inject`: what strace does to them."""
    log = host.directory / "strace.log"
    done = host.run(
        "strace",
        "-f",
        "-y",
        "-e",
        "trace=fsync,fdatasync,close",
        *(("-e", f"inject={inject}") if inject else ()),
        "-o",
        log,
        "-E",
        f"LD_PRELOAD={host.library}",
        *command,
        LD_PRELOAD="",
        **variables,
    )
    if done.returncode != 0 and b"ptrace" in done.stderr.lower():
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    return [line for line in log.read_text().splitlines() if str(host.directory) in line]


@pytest.mark.parametrize("ending", ["closed", "open"])
def test_written_files_are_synced(host: Host, programs: Programs, ending: str) -> None:
    calls = system_calls(host, programs.executable("syncs"), ending, STRIPEWISE_SYNC="1")
    synced = [call for call in calls if "fsync" in call]
    assert sum("/written>" in call for call in synced) == 1
    assert sum("/stream>" in call for call in synced) == 1
    assert len(synced) == 2  # the reading descriptor is not
    assert (host.directory / "stream").read_text() == "ctext"


def test_syncs_without_a_container(host: Host, programs: Programs) -> None:
    calls = system_calls(
        host, programs.executable("syncs"), "closed", STRIPEWISE_SYNC="1", STRIPEWISE_DIRECTORY=""
    )
    assert len([call for call in calls if "fsync" in call]) == 2


def test_nothing_is_synced_unasked(host: Host, programs: Programs) -> None:
    calls = system_calls(host, programs.executable("syncs"), "closed")
    assert not [call for call in calls if "fsync" in call]


def test_sync_is_part_of_the_close(host: Host, programs: Programs) -> None:
    host.check(programs.executable("syncs"), "closed", STRIPEWISE_SYNC="1")
    record = host.record("written")
    assert operations(record, Op.CLOSE) == 2
    assert operations(record, Op.SYNC) == 0
    stream = host.record("stream", IoLayer.STDIO)
    assert operations(stream, Op.CLOSE) == 1


@pytest.mark.parametrize("stack", ["own", "stack"])
def test_a_handler_whose_signal_waits_is_not_held_up(
    host: Host, programs: Programs, stack: str
) -> None:
    calls = system_calls(host, programs.executable("alarms"), "raise", stack, STRIPEWISE_SYNC="1")
    by_handler = [number for number, call in enumerate(calls) if "/handler-4>" in call]
    syncs = [number for number in by_handler if "fsync" in calls[number]]
    closes = [number for number in by_handler if "close" in calls[number]]
    assert len(closes) > 80
    assert 0 < len(syncs) < 10
    assert syncs[-1] > closes[-2]  # at the end; the last close is that of the library itself
    assert sum("fsync" in call and "/main-" in call for call in calls) == 40


@pytest.mark.parametrize("ways", ["timer two", "itimer timer stack"])
def test_timers_that_are_faster_than_an_fsync_do_not_keep_a_program_from_its_end(
    host: Host, programs: Programs, ways: str
) -> None:
    """Each fsync takes 3 ms, the timers come every 0.5 ms."""
    alarms, slow = programs.executable("alarms"), "fsync:delay_exit=3000"
    calls = system_calls(host, alarms, *ways.split(), inject=slow, STRIPEWISE_SYNC="1")
    assert sum("close" in call and "/main-" in call for call in calls) == 40


@pytest.mark.parametrize(
    "ways", ["itimer", "timer two nodefer", "timer stack", "prof", "jump", "jump stack nodefer"]
)
def test_programs_with_timers_end_where_closes_sync(
    host: Host, programs: Programs, ways: str
) -> None:
    out = host.check(programs.executable("alarms"), *ways.split(), STRIPEWISE_SYNC="1")
    assert out.startswith(b"40 ")


def test_a_failed_write_is_told_by_fclose(host: Host, programs: Programs) -> None:
    done = host.run(programs.executable("losing"), STRIPEWISE_SYNC="1")
    assert done.returncode == errno.EFBIG


def test_what_a_child_writes_is_synced(host: Host, programs: Programs) -> None:
    calls = system_calls(host, programs.executable("inherits"), STRIPEWISE_SYNC="1")
    assert len([call for call in calls if "fsync" in call and "/inherited>" in call]) == 1


@pytest.fixture
def precious(host: Host, tmp_path: Path) -> Path:
    """A file that is older than the run."""
    path = tmp_path / "precious"
    path.write_text("precious")
    time.sleep(0.02)
    shutil.rmtree(host.containers)
    host.containers.mkdir()
    return path


CHANGES = [
    "write",
    "append",
    "truncate-open",
    "creat",
    "fopen",
    "fopen-new",
    "truncate",
    "unlink",
    "remove",
    "rename-away",
    "rename-over",
    "chmod",
    "utimes",
    "fchmod",
]


@pytest.mark.parametrize("how", CHANGES)
def test_older_files_outside_are_refused(
    host: Host, programs: Programs, precious: Path, how: str
) -> None:
    done = host.run(
        programs.executable("guarded"), how, precious, STRIPEWISE_WRITABLE=str(host.directory)
    )
    assert done.returncode == errno.EROFS
    assert precious.read_text() == "precious"
    assert has(host.profile.processes[0], ProcessFlag.GUARD_HIT)
    assert str(precious) in host.profile.notes[0]


@pytest.mark.parametrize("how", CHANGES)
def test_files_inside_are_free(host: Host, programs: Programs, precious: Path, how: str) -> None:
    inside = host.directory / "inside"
    shutil.copy(precious, inside)
    done = host.run(
        programs.executable("guarded"),
        how,
        inside,
        STRIPEWISE_WRITABLE=f"/nowhere:{host.directory}",
    )
    assert done.returncode == 0
    assert not has(host.profile.processes[0], ProcessFlag.GUARD_HIT)


@pytest.mark.parametrize("how", ["exclusive", "fopen-exclusive"])
def test_files_that_must_be_new_are_never_refused(
    host: Host, programs: Programs, precious: Path, how: str
) -> None:
    done = host.run(
        programs.executable("guarded"), how, precious, STRIPEWISE_WRITABLE=str(host.directory)
    )
    assert done.returncode == errno.EEXIST
    assert not has(host.profile.processes[0], ProcessFlag.GUARD_HIT)


def test_files_without_a_name_are_free(host: Host, programs: Programs, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    time.sleep(0.02)
    shutil.rmtree(host.containers)
    host.containers.mkdir()
    guarded = programs.executable("guarded")
    if host.run(guarded, "nameless", old, STRIPEWISE_DIRECTORY="").returncode != 0:
        pytest.skip("the file system knows no O_TMPFILE")
    done = host.run(guarded, "nameless", old, STRIPEWISE_WRITABLE=str(host.directory))
    assert done.returncode == 0
    assert not has(host.profile.processes[0], ProcessFlag.GUARD_HIT)


def test_links_into_the_outside_are_refused(
    host: Host, programs: Programs, precious: Path
) -> None:
    link = host.directory / "link"
    link.symlink_to(precious)
    guard = {"STRIPEWISE_WRITABLE": str(host.directory)}
    guarded = programs.executable("guarded")
    assert host.run(guarded, "write", link, **guard).returncode == errno.EROFS
    assert host.run(guarded, "read", link, **guard).returncode == 0
    assert host.run(guarded, "unlink", link, **guard).returncode == 0  # the link itself
    assert precious.read_text() == "precious"


def test_files_of_this_run_are_free(host: Host, programs: Programs, precious: Path) -> None:
    made = precious.parent / "made"
    guard = {"STRIPEWISE_WRITABLE": str(host.directory), "TMPDIR": str(precious.parent)}
    assert host.run(programs.executable("guarded"), "creat", made, **guard).returncode == 0
    for how in ("write", "fopen", "rename-over", "unlink"):
        assert host.run(programs.executable("guarded"), how, made, **guard).returncode == 0
    assert not made.exists()


def test_no_second_name_leads_to_an_older_file(
    host: Host, programs: Programs, precious: Path
) -> None:
    done = host.run(
        programs.executable("guarded"), "link", precious, STRIPEWISE_WRITABLE=str(host.directory)
    )
    assert done.returncode == errno.EXDEV
    assert not (host.directory / "second-name").exists()
    assert has(host.profile.processes[0], ProcessFlag.GUARD_HIT)


def test_devices_are_free(host: Host) -> None:
    host.check("sh", "-c", "echo x > /dev/null", STRIPEWISE_WRITABLE=str(host.directory))


def test_reading_is_free(host: Host, programs: Programs, precious: Path) -> None:
    guard = {"STRIPEWISE_WRITABLE": str(host.directory)}
    assert host.run(programs.executable("guarded"), "read", precious, **guard).returncode == 0
    assert os.path.getsize(precious) == len("precious")


@pytest.mark.parametrize("how", ["unlink", "remove", "rename-over"])
def test_a_removed_file_keeps_a_second_name(host: Host, programs: Programs, how: str) -> None:
    folder = host.directory / "out"
    folder.mkdir()
    removed = folder / "data"
    removed.write_text("content")
    done = host.run(
        programs.executable("guarded"), how, removed, STRIPEWISE_KEEP_REMOVED=str(host.directory)
    )
    assert done.returncode == 0
    kept = host.directory / ".stripewise-removed" / "out" / "data"
    assert kept.read_text() == "content"
    assert how == "rename-over" or not removed.exists()


def test_of_a_name_that_is_removed_twice_the_last_file_is_kept(
    host: Host, programs: Programs
) -> None:
    for content in ("first", "last"):
        (host.directory / "data").write_text(content)
        keep = {"STRIPEWISE_KEEP_REMOVED": str(host.directory)}
        host.run(programs.executable("guarded"), "unlink", host.directory / "data", **keep)
    assert (host.directory / ".stripewise-removed" / "data").read_text() == "last"


def test_nothing_outside_of_the_directory_is_kept(
    host: Host, programs: Programs, precious: Path
) -> None:
    inside = host.directory / "inside"
    inside.mkdir()
    done = host.run(
        programs.executable("guarded"), "unlink", precious, STRIPEWISE_KEEP_REMOVED=str(inside)
    )
    assert done.returncode == 0
    assert list(inside.iterdir()) == []
