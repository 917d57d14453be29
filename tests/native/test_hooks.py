# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The chain of hooks: members that change paths, answer, and let requests wait."""

from __future__ import annotations

import errno
import subprocess
import sys
import time
from pathlib import Path

import pytest
from native_hosts import PROGRAMS, QUICK, Host, Programs, build_core, has, moved, operations

from stripewise.evidence.trace import IoLayer, Op, ProcessFlag

NOWHERE = "/nowhere-at-all/data"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    directory = tmp_path / "target"
    directory.mkdir()
    return directory


@pytest.fixture
def redirected(target: Path) -> dict[str, str]:
    """What is below a directory that does not exist is in another one."""
    return {"STRIPEWISE_REDIRECT": f"{NOWHERE}={target}"}


SHELL_SCRIPT = """
set -e
mkdir $1/a $1/a/b
echo one > $1/a/one
echo more >> $1/a/one
cp -a $1/a $1/c
mv $1/c/one $1/c/two
ln $1/c/two $1/c/three
ln -s two $1/c/four
chmod 600 $1/c/two
touch -d 2020-01-01 $1/c/b
rmdir $1/a/b
test -e $1/c/three
test ! -e $1/nothing
head -c 10000 /dev/zero > $1/zeros
truncate -s 5000 $1/zeros
cd $1/c && cat two && cat $1/a/one
tar -C $1 -cf $1/all.tar a
rm -r $1/a
tar -C $1 -xf $1/all.tar
find $1/c -type f | wc -l
"""


def tree(directory: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and content of everything below a directory."""
    return {
        str(path.relative_to(directory)): (
            path.lstat().st_mode,
            path.read_bytes() if path.is_file() and path.suffix != ".tar" else b"",
        )
        for path in sorted(directory.rglob("*"))
    }


def test_real_programs_work_in_a_directory_that_is_elsewhere(
    host: Host, target: Path, redirected: dict[str, str], tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    expected = host.check("sh", "-c", SHELL_SCRIPT, "sh", plain)
    found = host.check("sh", "-c", SHELL_SCRIPT, "sh", NOWHERE, **redirected)
    assert found == expected
    assert tree(target) == tree(plain)


def test_a_redirected_file_is_counted_under_its_own_name(
    host: Host, target: Path, redirected: dict[str, str]
) -> None:
    host.check("dd", "if=/dev/zero", f"of={NOWHERE}/out", "bs=1000", "count=3", **redirected)
    assert (target / "out").stat().st_size == 3000
    assert moved(host.record("out"), Op.WRITE) == 3000
    assert f"{NOWHERE}/out" in host.profile.paths


def test_the_guard_judges_where_a_file_really_is(
    host: Host, programs: Programs, target: Path, redirected: dict[str, str]
) -> None:
    (target / "precious").write_text("precious")
    time.sleep(0.02)
    host.containers.rmdir()
    host.containers.mkdir()
    guard = {"STRIPEWISE_WRITABLE": f"{host.directory}:/nowhere-at-all"}
    done = host.run(
        programs.executable("guarded"), "write", f"{NOWHERE}/precious", **redirected, **guard
    )
    assert done.returncode == errno.EROFS
    assert has(host.profile.processes[0], ProcessFlag.GUARD_HIT)


def test_other_paths_stay(host: Host, redirected: dict[str, str]) -> None:
    host.check("sh", "-c", "echo x > out && cat ./out", **redirected)
    assert (host.directory / "out").read_text() == "x\n"
    assert host.run("cat", NOWHERE + "2/x", **redirected).returncode == 1


@pytest.mark.parametrize("value", ["relative=/x", "/only-from", "/a=relative", "/a=/b:/c"])
def test_a_redirect_that_cannot_be_understood_is_noted(host: Host, value: str) -> None:
    host.check("true", STRIPEWISE_REDIRECT=value)
    assert any("STRIPEWISE_REDIRECT" in note for note in host.profile.notes)


@pytest.mark.extended
def test_held_requests_take_their_time(host: Host) -> None:
    start = time.monotonic()
    host.check(
        "dd", "if=/dev/zero", "of=out", "bs=100", "count=3", STRIPEWISE_HOLD="write=200000000"
    )
    assert time.monotonic() - start >= 0.6
    record = host.record("out")
    assert operations(record, Op.WRITE) == 3
    assert record["seconds"][Op.WRITE] >= 3 * 0.2
    assert record["seconds"][Op.OPEN] < 0.2  # a busy host takes some 10 ms


def test_what_libc_writes_for_a_stream_is_held(host: Host, programs: Programs) -> None:
    program = programs.executable("streamed")
    host.check(program, "equal", "200", STRIPEWISE_HOLD="write=20000000")
    record = host.record("out", IoLayer.STDIO)
    assert record["seconds"][Op.WRITE] >= 4 * 0.02  # four full buffers of 4 KiB
    assert (host.directory / "out").stat().st_size == 20000


@pytest.mark.extended
def test_threads_wait_side_by_side(host: Host, programs: Programs) -> None:
    program = programs.executable("threads")
    host.check(program, STRIPEWISE_HOLD="write=1000:read=1000:open=1000:close=1000")


def test_a_hold_of_something_unknown_is_noted(host: Host) -> None:
    host.check("true", STRIPEWISE_HOLD="flying=5:write")
    assert any("STRIPEWISE_HOLD" in note for note in host.profile.notes)


@pytest.mark.extended
def test_a_handler_may_jump_out_of_a_held_request(
    host: Host, programs: Programs, target: Path
) -> None:
    redirect = f"{host.directory}={target}"
    host.check(
        programs.executable("leaps"),
        STRIPEWISE_HOLD="stat=300000000",
        STRIPEWISE_REDIRECT=redirect,
    )
    assert len(list(target.glob("made*"))) == 10
    assert not list(host.directory.glob("made*"))


def test_errors_are_the_kernels(host: Host, target: Path, redirected: dict[str, str]) -> None:
    script = "import os\nfor f in (os.stat, os.rmdir, os.listdir, os.unlink):\n"
    script += " try: f(os.environ['P'])\n except OSError as e: print(e.errno)\n"
    found = host.check(sys.executable, "-S", "-c", script, P=f"{NOWHERE}/none", **redirected)
    assert found.split() == [b"%d" % errno.ENOENT] * 4
    done = host.run("ls", f"{NOWHERE}/{'x' * 300}", LC_ALL="C", **redirected)
    assert b"File name too long" in done.stderr


@pytest.mark.parametrize("member", ["", "guard", "redirect", "hold"])
def test_bad_pointers_reach_the_kernel(
    host: Host, programs: Programs, member: str, redirected: dict[str, str]
) -> None:
    variables = {
        "": {},
        "guard": {"STRIPEWISE_WRITABLE": str(host.directory)},
        "redirect": redirected,
        "hold": {"STRIPEWISE_HOLD": "write=1:read=1:open=1:stat=1:unlink=1:close=1"},
    }[member]
    done = host.run(programs.executable("bad_pointers"), **variables)
    assert (done.returncode, done.stdout) == (0, b""), done.stdout.decode()


@pytest.mark.parametrize("sync", ["0", "1"])
def test_errno_stays_where_own_calls_are_filtered(
    host: Host, programs: Programs, sync: str
) -> None:
    done = host.run(programs.executable("filtered"), STRIPEWISE_SYNC=sync)
    if done.returncode == 77:
        pytest.skip("a process may not filter its own calls here")
    assert (done.returncode, done.stdout) == (0, b""), done.stdout.decode()


def test_streams_left_open_are_flushed_in_the_order_of_libc(
    host: Host, programs: Programs
) -> None:
    program = programs.executable("left_open")
    log = host.directory / "log"
    plain = host.check(program, LD_PRELOAD=""), log.read_text()
    log.unlink()
    synced = host.check(program, STRIPEWISE_SYNC="1"), log.read_text()
    assert synced == plain


@pytest.fixture(scope="module")
def extended() -> Path:
    """The library with one member more."""
    source = PROGRAMS / "member.c"
    return build_core("extended", QUICK, "-DSW_WERROR=ON", f"-DSW_HOOK_SOURCE={source}")


@pytest.mark.extended
def test_a_member_answers_for_the_libc(host: Host, programs: Programs, extended: Path) -> None:
    program = programs.executable("asks")
    host.library = extended
    plain = host.check(program).decode().splitlines()
    found = host.check(program, MEMBER="1").decode().splitlines()
    assert "bd00bd0" not in plain[0]
    assert found == [
        "statfs 0 bd00bd0 0",
        "fstatfs 0 bd00bd0 0",
        "ioctl 7 42 0",
        plain[3],
        "write 4 0",
        "write 4 0",
        f"write -1 {errno.ENOSPC}",
        "write 4 0",
        "read 4 0",
        f"read -1 {errno.EIO}",
    ]
    assert operations(host.records("data")[-1], Op.WRITE) == 4


def test_the_library_with_every_member_runs_a_compiler(
    host: Host, redirected: dict[str, str]
) -> None:
    (host.directory / "x.c").write_text("int main(void) { return 3; }\n")
    hold = "open=1000:close=1000:read=1000:write=1000:stat=1000:access=1000"
    host.check(
        *("cc", "-o", f"{NOWHERE}/x", "x.c"),
        **redirected,
        STRIPEWISE_HOLD=hold,
        STRIPEWISE_SYNC="1",
        STRIPEWISE_WRITABLE=f"{host.directory}:{Path(redirected['STRIPEWISE_REDIRECT'].split('=')[1])}:/tmp",
    )
    program = Path(redirected["STRIPEWISE_REDIRECT"].split("=")[1]) / "x"
    assert subprocess.run([program], check=False).returncode == 3
