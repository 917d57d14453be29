# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Supervises a run in a small process that outlives the tuner and leaves nothing running.

It is started as `python -I -S _supervise.py` with a pipe as standard input.  The tuner writes one
line of JSON (the job) into the pipe and keeps it open: end of file means that the tuner died.  It
uses only the standard library, and must start within about 20 ms.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False  # typing is slow to import
if TYPE_CHECKING:
    import subprocess
    from typing import IO, Any

if __package__:
    from stripewise.run.launch.agent import _processes
else:  # run as a script, without the package and site-packages
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    import _processes  # type: ignore[import-not-found,no-redef]

OUTPUT_CAP_BYTES = 64 << 20
RESULT_BYTES = 4096
TIMEOUT = "timeout"
LONGEST_POLL_SECONDS = 86400.0
"""Maximum timeout for poll(2), whose 32-bit number of milliseconds covers 24 days."""
STORAGE_EXIT_CODE = 75
"""Exit code of the supervisor if the result could not be stored."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def start(job: dict[str, Any], log: IO[bytes], script: str = __file__) -> subprocess.Popen[bytes]:
    """Start a supervisor and pass it a job; it ends if its standard input is closed.

    Args:
        job: Description of the job; see `Supervisor`.
        log: File for its own messages.
        script: Path of the supervisor's script.

    Raises:
        OSError: The supervisor cannot be started.
    """
    import subprocess  # slow to import, and not needed by the supervisor itself

    supervisor = subprocess.Popen(
        [sys.executable or "python3", "-I", "-S", "-X", "utf8", os.path.abspath(script)],
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=log,
        start_new_session=True,
        cwd="/",
        env={**os.environ, _processes.SUPERVISOR_VARIABLE: str(job["run_id"])},
        umask=0o077,
    )
    assert supervisor.stdin is not None
    supervisor.stdin.write(json.dumps(job).encode("ascii") + b"\n")
    supervisor.stdin.flush()
    return supervisor


class BoundedFile:
    """File for the output of a pipe; beyond the cap only the newer half is kept."""

    def __init__(self, path: str, cap_bytes: int = OUTPUT_CAP_BYTES) -> None:
        self.cap_bytes = cap_bytes
        self.size = 0
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        self.file = os.open(path, flags, 0o600)

    def write(self, data: bytes) -> None:
        """Append data; a full disk loses output, never the run."""
        try:
            if self.size + len(data) > self.cap_bytes:
                self._drop_older_half()
            self.size += os.pwrite(self.file, data, self.size)
        except OSError:
            pass

    def _drop_older_half(self) -> None:
        keep = self.cap_bytes // 2
        source, target = max(self.size - keep, 0), 0
        while block := os.pread(self.file, 1 << 20, source):
            os.pwrite(self.file, block, target)
            source += len(block)
            target += len(block)
        os.ftruncate(self.file, target)
        self.size = target


class Supervisor:
    """One run, from start to result.json.

    Attributes:
        job: Members of the job: program, command, directory, record_directory, environment,
            timeout_seconds, umask, run_id; if given: result (name of the file, result.json) and
            grace_seconds (between SIGTERM and SIGKILL when the run is stopped).
    """

    def __init__(self, job: dict[str, Any], life: int) -> None:
        self.job = job
        self.record = str(job["record_directory"])
        self.life = life
        self.child = 0
        self.started = time.time()
        self.exit_status: int | None = None
        self.ended_at = 0.0
        self.cancel_requested = False
        self.tuner_died = False
        self.outputs: dict[int, BoundedFile] = {}
        self.poller = select.poll()
        self.wakeup = -1

    # -- set-up ------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Become the reaper of all descendants, handle signals, and reserve the result's space."""
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.wakeup, write_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_cancel)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.poller.register(self.wakeup, select.POLLIN)
        self.poller.register(self.life, 0)  # POLLHUP is always reported
        with open(self._path("supervisor.json"), "w", encoding="ascii") as stream:
            json.dump({"pid": os.getpid()}, stream)
        self._reserve_result()

    def _on_cancel(self, _number: int, _frame: object) -> None:
        self.cancel_requested = True

    def _path(self, name: str) -> str:
        return os.path.join(self.record, name)

    def _reserve_result(self) -> None:
        """Allocate space for the result now, so that it is not lost if the run fills the disk."""
        with open(self._path("result.tmp"), "wb") as stream:
            stream.write(b" " * RESULT_BYTES)
            stream.flush()
            os.fsync(stream.fileno())

    # -- the command -------------------------------------------------------------------------

    def start(self) -> str:
        """Start the command in its own session; return why it cannot be executed, or ""."""
        pipes = [self._open_output("stdout"), self._open_output("stderr")]
        error_read, error_write = os.pipe2(os.O_CLOEXEC)
        supervisor_pid = os.getpid()
        self.child = os.fork()
        if self.child == 0:
            self._become_command(pipes, error_write, supervisor_pid)
        os.close(error_write)
        for end in pipes:
            os.close(end)
        with open(error_read, "rb") as stream:
            return stream.read().decode("utf-8", "replace")

    def _open_output(self, name: str) -> int:
        read_end, write_end = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(read_end, False)
        self.outputs[read_end] = BoundedFile(self._path(name))
        self.poller.register(read_end, select.POLLIN)
        return write_end

    def _become_command(self, pipes: list[int], error: int, supervisor_pid: int) -> None:
        try:
            signal.set_wakeup_fd(-1)
            os.setsid()
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
            if os.getppid() != supervisor_pid:
                os._exit(127)
            for target, source in enumerate([os.open(os.devnull, os.O_RDONLY), *pipes]):
                os.dup2(source, target)
            os.chdir(str(self.job["directory"]))
            os.umask(int(self.job["umask"]))
            for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_DFL)
            job = self.job
            os.execve(job["program"], job["command"], job["environment"])
        except BaseException as problem:
            why = getattr(problem, "strerror", None) or repr(problem)
            os.write(error, why.encode("utf-8", "replace"))
        os._exit(127)

    # -- watching ----------------------------------------------------------------------------

    def watch(self, deadline: float | None) -> str:
        """Wait for the end of the command, or return why it must be stopped, or ""."""
        while True:
            self.step(None if deadline is None else deadline - time.monotonic())
            if self.exit_status is not None:
                return ""
            if self.tuner_died:
                return "the tuner ended"
            if self.cancel_requested:
                return "cancelled"
            if deadline is not None and time.monotonic() >= deadline:
                return TIMEOUT

    def step(self, seconds: float | None) -> None:
        """Wait up to `seconds` for an event; drain output, reap, and detect the tuner's death."""
        longest = LONGEST_POLL_SECONDS  # a later end is checked again
        timeout = None if seconds is None else max(0, int(min(seconds, longest) * 1000) + 1)
        for file, _ in self.poller.poll(timeout):
            if file == self.wakeup:
                os.read(self.wakeup, 4096)
            elif file == self.life:
                self.poller.unregister(file)  # it would wake every step from now on
                self.tuner_died = True
            else:
                self._drain(file)
        self.reap()

    def _drain(self, file: int) -> None:
        try:
            data = os.read(file, 1 << 18)
        except BlockingIOError:
            return
        if data:
            self.outputs[file].write(data)
        else:
            self.poller.unregister(file)
            del self.outputs[file]
            os.close(file)

    def reap(self) -> None:
        """Reap every dead child, including adopted ones."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.child:
                self.ended_at = time.monotonic()
                self.exit_status = os.waitstatus_to_exitcode(status)

    # -- ending ------------------------------------------------------------------------------

    def end_processes(self, *, whole_run: bool) -> tuple[int, list[int]]:
        """End the run's processes; return their initial number, and those that did not end."""
        segments: set[str] = set()
        if whole_run:
            segments = _processes.shared_segments(self.left())
            try:
                os.killpg(self.child, signal.SIGTERM)
            except OSError:
                pass
            patience = self.job.get("grace_seconds", _processes.TERM_GRACE_SECONDS)
            _processes.wait_for_end(self.left, float(patience), self._pause)
        first = self.left()
        grace = 0.0 if whole_run else _processes.TERM_GRACE_SECONDS
        stuck = _processes.end_all(self.left, grace_seconds=grace, pause=self._pause)
        _processes.remove_segments(segments, self.started)
        return len(first), stuck

    def left(self) -> list[int]:
        """Return the run's processes: descendants, and strays identified by the run's id."""
        self.reap()
        table = _processes.process_table()
        below = _processes.descendants(os.getpid(), table)
        return below or _processes.strays([str(self.job["run_id"])], table)

    def _pause(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (rest := deadline - time.monotonic()) > 0:
            self.step(rest)

    def drain_rest(self) -> None:
        """Read the remaining output of ended processes from the pipes."""
        for file in tuple(self.outputs):
            for _ in range(64):
                if file in self.outputs:
                    self._drain(file)

    def store(self, result: dict[str, Any]) -> None:
        """Write the result atomically into the space reserved for it."""
        text = json.dumps(result).encode("ascii").ljust(RESULT_BYTES)
        file = os.open(self._path("result.tmp"), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if os.pwrite(file, text, 0) != len(text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._path("result.tmp"))
        os.fsync(file)
        os.close(file)
        name = str(self.job.get("result", "result.json"))
        os.rename(self._path("result.tmp"), self._path(name))
        directory = os.open(self.record, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(directory)
        os.close(directory)

    # -- the whole run ---------------------------------------------------------------------------

    def run(self) -> dict[str, Any]:
        """Run the command and return its result."""
        result = result_of(str(self.job["run_id"]), started=self.started)
        self.step(0)
        if self.tuner_died or self.cancel_requested:  # nothing has begun yet
            return {**result, "reason": "the tuner ended"}
        begun = time.monotonic()
        result["started"] = time.time()  # earlier steps do not count towards its time
        error = self.start()
        timeout = self.job["timeout_seconds"]
        reason = self.watch(begun + float(timeout) if timeout is not None else None)
        stopped_at = time.monotonic()
        leftovers, stuck = self.end_processes(whole_run=bool(reason))
        self.drain_rest()
        result.update(
            exit_code=None if error else self.exit_status,
            elapsed=(stopped_at if reason else self.ended_at) - begun,
            error=error,
            reason=reason,
            leftovers=0 if reason else leftovers,
            place_lost=not os.path.isdir(str(self.job["directory"])),
            unkillable=stuck[:50],
        )
        return result


def result_of(run_id: str, **known: Any) -> dict[str, Any]:
    """Return the content of result.json; unknown values are those of a run that never started.

    `reason` is why it was stopped: TIMEOUT, or why it was cancelled; empty if it ended by itself.
    """
    unknown: dict[str, Any] = {
        "exit_code": None,
        "started": 0.0,
        "elapsed": 0.0,
        "error": "",
        "reason": "",
        "leftovers": 0,
        "unkillable": [],
    }
    return {"run_id": run_id, **unknown, **known}


def main() -> int:
    """Supervise one run; the exit code tells whether its result was stored."""
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        return 0  # the tuner died before the job was complete
    supervisor = Supervisor(json.loads(line), life=0)
    try:
        supervisor.prepare()
        supervisor.store(supervisor.run())
    except OSError as problem:
        sys.stderr.write(f"{problem}\n")
        sys.stderr.flush()
        if supervisor.child:
            supervisor.end_processes(whole_run=supervisor.exit_status is None)
        return STORAGE_EXIT_CODE
    return 0


if __name__ == "__main__":
    os._exit(main())
