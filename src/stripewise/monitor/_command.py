# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One command: its output in pieces, limits of time, and nothing left behind."""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence

from stripewise.monitor._host import HostError

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_READ_BYTES = 96 << 10
"""Less than what malloc maps anew each time: so the memory is that of the piece before."""
_PIPE_BYTES = 1 << 20
GRACE_SECONDS = 2.0
"""For a killed process to end; one in state D (uninterruptible) may not."""
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
    """Return what a command finds: a fixed path, with its own directory, and English."""
    own = os.path.dirname(program)
    path = PATH if own in PATH.split(":") else f"{PATH}:{own}"
    return {"PATH": path, "LC_ALL": "C", "HOME": "/"}


class Command:
    """One run of a command, in a process group of its own.

    Args:
        words: The command; the first is an absolute path.
        timeout_seconds: For all that it is waited for; what the reader does meanwhile is not
            counted, since the command stands still then.
        given: What it reads on its standard input.

    Raises:
        HostError: It cannot be started.
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
        with contextlib.suppress(OSError):  # only for speed; beyond a user's limit it fails
            fcntl.fcntl(self.process.stdout, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def pieces(self) -> Iterator[bytes]:
        """Yield the output as it comes, at most 96 KiB at a time.

        Raises:
            HostError: It failed or took too long.
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
        """Wait for output; one that never ends has its time as well."""
        keys = [key for key, _ in ready.select(max(0.0, self._left_seconds))]
        if not keys or self._left_seconds <= 0:
            raise self._slow()
        return keys

    def _check_end(self) -> None:
        if not self._has_ended(max(0.1, self._left_seconds)):
            raise self._slow()
        self.kill()  # while its number is still its own
        code = self.process.wait()
        if code == 0:
            return
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        said = f": {lines[0]}" if lines else ""
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        is_denied = any(one in said.lower() for one in _DENIED)
        raise HostError("denied" if is_denied else "error", f"{self.name}: {how}{said}")

    def _has_ended(self, seconds: float) -> bool:
        """Wait for the end without collecting the process: until then nobody gets its number."""
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
        """Kill whatever of it still runs, and return whether it is gone."""
        self.kill()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE_SECONDS)
        return self.process.returncode is not None

    def kill(self) -> None:
        """Kill its process group, also what it left behind there; nothing once it is collected."""
        if self.process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)


def _input(given: bytes) -> contextlib.AbstractContextManager[int]:
    """Return a file in memory that holds what a command is to read."""

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
