# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of capture share: scripts of calls, and the trace read back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from native_hosts import Host, Programs

from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import Trace, expand

Call = tuple[str, int, int]
"""Letter of programs/plays.c, offset, bytes."""

NAMES = {
    "w": "pwrite",
    "r": "pread",
    "W": "write",
    "s": "lseek",
    "f": "fsync",
    "t": "ftruncate",
}


def trace_of(host: Host) -> Trace:
    """What was recorded until now."""
    trace = read_evidence(host.containers).trace
    assert trace is not None
    return trace


def write_script(path: Path, calls: Iterable[Call]) -> Path:
    """A script for programs/plays.c."""
    path.write_text("".join(f"{what} {first} {size}\n" for what, first, size in calls))
    return path


def play(
    host: Host, programs: Programs, *scripts: Sequence[Call], capture: str = "fold", **more: str
) -> Trace:
    """Make the calls of each script in a thread of its own, and read the trace."""
    paths = [
        write_script(host.containers.parent / f"script-{i}", calls)
        for i, calls in enumerate(scripts)
    ]
    host.check(
        programs.executable("plays"),
        *paths,
        STRIPEWISE_CAPTURE=capture,
        STRIPEWISE_EXCLUDE=":".join(map(str, paths)),
        **more,
    )
    return trace_of(host)


def rows_named(trace: Trace, name: str) -> Any:
    """Rows of one function."""
    if name not in trace.names:
        return trace.rows[:0]
    return trace.rows[trace.rows["name"] == list(trace.names).index(name)]


def rows_of_file(trace: Trace, name: str) -> Any:
    """Rows of the files with this base name."""
    files = [i for i, path in enumerate(trace.paths) if os.path.basename(_text(path)) == name]
    chosen = [row for row in trace.rows if row["file"] in files]
    return (
        trace.rows[:0] if not chosen else trace.rows[[row in files for row in trace.rows["file"]]]
    )


def _text(path: Any) -> str:
    return os.fsdecode(path) if isinstance(path, bytes) else str(path)


def calls_of(trace: Trace, rows: Any | None = None) -> list[tuple[int, str, int, int]]:
    """(sequence, function, offset, bytes) of every call, in the order of the threads' calls."""
    calls = expand(trace, rows)
    return [
        (
            int(call["sequence"]),
            trace.names[int(call["name"])],
            int(call["offset"]),
            int(call["bytes"]),
        )
        for call in calls
    ]
