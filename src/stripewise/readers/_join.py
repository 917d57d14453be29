# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Containers of one run -> one profile, or all that they tell."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.errors import ContainerError, TraceError
from stripewise.model import (
    NAMES_ROW,
    PROCESS_ROW,
    Evidence,
    RunProfile,
    Settings,
    uses_mpi,
)
from stripewise.readers._container import FILE_RECORD, PROCESS
from stripewise.readers._directories import take_back_doubles
from stripewise.readers._launchers import starts_ranks
from stripewise.readers._parse import (
    RawContainer,
    RawNamed,
    RawSettings,
    normal_path,
    read_container,
)
from stripewise.readers._rows import unknown_counters
from stripewise.readers._run_profile import described, settings_by_file
from stripewise.readers._timeline import timeline

_KEPT_BY_NAME = (
    *("outermost_read_bytes", "outermost_write_bytes", "sequential_reads", "sequential_writes"),
    *("consecutive_reads", "consecutive_writes", "read_sizes", "write_sizes", "flags"),
    *("read_min", "read_max", "write_min", "write_max", "write_alignment"),
)


def read_containers(paths: Sequence[Path]) -> RunProfile:
    """Read the counters in the containers of one run (one per node).

    Containers that were still being written when a process died are complete to the last
    finished call.  No containers give an empty profile.

    Raises:
        ContainerError: A file is not a container, or is one of another version.
        TraceError: They are of several runs.
    """
    return join_containers(_of_one_run([read_container(path) for path in sorted(paths)]))


def read_run(paths: Sequence[Path]) -> Evidence:
    """Read the containers of one run, with the single calls in them.

    Raises:
        ContainerError: A file is not a container, or is one of another version.
        TraceError: They are of several runs.
    """
    raws: list[RawContainer] = []
    for path in sorted(set(paths)):
        room = raws[-1].trace.room if raws else None
        raws.append(read_container(path, events=True, room=room))
    return evidence_of(_of_one_run(raws))


def _of_one_run(raws: list[RawContainer]) -> list[RawContainer]:
    runs = sorted({raw.run_id for raw in raws})
    if len(runs) > 1:
        named = ", ".join(runs[:3]) + (", ..." if len(runs) > 3 else "")
        raise TraceError(f"containers of {len(runs)} runs ({named}): name those of one run")
    if raws and not any(raw.processes for raw in raws):
        why = "; ".join(text for raw in raws for text in raw.problems)
        raise ContainerError(f"no process is in it: {why or 'its run was killed at its start'}")
    return raws


def evidence_of(raws: Sequence[RawContainer]) -> Evidence:
    """Join the containers of one run, parsed with their events; their rows are given up."""
    from stripewise.readers._accesses import accesses
    from stripewise.readers._common_sizes import add_common_sizes
    from stripewise.readers._heat import heat_of
    from stripewise.readers._trace_join import SOURCE, join_traces

    profile = join_containers(raws)
    trace = join_traces(raws, profile)
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
    return Evidence(profile, trace, accesses(trace))


def join_containers(raws: Sequence[RawContainer]) -> RunProfile:
    """Join the counters of parsed containers."""
    names: dict[bytes, int] = {}
    processes, place = _processes(raws)
    files: list[tuple[int, int, NDArray[np.void]]] = []
    issued: list[tuple[int, int, NDArray[np.void]]] = []
    used: list[tuple[int, int, NDArray[np.void]]] = []
    directories: dict[bytes, int] = {}
    settings: list[Settings] = []
    first = 0
    for raw in raws:
        own_place = place[first : first + len(raw.processes)]
        found = _placed(raw.files, own_place, names)
        ids = {int(record["file_id"][0]): path for _, path, record in found}
        files += found
        issued += _placed(raw.issued, own_place, names)
        used += _placed(raw.metadata, own_place, directories)
        settings += [
            _settings(entry, int(place[first + entry.process]), ids) for entry in raw.settings
        ]
        first += len(raw.processes)
    paths = tuple(os.fsdecode(name) for name in names)
    rows = _counter_rows(files, processes)
    take_back_doubles(processes, rows, paths)
    program = processes["is_program"][rows["process"]]
    profile = RunProfile(
        source="stripewise counters",
        unchecked=sum(raw.unchecked for raw in raws),
        n_ranks=_n_ranks(processes),
        n_processes=int(processes["is_program"].sum()),
        hosts=tuple(raw.host for raw in raws),
        start=timeline(processes).start,
        paths=paths,
        counters=rows[program],
        helpers=rows[~program],
        processes=processes,
        issued=_of_program(_counter_rows(issued, processes), processes),
        names=_of_program(_names_rows(used, processes), processes),
        directories=tuple(os.fsdecode(name) for name in directories),
        settings=tuple(settings),
        hints=settings_by_file(settings, rows, processes),
    )
    return described(profile, raws)


def _processes(raws: Sequence[RawContainer]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Make the table, the program's first, and say where each of the containers' is in it."""
    found = np.concatenate([*(p for raw in raws for p in raw.processes), np.zeros(0, PROCESS)])
    rows = np.zeros(len(found), PROCESS_ROW)
    for name in PROCESS_ROW.names or ():
        if name in (PROCESS.names or ()):
            rows[name] = found[name]
    rows["host"] = np.repeat(np.arange(len(raws)), [len(raw.processes) for raw in raws])
    rows["number"] = np.arange(len(rows))
    rows["is_program"] = _is_program(rows)
    order = np.argsort(~rows["is_program"], kind="stable")
    place = np.empty(len(rows), np.int64)
    place[order] = np.arange(len(rows))
    return rows[order], place


def _is_program(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """(p,) bool: whose I/O is the program's.

    The ranks if there are any (then shells are not the program); otherwise the processes
    that called MPI_Init; otherwise all but MPI launchers and their daemons.
    """
    names = (Path(os.fsdecode(bytes(exe))).name for exe in rows["exe"])
    others = np.array([not starts_ranks(name) for name in names], dtype=bool)
    candidates = (rows["rank"] >= 0, uses_mpi(rows), others)
    found = next((mask for mask in candidates if mask.any()), None)
    return np.ones(len(rows), dtype=bool) if found is None else np.asarray(found)


def _n_ranks(processes: NDArray[Any]) -> int:
    """Ranks in MPI_COMM_WORLD (the largest world seen); 0 without MPI."""
    ranks = processes[processes["rank"] >= 0]
    return max(int(ranks["rank"].max(initial=-1)) + 1, int(ranks["world_size"].max(initial=0)))


def _counters(
    records: NDArray[Any],
    process: NDArray[np.int64],
    file: NDArray[np.int64],
    processes: NDArray[Any],
) -> NDArray[Any]:
    rows = unknown_counters(len(records))
    rows["process"], rows["file"], rows["layer"] = process, file, records["layer"]
    rows["rank"] = processes["rank"][process]
    rows["count"], rows["bytes"] = records["ops"]["count"], records["ops"]["bytes"]
    rows["seconds"] = records["ops"]["ns"] * 1e-9
    rows["outermost_seconds"] = records["outermost_ns"] * 1e-9
    for name in _KEPT_BY_NAME:
        rows[name] = records[name]
    shift = timeline(processes).shift_ns[process]
    moved = (records["first_ns"] != 0) | (records["last_ns"] != 0)
    for name in ("first", "last"):
        rows[name] = np.where(moved, (records[f"{name}_ns"] + shift) * 1e-9, np.nan)
    end = records["maximum_offset"].astype(np.int64)
    rows["maximum_offset"] = np.where(moved & (end > 0), end, -1)
    return rows


def _placed(
    found: Sequence[RawNamed], place: NDArray[np.int64], names: dict[bytes, int]
) -> list[tuple[int, int, NDArray[np.void]]]:
    """Process, index of the path, record."""
    return [
        (
            int(place[entry.process]),
            names.setdefault(normal_path(entry.path), len(names)),
            entry.record,
        )
        for entry in found
    ]


def _counter_rows(
    found: Sequence[tuple[int, int, NDArray[np.void]]], processes: NDArray[Any]
) -> NDArray[Any]:
    records = np.concatenate([*(row[2] for row in found), np.zeros(0, FILE_RECORD)])
    places = np.array([row[:2] for row in found], np.int64).reshape(-1, 2)
    return _counters(records, places[:, 0], places[:, 1], processes)


def _names_rows(
    found: Sequence[tuple[int, int, NDArray[np.void]]], processes: NDArray[Any]
) -> NDArray[Any]:
    rows = np.zeros(len(found), NAMES_ROW)
    for row, (process, directory, record) in zip(rows, found, strict=True):
        actions = record["actions"][0]
        row["process"], row["directory"] = process, directory
        row["count"], row["failed"] = actions["count"], actions["failed"]
        row["seconds"] = actions["ns"] * 1e-9
    rows["rank"] = processes["rank"][rows["process"]]
    return rows


def _of_program(rows: NDArray[Any], processes: NDArray[Any]) -> NDArray[Any]:
    kept: NDArray[Any] = rows[processes["is_program"][rows["process"]]]
    return kept


def _settings(entry: RawSettings, process: int, ids: dict[int, int]) -> Settings:
    pairs = (line.partition("=") for line in entry.text.splitlines() if "=" in line)
    return Settings(
        process=process,
        path=ids.get(entry.file_id, -1),
        layer=entry.layer,
        kind=entry.kind,
        values={key: value for key, _, value in pairs},
    )
