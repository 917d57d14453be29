# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the costs of requests on a file system, with the calls that programs make.

Each cost is measured in batches of calls, so that its spread is known. The overhead of Python for
a call (0.1 to 0.3 us) is included in the figures of small requests.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from stripewise.core import MIB, Exchange, Interval, StorageCosts, interval_of

BATCHES = 9
_BATCH_BYTES = 8 * MIB
_MOST_CALLS = 8000
_FILES = 60
_SYNCS = 5
SIZES = (16, 256, 4 << 10, 64 << 10, MIB)
SYNC_SIZES = (4 << 10, MIB, 16 * MIB)
PIECES = (64, 1 << 10, 16 << 10)
_STEPS = 5
_EXCHANGED_BYTES = 4 * MIB
_TIMEOUT_SECONDS = 60
_LIMIT_SECONDS = 120.0
"""Seconds after which no further stack is measured."""


@dataclass(frozen=True)
class MpiStack:
    """An MPI library with one of its implementations of MPI-IO.

    Attributes:
        name: Name of the stack.
        words: Command line that starts the kernel on `ranks` ranks.
        collective: Whether the ranks transfer together.
        environment: Environment that chooses the implementation.
    """

    name: str
    words: tuple[str, ...]
    ranks: int
    collective: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)


class _Step(NamedTuple):
    """A step of the kernel: seconds to open and close the file, and per byte of all ranks."""

    operation: str
    opening: float
    a_byte: float


def measure_costs(work: Path, stacks: Sequence[MpiStack] = ()) -> StorageCosts:
    """Measure the costs of requests on the file system of a directory.

    Args:
        work: Empty directory of its own; some 350 MiB are written to it.
        stacks: Stacks whose transfers of interleaved pieces are measured; those whose kernel
            fails, or that exceed two minutes in total, are left out.

    Raises:
        OSError: Nothing can be written there.
    """
    write = {size: interval_of(_requests(work, size, _write)) for size in SIZES}
    read = {size: interval_of(_requests(work, size, _read)) for size in SIZES}
    return StorageCosts(
        host=platform.node(),
        processors=len(os.sched_getaffinity(0)),
        measured=round(time.time()),
        write=write,
        read=read,
        sync={size: interval_of(_syncs(work, size)) for size in SYNC_SIZES},
        calls=_calls(work),
        exchange=tuple(_exchanges(work, stacks)),
    )


def measure_exchanges(work: Path, stacks: Sequence[MpiStack]) -> tuple[Exchange, ...]:
    """Measure transfers of interleaved pieces; for arguments see `measure_costs`."""
    return tuple(_exchanges(work, stacks))


def _exchanges(work: Path, stacks: Sequence[MpiStack]) -> Iterator[Exchange]:
    end = time.monotonic() + _LIMIT_SECONDS
    for stack in stacks:
        found = _exchange(stack, work) if time.monotonic() < end else None
        if found is not None:
            yield found


def _requests(work: Path, size: int, move: Callable[[int, bytes, int], None]) -> Sequence[float]:
    """Return seconds of one request in each batch; the files are new, and remain in the cache."""
    calls = max(1, min(_MOST_CALLS, _BATCH_BYTES // size))
    block = bytes(size)
    found = []
    for batch in range(BATCHES):
        file = os.open(work / f"{size}.{batch}", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            start = time.perf_counter()
            move(file, block, calls)
            found.append((time.perf_counter() - start) / calls)
        finally:
            os.close(file)
    return found


def _write(file: int, block: bytes, calls: int) -> None:
    write = os.write
    for _ in range(calls):
        write(file, block)


def _read(file: int, block: bytes, calls: int) -> None:
    """Read what `_write` left, into memory that is reused."""
    read, places = os.readv, [bytearray(len(block))]
    for _ in range(calls):
        read(file, places)


def _syncs(work: Path, size: int) -> Sequence[float]:
    found = []
    file = os.open(work / f"sync.{size}", os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        for _ in range(_SYNCS):
            for _ in range(max(1, size // MIB)):
                os.write(file, bytes(min(size, MIB)))
            start = time.perf_counter()
            os.fsync(file)
            found.append(time.perf_counter() - start)
    finally:
        os.close(file)
    return found


def _calls(work: Path) -> dict[str, Interval]:
    """Return costs of calls without data, by batches of one call to each of some files."""
    found: dict[str, list[float]] = {name: [] for name in ("create", "open", "stat", "unlink")}
    names = [os.fspath(work / f"call.{number}") for number in range(_FILES)]
    actions: dict[str, Callable[[str], object]] = {
        "create": lambda name: os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600)),
        "open": lambda name: os.close(os.open(name, os.O_RDONLY)),
        "stat": os.stat,
        "unlink": os.unlink,
    }
    for _ in range(BATCHES):
        for name, act in actions.items():
            start = time.perf_counter()
            for file in names:
                act(file)
            found[name].append((time.perf_counter() - start) / _FILES)
    return {name: interval_of(batches) for name, batches in found.items()}


def _exchange(stack: MpiStack, directory: Path) -> Exchange | None:
    """Measure a stack by the benchmark kernel; None if that fails."""
    mode = "collective" if stack.collective else "independent"
    write: dict[int, Interval] = {}
    read: dict[int, Interval] = {}
    every: list[_Step] = []
    for piece in PIECES:
        elements = piece // 8
        rows = _EXCHANGED_BYTES // piece
        options = ["--pattern", "array3d", "--type", "double", "--halo", "0"]
        options += ["--mode", mode, "--op", "write-read", "--steps", str(_STEPS)]
        options += ["--grid", f"1,1,{stack.ranks}", "--size", f"1,{rows},{elements * stack.ranks}"]
        options += ["--file", "exchange.dat", "--json", "-"]
        try:
            steps = _steps([*stack.words, *options], stack.environment, directory)
        except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError):
            return None
        every += steps
        transfers = [[s.a_byte for s in steps if s.operation == op] for op in ("write", "read")]
        if not all(transfers):
            return None
        write[piece], read[piece] = map(interval_of, transfers)
    opening = interval_of([step.opening for step in every])
    return Exchange(stack.name, stack.ranks, stack.collective, opening, write, read)


def _steps(words: Sequence[str], variables: Mapping[str, str], directory: Path) -> list[_Step]:
    """Run the kernel and return the durations of its steps.

    It runs in the directory: ROMIO interprets text before a colon in a path as the kind of a file
    system, even in the name of a directory.

    Raises:
        OSError: The kernel cannot be started.
        SubprocessError: The kernel fails, or takes too long.
        ValueError, LookupError, TypeError: The output is not that of a completed kernel.
    """
    done = subprocess.run(
        words,
        cwd=directory,
        env=os.environ | dict(variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_TIMEOUT_SECONDS,
        check=True,
    )
    found = []
    for step in json.loads(done.stdout)["steps"]:
        phases = step["phases"]
        opening = sum(float(phases[name]["min_seconds"]) for name in ("open", "close"))
        if not step["bytes"] > 0:
            raise ValueError("a step without bytes")
        a_byte = phases["transfer"]["max_seconds"] / step["bytes"]
        found.append(_Step(step["operation"], opening, a_byte))
    return found
