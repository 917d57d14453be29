# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
import os
import re
import shutil
import stat
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest

from stripewise.core import RunStatus
from stripewise.core.errors import ProgramError, StorageError, StudyError, UsageError
from stripewise.run.launch import LocalLauncher, RunRequest
from stripewise.run.launch.agent._supervise import BoundedFile, Supervisor
from stripewise.testing.launcher_suite import LauncherSuite
from support.small_disk import fill


def stdout(request: RunRequest) -> bytes:
    return (request.record_directory / "stdout").read_bytes()


class TestLocal(LauncherSuite):
    def make_launcher(self, directory):
        return LocalLauncher(None)

    def make_request(self, directory, kind):
        commands = {"ok": "exit 0", "fail": "exit 3", "missing": ""}
        command = ("/bin/sh", "-c", commands.get(kind, "sleep 60"))
        if kind == "missing":
            command = ("./no-such-program",)
        (directory / "work").mkdir(parents=True)
        return RunRequest(
            str(uuid4()),
            command,
            directory / "work",
            directory / "record",
            timeout_seconds=0.2 if kind == "limited" else None,
        )


def test_output_directory_and_environment(runs, monkeypatch):
    monkeypatch.setenv("X", "1 2")
    request = runs.shell("pwd; echo $X $PWD; echo oops >&2")
    _, outcome = runs.run(request)
    assert outcome.status is RunStatus.OK
    here = str(request.directory)
    assert stdout(request).decode().split("\n") == [here, f"1 2 {here}", ""]
    assert (request.record_directory / "stderr").read_text() == "oops\n"
    assert stat.S_IMODE((request.record_directory / "request.json").stat().st_mode) == 0o600


def test_a_limit_of_months_is_none_that_ends_a_run(runs):
    _, outcome = runs.run(runs.shell("echo done", timeout_seconds=400 * 86400.0))
    assert (outcome.status, outcome.message) == (RunStatus.OK, "")


def test_nothing_is_a_shell_line_and_any_bytes_survive(runs, monkeypatch):
    words = ["$HOME", "a b", "'", '"', "*", "", "ü", os.fsdecode(b"caf\xe9"), "-x", "\n", "\\"]
    script = "import os,sys; sys.stdout.buffer.write(b'\\0'.join(map(os.fsencode, sys.argv[1:])))"
    monkeypatch.setenv("ODD", os.fsdecode(b"\xff\xfe"))
    request = runs.request(sys.executable, "-c", script, *words)
    runs.run(request)
    assert stdout(request) == b"\0".join(map(os.fsencode, words))
    odd = runs.shell('printf %s "$ODD"')
    runs.run(odd)
    assert stdout(odd) == b"\xff\xfe"


def test_secrets_of_the_environment_are_not_stored(runs, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "s3cr3t")
    request = runs.shell("test ${#SECRET_TOKEN} = 6")
    _, outcome = runs.run(request)
    assert outcome.status is RunStatus.OK
    for path in request.record_directory.rglob("*"):
        assert path.is_dir() or b"s3cr3t" not in path.read_bytes()


def test_messages(runs):
    _, failed = runs.run(runs.shell("echo first; echo why >&2; exit 7"))
    assert (failed.exit_code, failed.message) == (7, "exit code 7: why")
    _, killed = runs.run(runs.shell("kill -SEGV $$"))
    assert (killed.exit_code, killed.message) == (-11, "ended by SIGSEGV")
    _, late = runs.run(runs.shell("sleep 60", timeout_seconds=0.1))
    assert late.message == "stopped after 0.1 s (its time limit)"


def test_elapsed_is_not_quantised(runs):
    request = runs.shell("sleep 0.1")
    begun = time.monotonic()
    _, outcome = runs.run(request)
    assert 0.1 <= outcome.elapsed_seconds <= time.monotonic() - begun
    assert abs(outcome.started_unix_seconds - time.time()) < 30


def test_signals_are_as_in_a_shell(runs):
    script = "import signal,sys; sys.exit(signal.getsignal(signal.SIGPIPE) != 0)"
    code = "import ctypes,sys; f=open('/proc/self/status').read(); print(f)"
    request = runs.request(sys.executable, "-c", f"{code}; {script.split(';')[0]}")
    runs.run(request)
    status = dict(
        line.split(":\t", 1) for line in stdout(request).decode().splitlines() if ":\t" in line
    )
    assert int(status["SigBlk"], 16) == 0
    own = Path("/proc/self/status").read_text()
    inherited = int(re.search(r"SigIgn:\s*([0-9a-f]+)", own)[1], 16)
    python = 1 << 12 | 1 << 24  # Python ignores PIPE and XFSZ
    assert int(status["SigIgn"], 16) & ~(python | inherited) == 0


def test_open_files_of_the_tuner_stay_its_own(runs):
    request = runs.shell("ls /proc/$$/fd")
    runs.run(request)
    assert set(stdout(request).split()) <= {b"0", b"1", b"2", b"10", b"255"}


def test_huge_output_keeps_the_end(tmp_path):
    output = BoundedFile(str(tmp_path / "x"), cap_bytes=4000)
    for number in range(2000):
        output.write(b"%09d\n" % number)
    lines = (tmp_path / "x").read_bytes().split()
    assert (tmp_path / "x").stat().st_size <= 4000
    assert lines[-1] == b"000001999"
    assert [int(line) for line in lines] == list(range(2000 - len(lines), 2000))


def test_much_output_does_not_block(runs):
    request = runs.shell("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2")
    _, outcome = runs.run(request)
    assert outcome.status is RunStatus.OK
    assert (len(stdout(request)), (request.record_directory / "stderr").stat().st_size) == (
        3000000,
        3000000,
    )


# -- what cannot be started ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ((), "no command"),
        (("",), "no command"),
        (("./prorgam",), "did you mean ./program?"),
        (("program",), "write ./program"),
        (("./plain",), r"not executable; remedy: chmod \+x"),
        (("./folder",), "is a directory"),
        (("./script",), "/no/such/interpreter, which is not there"),
        (("no-such-program-anywhere",), "no program 'no-such-program-anywhere' on PATH"),
        (("grpe",), "did you mean .*grep"),
        (("./program", "a\0b"), "NUL"),
    ],
)
def test_refused_before_anything_starts(runs, command, message):
    request = runs.request(*command)
    (request.directory / "folder").mkdir()
    for name, mode, text in (
        ("program", 0o755, "#!/bin/sh\n"),
        ("plain", 0o644, ""),
        ("script", 0o755, "#!/no/such/interpreter\n"),
    ):
        (request.directory / name).write_text(text)
        (request.directory / name).chmod(mode)
    with pytest.raises(ProgramError, match=message):
        runs.launcher.submit(request)
    assert not request.record_directory.exists()


def test_relative_programs_start_in_the_run_directory(runs):
    request = runs.request("./hello", "x")
    (request.directory / "hello").write_text("#!/bin/sh\necho $0 $1\n")
    (request.directory / "hello").chmod(0o755)
    runs.run(request)
    assert stdout(request) == b"./hello x\n"


def test_what_the_kernel_refuses_is_said(runs):
    request = runs.request("./garbage")
    (request.directory / "garbage").write_bytes(b"\x7fELF garbage")
    (request.directory / "garbage").chmod(0o755)
    _, outcome = runs.run(request)
    assert (outcome.status, outcome.exit_code) == (RunStatus.FAILED, None)
    assert "Exec format error" in outcome.message


def test_a_record_directory_serves_once(runs):
    request = runs.shell("exit 0")
    runs.run(request)
    with pytest.raises(StudyError, match="holds a run already"):
        runs.launcher.submit(request)


def test_collect_before_the_end_is_refused(runs):
    handle = runs.launcher.submit(runs.shell("sleep 60"))
    with pytest.raises(UsageError, match="has not ended"):
        runs.launcher.collect(handle)
    runs.launcher.cancel(handle)


# -- storage ---------------------------------------------------------------------------------


def test_a_removed_record_is_said(runs, eventually):
    handle = runs.launcher.submit(request := runs.shell("touch began; sleep 60"))
    eventually((request.directory / "began").exists)
    shutil.rmtree(request.record_directory)
    runs.launcher.cancel(handle)
    assert runs.launcher.poll(handle)
    with pytest.raises(StudyError, match="was removed"):
        runs.launcher.collect(handle)
    assert runs.left() == []


def test_a_record_that_cannot_be_written_is_refused(runs, tmp_path):
    (tmp_path / "file").write_text("")
    request = runs.shell("exit 0")
    blocked = RunRequest(
        request.run_id, request.command, request.directory, tmp_path / "file" / "record"
    )
    with pytest.raises(StorageError, match="cannot write"):
        runs.launcher.submit(blocked)


def test_a_run_that_fills_the_disk_keeps_its_result(runs, small_disk):
    request = runs.shell(f"head -c 1000000 /dev/zero > {small_disk}/big; exit 4")
    full = RunRequest(request.run_id, request.command, request.directory, small_disk / "record")
    _, outcome = runs.run(full, seconds=20)
    assert (outcome.status, outcome.exit_code) == (RunStatus.FAILED, 4)


def test_a_full_disk_at_the_start_is_said(runs, small_disk):
    (small_disk / "record").mkdir()
    fill(small_disk)
    request = runs.shell("exit 0")
    full = RunRequest(request.run_id, request.command, request.directory, small_disk / "record")
    with pytest.raises(StorageError, match="No space left on device"):
        runs.run(full, seconds=20)
    assert runs.left() == []


def test_a_result_that_cannot_be_stored_hangs_nothing(runs):
    request = runs.shell("sleep 0.3")
    (request.record_directory / "result.json" / "x").mkdir(parents=True)  # no rename onto it
    handle = runs.launcher.submit(request)
    assert runs.launcher.wait(handle, 20)
    with pytest.raises(StorageError, match=r"could not be stored .* --resume"):
        runs.launcher.collect(handle)
    assert runs.left() == []


def test_request_holds_what_was_asked(runs):
    request = runs.shell("exit 0", settings={"mpiio.cb_nodes": 4}, timeout_seconds=9.0)
    runs.run(request)
    stored = json.loads((request.record_directory / "request.json").read_text())
    assert stored["settings"] == {"mpiio.cb_nodes": 4}
    assert stored["command"] == list(request.command)


def test_a_run_begins_when_its_clock_does(tmp_path, monkeypatch):
    """Not when its supervisor did: what a program dates lies between its begin and its end."""
    job = {"run_id": "a", "record_directory": tmp_path, "directory": tmp_path}
    supervisor = Supervisor({**job, "timeout_seconds": None}, life=0)
    supervisor.started = 7000.0
    for name in ("step", "drain_rest"):
        monkeypatch.setattr(supervisor, name, lambda *_: None)
    monkeypatch.setattr(supervisor, "start", lambda: "")
    monkeypatch.setattr(supervisor, "watch", lambda _: "")
    monkeypatch.setattr(supervisor, "end_processes", lambda **_: (0, ()))
    assert supervisor.run()["started"] > 7000.0
