# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The description of this machine's own storage, measured in about a minute."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median, stdev

from stripewise.errors import StorageError
from stripewise.machines._costs import MIB
from stripewise.machines._description import Storage
from stripewise.machines._direct import (
    LARGE,
    METADATA,
    SMALL,
    Effort,
    Samples,
    measure_rounds,
)
from stripewise.machines._figures import SPEC_OF, Evidence, Figure
from stripewise.machines._local import described
from stripewise.machines._mount import find_mount
from stripewise.machines._requests import Stack, measure_costs
from stripewise.machines._units import rounded
from stripewise.owned import temporary_directory
from stripewise.text import printable

_STACKS = {"mpich": "romio", "openmpi": "ompio", "openmpi-romio": "romio"}
"""What simulations call the MPI-IO of an MPI."""
_LEAST_FREE = 512 * MIB
_MOST_PROCESSES = 8
_LEAST_SECONDS = 1e-9


def probe_storage(
    directory: Path, stacks: Sequence[Stack] = (), effort: Effort | None = None
) -> Storage:
    """Measure the file system of a directory, in a directory of its own that is removed again.

    Args:
        directory: On the file system in question; it needs 512 MiB of free space.
        stacks: Whose transfers of interleaved pieces are measured; one whose kernel fails is
            left out.
        effort: How long and how much is transferred.

    Raises:
        StorageError: Nothing can be written there, or there is too little space.
    """
    processors = len(os.sched_getaffinity(0))
    try:
        free = shutil.disk_usage(directory).free
        if free < _LEAST_FREE:
            raise StorageError(
                f"{directory} has {free // MIB} MiB free, and a probe needs {_LEAST_FREE // MIB} "
                "MiB: make room, or name a directory on another file system"
            )
        with temporary_directory("probe", directory) as work:
            processes = min(max(2, processors), _MOST_PROCESSES)
            samples = measure_rounds(work, processes, effort or Effort())
            costs = measure_costs(work, stacks)
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"cannot measure {directory}: {error.strerror or error}") from error
    mount = find_mount(directory)
    base = described(mount)
    title = printable(f"{mount.kind or 'storage'} on {mount.point} of {platform.node()}")
    figures = dict(_figures(samples, processors))
    stack = next((_STACKS[one.stack] for one in costs.exchange if one.stack in _STACKS), "")
    return Storage(base.name, title, base.kind, stack, figures, mount=mount, costs=costs)


def _figures(samples: Samples, processors: int) -> Iterator[tuple[str, Figure]]:
    said = "direct requests" if samples.direct else "no O_DIRECT: through the cache, with fsync"
    here = "stripewise machine probe"
    yield "machine.nodes", Figure(1.0, Evidence.MEASURED, "this machine")
    yield "machine.ranks_per_node", Figure(float(processors), Evidence.MEASURED, "this machine")
    yield (
        "servers.targets",
        Figure(1.0, Evidence.ASSUMED, "the file system is taken as one target"),
    )
    for name, values, what in _measured(samples):
        number = f"; {len(values)} samples" if len(values) > 1 else ""
        yield name, _figure(name, values, f"{here}: {what}; {said}{number}")


def _measured(samples: Samples) -> Iterator[tuple[str, Sequence[float], str]]:
    """Yield figures with their values in each round, in base units."""
    number = samples.processes
    several = f"{number} processes, requests of {LARGE // MIB} MiB"
    for way in ("write", "read"):
        alone = _streams(samples, way)
        own, shared = (samples.rate(way, number, LARGE, one) for one in (False, True))
        yield f"client.process_{way}", alone, "one process, what larger requests take longer"
        yield f"client.file_{way}", shared, f"{several}, one file"
        yield f"client.node_{way}", own, f"{several}, a file each"
        best = own if median(own) >= median(alone) else alone
        yield f"servers.target_{way}", best, "the most that one or several processes reached"
    target, client = _request_times(samples)
    yield "servers.target_request", target, f"{number} processes, requests of {SMALL // 1024} KiB"
    yield "client.request", client, "one process, the same, less the target's time"
    for call in METADATA:
        every = samples.calls[call, number]
        yield f"metadata.{call}", every, f"{number} processes, from one call to the next"
    yield "metadata.latency", _latencies(samples), "one process, create and open, less the above"
    writes = samples.rate("write", number, LARGE)
    if len(writes) > 1:
        what = f"{several}, a file each, {len(writes)} rounds"
        yield "noise.cv", [min(1.0, stdev(writes) / fmean(writes))], what


def _streams(samples: Samples, way: str) -> list[float]:
    """Return what one process moves a second beyond its time for each request."""
    pairs = zip(samples.seconds(way, 1, LARGE), samples.seconds(way, 1, SMALL), strict=True)
    return [(LARGE - SMALL) / max(large - small, large / 2) for large, small in pairs]


def _request_times(samples: Samples) -> tuple[list[float], list[float]]:
    """Return the time of a request at the target, and of the process beside it."""
    target, client = [], []
    for way in ("write", "read"):
        rate = median(samples.rate(way, samples.processes, LARGE))
        together = samples.seconds(way, samples.processes, SMALL)
        alone = samples.seconds(way, 1, SMALL)
        for every, one in zip(together, alone, strict=True):
            target.append(max(_LEAST_SECONDS, every - SMALL / rate))
            client.append(max(0.0, one - every))
    return target, client


def _latencies(samples: Samples) -> list[float]:
    return [
        max(0.0, alone - together)
        for call in ("create", "open")
        for alone, together in zip(
            samples.calls[call, 1], samples.calls[call, samples.processes], strict=True
        )
    ]


def _figure(name: str, values: Sequence[float], source: str) -> Figure:
    """Return the median of the rounds, and their ends as its interval."""
    low, middle, high = (
        rounded(value, SPEC_OF[name].dimension)
        for value in (min(values), median(values), max(values))
    )
    ends = (low, high) if len(values) > 1 else (None, None)
    return Figure(middle, Evidence.MEASURED, source, *ends)
