# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Run the worker and take in what it found; a crash of Darshan's library stays in there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.errors import RuntimeMissingError, StripewiseError, TraceError
from stripewise.inputs import DARSHAN_MEMORY_BYTES, DARSHAN_SECONDS
from stripewise.owned import temporary_directory
from stripewise.readers.sources._darshan import _worker

_LONGEST_LINE = 200


@dataclass(frozen=True)
class RawLog:
    """What a log holds, as numbers and texts.

    Attributes:
        meta: Of the worker: "job", "exe", "modules", "names", "lustre", "trouble".
        arrays: By "MODULE" its records, a member for each counter; rank -1 is all ranks together,
            `file_id` the file that a dataset or variable lies in.  By "MODULE/what" the segments
            of DXT and the bins of the heat map.
        complaints: What Darshan's library printed.
    """

    meta: dict[str, Any]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    complaints: tuple[str, ...] = ()

    @property
    def modules(self) -> dict[str, NDArray[Any]]:
        """Those that count and have records."""
        return {name: self.arrays[name] for name in _worker.COUNTED if name in self.arrays}


def read_log(path: Path, timeout_seconds: float = DARSHAN_SECONDS) -> RawLog:
    """Read a Darshan log in a process of its own.

    Raises:
        RuntimeMissingError: PyDarshan is not installed.
        TraceError: The log cannot be read.
    """
    if not path.is_file():
        raise TraceError(f"{path}: no such file")
    with temporary_directory("darshan") as scratch:
        output = scratch / "log.npz"
        complaints = _run(path, output, timeout_seconds)
        try:
            with np.load(output, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
                return RawLog(json.loads(str(arrays.pop("meta"))), arrays, complaints)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise TraceError(f"{path}: Darshan's library made no sense of it ({error})") from None


def _run(path: Path, output: Path, timeout_seconds: float) -> tuple[str, ...]:
    limits = (str(DARSHAN_MEMORY_BYTES), str(DARSHAN_SECONDS))
    command = [sys.executable, "-P", _worker.__file__, os.path.abspath(path), str(output), *limits]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=_environment(),
            timeout=timeout_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _too_large(path, timeout_seconds) from None
    complaints = _lines(done.stderr)
    if done.returncode:
        raise _failure(path, done.returncode, complaints)
    return complaints


def _environment() -> dict[str, str]:
    """Of the worker: nothing is preloaded, and no threads are started that take memory."""
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
    said = next((line for line in complaints if "rror" in line), "")
    said = f": {said}" if said else ""
    if code == _worker.UNREADABLE:
        return TraceError(f"{path}: no Darshan log, or one that PyDarshan cannot read{said}")
    reason = f"was killed by signal {-code}" if code < 0 else f"failed with {code}"
    return TraceError(f"{path}: damaged Darshan log (the library {reason}{said})")


def _too_large(path: Path, seconds: float) -> TraceError:
    return TraceError(
        f"{path}: cannot be read within {DARSHAN_MEMORY_BYTES >> 30} GiB and {seconds:g} s, the"
        " budget of a Darshan log: it is damaged, or its DXT part is too large"
    )
