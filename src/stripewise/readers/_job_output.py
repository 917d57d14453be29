# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What Cray MPICH printed into the output of a run, file by file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from stripewise.inputs import open_input
from stripewise.model import MpiioFile, MpiioOutput, MpiioSide, MpiioTimers, ObservedFile
from stripewise.readers._files import relative_path
from stripewise.readers.sources import parse_mpiio_hints, parse_mpiio_stats, parse_mpiio_timers

MOST_FILES = 16
"""Of one run, the largest are kept."""
_MOST_BYTES = 64 << 20
"""A log that is larger is passed over."""
_HEAD_BYTES = 1 << 16
_VERSION = re.compile(r"CRAY MPICH version[^\r\n]*")
_TABLE = re.compile(rb"MPIIO (?:write|read) (?:access patterns|by phases)|MPIIO hints for ")
_LARGEST = ("independent_ranks", "aggregators")
_LAST = ("stripe_count", "stripe_bytes")
_MEANS = ("average_bytes", "average_gap_bytes")


def read_job_output(
    paths: Iterable[Path], directory: Path, worked_in: Path | None = None
) -> MpiioOutput:
    """Read what Cray MPICH printed; nothing where it printed nothing.

    Args:
        paths: Outputs and logs; those that cannot be read, are no text or are too large are
            passed over.
        directory: Of the run; paths below it are given relative to it.
        worked_in: Where its files were while it ran; None: there.
    """
    version, found = "", dict[str, MpiioFile]()
    for text in filter(None, map(_text, paths)):
        if match := _VERSION.search(text):
            version = version or " ".join(match[0].split())
        for one in _files(text):
            name = _name(one.path, directory, worked_in)
            found[name] = _joined(found.get(name, MpiioFile(name)), one)
    largest = sorted(found.values(), key=lambda file: (-file.total_bytes, file.path))
    return MpiioOutput(version, tuple(largest[:MOST_FILES]))


def prints_of_mpi(path: Path) -> bool:
    """Whether a file is a text in which Cray MPICH printed what it does; False if unreadable."""
    return bool(_TABLE.search(_bytes(path)))


def with_printed(
    files: Sequence[ObservedFile], printed: Sequence[MpiioFile]
) -> tuple[ObservedFile, ...]:
    """Return files with what MPI printed of them where they were not observed themselves.

    These are the hints (striping unit and buffer among them), the number of processes that
    wrote, and the system calls.
    """
    by_path = {one.path: one for one in printed}
    return tuple(_filled(file, by_path.get(file.path)) for file in files)


def _filled(file: ObservedFile, printed: MpiioFile | None) -> ObservedFile:
    if printed is None:
        return file
    write, read = printed.write or MpiioSide(), printed.read or MpiioSide()
    side = printed.write or printed.read or MpiioSide()
    layout = {"striping_unit": side.stripe_bytes, "striping_factor": side.stripe_count}
    known = {name: str(value) for name, value in layout.items() if value}
    writers = file.writers or _processes(write)
    readers = file.readers or _processes(read)
    told = {"writers": writers, "readers": readers}
    return replace(
        file,
        writers=writers,
        readers=readers,
        missing={name: why for name, why in file.missing.items() if not told.get(name)},
        system_writes=file.system_writes or write.system_calls,
        system_write_bytes=file.system_write_bytes or write.total_bytes,
        system_reads=file.system_reads or read.system_calls,
        system_read_bytes=file.system_read_bytes or read.total_bytes,
        reported={**printed.hints, **known, **file.reported},
    )


def _processes(side: MpiioSide) -> int:
    """Return how many processes made system calls: aggregators, or others if these made none."""
    return side.aggregators if side.collective else side.independent_ranks


def _text(path: Path) -> str:
    data = _bytes(path)
    told = _TABLE.search(data) or b"CRAY MPICH version" in data
    return data.decode("utf-8", "surrogateescape") if told else ""


def _bytes(path: Path) -> bytes:
    """Return a text; nothing of what is no text, too large, or cannot be read."""
    try:
        with open_input(path) as file:
            head = file.read(_HEAD_BYTES)
            if b"\0" in head or os.fstat(file.fileno()).st_size > _MOST_BYTES:
                return b""
            return head + file.read(_MOST_BYTES)
    except OSError:
        return b""


def _files(text: str) -> Iterable[MpiioFile]:
    for path, hints in parse_mpiio_hints(text).items():
        yield MpiioFile(path, hints=hints)
    for stats in parse_mpiio_stats(text)[0]:
        yield MpiioFile(stats.path, stats.write, stats.read)
    for timers in parse_mpiio_timers(text):
        yield MpiioFile(timers.path, timers=(timers,))


def _name(path: str, directory: Path, worked_in: Path | None) -> str:
    """Return the name of a file as it is for a run in `directory`."""
    path = os.path.normpath(path)
    if worked_in is not None and os.path.isabs(path):
        path = str(relative_path(path, Path(os.path.normpath(worked_in))))
    return str(relative_path(path, directory)) if os.path.isabs(path) else path


def _joined(one: MpiioFile, other: MpiioFile) -> MpiioFile:
    timers = {(block.direction, block.scale): block for block in one.timers}
    for block in other.timers:
        before = timers.get((block.direction, block.scale))
        if before is None or _total(before) < _total(block):
            timers[block.direction, block.scale] = replace(block, path=one.path)
    return replace(
        one,
        write=_sum(one.write, other.write),
        read=_sum(one.read, other.read),
        timers=tuple(timers.values()),
        hints={**one.hints, **other.hints},
    )


def _total(timers: MpiioTimers) -> float:
    """Return the time of a block in clock ticks; of one in seconds, in these."""
    whole = next((phase for phase in timers.phases if phase.name == "total"), None)
    return ((whole and whole.average) or 0.0) * (timers.ticks_per_unit or 1)


def _sum(one: MpiioSide | None, other: MpiioSide | None) -> MpiioSide | None:
    if one is None or other is None:
        return one or other
    made = {item.name: _both(item.name, one, other) for item in fields(MpiioSide)}
    calls, gaps = made["system_calls"], made["gaps"]
    with_gaps = [side for side in (one, other) if side.gaps]
    known = all(side.average_gap_bytes is not None for side in with_gaps)
    distance = sum((side.gaps or 0) * (side.average_gap_bytes or 0) for side in with_gaps)
    made["average_bytes"] = made["total_bytes"] // calls if calls else None
    made["average_gap_bytes"] = distance // gaps if gaps and known else None
    return MpiioSide(**made)


def _both(name: str, one: MpiioSide, other: MpiioSide) -> Any:
    """Return a member of two sides together."""
    first, second = getattr(one, name), getattr(other, name)
    if name in (*_LAST, *_MEANS):
        return first if second is None else second
    if first is None or second is None:
        return None  # a sum with what is not told is not known
    if name in _LARGEST:
        return max(first, second)
    if name == "active":
        return tuple(a + b for a, b in zip(first, second, strict=True))
    return first + second
