# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Joins the containers of one run into one profile, and adds bytes of uncounted stream calls."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core import Gap, ReportedPart, starts_ranks
from stripewise.core.errors import ContainerError, TraceError
from stripewise.evidence.containers._handshake import gaps_of_files, gaps_of_opened
from stripewise.evidence.containers._parse import RawContainer, parse_container, text_of
from stripewise.evidence.containers._recording import take_off_recording
from stripewise.evidence.containers._run_profile import (
    described,
    properties_by_file,
    settings_by_file,
)
from stripewise.evidence.containers._trace_blocks import MOST_ROWS
from stripewise.evidence.containers.container import (
    FILE_RECORD,
    METADATA_RECORD,
    PROCESS,
    RecordKind,
    open_store,
)
from stripewise.evidence.facts import take_back_doubles
from stripewise.evidence.trace import (
    NAMES_ROW,
    PROCESS_ROW,
    TRANSFER_ROW,
    Evidence,
    FileFlag,
    Interned,
    IoLayer,
    Op,
    Pieces,
    RunProfile,
    Selections,
    Settings,
    copy_common,
    fell_back,
    groups,
    join_rows,
    requested_bytes,
    take_rows,
    unknown_counters,
    uses_mpi,
)

_SLASH = ord("/")
_MOST = 1 << 53
"""Maximum number of calls, bytes or nanoseconds that a process is believed to have counted."""


@dataclass(frozen=True)
class _LocatedRecords:
    """Records of one kind, with their processes and paths.

    Attributes:
        records: (n,) records, of the dtype of their kind.
        process: (n,) int64: row of each record's process.
        path: (n,) int64: number of each record's path.
    """

    records: NDArray[Any]
    process: NDArray[np.int64]
    path: NDArray[np.int64]


@dataclass(frozen=True)
class Joined:
    """Counters of a run, and where the parts of its containers are in them.

    Attributes:
        profile: Profile of the run.
        places: For each container, the row in `profile.processes` of each of its processes.
        files: Index in `profile.paths` by file id.
    """

    profile: RunProfile
    places: Sequence[Sequence[int]]
    files: Mapping[int, int]


def read_containers(paths: Sequence[Path]) -> RunProfile:
    """Read the counters in the containers of one run (one per node).

    If a process died while its container was being written, the container is complete up to the
    last finished call. Without containers, the profile is empty.

    Raises:
        ContainerError: A file is not a container, or has another version.
        TraceError: The containers belong to several runs.
    """
    return join_containers(_read(paths)).profile


def read_run(paths: Sequence[Path]) -> Evidence:
    """Read the containers of one run, including the single calls in them.

    Raises:
        ContainerError: A file is not a container, or has another version.
        TraceError: The containers belong to several runs.
    """
    return evidence_of(_read(paths, events=True))


def _read(paths: Sequence[Path], *, events: bool = False) -> list[RawContainer]:
    raws: list[RawContainer] = []
    for path in sorted(set(paths)):
        room = raws[-1].trace.room if raws else MOST_ROWS
        with open_store(path) as store:
            raws.append(parse_container(store, events=events, room=room))
    runs = sorted({raw.run_id for raw in raws})
    if len(runs) > 1:
        named = ", ".join(runs[:3]) + (", ..." if len(runs) > 3 else "")
        raise TraceError(f"containers of {len(runs)} runs ({named}): name those of one run")
    if raws and not any(raw.processes for raw in raws):
        why = "; ".join(text for raw in raws for text in raw.problems)
        raise ContainerError(f"no process is in it: {why or 'its run was killed at its start'}")
    return raws


def evidence_of(raws: Sequence[RawContainer]) -> Evidence:
    """Join parsed containers of one run, with their events; the rows in `raws` are released."""
    from stripewise.evidence.containers._trace_join import SOURCE, join_traces
    from stripewise.evidence.trace import accesses, add_common_sizes, heat_of

    joined = join_containers(raws)
    profile, trace = joined.profile, join_traces(raws, joined)
    if trace is None:
        return Evidence(profile)
    add_common_sizes(profile.counters, trace.rows)
    heat, width = heat_of(trace.bins)
    profile = replace(
        profile,
        source=SOURCE,
        paths=trace.paths,
        heat=heat,
        heat_bin_seconds=width,
        partial=profile.partial or bool(trace.lost_calls),
        notes=(*profile.notes, *trace.notes),
    )
    return Evidence(profile, trace, _carried_out(accesses(trace), profile))


def _carried_out(
    found: Sequence[Selections | Pieces], profile: RunProfile
) -> tuple[Selections | Pieces, ...]:
    """Return accesses of which those are not collective that HDF5 carried out independently.

    Single calls are not known: those of a dataset and direction count by what most of them were.
    A dataset without counters of its own counts by those that its file's datasets share.
    """
    rows = profile.transfers
    mostly: dict[tuple[str, str, bool], bool] = {}
    names = (rows["file"], rows["dataset"], rows["writes"])
    for (file, dataset, writing), places in groups(*names):
        some = rows[places]
        key = (profile.paths[file], profile.datasets[dataset], bool(writing))
        mostly[key] = 2 * fell_back(some).sum() > some["collective"].sum()
    return tuple(
        replace(one, collective=np.zeros_like(one.collective))
        if isinstance(one, Selections)
        and mostly.get(
            (one.file, one.dataset, one.writing), mostly.get((one.file, "", one.writing), False)
        )
        else one
        for one in found
    )


def join_containers(raws: Sequence[RawContainer]) -> Joined:
    """Join the counters of parsed containers."""
    processes, places, start = _processes(raws)
    paths: Interned[bytes] = Interned()
    directories: Interned[bytes] = Interned()
    files = _placed(raws, places, RecordKind.FILE, paths)
    issued = _placed(raws, places, RecordKind.ISSUED, paths)
    used = _placed(raws, places, RecordKind.METADATA, directories)
    ids = dict(zip(files.records["file_id"].tolist(), files.path.tolist(), strict=True))
    settings = tuple(
        one for raw, place in zip(raws, places, strict=True) for one in _settings(raw, place, ids)
    )
    names = tuple(map(os.fsdecode, paths.values))
    datasets: Interned[bytes] = Interned()
    transfers = _transfer_rows(raws, places, processes, ids, datasets)
    rows = _counter_rows(files, processes)
    take_back_doubles(processes, rows, names)
    remarks = take_off_recording(rows, transfers, processes)
    program = processes["is_program"]
    of_system, on_names = _counter_rows(issued, processes), _names_rows(used, processes)
    gaps = add_characters(rows, of_system, processes)
    of_program = _chosen(rows, program[rows["process"]])
    profile = RunProfile(
        source="stripewise counters",
        unchecked=sum(raw.unchecked for raw in raws),
        n_ranks=_n_ranks(processes),
        n_processes=int(program.sum()),
        hosts=tuple(raw.host for raw in raws),
        start=start,
        paths=names,
        counters=of_program,
        helpers=_chosen(rows, ~program[rows["process"]]),
        processes=processes,
        issued=_chosen(of_system, program[of_system["process"]]),
        names=_chosen(on_names, program[on_names["process"]]),
        directories=tuple(map(os.fsdecode, directories.values)),
        transfers=_chosen(transfers, program[transfers["process"]]),
        datasets=tuple(text_of(name) for name in datasets.values),
        settings=settings,
        hints=settings_by_file(settings, rows, processes),
        properties=properties_by_file(settings, processes),
        gaps=(*gaps, *gaps_of_files(of_program)),
    )
    profile = described(profile, raws)
    return Joined(replace(profile, notes=(*profile.notes, *remarks)), places, ids)


def _processes(raws: Sequence[RawContainer]) -> tuple[NDArray[Any], list[list[int]], float]:
    """Make the table of processes, in which those of the program come first.

    Returns:
        (p,) `PROCESS_ROW`; the rows of each container's processes in it; the start of the run in
        seconds since 1970.
    """
    found = np.concatenate([*(p for raw in raws for p in raw.processes), np.zeros(0, PROCESS)])
    sizes = [len(raw.processes) for raw in raws]
    rows = np.zeros(len(found), PROCESS_ROW)
    copy_common(rows, found)
    rows["host"] = np.repeat(np.arange(len(raws)), sizes)
    rows["is_program"] = _is_program(rows)
    start = _join_clocks(rows, found["clock_ns"].astype(np.int64))
    order = np.argsort(~rows["is_program"], kind="stable")
    place = np.argsort(order).tolist()
    ends = np.cumsum(sizes).tolist()
    places = [place[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    return rows[order], places, start


def _is_program(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (p,) bool: whether the I/O of a process counts as the program's.

    If there are ranks, these are the program (shells then are not); otherwise the processes that
    called MPI_Init; otherwise all processes except MPI launchers and their daemons.
    """
    names = (Path(os.fsdecode(bytes(exe))).name for exe in rows["exe"])
    others = np.array([not starts_ranks(name) for name in names], dtype=bool)
    candidates = (rows["rank"] >= 0, uses_mpi(rows), others)
    found = next((mask for mask in candidates if mask.any()), None)
    return np.ones(len(rows), dtype=bool) if found is None else np.asarray(found)


def _join_clocks(rows: NDArray[Any], clock_ns: NDArray[np.int64]) -> float:
    """Set `shift_ns` of processes; return when the first one was loaded, in seconds since 1970.

    The processes of a node share a monotonic clock, so it orders them exactly; nodes are joined by
    the time of day, with the median offset of a node's processes.
    """
    if not len(rows):
        return 0.0
    loaded = np.empty(len(rows), np.int64)
    offsets = rows["start_ns"].astype(np.int64) - clock_ns
    for host in set(rows["host"].tolist()):  # np.unique would load numpy.ma
        mine = rows["host"] == host
        middle = np.sort(offsets[mine])[mine.sum() // 2]
        loaded[mine] = clock_ns[mine] + middle
    origin = loaded.min()
    rows["shift_ns"] = loaded - origin
    return float(origin * 1e-9)


def _n_ranks(processes: NDArray[Any]) -> int:
    """Return the number of ranks in MPI_COMM_WORLD (the largest one seen); 0 without MPI."""
    ranks = processes[processes["rank"] >= 0]
    return max(int(ranks["rank"].max(initial=-1)) + 1, int(ranks["world_size"].max(initial=0)))


def _placed(
    raws: Sequence[RawContainer],
    places: Sequence[Sequence[int]],
    kind: RecordKind,
    paths: Interned[bytes],
) -> _LocatedRecords:
    """Return the records of a kind, with numbers for their paths (simplified by `_plain`)."""
    found = [raw.records[kind] for raw in raws]
    empty = np.zeros(0, FILE_RECORD if kind != RecordKind.METADATA else METADATA_RECORD)
    process = [
        np.array(place, np.int64)[np.array(records.processes, np.int64)]
        for records, place in zip(found, places, strict=True)
    ]
    numbers = (paths.number(_plain(tail)) for records in found for tail in records.tails)
    return _LocatedRecords(
        join_rows([empty, *(part for records in found for part in records.parts)]),
        np.concatenate([np.zeros(0, np.int64), *process]),
        np.fromiter(numbers, np.int64),
    )


def _plain(path: bytes) -> bytes:
    """Return a path without `..`, `.` and doubled slashes; most have none."""
    if path and (path[0] != _SLASH or b"/." in path or b"//" in path or path[-1] == _SLASH):
        return os.path.normpath(path)
    return path


def _counter_rows(found: _LocatedRecords, processes: NDArray[Any]) -> NDArray[Any]:
    records, process, file = found.records, found.process, found.path
    rows = unknown_counters(len(records))
    copy_common(rows, records)
    rows["process"], rows["file"], rows["rank"] = process, file, processes["rank"][process]
    rows["count"], rows["bytes"] = records["ops"]["count"], records["ops"]["bytes"]
    rows["seconds"] = records["ops"]["ns"] * 1e-9
    rows["outermost_seconds"] = records["outermost_ns"] * 1e-9
    shift = processes["shift_ns"][process]
    moved = (records["first_ns"] != 0) | (records["last_ns"] != 0)
    for name in ("first", "last"):
        rows[name] = np.where(moved, (records[f"{name}_ns"] + shift) * 1e-9, np.nan)
    end = records["maximum_offset"].astype(np.int64)
    rows["maximum_offset"] = np.where(end > 0, end, -1)
    return rows


def _chosen(rows: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the rows that a mask selects, without a copy if it selects all."""
    return rows if mask.all() else take_rows(rows, mask)


def _names_rows(found: _LocatedRecords, processes: NDArray[Any]) -> NDArray[Any]:
    records, process, directory = found.records, found.process, found.path
    rows = np.zeros(len(records), NAMES_ROW)
    rows["process"], rows["directory"] = process, directory
    rows["rank"] = processes["rank"][process]
    copy_common(rows, records["actions"])
    rows["seconds"] = records["actions"]["ns"] * 1e-9
    return rows


def _transfer_rows(
    raws: Sequence[RawContainer],
    places: Sequence[Sequence[int]],
    processes: NDArray[Any],
    files: Mapping[int, int],
    datasets: Interned[bytes],
) -> NDArray[Any]:
    """Return the rows of HDF5 transfers; impossible ones, and those without a file, are left out.

    Args:
        raws: Parsed containers.
        places: Rows of their processes.
        processes: (p,) `PROCESS_ROW` of the run.
        files: Index of the file by its id.
        datasets: Names of datasets, to which those found are added.
    """
    parts = [np.zeros(0, TRANSFER_ROW)]
    for raw, place in zip(raws, places, strict=True):
        found = raw.records[RecordKind.TRANSFERS]
        if not len(found):
            continue
        records = found.fixed
        rows = np.zeros(len(found), TRANSFER_ROW)
        copy_common(rows, records)
        for name in (name for name in TRANSFER_ROW.names or () if name.endswith("seconds")):
            rows[name] = records[name.replace("seconds", "ns")] * 1e-9
        rows["process"] = np.array(place, np.int64)[np.array(found.processes, np.int64)]
        rows["rank"] = processes["rank"][rows["process"]]
        rows["file"] = [files.get(file, -1) for file in records["file_id"].tolist()]
        rows["dataset"] = [datasets.number(tail) for tail in found.tails]
        parts.append(_chosen(rows, (rows["file"] >= 0) & _are_possible_transfers(records)))
    return join_rows(parts)


def _are_possible_transfers(records: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (n,) bool: whether the numbers of `TRANSFERS_RECORD` rows are possible."""
    names = [name for name in records.dtype.names or () if name not in ("header", "file_id")]
    possible = np.ones(len(records), bool)
    if not len(records):
        return possible
    for name in names:
        values = records[name].reshape(len(records), -1).astype(np.uint64)
        possible &= (values < np.uint64(_MOST)).all(axis=1)
    parts = (records[name] for name in ("compared", "collective"))
    return np.asarray(possible & np.all([part <= records["count"] for part in parts], axis=0))


def _settings(
    raw: RawContainer, place: Sequence[int], files: Mapping[int, int]
) -> Iterator[Settings]:
    found = raw.records[RecordKind.SETTINGS]
    rows: Any = found.fixed
    for process, record, tail in zip(found.processes, rows, found.tails, strict=True):
        pairs = (line.partition("=") for line in text_of(tail).splitlines() if "=" in line)
        yield Settings(
            process=place[process],
            path=files.get(int(record["file_id"]), -1),
            layer=int(record["layer"]),
            kind=int(record["kind"]),
            values={key: value for key, _, value in pairs},
        )


# Bytes of streams that no counted call moved: single characters, and input of scanf.
#
# Such calls are neither counted one by one nor timed. What the C library read and wrote for the
# stream is counted, so the bytes are known: exactly for writes, up to the length of a buffer for
# reads.

UNTIMED = "calls for single characters (fputc, getc, scanf) are not timed"
WIDE = "wide characters (fputwc, fgetws) are not counted"
_WAYS = ((Op.WRITE, "write"), (Op.READ, "read"))
_LEAST_SHARE = 0.01
"""Share of a file's bytes: fewer bytes of characters do not make its time unknown."""


def add_characters(
    rows: NDArray[Any], issued: NDArray[Any], processes: NDArray[Any]
) -> tuple[Gap, ...]:
    """Add these bytes, in place, to the counters of streams and of their processes.

    Args:
        rows: (n,) `COUNTER_ROW` of the program's calls.
        issued: (i,) `COUNTER_ROW` of the calls that the C library made for streams.
        processes: (p,) `PROCESS_ROW` of the run.

    Returns:
        Amounts that remain unknown.
    """
    streams = np.flatnonzero(rows["layer"] == IoLayer.STDIO)
    keys, own = _keys(rows[streams]), _keys(issued)
    order = np.argsort(keys, kind="stable")
    found = np.searchsorted(keys[order], own).clip(max=max(len(order) - 1, 0))
    if not len(order):
        return ()
    same = keys[order][found] == own
    place, own = streams[order][found][same], issued[same]
    added = np.zeros(len(place), np.int64)
    for op, way in _WAYS:
        added += _add(rows, place, own, processes, op, way)
    ends = np.maximum(rows["maximum_offset"][place], own["maximum_offset"])
    rows["maximum_offset"][place] = np.where(added > 0, ends, rows["maximum_offset"][place])
    untimed = added > _LEAST_SHARE * requested_bytes(rows[place])
    return tuple(_gaps(rows[streams], set(rows["file"][place[untimed]].tolist())))


def _keys(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return (n,) int64: one number for each pair of process and file."""
    return np.asarray((rows["process"].astype(np.int64) << 32) + rows["file"])


def _add(
    rows: NDArray[Any],
    place: NDArray[np.int64],
    own: NDArray[Any],
    processes: NDArray[Any],
    op: Op,
    way: str,
) -> NDArray[np.int64]:
    """Add the bytes of streams in one direction beyond their counted calls; return these bytes."""
    counted = rows["bytes"][place, op]
    extra = own["bytes"][:, op] - counted
    if op is Op.READ:
        extra = np.where(rows["flags"][place] & FileFlag.CHARACTERS, extra, 0)
    extra = np.maximum(extra, 0)
    alone = (extra > 0) & (rows["count"][place, op] == 0)
    rows["count"][place[alone], op] = own["count"][alone, op]
    for name in (f"{way}_sizes", f"{way}_min", f"{way}_max"):
        rows[name][place[alone]] = own[name][alone]
    name = f"outermost_{way}_bytes"
    outer = rows[name][place] == counted
    rows[name][place[outer]] += extra[outer]
    moved = extra[outer].astype(np.uint64)
    np.add.at(processes[name], rows["process"][place[outer]], moved)
    rows["bytes"][place, op] += extra
    return np.asarray(extra)


def _gaps(streams: NDArray[Any], untimed: set[int]) -> Iterator[Gap]:
    if untimed:
        yield Gap(ReportedPart.SECONDS, UNTIMED, frozenset(untimed))
    yield from gaps_of_opened(streams, FileFlag.WIDE, WIDE)
