# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shells, fork, vfork, exec, threads, signals: the host does what it does without us."""

from __future__ import annotations

import os
import subprocess

import pytest
from native_hosts import Host, Programs, has, moved, operations

from stripewise.core import ReportedPart
from stripewise.evidence.trace import Op, ProcessFlag

SCRIPT = """
set -u
for i in 1 2 3; do echo "line $i" >> out; done
cat out | sort -r | head -n 2
( cd / && pwd )
x=$(printf '%s' nested $(echo deep)); echo "$x"
exec 5> five; echo five >&5; exec 5>&-
cat < out > copy; wc -c copy five
trap 'echo trapped' EXIT
sh -c 'exit 3'; echo $?
"""


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_shells_print_the_same(host: Host, shell: str) -> None:
    counted = host.run(shell, "-c", SCRIPT)
    for name in ("out", "five", "copy"):
        (host.directory / name).unlink()
    bare = host.run(shell, "-c", SCRIPT, LD_PRELOAD="")
    assert (counted.returncode, counted.stdout, counted.stderr) == (
        bare.returncode,
        bare.stdout,
        bare.stderr,
    )


def test_env_prints_the_same(host: Host) -> None:
    lines = set(host.check("env").decode().splitlines())
    assert f"LD_PRELOAD={host.library}" in lines


def test_python_and_its_subprocesses(host: Host) -> None:
    code = (
        "import subprocess, sys, threading\n"
        "open('mine', 'wb').write(bytes(1000))\n"
        "print(subprocess.run(['sh', '-c', 'echo x > theirs; echo out'],"
        " capture_output=True, text=True).stdout)\n"
        "t = threading.Thread(target=lambda: open('thread', 'w').write('abc'))\n"
        "t.start(); t.join()\n"
    )
    assert host.check("/usr/bin/env", "python3", "-c", code) == b"out\n\n"
    assert moved(host.record("mine"), Op.WRITE) == 1000
    assert moved(host.record("theirs"), Op.WRITE) == 2
    assert moved(host.record("thread"), Op.WRITE) == 3


def test_fork(host: Host, programs: Programs) -> None:
    host.check(programs.executable("forks"))
    profile = host.profile
    assert len(profile.processes) == 2  # the child that only closes leaves no mark
    parent, child = sorted(profile.processes, key=lambda process: int(process["start_ns"]))
    assert not has(parent, ProcessFlag.FORKED)
    assert has(child, ProcessFlag.FORKED)
    assert child["ppid"] == parent["pid"]
    of = {int(profile.processes[int(r["process"])]["pid"]): r for r in host.records("both")}
    mine, theirs = of[int(parent["pid"])], of[int(child["pid"])]
    assert moved(mine, Op.WRITE) == 1250
    assert moved(theirs, Op.WRITE) == 500
    assert theirs["maximum_offset"] == 1500  # the position is shared
    assert mine["maximum_offset"] == 1750
    assert moved(host.record("child"), Op.WRITE) == 10
    assert has(parent, ProcessFlag.EXITED)
    assert has(child, ProcessFlag.EXITED)


def test_vfork_spawn_and_system(host: Host, programs: Programs) -> None:
    host.check(programs.executable("vforks"))
    assert moved(host.record("kept"), Op.WRITE) == 3000
    assert operations(host.record("kept"), Op.CLOSE) == 1
    mine = [p for p in host.profile.processes if b"vforks" in p["command"]]
    assert len(mine) == 1
    assert has(mine[0], ProcessFlag.EXITED)
    assert not has(mine[0], ProcessFlag.EXECED)


@pytest.mark.parametrize(
    "how", ["execve", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve"]
)
def test_exec(host: Host, programs: Programs, how: str) -> None:
    assert host.run(programs.executable("execs"), how).returncode == 5
    first, second = sorted(host.profile.processes, key=lambda process: int(process["start_ns"]))
    assert first["pid"] == second["pid"]
    assert has(first, ProcessFlag.EXECED)
    assert first["end_ns"] > 0
    assert has(second, ProcessFlag.EXITED)


def test_threads_are_counted_exactly(host: Host, programs: Programs) -> None:
    host.check(programs.executable("threads"))
    shared = host.record("shared")
    assert operations(shared, Op.WRITE) == 20000
    assert moved(shared, Op.WRITE) == 20000
    assert sum(shared["write_sizes"].tolist()) == 20000
    assert sum(shared["write_alignment"].tolist()) == 20000
    assert shared["maximum_offset"] == 20000
    for i in range(4):
        own = host.record(f"own-{i}")
        assert operations(own, Op.WRITE) == 5000
        assert own["consecutive_writes"] == 5000
    process = host.profile.processes[0]
    assert process["outermost_write_bytes"] == 40000
    assert process["lost_calls"] == 0


def test_handlers_that_write_while_we_count(host: Host, programs: Programs) -> None:
    done = host.run(programs.executable("signals"))
    assert done.returncode == 0
    issued = int(done.stdout)
    process = host.profile.processes[0]
    counted = operations(host.record("storm"), Op.WRITE)
    assert counted <= issued
    assert counted + int(process["lost_calls"]) >= issued
    assert (host.directory / "storm").stat().st_size == issued


def test_jumps_out_of_calls(host: Host, programs: Programs) -> None:
    host.check(programs.executable("jumps"))
    assert operations(host.record("after"), Op.WRITE) == 1000
    assert operations(host.record("jumps"), Op.WRITE) == 1000


def test_static_constructors_and_late_destructors(host: Host, programs: Programs) -> None:
    early = programs.shared("early")
    host.check("true", LD_PRELOAD=f"{host.library}:{early}")
    record = host.record("early")
    assert moved(record, Op.WRITE) == 9
    assert operations(record, Op.CLOSE) == 1
    assert (host.directory / "early").read_text() == "firstlast"


def test_libraries_that_come_and_go(host: Host, programs: Programs) -> None:
    host.check(programs.executable("loads"), programs.shared("early"))
    record = host.record("early")
    assert operations(record, Op.OPEN) == 2
    assert moved(record, Op.WRITE) == 18


@pytest.mark.parametrize("order", ["before", "after"])
def test_second_preloaded_tool(host: Host, programs: Programs, order: str) -> None:
    other = str(programs.shared("interposer"))
    both = [str(host.library), other] if order == "before" else [other, str(host.library)]
    plain = programs.executable("plain")
    log = host.directory / "tool.log"
    host.check(plain, LD_PRELOAD=":".join(both), INTERPOSER_LOG=str(log))
    opens, writes, closes = map(int, log.read_text().split())
    assert (opens, writes, closes) == (1, 10, 0)  # our own calls are not among them
    record = host.record("plain")
    assert operations(record, Op.OPEN) == 1
    assert operations(record, Op.WRITE) == 10
    profile = host.profile
    assert profile.processes[0]["lost_calls"] == 0
    assert not profile.why_missing(ReportedPart.BYTES | ReportedPart.SECONDS), (
        "what the tool asks moves no data"
    )
    assert bool(profile.why_missing(ReportedPart.CALLS)) == (order == "before"), (
        "its fstat is not counted"
    )


@pytest.mark.parametrize("order", ["before", "after"])
def test_preloaded_allocator(host: Host, programs: Programs, order: str) -> None:
    allocator = str(programs.shared("allocator", "-fno-builtin"))
    both = [str(host.library), allocator] if order == "before" else [allocator, str(host.library)]
    done = host.run(programs.executable("plain"), LD_PRELOAD=":".join(both))
    assert done.returncode == 0
    assert operations(host.record("plain"), Op.WRITE) == 10


def test_errno(host: Host, programs: Programs) -> None:
    assert host.check(programs.executable("errno")) == b""


@pytest.mark.parametrize("how", ["", "_exit", "quick_exit", "abort", "kill"])
def test_every_end_leaves_a_readable_container(host: Host, programs: Programs, how: str) -> None:
    host.run(programs.executable("plain"), how)
    assert operations(host.record("plain"), Op.WRITE) == 10
    process = host.profile.processes[0]
    assert has(process, ProcessFlag.EXITED) == (how not in ("abort", "kill"))
    assert (process["end_ns"] > 0) == (how not in ("abort", "kill"))


def test_closed_standard_streams(host: Host, programs: Programs) -> None:
    program = programs.executable("plain")
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        host.check("sh", "-c", f"{program} {closed}", STRIPEWISE_VERBOSE="1")
        assert (host.directory / "plain").read_bytes() == bytes(1000)


def test_report_never_lands_in_a_file_of_the_program(host: Host, programs: Programs) -> None:
    """With 0-2 closed the program's own file becomes descriptor 0 to 2."""
    many = "; ".join(["exec 0<&- 1>&- 2>&-", str(programs.executable("plain"))])
    host.check(
        "sh", "-c", many, STRIPEWISE_VERBOSE="1", STRIPEWISE_DIRECTORY=str(host.directory / "no")
    )
    assert (host.directory / "plain").read_bytes() == bytes(1000)


def test_unset_directory_is_no_trouble(host: Host, programs: Programs) -> None:
    done = host.run(programs.executable("plain"), STRIPEWISE_DIRECTORY="", STRIPEWISE_VERBOSE="1")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_other_programs(host: Host) -> None:
    """Programs of several kinds, compared with themselves without the library."""
    (host.directory / "input").write_bytes(os.urandom(100_000))
    for command in (
        "sort input | sha256sum",
        "tar cf - input | tar tf -",
        "dd if=input bs=777 2>/dev/null | cksum",
        "gzip -c input | gzip -dc | cksum",
        "find . -type f | sort",
        "sed -n 1p input | od -c | head -n 3",
    ):
        counted = host.run("bash", "-c", command)
        bare = subprocess.run(
            ["bash", "-c", command], cwd=host.directory, capture_output=True, check=False
        )
        assert (counted.returncode, counted.stdout) == (bare.returncode, bare.stdout), command
