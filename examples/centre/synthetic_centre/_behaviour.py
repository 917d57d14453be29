# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How synthetic programs use files, and how long that takes on the demo's storage.

What requests cost comes from the preset jamstec-da (machines/presets/jamstec-da.toml, where each
figure has its source); how these costs add up is assumed, and simple.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from stripewise.evidence.trace import FileHints, IoLayer
from stripewise.storage.machines import Storage

PRESET = "jamstec-da"
TARGETS = 16
SYNC_SECONDS = 0.02
"""Of one sync (assumed: a few turns of a disk)."""


class Who(Enum):
    """Which ranks use the files of a part."""

    ALL = "all ranks together"
    EACH = "each rank its own"
    ROOT = "rank 0"


@dataclass(frozen=True)
class Part:
    """One kind of files of a program.

    Attributes:
        path: Below the run's directory, with "{:04d}" for the number of the file.
        layer: Interface of the program.
        who: Whose files they are.
        writes: Whether they are written; otherwise they are read.
        moved_bytes: By each rank, or by rank 0 alone.
        call_bytes: Of one call.
        files: Of each rank, or of all together.
        collective: Whether the calls are.
        system_bytes: Of a request that reaches the system, beneath libraries.
        opens / stats / syncs: Of each file, by each rank that uses it.
        stripes: Over which a file lies.
        consecutive: Share of the calls that begin where the one before ended.
        times_read: How often each rank reads the whole file; 1: each reads its part once.
        uneven: Time of the slowest rank, of the mean.
        bursts: How many times in a run.
        grid: Distribution of a dataset's dimensions, "BLOCK" or "*"; empty: not told.
        hints: Of the files.
    """

    path: str
    layer: IoLayer
    who: Who
    writes: bool
    moved_bytes: int
    call_bytes: int
    files: int = 1
    collective: bool = False
    system_bytes: int = 0
    opens: int = 1
    stats: int = 2
    syncs: int = 0
    stripes: int = 1
    consecutive: float = 1.0
    times_read: int = 1
    uneven: float = 1.15
    bursts: int = 1
    grid: tuple[str, ...] = ()
    hints: FileHints = field(default_factory=FileHints)


@dataclass(frozen=True)
class Behaviour:
    """One version of a program.

    Attributes:
        version: Stands in the path of its executable.
        parts: Its files.
        is_traced: Runs are recorded by Stripewise; otherwise by Darshan.
        mpi: As `RunProfile.mpi`; "" without MPI.
        storm: Stats of one process on names in its input directory.
    """

    version: str
    parts: tuple[Part, ...]
    is_traced: bool = False
    mpi: str = "mpich"
    storm: int = 0


@dataclass(frozen=True)
class Place:
    """Where and when a run takes place.

    Attributes:
        ranks / nodes: Of the run.
        load: By how much the storage is slower than when it is idle.
    """

    ranks: int
    nodes: int
    load: float = 1.0


@dataclass(frozen=True)
class Seconds:
    """Time of a mean rank in one part."""

    data: float
    open: float
    stat: float
    sync: float

    @property
    def whole(self) -> float:
        """All of it."""
        return self.data + self.open + self.stat + self.sync


def users_of(part: Part, place: Place) -> int:
    """Return the number of ranks that use the files."""
    return 1 if part.who is Who.ROOT else place.ranks


def seconds_of(part: Part, place: Place, storage: Mapping[str, float]) -> Seconds:
    """Return the time that a rank needs for a part.

    Args:
        part: Of a program.
        place: Where it runs.
        storage: Costs, as `costs` returns them.
    """
    users, load = users_of(part, place), place.load
    nodes = min(place.nodes, users)
    calls = -(-part.moved_bytes // part.call_bytes)
    spread = users if part.who is Who.EACH else 1
    way = "write" if part.writes else "read"
    rate = min(
        users * storage[f"client.process_{way}"],
        nodes * storage[f"client.node_{way}"],
        min(spread * part.stripes, TARGETS) * storage[f"servers.target_{way}"],
    )
    data = users * part.moved_bytes * part.times_read / rate
    data += calls * part.times_read * storage["client.request"]
    if part.collective:
        data += calls * (storage["exchange.round"] + users * storage["exchange.rank"])
    if part.who is Who.ALL and part.writes:
        data += users * _locked_calls(part, calls) * _handed_on(storage) / part.stripes
    metadata = storage["metadata.latency"] + users * storage["metadata.open"]
    return Seconds(
        data=load * data,
        open=load * part.files * part.opens * metadata,
        stat=load * part.files * part.stats * storage["metadata.latency"],
        sync=load * part.files * part.syncs * SYNC_SECONDS,
    )


def _locked_calls(part: Part, calls: int) -> int:
    """Return the requests of a rank for whose locks it waits: small ones in a shared file."""
    if part.collective:
        small = 0 < part.system_bytes < 64 << 10
        return part.moved_bytes // part.system_bytes if small else 0
    return calls if part.call_bytes < 1 << 20 else 0


def _handed_on(storage: Mapping[str, float]) -> float:
    """Return the time in which the lock of a stripe goes from one rank to another."""
    return storage["locks.revoke"] + storage["locks.page"]


_COSTS = (
    *("client.process_write", "client.process_read", "client.node_write", "client.node_read"),
    *("client.request", "servers.target_write", "servers.target_read", "locks.revoke"),
    *("locks.page", "exchange.round", "exchange.rank", "metadata.open", "metadata.latency"),
)


def costs(storage: Storage) -> dict[str, float]:
    """Return the costs of a described storage that the model uses."""
    return {name: storage.value(name) for name in _COSTS}
