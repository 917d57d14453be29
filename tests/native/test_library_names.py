# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Calls on names, what the library asks the kernel beside them, and libc's own writes."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from native_hosts import Host, Programs

from stripewise.core import Amount
from stripewise.evidence.facts import observed_files
from stripewise.evidence.trace import Action, Op

FILES = 300
LOOKS_UP = re.compile(r"openat|stat|access|readlink|getcwd|getdents|unlink|mkdir|rmdir")


def traced(host: Host, *command: str | Path, calls: str = "all", library: bool = True) -> str:
    """The system calls of a program."""
    log = host.directory / "strace.log"
    preload = ["-E", f"LD_PRELOAD={host.library}"] if library else []
    done = host.run("strace", "-e", f"trace={calls}", "-o", log, *preload, *command, LD_PRELOAD="")
    if done.returncode != 0 and b"ptrace" in done.stderr.lower():
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    return log.read_text()


def by_name(log: str) -> Counter[str]:
    return Counter(re.findall(r"^(\w+)\(", log, re.MULTILINE))


@pytest.mark.parametrize("inside", [(), ("inside",)], ids=["from outside", "inside"])
def test_making_files_asks_the_kernel_little_more(
    host: Host, programs: Programs, inside: tuple[str, ...]
) -> None:
    program = programs.executable("creates")
    plain = by_name(traced(host, program, str(FILES), *inside, library=False))
    counted = by_name(traced(host, program, str(FILES), *inside))
    more = counted - plain
    by_descriptor = {"statx"}
    looked_up = [
        name
        for name in more
        if LOOKS_UP.search(name) and name not in by_descriptor and more[name] > FILES / 10
    ]
    assert not looked_up, more
    assert sum(more.values()) < 3.5 * FILES, more


@pytest.mark.parametrize("inside", [(), ("inside",)], ids=["from outside", "inside"])
def test_names_are_counted_by_directory(
    host: Host, programs: Programs, inside: tuple[str, ...]
) -> None:
    host.check(programs.executable("creates"), str(FILES), *inside)
    profile = host.profile
    found = {profile.directories[row["directory"]]: row for row in profile.names}
    tree, work = found[str(host.directory / "tree")], found[str(host.directory)]
    assert tree["count"][Action.OPEN] == FILES
    assert tree["count"][Action.STAT] == tree["count"][Action.UNLINK] == FILES
    assert (tree["count"][Action.ACCESS], tree["failed"][Action.ACCESS]) == (1, 1)
    assert work["count"][Action.MKDIR] == work["count"][Action.RMDIR] == 1
    assert tree["seconds"][Action.STAT] > 0
    seconds = sum(float(row["seconds"].sum()) for row in profile.names)
    assert seconds <= profile.io_seconds * 1.01


def test_a_storm_of_names_alone_is_seen(host: Host) -> None:
    script = "import os\nfor i in range(500): os.path.exists(f'no/{i}'); os.access('.', os.R_OK)"
    host.check(sys.executable, "-S", "-c", script)
    counts = host.profile.names["count"].sum(axis=0)
    assert counts[Action.STAT] >= 500
    assert counts[Action.ACCESS] >= 500
    assert host.profile.names["failed"].sum(axis=0)[Action.STAT] >= 500


def test_directories_without_room_share_a_record(host: Host) -> None:
    script = "import os\nfor i in range(200):\n os.mkdir(f'd{i}'); os.stat(f'd{i}/.'); "
    script += "open(f'd{i}/f', 'w').close()"
    host.check(sys.executable, "-S", "-c", script)
    profile = host.profile
    assert len(profile.directories) == 65
    assert "" in profile.directories
    assert profile.names["count"][:, Action.OPEN].sum() >= 200


@pytest.mark.parametrize(
    ("how", "calls"),
    [
        ("equal", 9000),
        ("growing", 300),
        ("printed", 30000),
        ("characters", 50000),
        ("mixed", 3000),
        ("lines", 300),
        ("unbuffered", 300),
    ],
)
@pytest.mark.parametrize("ending", [(), ("open",)], ids=["closed", "left open"])
def test_writes_of_streams_are_those_of_libc(
    host: Host, programs: Programs, how: str, calls: int, ending: tuple[str, ...]
) -> None:
    program = programs.executable("streamed")
    log = traced(host, program, how, str(calls), *ending, calls="write")
    sizes = [int(size) for size in re.findall(r"^write\(\d+, .*\) += (\d+)$", log, re.MULTILINE)]
    issued = host.profile.issued
    assert int(issued["count"][0, Op.WRITE]) == len(sizes)
    assert int(issued["bytes"][0, Op.WRITE]) == sum(sizes)
    assert int(issued["write_max"][0]) == max(sizes)
    (seen,) = observed_files(host.profile, host.directory)
    assert seen.write_bytes == sum(sizes)
    assert ("io_seconds" in seen.missing) == (how == "characters")
    assert seen.system_writes == len(sizes)
    assert abs(seen.median_write_bytes - np.median(sizes)) <= 0.2 * np.median(sizes)


@pytest.mark.parametrize("how", ["read", "read-large", "read-lines"])
def test_reads_of_streams_are_those_of_libc(host: Host, programs: Programs, how: str) -> None:
    program = programs.executable("streamed")
    (host.directory / "out").write_text("a line of the file\n" * 10000)
    log = traced(host, program, how, "100000", calls="read")
    sizes = re.findall(r"^read\(\d+, \"a? ?l?i?n?.*\) += (\d+)$", log, re.MULTILINE)
    data = [int(size) for size in sizes if int(size)][-len(sizes) :]
    own = [size for size in data if size in (4096, 8192, 190000 % 4096) or size > 832]
    issued = host.profile.issued
    assert int(issued["bytes"][0, Op.READ]) == 190000
    assert abs(int(issued["count"][0, Op.READ]) - len(own)) <= 1


@pytest.mark.parametrize("way", ["fgetc", "getc", "getchar", "scanf", "fscanf", "sought"])
def test_characters_that_a_program_reads_are_bytes(
    host: Host, programs: Programs, way: str
) -> None:
    program = programs.executable("characters")
    (host.directory / "in").write_bytes(b"word " * 20_000)
    host.check(program, way, "in")
    (seen,) = observed_files(host.profile, host.directory)
    # the first seek, off a block, reads up to its place: these 7 bytes are read twice
    assert seen.read_bytes == (100_007 if way == "sought" else 100_000)
    assert "not timed" in seen.missing["io_seconds"]
    assert not host.profile.read_amount.why
    assert host.profile.io_amount.why


def test_wide_characters_are_unknown_not_zero(host: Host, programs: Programs) -> None:
    host.check(programs.executable("characters"), "wide")
    profile = host.profile
    assert (host.directory / "out").stat().st_size == 10_000
    assert profile.write_amount == Amount(None, "wide characters (fputwc, fgetws) are not counted")
    assert profile.read_amount == Amount(0)


def test_waiting_for_a_pipe_is_no_storage(host: Host) -> None:
    host.check("sh", "-c", "mkfifo pipe; (sleep 0.1; echo x > pipe) & cat < pipe; wait")
    profile = host.profile
    assert host.records("pipe") == []
    on_names = profile.over_ranks(profile.names["seconds"].sum(axis=1), profile.names["process"])
    assert profile.io_seconds == pytest.approx(on_names)  # that of waiting is not among it


def test_a_file_is_created_once(host: Host) -> None:
    script = """
import os, time
open('old', 'w').close()
time.sleep(0.02)
os.close(os.open('old', os.O_CREAT | os.O_WRONLY))
os.close(os.open('new', os.O_CREAT | os.O_WRONLY))
os.close(os.open('exclusive', os.O_CREAT | os.O_EXCL | os.O_WRONLY))
"""
    (host.directory / "before").write_text("")
    (host.directory / "filled").write_text("x")
    script += "time.sleep(0.02)\n"
    script += (
        "open('before', 'w').close()\nopen('filled', 'w').close()\nopen('filled', 'a').close()"
    )
    host.check(sys.executable, "-S", "-c", script)
    created = {
        name: bool(int(host.record(name)["flags"]) & 0x4)
        for name in ("old", "new", "exclusive", "before", "filled")
    }
    assert created == {
        "old": True,
        "new": True,
        "exclusive": True,
        "before": False,
        "filled": False,
    }
