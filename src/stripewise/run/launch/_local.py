# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs commands on this machine, after checking that they can be started."""

from __future__ import annotations

import difflib
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from stripewise.core.errors import ProgramError, StorageError, StudyError, UsageError
from stripewise.run.launch import _records
from stripewise.run.launch._base import Handle, Launcher, Outcome, RunRequest
from stripewise.run.launch.agent import _processes, _supervise
from stripewise.run.runtime import Runtime, command_with_resources

_CANCEL_SECONDS = _processes.TERM_GRACE_SECONDS + _processes.KILL_DEADLINE_SECONDS + 5.0

# These belong to this process, not to a launcher: a run ends with the process that submitted it,
# not with the object.  They map run_id to the supervisor and to the pipe whose closing signals
# that this process died.
_SUPERVISORS: dict[str, subprocess.Popen[bytes]] = {}


def _forget_in_child() -> None:
    """Close the pipes in a forked process, which supervisors must not mistake for the tuner."""
    for supervisor in _SUPERVISORS.values():
        if supervisor.stdin is not None:
            os.close(supervisor.stdin.fileno())
    _SUPERVISORS.clear()


os.register_at_fork(after_in_child=_forget_in_child)


class LocalLauncher(Launcher):
    """Launcher that starts each run under a supervisor process, which leaves no process behind.

    The supervisor ends the run when the tuner dies (kill -9 included), at the timeout and
    when cancelled, and stores the result, so that a restarted tuner finds it.

    Attributes:
        script: Path of the supervisor's script.
    """

    name = "local"
    poll_seconds = 1.0
    emulates = True
    script: str = _supervise.__file__

    def __init__(self, runtime: Runtime | None) -> None:
        """Set the runtime library to preload; None preloads nothing."""
        self.runtime = runtime

    def submit(self, request: RunRequest) -> Handle:
        """Start a run; see `Launcher.submit`.

        Raises:
            ProgramError: The command does not exist or cannot be executed.
            StudyError: The record directory already contains a run.
            StorageError: The record cannot be written.
            UsageError: The configuration's ranks or threads cannot be put into the command.
        """
        resources = request.configuration.job
        request = replace(request, command=command_with_resources(request.command, resources))
        program = resolve_program(request.command, request.directory)
        environment = self.environment(request)
        _records.write_request(request)
        environment |= _records.begin_emulation(request, environment)
        record, portable = request.record_directory.absolute(), _records.portable
        job = _records.run_order(
            request, program, request.command, record, request.timeout_seconds
        )
        job["environment"] = {portable(name): portable(text) for name, text in environment.items()}
        try:
            supervisor = self.start(job, record)
        except BaseException:
            _records.end_emulation(request.run_id)
            raise
        _SUPERVISORS[request.run_id] = supervisor
        return self._handle(request.run_id, record, supervisor.pid)

    def start(self, job: dict[str, Any], records: Path) -> subprocess.Popen[bytes]:
        """Start the process that carries out a run, and pass it the job.

        Raises:
            ProgramError: The process cannot be started.
        """
        try:
            with open(_records.create(records / "supervisor.log"), "wb") as log:
                return _supervise.start(job, log, self.script)
        except OSError as error:
            raise ProgramError(f"cannot start a supervisor process: {error}") from error

    def find_again(self, run_id: str, record_directory: Path) -> Handle | None:
        """Return the handle of a run from the record of its supervisor."""
        pid = _recorded_pid(record_directory)
        if not pid and not (record_directory / _records.RESULT).is_file():
            return None
        return self._handle(run_id, record_directory, pid)

    def _handle(self, run_id: str, records: Path, pid: int) -> Handle:
        where = str(records.absolute())
        return Handle(self.name, run_id, {"record_directory": where, "supervisor_pid": pid})

    def environment(self, request: RunRequest) -> dict[str, str]:
        """Return the complete environment of a run."""
        base = {**os.environ, "PWD": str(request.directory)}
        if self.runtime is not None:
            base = _records.preloaded(self.runtime, request, base)
        return {**base, _processes.RUN_ID_VARIABLE: request.run_id}

    def poll(self, handle: Handle) -> bool:
        """Return whether the run has ended; a killed supervisor is detected here."""
        directory = _directory(handle)
        if (directory / _records.RESULT).is_file():
            _release(handle)
            return True
        if _processes.is_supervisor(_pid(handle), handle.run_id):
            return False
        if not (directory / _records.RESULT).is_file():  # not stored at its end either
            self._recover(handle, directory)
        return True

    def pause(self, handles: Sequence[Handle], seconds: float) -> bool:
        """Sleep until a supervisor ends, so that short runs cause no longer delay."""
        return _sleep_until_end([_pid(handle) for handle in handles], seconds)

    def collect(self, handle: Handle) -> Outcome:
        """Return the outcome of an ended run.

        Raises:
            UsageError: The run has not ended.
            StorageError: Its result could not be stored.
            StudyError: Its record is missing or damaged.
        """
        if not self.poll(handle):
            raise UsageError(f"run {handle.run_id} has not ended")
        directory = _directory(handle)
        result = _records.read_json(directory / _records.RESULT)
        if result is not None:
            outcome = _records.outcome(directory, result)
            return _records.with_emulation(outcome, directory, handle.run_id)
        if not directory.is_dir():
            raise StudyError(
                f"the record {directory} of run {handle.run_id} was removed; "
                "leave the study's directory alone while it runs"
            )
        if (directory / _records.RESULT).is_file():
            raise StudyError(f"{directory / _records.RESULT} is damaged; remove that run's record")
        detail = _records.last_line(directory / "supervisor.log") or "the disk refuses"
        raise StorageError(
            f"the result of run {handle.run_id} could not be stored in {directory}: {detail}; "
            "free some space there, then continue with --resume"
        )

    def cancel(self, handle: Handle) -> None:
        """End the run and all its processes; return when nothing of it is left."""
        if not self.poll(handle):
            _end_supervisor(_pid(handle), handle.run_id)
            self.poll(handle)
        _records.end_emulation(handle.run_id)

    def _recover(self, handle: Handle, directory: Path) -> None:
        """End the processes of a run whose supervisor left no result, and record this."""
        exit_code = _release(handle)
        _processes.end_strays([handle.run_id])
        _records.end_emulation(handle.run_id)
        if exit_code == _supervise.STORAGE_EXIT_CODE:
            return  # collect() reports that the disk refused
        with suppress(OSError):
            result = _cancelled(handle.run_id, "its supervisor was killed")
            _records.write_result(directory, result)


def sweep(record_root: Path) -> tuple[str, ...]:
    """End the processes of all unfinished runs recorded below a directory.

    Call this when a study is resumed, before its directory is used: it ends supervisors that still
    run, then all processes of such runs, and records the runs as cancelled.

    Returns:
        Ids of the runs that were unfinished.
    """
    unfinished = _unfinished(record_root)
    for directory, run_id in unfinished:
        _end_supervisor(_recorded_pid(directory), run_id)
    lost = [entry for entry in unfinished if not (entry[0] / _records.RESULT).is_file()]
    _processes.end_strays([run_id for _, run_id in lost])
    for directory, run_id in lost:
        try:
            _records.write_result(directory, _cancelled(run_id, "the tuner ended"))
        except OSError as error:
            raise _records.storage_error(error, directory / _records.RESULT) from error
        # one that began only now and saw no result
        _end_supervisor(_recorded_pid(directory), run_id)
    return tuple(run_id for _, run_id in unfinished)


def _directory(handle: Handle) -> Path:
    return Path(str(handle.data["record_directory"]))


def _pid(handle: Handle) -> int:
    return int(handle.data["supervisor_pid"])


def _recorded_pid(directory: Path) -> int:
    """Return the pid that a supervisor wrote to its run's record; 0 if it wrote none."""
    known = _records.read_json(directory / _records.SUPERVISOR) or {}
    return int(known.get("pid", 0))


def _release(handle: Handle) -> int | None:
    """Reap a supervisor, and return its exit code; None if it is not a child of this process."""
    supervisor = _SUPERVISORS.get(handle.run_id)
    if supervisor is None:
        return None
    code = supervisor.wait()
    del _SUPERVISORS[handle.run_id]
    if supervisor.stdin is not None:
        supervisor.stdin.close()
    return code


def _sleep_until_end(pids: Sequence[int], seconds: float) -> bool:
    """Sleep until one of these processes has ended; return whether one has."""
    files: list[int] = []
    try:
        poller = select.poll()
        for pid in pids:
            files.append(os.pidfd_open(pid))
            poller.register(files[-1], select.POLLIN)
        return bool(poller.poll(max(1, int(seconds * 1000))))
    except OSError:  # gone, or a kernel before 5.3
        time.sleep(min(seconds, 0.005))
        return True
    finally:
        for file in files:
            os.close(file)


def _cancelled(run_id: str, reason: str) -> dict[str, Any]:
    return _supervise.result_of(run_id, started=time.time(), reason=reason)


def _unfinished(root: Path) -> list[tuple[Path, str]]:
    """Yield the record directories below `root` with a request and no result."""
    found = []
    for folder, folders, files in os.walk(root):
        if _records.REQUEST in files:
            folders.clear()
            if _records.RESULT not in files:
                request = _records.read_json(Path(folder) / _records.REQUEST) or {}
                found.append((Path(folder), str(request.get("run_id", ""))))
    return found


def _end_supervisor(pid: int, run_id: str) -> None:
    """Request a running supervisor to cancel its run; kill it if it does not."""
    for number, seconds in ((signal.SIGTERM, _CANCEL_SECONDS), (signal.SIGKILL, 5.0)):
        deadline = time.monotonic() + seconds
        _processes.send_to_supervisor(pid, run_id, number)
        while _processes.is_supervisor(pid, run_id) and time.monotonic() < deadline:
            _sleep_until_end([pid], 0.1)


# Checks that a command can be started, before anything is started.


def resolve_program(command: Sequence[str], directory: Path) -> str:
    """Return the program that `command[0]` names for a shell in `directory`.

    Returns:
        The path to execute; a relative path stays relative to `directory`.

    Raises:
        ProgramError: There is no such program, or it cannot be executed.
    """
    if not command or not command[0]:
        raise ProgramError("no command given; put it after `--`: -- mpiexec -n 4 ./program")
    for argument in command:
        if "\0" in argument:
            raise ProgramError(f"the argument {argument!r} contains a NUL, which no argument can")
    name = command[0]
    if "/" in name:
        _check_executable(directory / name, name)
        return name
    return _search(name, directory)


def _search(name: str, directory: Path) -> str:
    candidates = (directory / folder / name for folder in os.get_exec_path())
    found = [path for path in candidates if path.is_file()]
    for path in found:
        if os.access(path, os.X_OK):
            _check_interpreter(path, name)
            return str(path)
    if found:
        raise ProgramError(f"{found[-1]} is not executable; remedy: chmod +x {found[-1]}")
    if (directory / name).is_file():
        raise ProgramError(
            f"there is no program '{name}' on PATH, but there is one here: write ./{name}"
        )
    raise ProgramError(f"there is no program '{name}' on PATH{_on_path_like(name)}")


def _check_executable(path: Path, shown: str) -> None:
    if path.is_dir():
        raise ProgramError(f"{shown} is a directory, not a program")
    if not path.exists():
        names = [entry.name for entry in _entries(path.parent)]
        close = difflib.get_close_matches(path.name, names, n=3)
        nearest = [os.path.join(os.path.dirname(shown), match) for match in close]
        raise ProgramError(f"there is no program '{shown}'{_did_you_mean(nearest)}")
    if not os.access(path, os.X_OK):
        raise ProgramError(f"{shown} is not executable; remedy: chmod +x {shown}")
    _check_interpreter(path, shown)


def _check_interpreter(path: Path, shown: str) -> None:
    """Refuse a script with a bad `#!` line, for which the system only says "no such file"."""
    try:
        with path.open("rb") as stream:
            line = stream.readline(4096)
    except OSError:
        return  # executable without being readable is allowed
    if not line.startswith(b"#!"):
        return
    words = line[2:].split()
    if words and words[0].startswith(b"/") and not os.path.exists(words[0]):
        interpreter = os.fsdecode(words[0])
        raise ProgramError(
            f"{shown} is a script for {interpreter}, which is not there; correct its first line"
        )


def _on_path_like(name: str) -> str:
    names = {entry.name for folder in os.get_exec_path() for entry in _entries(Path(folder))}
    return _did_you_mean(difflib.get_close_matches(name, names, n=3))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _did_you_mean(names: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(names)}?" if names else "; check its spelling or path"
