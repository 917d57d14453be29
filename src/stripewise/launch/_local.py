# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs on this machine: any mpiexec, mpirun or srun line, or a plain program."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from stripewise.errors import ProgramError, StorageError, StudyError, UsageError
from stripewise.launch import _processes, _records
from stripewise.launch._base import Handle, Launcher, Outcome, RunRequest
from stripewise.launch._command import resolve_program
from stripewise.launch._supervise import STORAGE_EXIT_CODE
from stripewise.runtime import Runtime, command_with_resources, preload_environment

_SCRIPT = Path(__file__).with_name("_supervise.py")
_CANCEL_SECONDS = _processes.TERM_GRACE_SECONDS + _processes.KILL_DEADLINE_SECONDS + 5.0

# Of this process, not of a launcher: a run ends with the process that submitted it, not with
# the object.  run_id to the supervisor and to the pipe whose closing tells it that we died.
_SUPERVISORS: dict[str, subprocess.Popen[bytes]] = {}


def _forget_in_child() -> None:
    """A forked copy of the tuner must not keep the supervisors believing that it lives."""
    for supervisor in _SUPERVISORS.values():
        if supervisor.stdin is not None:
            os.close(supervisor.stdin.fileno())
    _SUPERVISORS.clear()


os.register_at_fork(after_in_child=_forget_in_child)


class LocalLauncher(Launcher):
    """Starts each run under a supervisor process that leaves no process behind.

    The supervisor ends the run when the tuner dies (kill -9 included), at the timeout and
    when cancelled, and stores the result, so that a restarted tuner finds it.
    """

    name = "local"

    def __init__(self, runtime: Runtime | None) -> None:
        """Keep the runtime library to preload; None preloads nothing."""
        self.runtime = runtime

    def submit(self, request: RunRequest) -> Handle:
        """Start a run; see `Launcher.submit`.

        Raises:
            ProgramError: The command does not exist or cannot be executed.
            StudyError: The record directory holds a run already.
            StorageError: The record cannot be written.
            UsageError: The configuration's ranks or threads cannot be put into the command.
        """
        environment = self.environment(request)
        job = request.configuration.job
        request = replace(
            request, command=command_with_resources(request.command, job, environment)
        )
        program = resolve_program(request.command, request.directory, environment)
        _records.write_request(request)
        supervisor = _start_supervisor(request, program, environment)
        _SUPERVISORS[request.run_id] = supervisor
        process = _processes.read_process(supervisor.pid)
        return Handle(
            launcher=self.name,
            run_id=request.run_id,
            data={
                "record_directory": str(request.record_directory.absolute()),
                "supervisor_pid": supervisor.pid,
                "supervisor_start_ticks": process.start_ticks if process else 0,
                "boot_id": _processes.boot_id(),
            },
        )

    def environment(self, request: RunRequest) -> dict[str, str]:
        """Return the complete environment of a run."""
        base = {**os.environ, "PWD": str(request.directory), **request.environment}
        if self.runtime is not None:
            base = preload_environment(
                self.runtime,
                directory=(request.record_directory / _records.CONTAINERS).absolute(),
                run_id=request.run_id,
                configuration=request.configuration,
                sync=request.sync,
                writable=request.writable,
                include=(request.directory,),
                capture=request.capture,
                base=base,
            )
        return {**base, _processes.RUN_ID_VARIABLE: request.run_id}

    def poll(self, handle: Handle) -> bool:
        """Whether the run has ended; a supervisor that was killed is noticed here."""
        directory = _directory(handle)
        if (directory / _records.RESULT).is_file():
            _release(handle)
            return True
        if _supervisor_runs(handle):
            return False
        if not (directory / _records.RESULT).is_file():  # not stored at its very end either
            self._recover(handle, directory)
        return True

    def wait(self, handle: Handle, timeout_seconds: float | None = None) -> bool:
        """Wait until the run has ended; False if the time ran out first.

        It wakes when the supervisor ends, so that short runs are not rounded up.
        """
        deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        while not self.poll(handle):
            rest = 1.0 if deadline is None else min(1.0, deadline - time.monotonic())
            if rest <= 0:
                return False
            _sleep_until_end(int(handle.data["supervisor_pid"]), rest)
        return True

    def collect(self, handle: Handle) -> Outcome:
        """Outcome of an ended run.

        Raises:
            UsageError: The run has not ended.
            StorageError: Its result could not be stored.
            StudyError: Its record is gone or damaged.
        """
        if not self.poll(handle):
            raise UsageError(f"run {handle.run_id} has not ended")
        directory = _directory(handle)
        result = _records.read_json(directory / _records.RESULT)
        if result is not None:
            return _records.outcome(directory, result)
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
            "make room there, then go on with --resume"
        )

    def cancel(self, handle: Handle) -> None:
        """End the run and every process of it; returns when nothing of it is left."""
        if self.poll(handle):
            return
        pid = int(handle.data["supervisor_pid"])
        _processes.send(pid, signal.SIGTERM)
        if not self.wait(handle, _CANCEL_SECONDS):
            _processes.send(pid, signal.SIGKILL)
            self.wait(handle, _CANCEL_SECONDS)

    def _recover(self, handle: Handle, directory: Path) -> None:
        """The supervisor is gone without a result: end the run's processes, say so."""
        exit_code = _release(handle)
        _end_strays([handle.run_id])
        if exit_code == STORAGE_EXIT_CODE:
            return  # collect() says that the disk refused
        try:
            _records.write_result(
                directory, _cancelled(handle.run_id, "its supervisor was killed")
            )
        except OSError:
            return


def sweep(record_root: Path) -> tuple[str, ...]:
    """End what is left of all unfinished runs recorded below a directory.

    To be called when a study is resumed, before its directory is used: it ends supervisors
    that still run, then every process that belongs to such a run, and records the runs as
    cancelled.

    Returns:
        Ids of the runs that were unfinished.
    """
    unfinished = list(_unfinished(record_root))
    for directory, _ in unfinished:
        _end_supervisor(directory)
    lost = [entry for entry in unfinished if not (entry[0] / _records.RESULT).is_file()]
    _end_strays([run_id for _, run_id in lost])
    for directory, run_id in lost:
        try:
            _records.write_result(directory, _cancelled(run_id, "the tuner ended"))
        except OSError as error:
            raise _records.storage_error(error, directory / _records.RESULT) from error
    return tuple(run_id for _, run_id in unfinished)


def _start_supervisor(
    request: RunRequest, program: str, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    portable = _records.portable
    job = {
        "run_id": request.run_id,
        "program": portable(program),
        "command": [portable(argument) for argument in request.command],
        "directory": portable(str(request.directory.absolute())),
        "record_directory": portable(str(request.record_directory.absolute())),
        "environment": {portable(name): portable(text) for name, text in environment.items()},
        "timeout_seconds": request.timeout_seconds,
    }
    log = request.record_directory / "supervisor.log"
    try:
        with log.open("wb") as stream:
            supervisor = subprocess.Popen(
                [sys.executable or "python3", "-I", "-S", "-X", "utf8", str(_SCRIPT)],
                stdin=subprocess.PIPE,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
                cwd="/",
            )
        assert supervisor.stdin is not None
        supervisor.stdin.write(json.dumps(job).encode("ascii") + b"\n")
        supervisor.stdin.flush()
    except OSError as error:
        raise ProgramError(f"cannot start a supervisor process: {error}") from error
    return supervisor


def _directory(handle: Handle) -> Path:
    return Path(str(handle.data["record_directory"]))


def _supervisor_runs(handle: Handle) -> bool:
    if handle.data.get("boot_id") != _processes.boot_id():
        return False
    return _processes.is_running(
        int(handle.data["supervisor_pid"]), int(handle.data["supervisor_start_ticks"])
    )


def _release(handle: Handle) -> int | None:
    """Reap a supervisor that is our child; its exit code, None if it is not."""
    supervisor = _SUPERVISORS.get(handle.run_id)
    if supervisor is None:
        return None
    code = supervisor.wait()
    del _SUPERVISORS[handle.run_id]
    if supervisor.stdin is not None:
        supervisor.stdin.close()
    return code


def _sleep_until_end(pid: int, seconds: float) -> None:
    try:
        file = os.pidfd_open(pid)
    except OSError:  # gone, or a kernel before 5.3
        time.sleep(min(seconds, 0.005))
        return
    try:
        poller = select.poll()
        poller.register(file, select.POLLIN)
        poller.poll(max(1, int(seconds * 1000)))
    finally:
        os.close(file)


def _end_strays(run_ids: list[str]) -> None:
    known = [run_id for run_id in run_ids if run_id]
    if known:
        _processes.end_all(
            lambda: _processes.strays(known, _processes.process_table()), grace_seconds=0.0
        )


def _cancelled(run_id: str, reason: str) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "exit_code": None,
        "signal": None,
        "timed_out": False,
        "cancelled": True,
        "started": time.time(),
        "elapsed": 0.0,
        "reason": reason,
    }


def _unfinished(root: Path) -> list[tuple[Path, str]]:
    """Record directories below `root` with a request and no result."""
    found = []
    for folder, folders, files in os.walk(root):
        if _records.REQUEST in files:
            folders.clear()
            if _records.RESULT not in files:
                request = _records.read_json(Path(folder) / _records.REQUEST) or {}
                found.append((Path(folder), str(request.get("run_id", ""))))
    return found


def _end_supervisor(directory: Path) -> None:
    """Ask a supervisor that still runs to cancel; kill it if it does not."""
    known = _records.read_json(directory / _records.SUPERVISOR)
    if known is None or known.get("boot_id") != _processes.boot_id():
        return
    pid, start_ticks = int(known["pid"]), int(known["start_ticks"])
    for number, seconds in ((signal.SIGTERM, _CANCEL_SECONDS), (signal.SIGKILL, 5.0)):
        deadline = time.monotonic() + seconds
        if _processes.is_running(pid, start_ticks):
            _processes.send(pid, number)
        while _processes.is_running(pid, start_ticks) and time.monotonic() < deadline:
            _sleep_until_end(pid, 0.1)
