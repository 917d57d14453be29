# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads a Darshan log in a worker process, so that a crash of Darshan's library stays there."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from stripewise.core import temporary_directory
from stripewise.core.errors import RuntimeMissingError, StripewiseError, TraceError
from stripewise.core.inputs import DARSHAN_MEMORY_BYTES, DARSHAN_SECONDS
from stripewise.evidence.readers.darshan import _worker

_LONGEST_LINE = 200


@dataclass(frozen=True)
class RawLog:
    """Contents of a log, as numbers and texts.

    Attributes:
        meta: Data from the worker: "job", "exe", "modules", "names", "lustre", "trouble", "unread"
            (modules that are not read, and the number of their records).
        arrays: Under "MODULE" the records of a module, with a member for each counter; rank -1 is
            all ranks together, `file_id` the file of a dataset or variable. Under "MODULE/what"
            the segments of DXT and the bins of the heat map.
        complaints: Messages that Darshan's library printed.
    """

    meta: dict[str, Any]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    complaints: tuple[str, ...] = ()

    @property
    def modules(self) -> dict[str, NDArray[Any]]:
        """Modules that contain counters and have records."""
        return {name: self.arrays[name] for name in _worker.COUNTED if name in self.arrays}


def read_log(path: Path, timeout_seconds: float = DARSHAN_SECONDS) -> RawLog:
    """Read a Darshan log in a process of its own.

    Raises:
        RuntimeMissingError: PyDarshan is not installed.
        TraceError: The log cannot be read.
    """
    if not path.is_file():
        raise TraceError(f"{path}: no such file")
    with _READER.output() as output:
        complaints = _run(path, output, timeout_seconds)
        try:
            with np.load(output, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
                return RawLog(json.loads(str(arrays.pop("meta"))), arrays, complaints)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise TraceError(f"{path}: Darshan's library made no sense of it ({error})") from None


def _run(path: Path, output: Path, timeout_seconds: float) -> tuple[str, ...]:
    errors = output.with_suffix(".errors")
    try:
        code = _READER.ask([os.path.abspath(path), str(output), str(errors)], timeout_seconds)
    except TimeoutError:
        raise _too_large(path, timeout_seconds) from None
    complaints = _lines(errors.read_bytes() if errors.exists() else b"")
    if code:
        raise _failure(path, code, complaints)
    return complaints


class _Reader:
    """The worker process: started for the first log, and again if it has ended."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.owner = 0
        self.directory = Path()
        self.owner_of_directory = 0
        self.stack = contextlib.ExitStack()
        self.inherited: list[contextlib.ExitStack] = []
        self.lock = threading.Lock()

    @contextmanager
    def output(self) -> Iterator[Path]:
        """Yield the path of a new output file in a directory of this process."""
        with self.lock:
            directory = self._directory()
        path = directory / f"{uuid4().hex}.npz"
        try:
            yield path
        finally:
            for one in (path, path.with_suffix(".errors")):
                one.unlink(missing_ok=True)

    def ask(self, request: list[str], timeout_seconds: float) -> int:
        """Send a request to read a log; return the exit code.

        Raises:
            TimeoutError: Reading takes too long.
        """
        with self.lock:
            process = self._running()
            try:
                return _answer(process, request, timeout_seconds)
            except BaseException:
                self.stop()
                raise

    def close(self) -> None:
        """End the process, and remove its directory."""
        self.stop()
        if self.owner_of_directory == os.getpid():
            self.stack.close()

    def stop(self) -> None:
        """End the process, together with the log that it reads."""
        process, self.process = self.process, None
        if process is None or self.owner != os.getpid():
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def _directory(self) -> Path:
        """Return the process's directory; one per log would take as long as reading it."""
        if self.owner_of_directory != os.getpid() or not self.directory.is_dir():
            self.inherited.append(self.stack)  # that of the process which forked remains
            self.stack = contextlib.ExitStack()
            self.directory = self.stack.enter_context(temporary_directory("darshan"))
            self.owner_of_directory = os.getpid()
        return self.directory

    def _running(self) -> subprocess.Popen[bytes]:
        process = self.process
        if process is None or process.poll() is not None or self.owner != os.getpid():
            process = subprocess.Popen(
                [
                    *(sys.executable, "-P", _worker.__file__),
                    *(str(DARSHAN_MEMORY_BYTES), str(DARSHAN_SECONDS)),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,
            )
            self.process, self.owner = process, os.getpid()
        return process


_READER = _Reader()
atexit.register(_READER.close)


def _answer(process: subprocess.Popen[bytes], request: list[str], timeout_seconds: float) -> int:
    """Return the exit code of the fork that read a log, or of the worker if it has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
    ready, _, _ = select.select([process.stdout], [], [], timeout_seconds)
    if not ready:
        raise TimeoutError
    line = process.stdout.readline()
    return int(line) if line else process.wait()


def _environment() -> dict[str, str]:
    """Return the worker's environment: nothing is preloaded, no threads that take memory."""
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    return {**environment, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def _lines(stderr: bytes) -> tuple[str, ...]:
    lines = stderr.decode("utf-8", "replace").splitlines()
    return tuple(line.strip()[:_LONGEST_LINE] for line in lines if line.strip())


def _failure(path: Path, code: int, complaints: tuple[str, ...]) -> StripewiseError:
    if code == _worker.MISSING:
        return RuntimeMissingError(
            f"{path}: Darshan logs are read by PyDarshan, which is missing;"
            " install it: pip install 'stripewise[darshan]'"
        )
    if code in (_worker.TOO_LARGE, -signal.SIGXCPU, -signal.SIGKILL):
        return _too_large(path, DARSHAN_SECONDS)
    message = next((line for line in complaints if "rror" in line), "")
    message = f": {message}" if message else ""
    if code == _worker.UNREADABLE:
        return TraceError(f"{path}: no Darshan log, or one that PyDarshan cannot read{message}")
    reason = f"was killed by signal {-code}" if code < 0 else f"failed with {code}"
    return TraceError(f"{path}: damaged Darshan log (the library {reason}{message})")


def _too_large(path: Path, seconds: float) -> TraceError:
    return TraceError(
        f"{path}: cannot be read within {DARSHAN_MEMORY_BYTES >> 30} GiB and {seconds:g} s, the"
        " budget of a Darshan log: it is damaged, or its DXT part is too large"
    )
