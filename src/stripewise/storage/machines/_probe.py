# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures this machine's own storage in about a minute, with several processes at once."""

from __future__ import annotations

import json
import mmap
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median, stdev
from types import TracebackType
from typing import Any, NamedTuple

from stripewise.core import MIB, StorageCosts, temporary_directory
from stripewise.core.errors import StorageError
from stripewise.present import printable
from stripewise.storage.machines._description import Storage, find_mount
from stripewise.storage.machines._disturbance import WIDER, Watch, unsteady
from stripewise.storage.machines._figures import SPEC_OF, Figure, FigureOrigin, rounded
from stripewise.storage.machines._find import described
from stripewise.storage.machines._requests import MpiStack, measure_costs, measure_exchanges

_STACKS = {"mpich": "romio", "openmpi": "ompio", "openmpi-romio": "romio"}
"""Names of MPI-IO libraries in simulations, by MPI."""
_LEAST_FREE = 512 * MIB
_MOST_PROCESSES = 8
_LEAST_SECONDS = 1e-9


def probe_storage(
    directory: Path,
    stacks: Sequence[MpiStack] = (),
    effort: Effort | None = None,
    tell: Callable[[str], None] | None = None,
) -> Storage:
    """Measure the file system of a directory, in a temporary directory of its own.

    A measurement that other work disturbs is repeated. If the repetition is disturbed as well, the
    intervals are wider, and the costs say what disturbed them.

    Args:
        directory: Directory on the file system in question; it needs 512 MiB of free space.
        stacks: Stacks whose transfers of interleaved pieces are measured; those whose kernel fails
            are left out.
        effort: Duration and amount of the transfers.
        tell: Receives lines on what is done and how long it takes.

    Raises:
        StorageError: Nothing can be written there, or there is too little space.
    """
    processors = len(os.sched_getaffinity(0))
    effort, tell = effort or Effort(), tell or (lambda _: None)
    try:
        free = shutil.disk_usage(directory).free
        if free < _LEAST_FREE:
            raise StorageError(
                f"{directory} has {free // MIB} MiB free, and a probe needs {_LEAST_FREE // MIB} "
                "MiB: free some space, or name a directory on another file system"
            )
        samples, costs, reasons = _repeated(directory, processors, effort, tell)
        if stacks:
            costs, more = _with_exchanges(directory, costs, stacks)
            reasons = tuple(dict.fromkeys((*reasons, *more)))
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"cannot measure {directory}: {error.strerror or error}") from error
    mount = find_mount(directory)
    base = described(mount)
    title = printable(f"{mount.kind or 'storage'} on {mount.point} of {platform.node()}")
    figures = dict(_figures(samples, processors))
    if reasons:
        costs = costs.widened(WIDER, "; ".join(reasons))
        figures = {name: _widened(name, figure) for name, figure in figures.items()}
    stack = next((_STACKS[one.stack] for one in costs.exchange if one.stack in _STACKS), "")
    return Storage(base.name, title, base.kind, stack, figures, mount=mount, costs=costs)


_ATTEMPTS = 2


def _repeated(
    directory: Path, processors: int, effort: Effort, tell: Callable[[str], None]
) -> tuple[Samples, StorageCosts, tuple[str, ...]]:
    """Measure, again if that was disturbed; return the less disturbed results and the reasons."""
    found: list[tuple[Samples, StorageCosts, tuple[str, ...]]] = []
    processes = min(max(2, processors), _MOST_PROCESSES)
    for attempt in range(_ATTEMPTS):
        with temporary_directory("probe", directory) as work, Watch() as watch:
            samples = measure_rounds(work, processes, effort)
            costs = measure_costs(work, ())
        reasons = (*watch.reasons, *unsteady(list(samples.rates.values())))
        found.append((samples, costs, reasons))
        if not reasons:
            break
        again = "; measuring again" if attempt + 1 < _ATTEMPTS else ""
        tell(f"disturbed: {'; '.join(reasons)}{again}")
    return min(found, key=lambda one: len(one[2]))


def _with_exchanges(
    directory: Path, costs: StorageCosts, stacks: Sequence[MpiStack]
) -> tuple[StorageCosts, tuple[str, ...]]:
    """Add the transfers of MPI stacks, whose ranks use the processors that the others leave."""
    with temporary_directory("probe", directory) as work, Watch() as watch:
        exchange = measure_exchanges(work, stacks)
    return replace(costs, exchange=exchange), watch.reasons


def _widened(name: str, figure: Figure) -> Figure:
    """Return a measured figure with a wider interval."""
    if figure.low is None or figure.high is None:
        return figure
    low, high = (
        rounded(value, SPEC_OF[name].dimension)
        for value in (figure.low / WIDER, figure.high * WIDER)
    )
    return replace(figure, low=low, high=min(high, SPEC_OF[name].most))


def _figures(samples: Samples, processors: int) -> Iterator[tuple[str, Figure]]:
    method = "direct requests" if samples.direct else "no O_DIRECT: through the cache, with fsync"
    here = "stripewise machine probe"
    yield "machine.nodes", Figure(1.0, FigureOrigin.MEASURED, "this machine")
    yield (
        "machine.ranks_per_node",
        Figure(float(processors), FigureOrigin.MEASURED, "this machine"),
    )
    yield (
        "servers.targets",
        Figure(1.0, FigureOrigin.ASSUMED, "the file system is taken as one target"),
    )
    for name, values, what in _measured(samples):
        number = f"; {len(values)} samples" if len(values) > 1 else ""
        yield name, _figure(name, values, f"{here}: {what}; {method}{number}")


def _measured(samples: Samples) -> Iterator[tuple[str, Sequence[float], str]]:
    """Yield figures with their values in each round, in base units."""
    number = samples.processes
    several = f"{number} processes, requests of {LARGE // MIB} MiB"
    for way in ("write", "read"):
        alone = _streams(samples, way)
        own, shared = (samples.rate(way, number, LARGE, one) for one in (False, True))
        yield f"client.process_{way}", alone, "one process, additional time of larger requests"
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
    """Return the bandwidth of one process without the fixed time of each request."""
    pairs = zip(samples.seconds(way, 1, LARGE), samples.seconds(way, 1, SMALL), strict=True)
    return [(LARGE - SMALL) / max(large - small, large / 2) for large, small in pairs]


def _request_times(samples: Samples) -> tuple[list[float], list[float]]:
    """Return the time of a request at the target, and the additional time of the process."""
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
    """Return the median of the rounds, with their minimum and maximum as its interval."""
    low, middle, high = (
        rounded(value, SPEC_OF[name].dimension)
        for value in (min(values), median(values), max(values))
    )
    ends = (low, high) if len(values) > 1 else (None, None)
    return Figure(middle, FigureOrigin.MEASURED, source, *ends)


# Rounds of direct requests to one file system: the rate of each kind of transfer. The kinds
# alternate, so that a slow moment of the storage affects all of them equally.

SMALL, LARGE = 4 << 10, 4 * MIB
METADATA = ("create", "open", "stat", "remove")


@dataclass(frozen=True)
class Effort:
    """Duration and amount of the measurement.

    Attributes:
        rounds: Maximum number; minimum and maximum of six are a 95 % interval of the median.
        seconds: Duration of one kind of transfer in one round.
        region: Size of its files in bytes.
        files: Files of one process for calls without data, which repeat until the seconds end.
        limit: Seconds after which no further round begins.
    """

    rounds: int = 6
    seconds: float = 0.2
    region: int = 128 * MIB
    files: int = 50
    limit: float = 25.0

    @property
    def about_seconds(self) -> float:
        """Duration of one measurement, without the stacks."""
        return min(self.rounds * self.seconds * _KINDS, self.limit) + _COSTS_SECONDS


SHORT_EFFORT = Effort(rounds=3, seconds=0.1)
"""A short measurement: its intervals are wider."""
_KINDS = 18
"""Number of transfers of a round, with those of metadata."""
_COSTS_SECONDS = 8.0


class Transfer(NamedTuple):
    """One kind of transfer.

    Attributes:
        operation: "write" or "read".
        processes: Number of processes at the same time.
        size: Size of a request in bytes.
        shared: Whether all alternate in one file; otherwise each has its own.
    """

    operation: str
    processes: int
    size: int
    shared: bool = False


@dataclass
class Samples:
    """Results of the rounds.

    Attributes:
        processes: Number of processes in transfers by several.
        direct: Whether the requests bypassed the system's cache.
        rates: Bytes per second of all processes, in each round.
        calls: Seconds of one call in each round, by metadata call and number of processes.
    """

    processes: int
    direct: bool
    rates: dict[Transfer, list[float]] = field(default_factory=dict)
    calls: dict[tuple[str, int], list[float]] = field(default_factory=dict)

    def rate(self, *kind: Any) -> list[float]:
        """Return the rates of a kind of transfer."""
        return self.rates[Transfer(*kind)]

    def seconds(self, operation: str, processes: int, size: int) -> list[float]:
        """Return the seconds from one request of all processes to the next."""
        return [size / rate for rate in self.rate(operation, processes, size)]


def takes_direct(work: Path) -> bool:
    """Return whether the file system supports requests that bypass the cache (`O_DIRECT`)."""
    place = work / "direct"
    try:
        file = os.open(place, os.O_CREAT | os.O_WRONLY | os.O_DIRECT, 0o600)
    except OSError:
        return False
    finally:
        place.unlink(missing_ok=True)
    try:
        return os.pwritev(file, [mmap.mmap(-1, SMALL)], 0) == SMALL
    except OSError:
        return False
    finally:
        os.close(file)


def transfers(processes: int) -> Iterator[Transfer]:
    """Yield the kinds of transfers; data that is read was written just before."""
    for number, size, shared in (
        (1, SMALL, False),
        (1, LARGE, False),
        (processes, SMALL, False),
        (processes, LARGE, False),
        (processes, LARGE, True),
    ):
        for operation in ("write", "read"):
            yield Transfer(operation, number, size, shared)


def measure_rounds(work: Path, processes: int, effort: Effort) -> Samples:
    """Measure in an empty directory.

    Raises:
        OSError: The storage refuses.
    """
    samples = Samples(processes, takes_direct(work))
    end = time.monotonic() + effort.limit
    with Team(processes) as team:
        for number in range(effort.rounds):
            if number and time.monotonic() > end:
                break
            for kind in transfers(processes):
                rate = _transfer(team, work, kind, effort, direct=samples.direct)
                samples.rates.setdefault(kind, []).append(rate)
            for together in (1, processes):
                for call, seconds in _metadata(team, work, together, effort).items():
                    samples.calls.setdefault((call, together), []).append(seconds)
    return samples


def _transfer(team: Team, work: Path, kind: Transfer, effort: Effort, *, direct: bool) -> float:
    """Return bytes per second of all processes."""
    shared, number = kind.shared, kind.processes
    files = [work / ("shared" if shared else f"own.{rank}") for rank in range(number)]
    orders = [
        {
            "do": kind.operation,
            "file": os.fspath(file),
            "size": kind.size,
            "direct": direct,
            "seconds": effort.seconds,
            "offset": rank * kind.size if shared else 0,
            "stride": kind.size * (number if shared else 1),
            "region": effort.region if shared else effort.region // number,
        }
        for rank, file in enumerate(files)
    ]
    done = team.run(orders)
    if kind.operation == "read":
        for file in set(files):
            file.unlink()
    moved: float = sum(one["bytes"] for one in done)
    return moved / _duration(done)


def _metadata(team: Team, work: Path, processes: int, effort: Effort) -> dict[str, float]:
    """Return seconds from one call of all processes to the next, for each kind of call."""
    about = {"do": "metadata", "files": effort.files, "seconds": effort.seconds}
    orders = [
        about | {"directory": os.fspath(work / f"calls.{rank}")} for rank in range(processes)
    ]
    done = team.run(orders)
    return {call: fmean(one[call] for one in done) / processes for call in METADATA}


def _duration(done: Sequence[dict[str, float]]) -> float:
    return max(1e-9, max(one["end"] for one in done) - min(one["begin"] for one in done))


# Several processes that make requests at the same time.

_WORKER = Path(__file__).with_name("_direct_worker.py")


class Team:
    """Processes of the probe; they end with the `with` block, or with this process."""

    def __init__(self, number: int) -> None:
        self.workers = [
            subprocess.Popen(
                [sys.executable, "-S", "-E", str(_WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            for _ in range(number)
        ]

    def __enter__(self) -> Team:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self.workers:
            if error is not None:
                worker.kill()
            with suppress(OSError, ValueError):
                worker.communicate()

    def run(self, orders: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Run one order on each of as many processes, at the same time.

        Raises:
            OSError: The storage refuses one of them; the others have ended as well.
        """
        workers = self.workers[: len(orders)]
        for worker, order in zip(workers, orders, strict=True):
            _send(worker, json.dumps(order))
        ready = [_receive(worker) for worker in workers]
        waiting = [w for w, line in zip(workers, ready, strict=True) if line == "ready"]
        for worker in waiting:
            _send(worker, "go")
        answers = [json.loads(line) for line in ready if line != "ready"]
        answers += [json.loads(_receive(worker)) for worker in waiting]
        for answer in answers:
            if "error" in answer:
                raise OSError(0, answer["error"])
        return answers


def _send(worker: subprocess.Popen[str], text: str) -> None:
    assert worker.stdin is not None
    worker.stdin.write(text + "\n")
    worker.stdin.flush()


def _receive(worker: subprocess.Popen[str]) -> str:
    assert worker.stdout is not None
    line = worker.stdout.readline().rstrip("\n")
    if not line:
        raise OSError(0, "a process of the probe ended early")
    return line
