# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Emulated storage: metadata, layouts, what Lustre answers, and that nothing is harmed."""

from __future__ import annotations

import errno
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from emulated_hosts import Emulation
from native_hosts import Host, Programs

from emulated_machine import LUSTRE, Machine, near
from stripewise.evidence.trace import FileLayout

MIB = 1 << 20
ATTRIBUTE = "user.stripewise.layout"
Emulate = Callable[..., Emulation]


@pytest.fixture
def emulate(host: Host, programs: Programs) -> Emulate:
    """An emulated storage with some figures in the host's directory."""
    program = programs.executable("requests")
    try:
        os.setxattr(host.directory, "user.stripewise.try", b"1")
    except OSError:
        pytest.skip("the file system of the tests keeps no user attributes")

    def make(figures: dict[str, float] | None = None, **more: object) -> Emulation:
        return Emulation(host, Machine(figures or {}, **more), program)  # type: ignore[arg-type]

    return make


def layout(path: Path) -> str:
    """What the file keeps."""
    return os.getxattr(path, ATTRIBUTE).decode()


# ---- metadata --------------------------------------------------------------------------------


def test_operations_have_their_times(emulate: Emulate) -> None:
    storage = emulate(
        {
            "metadata.open": 0.02,
            "metadata.create": 0.03,
            "metadata.stat": 0.01,
            "metadata.remove": 0.04,
            "metadata.object": 0.005,
            "metadata.latency": 0.006,
        },
        stripe_count=2,
    )
    found = storage.alone(
        *("create:a", "close", "open:a", "fstat", "sync", "close", "stat:a", "!stat:b", "!open:b"),
        *("mkdir:d", "rename:a:b", "unlink:b"),
    )
    expected = [46, 0, 36, 16, 6, 0, 16, 16, 26, 46, 46, 46]
    assert [one.seconds for one in found] == [near(ms / 1000) for ms in expected]
    assert storage.counters["metadata"] == 10
    assert storage.counters["limit metadata"] == pytest.approx(sum(expected) * 1e6, rel=0.01)


def test_one_server_serves_all_processes(emulate: Emulate) -> None:
    storage = emulate({"metadata.create": 0.02, "metadata.latency": 0.01})
    found = storage.together(*([f"create:{name}"] for name in "abcd"))
    assert sorted(one[0].end for one in found) == [near(0.01 + 0.02 * (i + 1)) for i in range(4)]


def test_metadata_gets_dearer_with_targets(emulate: Emulate) -> None:
    storage = emulate(
        {"metadata.open": 0.01, "metadata.stat": 0.01, "metadata.growth": 1.5}, stripe_count=4
    )
    found = storage.alone("create:a", "close", "open:a", "stat:a")
    assert [one.seconds for one in found[2:]] == [near(0.08), near(0.08)]


# ---- layouts ---------------------------------------------------------------------------------


def test_new_files_follow_one_another_around_the_targets(emulate: Emulate) -> None:
    storage = emulate(targets=3, stripe_count=2)
    storage.alone(*(word for name in "abc" for word in (f"create:{name}", "close")))
    found = [layout(storage.host.directory / name) for name in "abc"]
    assert found == ["2 1048576 0", "2 1048576 2", "2 1048576 1"]


def test_directories_pass_their_layout_on_and_files_keep_theirs(emulate: Emulate) -> None:
    storage = emulate(targets=8)
    work = storage.host.directory
    (work / "d/e").mkdir(parents=True)
    os.setxattr(work / "d", ATTRIBUTE, b"-1 131072 3")
    (work / "d/old").write_bytes(b"")
    os.setxattr(work / "d/old", ATTRIBUTE, b"2 0 -1")
    storage.alone("create:d/e/f", "close", "open:d/old", "pwrite:0:10")
    assert layout(work / "d/e/f") == "8 131072 3"
    assert layout(work / "d/old").startswith("2 131072 3")


def test_files_from_elsewhere_are_not_touched(emulate: Emulate) -> None:
    storage = emulate(targets=8)
    (storage.host.directory / "input").write_bytes(b"x" * 100)
    storage.alone("open:input", "pread:0:100", "pwrite:0:100")
    with pytest.raises(OSError, match="No data"):
        layout(storage.host.directory / "input")


def test_more_stripes_than_targets_are_cut_and_said(emulate: Emulate) -> None:
    storage = emulate(targets=3)
    os.setxattr(storage.host.directory, ATTRIBUTE, b"9 65536 -1")
    storage.alone("create:a")
    assert layout(storage.host.directory / "a") == "3 65536 0"
    assert storage.counters["stripes_cut"] == 1
    assert any("more stripes than" in note for note in storage.host.profile.notes)


def test_a_file_that_is_made_anew_is_striped_anew(emulate: Emulate) -> None:
    storage = emulate(targets=5)
    storage.alone(*(word for _ in range(3) for word in ("exclusive:a", "close", "unlink:a")))
    storage.alone("create:a", "close", "create:b", "rename:b:a")
    assert layout(storage.host.directory / "a") == "1 1048576 4"


def test_the_layout_of_a_larger_file_is_recorded_when_it_is_closed(emulate: Emulate) -> None:
    storage = emulate(targets=8, flags=LUSTRE)
    os.setxattr(storage.host.directory, ATTRIBUTE, b"4 131072 -1")
    storage.alone(
        "create:a", f"pwrite:0:{2 * MIB}", "close", "create:small", "pwrite:0:9", "close"
    )
    profile = storage.host.profile
    layouts = {Path(profile.paths[file]).name: one for file, one in profile.layouts.items()}
    assert layouts == {"a": FileLayout(131072, 4, n_targets=8, emulated=True)}


# ---- Lustre ----------------------------------------------------------------------------------

SET, GET = 0x4008669A, 0x4008669B
DELAY = os.O_NOCTTY | os.O_ASYNC
MD = "<IIQQIHH"
ANSWERS = """
import fcntl, os, struct, sys
fd = os.open("f", os.O_CREAT | os.O_RDWR | os.O_NOCTTY | os.O_ASYNC)
md = lambda count, size, first, room=0: struct.pack("<IIQQIHH", 0x0BD10BD0, 0, 0, 0, size, count,
                                                    first) + bytes(24 * room)
def call(command, data):
    try:
        return fcntl.ioctl(fd, command, data)
    except OSError as error:
        return error.errno
print(call(0x4008669A, md(2, 1000, 0xFFFF)))
print(call(0x4008669A, md(2, 65536, 9)))
print(call(0x4008669A, md(3, 131072, 2)) != 0)
print(call(0x4008669A, md(1, 65536, 0)))
print(struct.unpack("<IIQQIHH", call(0x4008669B, md(0, 0, 0))))
print(call(0x4008669B, md(2, 0, 0, 2)))
print(struct.unpack_from("<I", call(0x4008669B, md(4, 0, 0, 4)), 32 + 24 + 20))
print(call(0x4008669E, bytes(8)) == bytes(8))
ahead = struct.pack("<IIQIIQHHIQQII", 0x1ADF1CE0, 1, 0, 0, 0, 0, 4, 2, 0, 0, 9, 7, 0)
print(struct.unpack_from("<I", call(0x802066FA, ahead), 32 + 24))
"""


def test_a_lustre_client_answers(emulate: Emulate) -> None:
    storage = emulate(targets=4, flags=LUSTRE)
    lines = storage.check(sys.executable, "-c", ANSWERS).decode().splitlines()
    assert lines == [
        *(str(errno.EINVAL), str(errno.EINVAL), "True", str(errno.EEXIST)),
        str((0x0BD10BD0, 1, 0, 0, 131072, 3, 0)),
        *(str(errno.EOVERFLOW), "(3,)", "True", "(0,)"),
    ]
    assert layout(storage.host.directory / "f") == "3 131072 2"


def test_only_a_lustre_says_that_it_is_one(emulate: Emulate, tmp_path: Path) -> None:
    look = "stat -f -c %t . ; stat -f -c %t /tmp; stat -f -c %s ."
    real = subprocess.run(["sh", "-c", look], capture_output=True, cwd=tmp_path, check=True)
    kind, elsewhere, block = real.stdout.split()
    lustre = emulate(flags=LUSTRE).check("sh", "-c", look).split()
    assert lustre == [b"bd00bd0", elsewhere, block]
    assert emulate().check("sh", "-c", look).split() == [kind, elsewhere, block]


# ---- no harm ---------------------------------------------------------------------------------


def test_killed_processes_leave_nothing_that_blocks(emulate: Emulate) -> None:
    storage = emulate({"servers.target_write": 5 * MIB, "locks.revoke": 0.001})
    victim = subprocess.Popen(
        [storage.program, "0", "create:data", *["pwrite:0:524288"] * 500],
        cwd=storage.host.directory,
        env=storage.environment(1),
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while storage.counters["writes"] < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    found = storage.alone("create:data", "pwrite:0:1048576")
    assert found[-1].seconds < 0.5 + found[-1].seconds.waited


def test_data_and_errors_are_the_real_ones(emulate: Emulate, tmp_path: Path) -> None:
    storage = emulate({"servers.target_write": 500 * MIB, "metadata.stat": 1e-5}, stripe_count=3)
    script = (
        "set -e; seq 100000 > a; cp a b; dd if=a of=b bs=7777 conv=notrunc seek=3 2>/dev/null; "
        "cat a >> b; tar cf - a | tar xOf - | cmp - a; sort -r a > c; truncate -s 1234567 c; "
        "! cat missing 2>&1; ! mkdir a 2>&1; cksum a b c; ls; ln -s a l; readlink l; rm a l"
    )
    plain = tmp_path / "plain"
    plain.mkdir()
    expected = subprocess.run(["sh", "-c", script], cwd=plain, capture_output=True, check=True)
    assert storage.check("sh", "-c", script) == expected.stdout
    for file in plain.iterdir():
        assert (storage.host.directory / file.name).read_bytes() == file.read_bytes()
    assert storage.counters["metadata"] > 10


@pytest.mark.parametrize(
    "program", ["threads", "forks", "vforks", "descriptors", "streams", "errno"]
)
def test_programs_run_as_they_would(emulate: Emulate, programs: Programs, program: str) -> None:
    storage = emulate({"servers.target_write": 5e9, "client.request": 1e-7})
    binary = programs.executable(program)
    arguments = ["equal", "50"] if program == "threads" else []
    storage.check(binary, *arguments)


def test_a_hold_leaves_the_timer_slack(emulate: Emulate, programs: Programs) -> None:
    emulate({"client.request": 0.004}).check(programs.executable("held"), "slack")


def test_a_directory_that_was_read_is_forgotten(emulate: Emulate, programs: Programs) -> None:
    storage = emulate({"metadata.stat": 1e-6})
    storage.check(programs.executable("held"), "directory")
    assert storage.counters["metadata"] == 2


def test_a_child_that_shares_memory_has_its_own_descriptors(
    emulate: Emulate, programs: Programs
) -> None:
    storage = emulate({"client.request": 1e-6})
    storage.check(programs.executable("held"), "vfork")
    assert (storage.counters["writes"], storage.counters["reads"]) == (1, 0)


@pytest.mark.parametrize("content", [b"", b"x" * 5000], ids=["empty", "other"])
def test_a_mapping_that_is_none_is_said(host: Host, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mapping").write_bytes(content)
    host.check("true", STRIPEWISE_EMULATE=str(tmp_path / "mapping"))
    assert any("can emulate" in note for note in host.profile.notes)


def test_files_cannot_share_their_data(emulate: Emulate) -> None:
    storage = emulate()
    clone = (
        "import fcntl, os; fcntl.ioctl(os.open('a', os.O_RDWR | 64), 0x40049409, os.open('.', 0))"
    )
    done = storage.host.run(sys.executable, "-c", clone, STRIPEWISE_EMULATE=str(storage.file))
    assert b"not supported" in done.stderr


def test_memory_maps_are_counted(emulate: Emulate) -> None:
    storage = emulate()
    (storage.host.directory / "data").write_bytes(b"x" * 4096)
    code = "import mmap; f = open('data', 'r+b'); mmap.mmap(f.fileno(), 0)[:2]"
    storage.check(sys.executable, "-c", code)
    assert storage.counters["mapped"] == 1
    assert any("maps files" in note for note in storage.host.profile.notes)


STARTS = [
    "os.execv({path!r}, [{path!r}])",
    "subprocess.call([{path!r}])",
    "os.fork() or os.execvp({path!r}, [{path!r}])",
    "os.waitpid(os.posix_spawn({path!r}, [{path!r}], os.environ), 0)",
    "os.system('PATH={place}:$PATH; exec copy')",
    "os.waitpid(ctypes.CDLL(None).posix_spawnp(ctypes.byref(ctypes.c_int()), b'copy', None, None,"
    " (ctypes.c_char_p * 2)(b'copy'), None) - 1, 0)",
]


@pytest.mark.parametrize("start", STARTS, ids=range(len(STARTS)))
def test_static_programs_are_counted(emulate: Emulate, tmp_path: Path, start: str) -> None:
    storage = emulate()
    (tmp_path / "copy.c").write_text("int main(void) { return 0; }")
    built = ["cc", "-static", "-o", str(tmp_path / "copy"), str(tmp_path / "copy.c")]
    if subprocess.run(built, capture_output=True).returncode:
        pytest.skip("the compiler links nothing statically")
    path = str(tmp_path / "copy")
    code = f"import ctypes, os, subprocess; {start.format(path=path, place=tmp_path)}"
    storage.check(sys.executable, "-c", code, PATH=f"{tmp_path}:{os.environ['PATH']}")
    storage.check(sys.executable, "-c", "import subprocess; subprocess.call(['/bin/true'])")
    assert storage.counters["static_programs"] == 1


@pytest.mark.parametrize(
    "text", [b"x" * 3000, b"two stripes", b""], ids=["long", "words", "empty"]
)
def test_attributes_that_are_no_layout_are_counted(emulate: Emulate, text: bytes) -> None:
    storage = emulate()
    os.setxattr(storage.host.directory, ATTRIBUTE, text)
    storage.alone("create:a", "pwrite:0:100")
    assert storage.counters["layouts_refused"] > 0


def test_a_full_table_is_counted_and_harms_nobody(emulate: Emulate) -> None:
    storage = emulate({"servers.target_write": 1e9}, files=4)
    storage.alone(*(f"create:{i}" for i in range(20)), "pwrite:0:100")
    assert storage.counters["tables_full"] > 0


def test_syncs_take_their_time_and_are_not_made(emulate: Emulate) -> None:
    storage = emulate({"metadata.latency": 0.03})
    found = storage.alone("create:a", "pwrite:0:100", "close", STRIPEWISE_SYNC="1")
    assert found[-1].seconds == near(0.03)
    assert struct.calcsize(MD) == 32
