# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the sources, and finds which of them reads a path."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from stripewise.core.errors import TraceError
from stripewise.core.inputs import open_input
from stripewise.evidence.readers._base import Source, head_of
from stripewise.evidence.readers._mpiio_stats import MpiioStatsSource
from stripewise.evidence.readers._native import NativeSource
from stripewise.evidence.readers.darshan._read import DarshanSource
from stripewise.evidence.readers.recorder._hdf5_read import Hdf5RecorderSource
from stripewise.evidence.readers.recorder._read import RecorderSource
from stripewise.evidence.trace import Evidence

SOURCES: tuple[Source, ...] = (
    NativeSource(),
    DarshanSource(),
    RecorderSource(),
    Hdf5RecorderSource(),
    MpiioStatsSource(),
)


_REMEDY = "`stripewise run --trace -- COMMAND` makes a trace"


def recognise(path: Path) -> Source:
    """Return the source that reads a path.

    Raises:
        TraceError: The path does not exist, or no source reads it.
    """
    _check_readable(path)
    for source in SOURCES:
        if source.recognises(path):
            return source
    what = "; ".join(source.summary for source in SOURCES)
    raise TraceError(f"{path}: {_found(path)}; what can be read is {what}; {_REMEDY}")


_HEAD_BYTES = 4096
_NOT_READ = (
    (
        re.compile(r"^# darshan log version:", re.MULTILINE),
        "text that darshan-parser printed, which is not read: give the log itself",
    ),
    (
        re.compile(r"^(?:\[pid +\d+\] |\d+ +)?(?:[\d:.]+ )?execve\(\"", re.MULTILINE),
        "output of strace, which is not read: trace the program itself",
    ),
)
"""Looks of texts that are known and not read, and what to do instead."""


def _check_readable(path: Path) -> None:
    try:
        _try(path)
    except PermissionError as error:
        raise TraceError(
            f"cannot read {path}: {error.strerror}; traces are for their owner alone: ask for a "
            "copy, or chmod"
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TraceError(
            f"cannot read {path}: {reason}; give a trace or a log of a run; {_REMEDY}"
        ) from error


def _try(path: Path) -> None:
    """Open a file or directory: access(2) ignores the capabilities by which a service reads."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        os.scandir(path).close()
        os.stat(os.path.join(path, os.curdir))
    elif stat.S_ISREG(mode):
        open_input(path).close()


def _found(path: Path) -> str:
    """Describe what the path is instead of a trace."""
    if not path.is_dir():
        head = head_of(path, _HEAD_BYTES).decode("utf-8", "replace")
        return next((text for look, text in _NOT_READ if look.search(head)), "not recognised")
    return "nothing in this directory is recognised" if any(path.iterdir()) else "empty directory"


def read_evidence(path: Path | Sequence[Path]) -> Evidence:
    """Read everything that a source contains about one run.

    Args:
        path: A trace, log or profile of any recognised kind; several paths if the run is spread
            over them (containers of several nodes).

    Raises:
        TraceError: It cannot be read, is not recognised, or contains more than one run.
        ContainerError: A container has another version.
    """
    paths = [Path(path)] if isinstance(path, str | os.PathLike) else [Path(one) for one in path]
    if not paths:
        raise TraceError("nothing to read: name a trace, a log or a directory of containers")
    found = {id(source): source for source in map(recognise, paths)}
    if len(found) > 1:
        kinds = " and ".join(source.summary for source in found.values())
        raise TraceError(f"the paths are of different kinds ({kinds}): name one run")
    (source,) = found.values()
    return source.read_several(paths)
