# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A behaviour at a place -> the evidence that a run would leave: counters, time bins, accesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace import (
    ALL_RANKS,
    COUNTER_ROW,
    HEAT_ROW,
    NAMES_ROW,
    PROCESS_ROW,
    SIZE_EDGES,
    Action,
    Evidence,
    FileLayout,
    IoLayer,
    Op,
    RunProfile,
)
from synthetic_centre._accesses import accesses_of
from synthetic_centre._behaviour import (
    Behaviour,
    Part,
    Place,
    Seconds,
    Who,
    seconds_of,
    users_of,
)

SYNTHETIC = "synthetic: made by examples/centre, no program ran"
_BINS = 32
_NOISE = 0.06
"""Deviation of the times of ranks (assumed)."""
_BENEATH = {
    IoLayer.HDF5: (IoLayer.MPIIO, IoLayer.POSIX),
    IoLayer.PNETCDF: (IoLayer.MPIIO, IoLayer.POSIX),
    IoLayer.MPIIO: (IoLayer.POSIX,),
}


@dataclass(frozen=True)
class RunOf:
    """One run of a program.

    Attributes:
        job_id / user_id / command / hosts / directory / start: Of the run.
        compute_seconds: Beside its I/O.
        has_bins: Whether the source has time bins.
    """

    job_id: int
    user_id: int | None
    command: str
    hosts: tuple[str, ...]
    directory: str
    start: float
    compute_seconds: float
    has_bins: bool = True


@dataclass(frozen=True)
class _Made:
    """Files of one part: counters by rank or of all together, and its time in each rank."""

    part: Part
    paths: list[str]
    rows: NDArray[Any]
    seconds: Seconds


def evidence_of(
    behaviour: Behaviour,
    place: Place,
    run: RunOf,
    storage: Mapping[str, float],
    random: np.random.Generator,
) -> Evidence:
    """Return what a run leaves.

    Args:
        behaviour: Of the program.
        place: Where it runs.
        run: Whose run it is, and when.
        storage: Costs of requests.
        random: Source of the spread between ranks.
    """
    made = [_make(part, place, behaviour, run, storage, random) for part in behaviour.parts]
    first = np.cumsum([0, *(len(one.paths) for one in made)])
    for one, offset in zip(made, first, strict=False):
        one.rows["file"] += offset
    counters = np.concatenate([one.rows for one in made])
    names, directories = _storm(behaviour, place, run, storage)
    io_seconds = RunProfile("", n_ranks=place.ranks, counters=counters).io_seconds
    elapsed = run.compute_seconds + io_seconds + float(names["seconds"].sum())
    processes = _alone(counters, names, elapsed) if behaviour.storm else np.zeros(0, PROCESS_ROW)
    heat = _heat(made, first, place, behaviour.is_traced) if run.has_bins else None
    _set_moments(counters, made, first, elapsed)
    profile = RunProfile(
        source="stripewise trace" if behaviour.is_traced else "Darshan 3.4.4 log",
        command=run.command,
        job_id=str(run.job_id),
        user="" if run.user_id is None else f"uid {run.user_id}",
        n_ranks=place.ranks if behaviour.mpi else 0,
        n_processes=place.ranks,
        hosts=run.hosts,
        start=run.start,
        elapsed_seconds=elapsed,
        paths=tuple(path for one in made for path in one.paths),
        counters=counters,
        processes=processes,
        names=names,
        directories=directories,
        layers=("posix", "stdio", "mpiio", "hdf5"),
        heat=np.zeros(0, HEAT_ROW) if heat is None else heat,
        heat_bin_seconds=0.0 if heat is None else elapsed / _BINS,
        hints=dict(_of_files(made, first, "hints")),
        layouts=dict(_of_files(made, first, "layout")),
        mpi=behaviour.mpi if behaviour.is_traced else "",
        notes=(SYNTHETIC,),
    )
    traced = behaviour.is_traced
    found = [accesses_of(one.part, one.paths[0], place.ranks) for one in made if traced]
    return Evidence(profile, accesses=tuple(one for one in found if one is not None))


def _make(
    part: Part,
    place: Place,
    behaviour: Behaviour,
    run: RunOf,
    storage: Mapping[str, float],
    random: np.random.Generator,
) -> _Made:
    users = users_of(part, place)
    n_files = part.files * users if part.who is Who.EACH else part.files
    paths = [f"{run.directory}/{part.path.format(number)}" for number in range(n_files)]
    seconds = seconds_of(part, place, storage)
    spread = _spread(users, part.uneven, random)
    if part.who is not Who.ALL:
        rank, file = np.arange(n_files) % users, np.arange(n_files)
        shares, ranks = spread[rank] / part.files, np.ones(n_files)
    elif behaviour.is_traced:
        rank, file = np.tile(np.arange(users), n_files), np.repeat(np.arange(n_files), users)
        shares, ranks = spread[rank] / part.files, np.ones(len(rank))
    else:
        rank, file = np.full(n_files, ALL_RANKS), np.arange(n_files)
        shares, ranks = np.full(n_files, users / part.files), np.full(n_files, users)
    rows = empty_rows(len(rank))
    rows["file"], rows["rank"], rows["layer"] = file, rank, part.layer
    if not behaviour.mpi:
        rows["process"], rows["rank"] = np.maximum(rank, 0), -1
    _fill(rows, part, seconds, shares, ranks)
    if part.who is Who.ALL and not behaviour.is_traced:
        _set_extremes(rows, spread, seconds.whole / part.files, part.moved_bytes // part.files)
    return _Made(part, paths, np.concatenate([rows, *_beneath(rows, part)]), seconds)


def _spread(users: int, uneven: float, random: np.random.Generator) -> NDArray[np.float64]:
    """(users,) time of each rank, of the mean."""
    found = np.exp(random.normal(0.0, _NOISE, users))
    if users > 1:
        found[int(random.integers(users))] = found.max() * uneven
    return np.asarray(found / found.mean())


def _fill(
    rows: NDArray[Any],
    part: Part,
    seconds: Seconds,
    shares: NDArray[np.float64],
    ranks: NDArray[np.float64],
) -> None:
    """Set what is counted.

    Args:
        rows: (n,) `COUNTER_ROW` of the program's own calls.
        part: Whose.
        seconds: Of a mean rank in all files.
        shares: (n,) parts of that time in each row.
        ranks: (n,) ranks that each row stands for.
    """
    op = {
        (True, True): Op.WRITE_COLLECTIVE, (True, False): Op.WRITE,
        (False, True): Op.READ_COLLECTIVE, (False, False): Op.READ,
    }[part.writes, part.collective]  # fmt: skip
    moved = (part.moved_bytes // part.files * ranks).astype(np.int64) * part.times_read
    calls = np.maximum(moved // part.call_bytes, 1)
    rows["bytes"][:, op], rows["count"][:, op] = moved, calls
    rows["count"][:, Op.OPEN] = part.opens * ranks
    rows["count"][:, Op.META] = part.stats * ranks
    rows["count"][:, Op.SYNC] = part.syncs * ranks
    rows["seconds"][:, op] = seconds.data * shares
    rows["seconds"][:, Op.META] = (seconds.open + seconds.stat) * shares
    rows["seconds"][:, Op.SYNC] = seconds.sync * shares
    rows["outermost_seconds"] = rows["seconds"].sum(axis=1)
    way = "write" if part.writes else "read"
    rows[f"outermost_{way}_bytes"] = moved
    place = int(np.searchsorted(SIZE_EDGES, part.call_bytes, "right")) - 1
    rows[f"{way}_sizes"][:, place] = calls
    rows["common_size"][:, 0], rows["common_count"][:, 0] = part.call_bytes, calls
    rows[f"consecutive_{way}s"] = calls * part.consecutive
    rows[f"sequential_{way}s"] = calls * max(part.consecutive, 0.5)
    rows["maximum_offset"] = part.moved_bytes // part.files if part.times_read > 1 else moved


def _beneath(rows: NDArray[Any], part: Part) -> Iterator[NDArray[Any]]:
    """Yield the rows of the libraries' own calls beneath the program's."""
    for layer in _BENEATH.get(part.layer, ()):
        below = rows.copy()
        below["layer"] = layer
        below["outermost_seconds"] = 0.0
        below["outermost_read_bytes"] = below["outermost_write_bytes"] = 0
        below["seconds"] *= 0.97
        if layer is IoLayer.POSIX:
            single, both = (
                (Op.WRITE, Op.WRITE_COLLECTIVE) if part.writes else (Op.READ, Op.READ_COLLECTIVE)
            )
            for name in ("bytes", "seconds"):
                below[name][:, single] += below[name][:, both]
                below[name][:, both] = 0
            below["count"][:, both] = 0
            size = part.system_bytes or part.call_bytes
            calls = np.maximum(below["bytes"][:, single] // size, 1)
            below["count"][:, single] = calls
            sizes = below["write_sizes" if part.writes else "read_sizes"]
            sizes[:] = 0
            sizes[:, int(np.searchsorted(SIZE_EDGES, size, "right")) - 1] = calls
            below["common_size"][:, 0], below["common_count"][:, 0] = size, calls
        yield below


def _set_extremes(
    rows: NDArray[Any], spread: NDArray[np.float64], mean: float, moved: int
) -> None:
    """Set the slowest and the fastest rank of rows that hold all ranks."""
    for which, rank in (("slowest", int(spread.argmax())), ("fastest", int(spread.argmin()))):
        rows[f"{which}_rank"] = rank
        rows[f"{which}_seconds"] = spread[rank] * mean
        rows[f"{which}_bytes"] = moved
    rows["seconds_deviation"], rows["bytes_deviation"] = float(spread.std()) * mean, 0.0


def empty_rows(n: int) -> NDArray[Any]:
    """(n,) `COUNTER_ROW` that say nothing but 0 of what is counted."""
    rows = np.zeros(n, COUNTER_ROW)
    for name in ("process", "unaligned", "slowest_rank", "fastest_rank"):
        rows[name] = -1
    for name in ("first", "last", "seconds_deviation", "bytes_deviation"):
        rows[name] = np.nan
    return rows


def _set_moments(
    counters: NDArray[Any], made: Sequence[_Made], first: NDArray[Any], elapsed: float
) -> None:
    """Set when files are first and last used: inputs at the start, outputs over the run."""
    for one, offset in zip(made, first, strict=False):
        mine = (counters["file"] >= offset) & (counters["file"] < offset + len(one.paths))
        moments = _moments(one.part)
        counters["first"][mine] = moments[0] * elapsed
        counters["last"][mine] = min(moments[-1] * elapsed + one.seconds.whole, elapsed)


def _moments(part: Part) -> list[float]:
    """Return when a part is used, as shares of the run."""
    if not part.writes and part.bursts == 1:
        return [0.01]
    return [(number + 1) / (part.bursts + 0.2) for number in range(part.bursts)]


def _heat(
    made: Sequence[_Made], first: NDArray[Any], place: Place, knows_files: bool
) -> NDArray[Any]:
    """(n,) `HEAT_ROW`: of each file where single calls are known, else of all together."""
    found = []
    for one, offset in zip(made, first, strict=False):
        part = one.part
        ranks, moments = np.arange(users_of(part, place)), _moments(part)
        rows = np.zeros((len(ranks), len(moments)), HEAT_ROW)
        rows["rank"] = ranks[:, None]
        rows["bin"] = np.minimum(np.array(moments) * _BINS, _BINS - 1).astype(int)
        rows["file"] = offset if knows_files else -1
        rows["layer"] = part.layer if knows_files else IoLayer.POSIX
        moved = part.moved_bytes * part.times_read / len(moments)
        rows["write_bytes" if part.writes else "read_bytes"] = moved
        rows["busy_seconds"] = one.seconds.whole / len(moments)
        found.append(rows.ravel())
    return np.concatenate(found)


def _storm(
    behaviour: Behaviour, place: Place, run: RunOf, storage: Mapping[str, float]
) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return calls on names, and their directories."""
    if not behaviour.storm:
        return np.zeros(0, NAMES_ROW), ()
    rows = np.zeros(1, NAMES_ROW)
    rows["rank"] = 0 if behaviour.mpi else -1
    rows["count"][:, Action.STAT] = behaviour.storm
    rows["failed"][:, Action.STAT] = behaviour.storm // 9
    rows["seconds"][:, Action.STAT] = behaviour.storm * storage["metadata.latency"] * place.load
    return rows, (f"{run.directory}/input",)


def _alone(counters: NDArray[Any], names: NDArray[Any], elapsed: float) -> NDArray[Any]:
    """(1,) `PROCESS_ROW` of a program without MPI: calls on names are I/O time of it, too."""
    rows = np.zeros(1, PROCESS_ROW)
    rows["rank"], rows["is_program"] = -1, True
    rows["end_ns"] = round(elapsed * 1e9)
    spent = counters["outermost_seconds"].sum() + names["seconds"].sum()
    rows["outermost_ns"] = round(float(spent) * 1e9)
    for way in ("read", "write"):
        rows[f"outermost_{way}_bytes"] = counters[f"outermost_{way}_bytes"].sum()
    return rows


def _of_files(made: Sequence[_Made], first: NDArray[Any], what: str) -> Iterator[tuple[int, Any]]:
    for one, offset in zip(made, first, strict=False):
        part = one.part
        for number in range(len(one.paths)):
            if what == "layout":
                layout = FileLayout(1 << 20, part.stripes, tuple(range(part.stripes)))
                yield int(offset) + number, layout
            elif part.hints.requested or part.hints.reported:
                yield int(offset) + number, part.hints
