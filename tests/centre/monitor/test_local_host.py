# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files and commands of this host: limits, and nothing left behind."""

from __future__ import annotations

import errno
import os
import signal
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stripewise.centre.monitor import TEXT_BYTES, HostError, LocalHost
from stripewise.centre.monitor import _host as commands
from support.monitor_parts import wait_until


def script(place: Path, text: str) -> str:
    path = place / "tool"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def processes_of(mark: str) -> list[int]:
    """Processes whose command line holds a word; zombies have none, and are found by parent."""
    found = []
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in one.read_bytes():
                found.append(int(one.parent.name))
        except OSError:
            continue
    return found


def own_zombies() -> list[str]:
    found = []
    for one in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = one.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] == "Z" and int(fields[1]) == os.getpid():
            found.append(one.parent.name)
    return found


@pytest.fixture
def host() -> Iterator[LocalHost]:
    made, before = LocalHost(), own_zombies()
    yield made
    made.close()
    assert set(own_zombies()) <= set(before)


def failure(action) -> HostError:
    with pytest.raises(HostError) as caught:
        action()
    return caught.value


def test_files_are_read(host: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one \xff two\n")
    assert host.text(str(tmp_path / "a")) == "one \ufffd two\n"
    assert "cpu" in host.text("/proc/stat")
    assert host.names(f"{tmp_path}/*") == [f"{tmp_path}/a"]
    assert host.names(f"{tmp_path}/none*") == []


def test_what_is_no_file_is_never_opened(host: LocalHost, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero"), Path("/dev/tty")):
        assert failure(lambda path=path: host.text(str(path))).reason == "malformed"


@pytest.mark.parametrize("path", ["none", "file/below"])
def test_what_is_missing_is_said_so(host: LocalHost, tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("")
    error = failure(lambda: host.text(str(tmp_path / path)))
    assert error.reason == "missing"
    assert path in str(error)


def test_a_file_that_is_too_large_is_refused(host: LocalHost, tmp_path: Path) -> None:
    with open(tmp_path / "large", "wb") as file:
        file.truncate(TEXT_BYTES + 1)
    assert "more than 16 MiB" in str(failure(lambda: host.text(str(tmp_path / "large"))))


def test_a_file_of_others_is_denied(
    host: LocalHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    (tmp_path / "a").touch()
    monkeypatch.setattr("stripewise.centre.monitor._host.os.open", refuse)
    error = failure(lambda: host.text(str(tmp_path / "a")))
    assert (error.reason, str(error)) == ("denied", f"{tmp_path}/a: Permission denied")


def test_a_command_gets_words_an_input_and_a_clean_environment(
    host: LocalHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.setenv("LD_PRELOAD_NOT", "x")
    tool = script(tmp_path, 'echo "$1"; cat; env; pwd; ps -o pgid= -p $$ >/dev/null')
    said = b"".join(host.pieces([tool, "$(id) ; *"], given=b"input\n")).decode().splitlines()
    assert said[:2] == ["$(id) ; *", "input"]
    names = {line.partition("=")[0] for line in said[2:] if "=" in line}
    assert names <= {"PATH", "LC_ALL", "HOME", "PWD", "OLDPWD", "SHLVL", "_"}
    assert f"PATH={commands.PATH}:{tmp_path}" in said
    assert said[-1] == "/"


def test_commands_are_found_on_a_fixed_path_alone(
    host: LocalHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path, "echo here")
    monkeypatch.setenv("PATH", str(tmp_path))
    error = failure(lambda: host.output(["tool"]))
    assert error.reason == "missing"
    assert "give its path" in str(error)
    assert host.output([str(tmp_path / "tool")]) == "here\n"
    assert host.output(["echo", "x"]) == "x\n"


def test_large_outputs_come_in_pieces(host: LocalHost) -> None:
    pieces = list(host.pieces(["head", "-c", "5000000", "/dev/zero"]))
    assert sum(map(len, pieces)) == 5_000_000
    assert max(map(len, pieces)) <= 96 << 10, "a long text is never in memory as a whole"
    assert "16 MiB" in str(failure(lambda: host.output(["head", "-c", "20000000", "/dev/zero"])))


def test_a_failure_is_told_with_its_first_line_after_all_output(
    host: LocalHost, tmp_path: Path
) -> None:
    tool = script(tmp_path, "echo out; echo first >&2; echo second >&2; exit 3")
    pieces = host.pieces([tool, "get_param"])
    assert next(pieces) == b"out\n"
    error = failure(lambda: next(pieces))
    assert (error.reason, str(error)) == ("error", f"{tool} get_param: exit code 3: first")


def test_a_refusal_is_denied(host: LocalHost, tmp_path: Path) -> None:
    tool = script(tmp_path, "echo 'error: brw_stats: Permission denied' >&2; exit 13")
    assert failure(lambda: host.output([tool])).reason == "denied"


def test_a_program_that_may_not_be_run(host: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("")
    assert failure(lambda: host.output([str(tmp_path / "text")])).reason == "missing"
    (tmp_path / "odd").write_bytes(b"\x7fELF but not really")
    (tmp_path / "odd").chmod(0o755)
    assert failure(lambda: host.output([str(tmp_path / "odd")])).reason == "error"


def test_a_flood_of_errors_disturbs_nothing(host: LocalHost, tmp_path: Path) -> None:
    tool = script(tmp_path, "head -c 3000000 /dev/zero >&2; echo done")
    assert host.output([tool]) == "done\n"


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("where", ["", " >&2"])
def test_one_that_prints_for_ever_has_its_time_too(
    host: LocalHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """It is never waited for, and to read it takes time all the same."""
    read, count = os.read, 0

    def slow_read(number: int, most: int) -> bytes:
        nonlocal count
        count += 1
        assert count < 300, "it is read without an end"
        time.sleep(0.02)
        return read(number, most)

    tool = script(tmp_path, f"exec yes{where}")
    monkeypatch.setattr(commands.os, "read", slow_read)
    error = failure(lambda: list(host.pieces([tool], timeout_seconds=0.5)))
    assert error.reason == "slow"


def test_whole_groups_are_killed_after_their_time(host: LocalHost, tmp_path: Path) -> None:
    mark = f"86399.{os.getpid()}"
    tool = script(tmp_path, f"echo early; sleep {mark} & sleep {mark}; echo never")
    pieces = host.pieces([tool], timeout_seconds=0.5)
    error = failure(lambda: list(pieces))
    assert error.reason == "slow"
    assert "no end after 0.5 s" in str(error)
    wait_until(lambda: not processes_of(mark))


def test_what_a_command_leaves_behind_is_killed(host: LocalHost, tmp_path: Path) -> None:
    mark = f"86398.{os.getpid()}"
    tool = script(tmp_path, f"sleep {mark} >/dev/null 2>&1 & echo out")
    assert host.output([tool]) == "out\n"
    wait_until(lambda: not processes_of(mark))


def test_a_generator_that_is_left_ends_its_command(host: LocalHost) -> None:
    before = len(own_zombies())
    pieces = host.pieces(["cat", "/dev/zero"], timeout_seconds=60)
    assert next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    assert len(own_zombies()) <= before


def test_a_reader_that_takes_its_time_costs_the_command_none(
    host: LocalHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, slept = time.monotonic, 0.0
    monkeypatch.setattr(commands.time, "monotonic", lambda: real() + slept)
    lengths = []
    for piece in host.pieces(["head", "-c", "2000000", "/dev/zero"], timeout_seconds=60):
        lengths.append(len(piece))
        slept += 3600.0
    assert sum(lengths) == 2_000_000


def test_a_signal_is_named(host: LocalHost, tmp_path: Path) -> None:
    tool = script(tmp_path, "kill -SEGV $$")
    assert f"signal {signal.SIGSEGV:d}" in str(failure(lambda: host.output([tool])))


def test_one_that_cannot_be_killed_is_given_up_and_not_started_again(
    host: LocalHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process in the kernel's uninterruptible sleep: here one that nobody kills."""
    mark = f"86397.{os.getpid()}"
    tool = script(tmp_path, f"exec sleep {mark}")
    with monkeypatch.context() as patched:
        patched.setattr(commands, "GRACE_SECONDS", 0.2)
        patched.setattr(commands.HostCommand, "kill", lambda _: None)
        assert failure(lambda: host.output([tool], 0.2)).reason == "slow"
        assert host.abandoned == 1
        again = failure(lambda: host.output([tool], 0.2))
        assert (again.reason, host.abandoned) == ("slow", 1)
        assert "was killed and does not end" in str(again)
    wait_until(lambda: processes_of(mark))
    for number in processes_of(mark):
        os.kill(number, signal.SIGKILL)
    script(tmp_path, "echo again")
    wait_until(lambda: _works(host, tool))


def _works(host: LocalHost, tool: str) -> bool:
    try:
        return host.output([tool]) == "again\n"
    except HostError:
        return False


def test_closing_kills_what_runs_and_starts_no_more() -> None:
    host, ended = LocalHost(), threading.Event()
    errors: list[HostError] = []

    def read() -> None:
        try:
            host.output(["sleep", "600"], timeout_seconds=600)
        except HostError as error:
            errors.append(error)
        ended.set()

    thread = threading.Thread(target=read)
    thread.start()
    wait_until(lambda: host._running)
    host.close()
    assert ended.wait(60)
    thread.join()
    assert errors
    assert "the agent ends" in str(failure(lambda: host.output(["true"])))


def test_closing_kills_what_just_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    host, whole = LocalHost(), commands.HostCommand

    def started(*words: object) -> commands.HostCommand:
        made = whole(*words)  # type: ignore[arg-type]
        host.close()
        return made

    monkeypatch.setattr("stripewise.centre.monitor._host.HostCommand", started)
    error = failure(lambda: host.output(["sleep", "600"], timeout_seconds=60))
    assert f"signal {signal.SIGKILL:d}" in str(error)


def test_its_descriptors_are_not_inherited(host: LocalHost, tmp_path: Path) -> None:
    with open(tmp_path / "secret", "w") as secret:
        os.set_inheritable(secret.fileno(), True)
        said = host.output(["ls", "-l", "/proc/self/fd"])
    assert "secret" not in said
    assert stat.S_ISREG(os.stat(tmp_path / "secret").st_mode)


def test_no_descriptors_are_left(host: LocalHost, tmp_path: Path) -> None:
    tool = script(tmp_path, "echo out; exit 1")
    (tmp_path / "text").write_text("x")

    def everything() -> None:
        failure(lambda: list(host.pieces([tool], given=b"x")))
        failure(lambda: host.output(["sleep", "60"], timeout_seconds=0.01))
        failure(lambda: host.text(str(tmp_path)))
        host.text(str(tmp_path / "text"))
        next(host.pieces(["cat", "/dev/zero"]))

    everything()
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(10):
        everything()
    assert len(os.listdir("/proc/self/fd")) == len(before)
