# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of direct requests to one file system: what each kind of transfer reached.

The kinds take turns, so that a slow moment of the storage meets all of them alike.
"""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from stripewise.machines._costs import MIB
from stripewise.machines._team import Team

SMALL, LARGE = 4 << 10, 4 * MIB
METADATA = ("create", "open", "stat", "remove")


@dataclass(frozen=True)
class Effort:
    """How long and how much.

    Attributes:
        rounds: At most; six make the smallest and the largest an interval of 95 % of the median.
        seconds: Of one kind of transfer in one round.
        region: Bytes of its files.
        files: Of one process, for calls that move no data; they are made until the seconds end.
        limit: Seconds after which no further round begins.
    """

    rounds: int = 6
    seconds: float = 0.2
    region: int = 128 * MIB
    files: int = 50
    limit: float = 25.0


class Transfer(NamedTuple):
    """One kind of transfer.

    Attributes:
        operation: "write" or "read".
        processes: At the same time.
        size: Of a request, bytes.
        shared: All into one file, by turns; else each its own.
    """

    operation: str
    processes: int
    size: int
    shared: bool = False


@dataclass
class Samples:
    """What the rounds showed.

    Attributes:
        processes: Of the transfers of several.
        direct: Whether the requests went past the system's cache.
        rates: Bytes a second of all processes, in each round.
        calls: Metadata call and processes -> seconds of one call, in each round.
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
    """Tell whether the file system takes requests past the cache (`O_DIRECT`)."""
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
    """Yield the kinds of transfers; what is read was written just before."""
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
    """Return bytes a second of all processes."""
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
