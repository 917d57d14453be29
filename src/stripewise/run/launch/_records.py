# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Manages a run's record: request, result, output, emulated storage, refusals of the guard."""

from __future__ import annotations

import atexit
import json
import os
import re
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stripewise.core import RunStatus, from_json, replace_file, to_json
from stripewise.core.errors import StorageError, StripewiseError, StudyError
from stripewise.run.launch._base import Outcome, RunRequest
from stripewise.run.launch.agent import _agent_files as files
from stripewise.run.launch.agent._supervise import TIMEOUT
from stripewise.run.runtime import Runtime, preload_environment, ranks_of_command
from stripewise.storage.emulation import EmulatedRun, EmulatedStorage, Emulation, EmulationOptions

REQUEST = "request.json"
RESULT = "result.json"
EMULATED = "emulated.json"
SUPERVISOR = "supervisor.json"
CONTAINERS = "containers"
REFUSED = "refused"

_OWNER_ONLY = 0o600
_TAIL_BYTES = 4096


def portable(text: str) -> str:
    """Return a text for any bytes, independent of the locale: UTF-8 with escaped surrogates."""
    return os.fsencode(text).decode("utf-8", "surrogateescape")


def write_request(request: RunRequest) -> None:
    """Create the record directory and write request.json once.

    Raises:
        StudyError: The record directory already contains a run.
        StorageError: The disk is full, read-only, or refuses.
    """
    text = json.dumps(
        {
            "run_id": request.run_id,
            "command": [portable(argument) for argument in request.command],
            "directory": portable(str(request.directory)),
            "settings": dict(request.settings),
            "timeout_seconds": request.timeout_seconds,
            "sync": request.sync,
            "mpi_prints": request.mpi_prints,
            "storage": to_json(request.storage.options) if request.storage else None,
        }
    )
    path = request.record_directory / REQUEST
    try:
        (request.record_directory / CONTAINERS).mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(create(path, os.O_EXCL), "w", encoding="ascii") as stream:
            stream.write(text)
    except FileExistsError:
        raise StudyError(
            f"{request.record_directory} holds a run already; give each run its own directory"
        ) from None
    except OSError as error:
        raise storage_error(error, path) from error


def run_order(
    request: RunRequest,
    program: str,
    command: Sequence[str],
    record: Path,
    limit_seconds: float | None,
) -> dict[str, Any]:
    """Return the order for a supervisor or an agent to run a command, without its environment.

    Args:
        request: The run.
        program: Path of the program that its first word names.
        command: Words of its command.
        record: Absolute path of its record directory.
        limit_seconds: Time limit at which it is stopped.
    """
    mask = os.umask(0o077)
    os.umask(mask)
    return {
        "run_id": request.run_id,
        "program": portable(program),
        "command": [portable(word) for word in command],
        "directory": portable(str(request.directory.absolute())),
        "record_directory": portable(str(record)),
        "timeout_seconds": limit_seconds,
        "umask": mask,
    }


def preloaded(runtime: Runtime, request: RunRequest, base: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with the preloaded library and the paths of the run's record."""
    containers = (request.record_directory / CONTAINERS).absolute()
    containers.mkdir(mode=0o700, parents=True, exist_ok=True)
    return preload_environment(
        runtime,
        directory=containers,
        run_id=request.run_id,
        configuration=request.configuration,
        sync=request.sync and request.storage is None,
        writable=request.writable,
        refused=(request.record_directory / REFUSED).absolute(),
        keep_removed=request.directory if request.keep_removed else None,
        include=(request.directory,),
        capture=request.capture,
        base=base,
    )


def create(path: Path, how: int = os.O_TRUNC) -> int:
    """Open a private file of a record for writing, without following links."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.open(path, flags | how, _OWNER_ONLY)


def read_json(path: Path) -> dict[str, Any] | None:
    """Read a JSON object; return None if it is missing or incomplete."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write_result(directory: Path, result: dict[str, Any]) -> None:
    """Write result.json atomically and durably."""
    folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        replace_file(folder, RESULT, json.dumps(result).encode("ascii"))
        os.fsync(folder)
    finally:
        os.close(folder)


def replace_json(path: Path, data: dict[str, Any]) -> None:
    """Write a private file atomically.

    Raises:
        StorageError: The disk is full, read-only, or refuses.
    """
    try:
        files.replace(str(path), data)
    except OSError as error:
        raise storage_error(error, path) from error


def storage_error(error: OSError, path: Path) -> StorageError:
    """Return an error that says what the disk refused, with the path and the remedy."""
    return StorageError(
        f"cannot write {path}: {error.strerror or error}; "
        "free some space or give a writable --study-dir, then continue with --resume"
    )


def worked_in(record: Path) -> Path | None:
    """Return the directory in which the command of an ended run worked; None for its own."""
    result = read_json(record / RESULT) or {}
    where = str(result.get("directory", ""))
    return Path(os.fsdecode(where.encode("utf-8", "surrogateescape"))) if where else None


def job_of(record: Path) -> int:
    """Return the id of the job in which a run was made; 0 if there was none."""
    number = (read_json(record / RESULT) or {}).get("job_id", 0)
    return number if isinstance(number, int) else 0


def asked_to_print(record: Path) -> bool:
    """Return whether the MPI of a run was configured to print statistics."""
    return (read_json(record / REQUEST) or {}).get("mpi_prints") is True


def outcome(directory: Path, result: dict[str, Any]) -> Outcome:
    """Create the outcome from the content of result.json."""
    status = _status(result)
    containers = sorted((directory / CONTAINERS).glob("*.sw"))
    return Outcome(
        status=status,
        exit_code=result["exit_code"],
        elapsed_seconds=float(result["elapsed"]),
        started_unix_seconds=float(result["started"]),
        containers=tuple(containers),
        message=_message(directory, status, result),
        output="" if status is RunStatus.OK else _last_output(directory),
        place_lost=result.get("place_lost", False),
        stage_in_seconds=result.get("stage_in_seconds"),
        stage_out_seconds=result.get("stage_out_seconds"),
        directory=worked_in(directory),
    )


def _last_output(directory: Path) -> str:
    return "\n".join(_tail(directory / name) for name in ("stdout", "stderr"))


def _status(result: dict[str, Any]) -> RunStatus:
    if result["reason"]:
        return RunStatus.TIMEOUT if result["reason"] == TIMEOUT else RunStatus.CANCELLED
    return RunStatus.OK if result["exit_code"] == 0 else RunStatus.FAILED


def _message(directory: Path, status: RunStatus, result: dict[str, Any]) -> str:
    stuck = result["unkillable"]
    suffix = f"; processes {stuck} are stuck in the kernel and could not be ended" if stuck else ""
    if status is RunStatus.CANCELLED:
        return f"stopped: {result['reason']}{suffix}"
    if status is RunStatus.TIMEOUT:
        return f"stopped after {float(result['elapsed']):.1f} s (its time limit){suffix}"
    if status is RunStatus.FAILED:
        return _failure(directory, result) + suffix
    left = result["leftovers"]
    return f"{left} of its processes outlived the command and were ended{suffix}" if left else ""


def _failure(directory: Path, result: dict[str, Any]) -> str:
    if result["error"]:
        return f"the command could not be executed: {result['error']}"
    last = last_line(directory / "stderr") or last_line(directory / "stdout")
    code = int(result["exit_code"])
    ended = f"exit code {code}" if code >= 0 else f"ended by {_signal_name(-code)}"
    return f"{ended}: {last}" if last else ended


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


_ENDED_TASKS = re.compile(
    r"srun: (Job step aborted|Terminating StepId)"
    r"|srun: error: \S+: tasks? \S+: (Killed|Terminated|Exited)"
    r"|slurmstepd\S*: error: \*\*\* STEP "
)
"""Messages of Slurm about tasks that it ended, which follow the tasks' own output."""


def last_line(path: Path) -> str:
    """Return the last nonempty line of a file; empty if there is none."""
    texts = [line.strip() for line in _tail(path).splitlines() if line.strip(" -=*#\t")]
    lines = [text for text in texts if not _ENDED_TASKS.match(text)] or texts
    return lines[-1][:300] if lines else ""


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _TAIL_BYTES))
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


# Reports of the guard of the user's files on a run (native/runtime/hooks/refused.h).

_ESCAPES = {
    "s": "is linked statically",
    "u": "runs as another user or group",
    "p": "was started without the environment of the run",
    "x": "entered a sandbox (seccomp or no_new_privs)",
}


@dataclass(frozen=True)
class Guarded:
    """Changes that a run attempted outside its directory.

    Attributes:
        changed: Existing files and directories that the guard prevented it from changing.
        made: Paths that the guard prevented it from creating.
        escaped: Programs that it started without the guard, with the reason.
    """

    changed: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    escaped: tuple[tuple[str, str], ...] = ()

    @property
    def refused(self) -> tuple[str, ...]:
        """All paths that were refused."""
        return (*self.changed, *self.made)


def read_guarded(record: Path) -> Guarded:
    """Return the guard's report on the run with this record, without a truncated last word."""
    try:
        data = (record / REFUSED).read_bytes()
    except OSError:
        return Guarded()
    found: dict[str, dict[str, None]] = {}
    for entry in data.split(b"\0")[:-1]:
        found.setdefault(entry[:1].decode("latin-1"), {})[os.fsdecode(entry[1:])] = None
    return Guarded(
        changed=tuple(found.get("c", ())),
        made=tuple(found.get("n", ())),
        escaped=tuple(
            (path, why) for kind, why in _ESCAPES.items() for path in found.get(kind, ())
        ),
    )


# Clocks of runs on emulated storage, from the start of a run until its record contains them.

_RUNNING: dict[str, Emulation] = {}
"""Clocks of the runs that this process started, by run id."""
_GONE = "its emulated storage disappeared with the tuner that started it"


def begin_emulation(request: RunRequest, environment: Mapping[str, str]) -> dict[str, str]:
    """Create the clocks of a run; return its environment variables, none without emulation.

    Raises:
        StripewiseError: Its directory cannot be used for emulated storage.
    """
    if request.storage is None:
        return {}
    ranks = ranks_of_command(request.command) or 0
    made = Emulation.begin(request.storage, request.directory, environment, request.run_id, ranks)
    _RUNNING[request.run_id] = made
    return made.variables


def end_emulation(run_id: str) -> None:
    """Remove the clocks of a run, if there are any."""
    made = _RUNNING.pop(run_id, None)
    if made is not None:
        made.end()


def with_emulation(outcome: Outcome, directory: Path, run_id: str) -> Outcome:
    """Return an ended run's outcome with figures of its emulated storage, and record these.

    A run whose clocks are lost counts as never run.
    """
    request = read_json(directory / REQUEST) or {}
    if not request.get("storage"):
        return outcome
    seen = _recorded(directory) or _taken(directory, run_id, request)
    if seen is None and outcome.status is RunStatus.OK:
        return replace(outcome, status=RunStatus.CANCELLED, message=_GONE)
    return replace(outcome, emulated=seen)


def _recorded(directory: Path) -> EmulatedRun | None:
    data = read_json(directory / EMULATED)
    if data is None:
        return None
    try:
        return from_json(EmulatedRun, data)
    except ValueError:
        return None


def _taken(directory: Path, run_id: str, request: Mapping[str, object]) -> EmulatedRun | None:
    """Read and remove the clocks of a run, also those of another process that is dead."""
    made = _RUNNING.get(run_id) or _find_again(request)
    if made is None:
        return None
    _RUNNING[run_id] = made
    seen = made.read()
    try:
        with open(create(directory / EMULATED), "w", encoding="ascii") as stream:
            json.dump(to_json(seen), stream)
    except OSError as error:
        raise storage_error(error, directory / EMULATED) from error
    end_emulation(run_id)
    return seen


def _find_again(request: Mapping[str, object]) -> Emulation | None:
    try:
        options = from_json(EmulationOptions, request["storage"])
        return Emulation.find_again(EmulatedStorage.find(options), Path(str(request["directory"])))
    except (ValueError, StripewiseError):
        return None


def _end_all() -> None:
    with suppress(OSError):
        for run_id in list(_RUNNING):
            end_emulation(run_id)


def _forget_in_child() -> None:
    """Forget the clocks in a forked process, which neither owns nor locks them."""
    for made in _RUNNING.values():
        made.forget()
    _RUNNING.clear()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_forget_in_child)
