# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The host that the agent runs on."""

from __future__ import annotations

import errno
import glob
import logging
import os
import stat
import threading
from collections.abc import Iterator, Sequence

from stripewise.monitor._command import Command, found_words
from stripewise.monitor._host import TEXT_BYTES, Host, HostError

_log = logging.getLogger("stripewise.monitor")
_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ENXIO)
_REFUSED = (errno.EACCES, errno.EPERM)
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class LocalHost(Host):
    """Files and commands of this host.

    Several threads may use it.

    Attributes:
        abandoned: Commands that were killed and did not end, in all.
    """

    def __init__(self) -> None:
        self.abandoned = 0
        self._lock = threading.Lock()
        self._running: set[Command] = set()
        self._left: dict[str, Command] = {}
        self._is_closed = False

    def text(self, path: str) -> str:
        """See Host: only of regular files, and those of /proc and /sys are such."""
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):  # before a device is opened: that acts
                raise HostError("malformed", f"{path} is no regular file")
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
        """See Host; `given` is what the command reads from its standard input."""
        full = found_words(words)
        self._refuse(full[0])
        command = Command(full, timeout_seconds, given)
        with self._lock:
            self._running.add(command)
            if self._is_closed:  # while it was started
                command.kill()
        try:
            yield from command.pieces()
        finally:
            self._end(full[0], command)

    def _end(self, program: str, command: Command) -> None:
        is_gone = command.end()
        with self._lock:
            self._running.discard(command)
            if is_gone:
                return
            self._left[program] = command
            self.abandoned += 1
        number = command.process.pid
        _log.warning("%s: process %d was killed and does not end: it is left", program, number)

    def _refuse(self, program: str) -> None:
        """Start none while an earlier one hangs in the kernel: they would only pile up."""
        with self._lock:
            if self._is_closed:
                raise HostError("error", f"{program} is not started: the agent ends")
            earlier = self._left.get(program)
            if earlier is not None and earlier.process.poll() is None:
                raise HostError(
                    "slow", f"{program}: process {earlier.process.pid} was killed and does not end"
                )
            self._left.pop(program, None)

    def close(self) -> None:
        """Kill the commands that run, and start no more."""
        with self._lock:
            self._is_closed = True
            for command in self._running:
                command.kill()


def _read(path: str) -> bytes:
    number = os.open(path, _FLAGS)
    with open(number, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise HostError("malformed", f"{path} is no regular file")
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
