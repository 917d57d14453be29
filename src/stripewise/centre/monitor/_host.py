# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads files and runs commands of a host, within limits of size and time.

All access to the host is here; parsers take text. Tests use a `Host` of their own.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import logging
import os
import selectors
import shutil
import signal
import stat
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

TEXT_BYTES = 16 << 20
"""Maximum size of a text that is read at once; larger ones are read in pieces."""


class HostError(Exception):
    """A file or the output of a command could not be read.

    Attributes:
        reason: "missing", "denied", "slow", "malformed" or "error"; see `Round.reason`.
    """

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class Host(ABC):
    """A host, as collectors access it."""

    @abstractmethod
    def text(self, path: str) -> str:
        """Return the text of a file, at most `TEXT_BYTES`; invalid UTF-8 becomes U+FFFD.

        Raises:
            HostError: The file cannot be read, or is too large.
        """

    @abstractmethod
    def names(self, pattern: str) -> list[str]:
        """Return the paths that a glob pattern matches, sorted; [] if there are none."""

    @abstractmethod
    def pieces(
        self, words: Sequence[str], timeout_seconds: float = 10.0, given: bytes = b""
    ) -> Iterator[bytes]:
        """Run a command without a shell and return its output in pieces.

        Args:
            words: The command and its arguments.
            timeout_seconds: Time after which it is killed.
            given: Text for its standard input, at most a few KiB.

        Raises:
            HostError: There is no such command, or it took too long and was killed. If the command
                failed, the error is raised after all its output has been returned.
        """

    def output(
        self, words: Sequence[str], timeout_seconds: float = 10.0, given: bytes = b""
    ) -> str:
        """Return the whole output of a command, at most `TEXT_BYTES`.

        Raises:
            HostError: As for `pieces`, or if the output is too large.
        """
        found = bytearray()
        for piece in self.pieces(words, timeout_seconds, given):
            found += piece
            if len(found) > TEXT_BYTES:
                raise HostError("malformed", f"{words[0]}: more than {TEXT_BYTES >> 20} MiB")
        return found.decode("utf-8", "replace")


# The host on which the agent runs.

_log = logging.getLogger("stripewise.centre.monitor.agent")
_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ENXIO)
_REFUSED = (errno.EACCES, errno.EPERM)
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class LocalHost(Host):
    """Files and commands of this host.

    It is safe to use from several threads.

    Attributes:
        abandoned: Total number of commands that were killed and did not end.
    """

    def __init__(self) -> None:
        self.abandoned = 0
        self._lock = threading.Lock()
        self._running: set[HostCommand] = set()
        self._hanging: dict[str, HostCommand] = {}
        self._is_closed = False

    def text(self, path: str) -> str:
        """See Host; only regular files are read, and those of /proc and /sys count as such."""
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):  # opening a device may have effects
                raise HostError("malformed", f"{path} is not a regular file")
            data = _read(path)
        except OSError as error:
            raise HostError(_reason(error), f"{path}: {error.strerror}") from error
        if len(data) > TEXT_BYTES:
            raise HostError("malformed", f"{path}: more than {TEXT_BYTES >> 20} MiB")
        return data.decode("utf-8", "replace")

    def names(self, pattern: str) -> list[str]:
        """See Host."""
        return sorted(glob.glob(pattern))

    def pieces(
        self, words: Sequence[str], timeout_seconds: float = 10.0, given: bytes = b""
    ) -> Iterator[bytes]:
        """See Host; `given` is the text that the command reads from its standard input."""
        full = found_words(words)
        self._refuse(full[0])
        command = HostCommand(full, timeout_seconds, given)
        with self._lock:
            self._running.add(command)
            if self._is_closed:  # closed while the command was started
                command.kill()
        try:
            yield from command.pieces()
        finally:
            self._end(full[0], command)

    def _end(self, program: str, command: HostCommand) -> None:
        is_gone = command.end()
        with self._lock:
            self._running.discard(command)
            if is_gone:
                return
            self._hanging[program] = command
            self.abandoned += 1
        number = command.process.pid
        _log.warning(
            "%s: process %d was killed but does not end: it is abandoned", program, number
        )

    def _refuse(self, program: str) -> None:
        """Refuse to start a command while an earlier one hangs in the kernel."""
        with self._lock:
            if self._is_closed:
                raise HostError("error", f"{program} is not started: the agent ends")
            earlier = self._hanging.get(program)
            if earlier is not None and earlier.process.poll() is None:
                raise HostError(
                    "slow", f"{program}: process {earlier.process.pid} was killed and does not end"
                )
            self._hanging.pop(program, None)

    def close(self) -> None:
        """Kill the commands that run, and start no new ones."""
        with self._lock:
            self._is_closed = True
            for command in self._running:
                command.kill()


def _read(path: str) -> bytes:
    number = os.open(path, _FLAGS)
    with open(number, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise HostError("malformed", f"{path} is not a regular file")
        found = bytearray()
        while len(found) <= TEXT_BYTES:
            part = file.read(1 << 16)
            if not part:
                break
            found += part
        return bytes(found)


def _reason(error: OSError) -> str:
    if error.errno in _ABSENT:
        return "missing"
    return "denied" if error.errno in _REFUSED else "error"


# One command: its output in pieces, with time limits, and nothing left behind.

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_READ_BYTES = 96 << 10
"""Less than the size that malloc maps anew each time, so that the memory is reused."""
_PIPE_BYTES = 1 << 20
GRACE_SECONDS = 2.0
"""Time for a killed process to end; one in state D (uninterruptible) may take longer."""
_MOST_ERROR_BYTES = 4096
_LOOK = os.WEXITED | os.WNOHANG | os.WNOWAIT
_DENIED = ("permission denied", "operation not permitted")


def found_words(words: Sequence[str]) -> list[str]:
    """Return a command with its program as an absolute path.

    Raises:
        HostError: There is no such program.
    """
    program = shutil.which(words[0], path=PATH)
    if program is None:
        where = "" if "/" in words[0] else f" in {PATH}"
        raise HostError("missing", f"there is no program {words[0]}{where}: give its path")
    return [program, *words[1:]]


def environment(program: str) -> Mapping[str, str]:
    """Return the environment of a command: a fixed path with its own directory, and English."""
    own = os.path.dirname(program)
    path = PATH if own in PATH.split(":") else f"{PATH}:{own}"
    return {"PATH": path, "LC_ALL": "C", "HOME": "/"}


class HostCommand:
    """One run of a command, in a process group of its own.

    Args:
        words: The command; the first word is an absolute path.
        timeout_seconds: Total time spent waiting for it. The time that the reader takes in between
            does not count, because the command is blocked then.
        given: Text for its standard input.

    Raises:
        HostError: The command cannot be started.
    """

    def __init__(self, words: Sequence[str], timeout_seconds: float, given: bytes = b"") -> None:
        self.name = " ".join(words[:2])
        self._left_seconds = timeout_seconds
        self._timeout_seconds = timeout_seconds
        self._errors = bytearray()
        try:
            with contextlib.ExitStack() as opened:
                source = opened.enter_context(_input(given)) if given else subprocess.DEVNULL
                self.process = subprocess.Popen(
                    list(words), stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    bufsize=0, env=dict(environment(words[0])), cwd="/", start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            reason = "denied" if isinstance(error, PermissionError) else "error"
            raise HostError(reason, f"{words[0]} does not start: {error.strerror}") from error
        assert self.process.stdout is not None
        with contextlib.suppress(OSError):  # only for speed; it fails beyond a user's limit
            fcntl.fcntl(self.process.stdout, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def pieces(self) -> Iterator[bytes]:
        """Yield the output as it arrives, at most 96 KiB at a time.

        Raises:
            HostError: The command failed or took too long.
        """
        yield from self._parts()
        self._check_end()

    def _parts(self) -> Iterator[bytes]:
        output, errors = self.process.stdout, self.process.stderr
        assert output is not None
        assert errors is not None
        with selectors.DefaultSelector() as ready:
            ready.register(output, selectors.EVENT_READ)
            ready.register(errors, selectors.EVENT_READ)
            while ready.get_map():
                began = time.monotonic()
                keys = self._wait(ready)
                found = [(key, os.read(key.fd, _READ_BYTES)) for key in keys]
                self._left_seconds -= time.monotonic() - began
                for key, part in found:
                    if not part:
                        ready.unregister(key.fileobj)
                    elif key.fileobj is output:
                        yield part
                    else:
                        self._errors += part[: _MOST_ERROR_BYTES - len(self._errors)]

    def _wait(self, ready: selectors.BaseSelector) -> list[selectors.SelectorKey]:
        """Wait for output; a command whose output never ends has a time limit as well."""
        keys = [key for key, _ in ready.select(max(0.0, self._left_seconds))]
        if not keys or self._left_seconds <= 0:
            raise self._slow()
        return keys

    def _check_end(self) -> None:
        if not self._has_ended(max(0.1, self._left_seconds)):
            raise self._slow()
        self.kill()  # while its process id is still its own
        code = self.process.wait()
        if code == 0:
            return
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        said = f": {lines[0]}" if lines else ""
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        is_denied = any(one in said.lower() for one in _DENIED)
        raise HostError("denied" if is_denied else "error", f"{self.name}: {how}{said}")

    def _has_ended(self, seconds: float) -> bool:
        """Wait for the end without reaping the process, so that its process id is not reused."""
        until = time.monotonic() + seconds
        pause_seconds = 0.0005
        while os.waitid(os.P_PID, self.process.pid, _LOOK) is None:
            if time.monotonic() > until:
                return False
            time.sleep(pause_seconds)
            pause_seconds = min(2 * pause_seconds, 0.05)
        return True

    def _slow(self) -> HostError:
        return HostError("slow", f"{self.name}: no end after {self._timeout_seconds:g} s; killed")

    def end(self) -> bool:
        """Kill whatever of it still runs, and return whether it has ended."""
        self.kill()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE_SECONDS)
        return self.process.returncode is not None

    def kill(self) -> None:
        """Kill its process group with all that it left there; do nothing once it is reaped."""
        if self.process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)


def _input(given: bytes) -> contextlib.AbstractContextManager[int]:
    """Return a file in memory with the standard input of a command."""

    @contextlib.contextmanager
    def opened() -> Iterator[int]:
        number = os.memfd_create("input", os.MFD_CLOEXEC)
        try:
            os.write(number, given)
            os.lseek(number, 0, os.SEEK_SET)
            yield number
        finally:
            os.close(number)

    return opened()
