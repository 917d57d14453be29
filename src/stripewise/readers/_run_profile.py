# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The counters in containers -> `RunProfile`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import (
    COUNTER_ROW,
    HEAT_ROW,
    FileHints,
    FileLayout,
    IoLayer,
    Op,
    RunProfile,
    Trace,
)
from stripewise.readers._common_sizes import add_common_sizes
from stripewise.readers._container import ALIGN_BINS, MpiFamily, SettingsKind
from stripewise.readers._container import ProcessFlag as Flag
from stripewise.readers._handshake import handshake
from stripewise.readers._heat import heat_of
from stripewise.readers._profile import Profile
from stripewise.readers._trace_join import SOURCE, timeline

PAGE_BYTES = 4096
_SYSTEM = (IoLayer.POSIX, IoLayer.STDIO)
_KEPT_BY_NAME = (
    *("outermost_read_bytes", "outermost_write_bytes", "sequential_reads", "sequential_writes"),
    *("consecutive_reads", "consecutive_writes", "read_sizes", "write_sizes"),
)


def run_profile(profile: Profile, trace: Trace | None, problems: Sequence[str] = ()) -> RunProfile:
    """Turn joined counters into a profile, with the heat map if there is a trace.

    `unaligned` counts the writes of POSIX and stdio whose offset or size is no multiple of
    `alignment`: of the striping unit that MPI reported, otherwise of 4096 bytes.

    Args:
        profile: Joined containers.
        trace: Of the same containers.
        problems: What could not be read, in words.
    """
    hints = _hints(profile)
    layouts = _layouts(hints)
    counters = _counters(profile, layouts)
    heat, width = (np.zeros(0, HEAT_ROW), 0.0) if trace is None else heat_of(trace.bins)
    if trace is not None:
        add_common_sizes(counters, trace.rows)
    notes = [*problems, *_trouble(profile)]
    partial = bool(notes) or bool(trace is not None and trace.lost_calls)
    notes += [text for text in _remarks(profile) if text not in notes]
    return RunProfile(
        source=SOURCE if trace is not None else "stripewise counters",
        command=_command(profile),
        n_ranks=profile.n_ranks if profile.is_rank.any() else 0,
        n_processes=int(profile.counted.sum()),
        hosts=tuple(dict.fromkeys(profile.hosts)),
        start=timeline(profile).start,
        elapsed_seconds=_elapsed_seconds(profile),
        paths=profile.paths if trace is None else trace.paths,
        counters=counters,
        layers=tuple(layer.name.lower() for layer in IoLayer),
        heat=heat,
        heat_bin_seconds=width,
        hints=hints,
        layouts=layouts,
        mpi=_mpi(profile),
        partial=partial,
        notes=(*notes, *(trace.notes if trace is not None else ())),
    )


def _counters(profile: Profile, layouts: dict[int, FileLayout]) -> NDArray[Any]:
    records = profile.counted_records
    rows = np.zeros(len(records), COUNTER_ROW)
    rows["seconds_deviation"] = rows["bytes_deviation"] = np.nan
    rows["slowest_rank"] = rows["fastest_rank"] = -1
    if not len(records):
        return rows
    process = records["process"]
    rows["file"], rows["layer"] = records["path"], records["layer"]
    rows["rank"] = profile.processes["rank"][process]
    rows["process"] = (np.cumsum(profile.counted) - 1)[process]
    rows["count"], rows["bytes"] = records["ops"]["count"], records["ops"]["bytes"]
    rows["seconds"] = records["ops"]["ns"] * 1e-9
    rows["outermost_seconds"] = records["outermost_ns"] * 1e-9
    for name in _KEPT_BY_NAME:
        rows[name] = records[name]
    shift = timeline(profile).shift_ns[process]
    moved = (records["first_ns"] != 0) | (records["last_ns"] != 0)
    for name in ("first", "last"):
        rows[name] = np.where(moved, (records[f"{name}_ns"] + shift) * 1e-9, np.nan)
    end = records["maximum_offset"].astype(np.int64)
    rows["maximum_offset"] = np.where(moved & (end > 0), end, -1)
    _alignment(rows, records, layouts)
    _single_sizes(rows, records)
    return rows


def _alignment(rows: NDArray[Any], records: NDArray[Any], layouts: dict[int, FileLayout]) -> None:
    stripe = np.zeros(int(records["path"].max()) + 1, np.int64)
    for file, layout in layouts.items():
        if file < len(stripe):
            stripe[file] = layout.stripe_bytes
    alignment = np.where(stripe > 0, stripe, PAGE_BYTES)[records["path"]]
    zeros = np.log2(np.maximum(alignment & -alignment, 1)).astype(np.int64)
    below = np.arange(ALIGN_BINS) < zeros[:, None]
    known = np.isin(records["layer"], _SYSTEM)
    unaligned = np.where(below, records["write_alignment"], 0).sum(axis=1)
    rows["unaligned"] = np.where(known, unaligned, -1)
    rows["alignment"] = np.where(known, alignment, 0)


def _single_sizes(rows: NDArray[Any], records: NDArray[Any]) -> None:
    """Common sizes where all calls of a direction are equal; a trace tells the others."""
    places = np.zeros(len(rows), np.int64)
    for kind, ops in (
        ("write", (Op.WRITE, Op.WRITE_COLLECTIVE)),
        ("read", (Op.READ, Op.READ_COLLECTIVE)),
    ):
        count = records["ops"]["count"][:, list(ops)].sum(axis=1)
        size = records[f"{kind}_max"].astype(np.int64)
        same = (records[f"{kind}_min"] == records[f"{kind}_max"]) & (count > 0) & (size > 0)
        rows["common_size"][same, places[same]] = size[same]
        rows["common_count"][same, places[same]] = count[same]
        places[same] += 1


def _hints(profile: Profile) -> dict[int, FileHints]:
    found: dict[int, FileHints] = {}
    for entry in profile.settings:
        if entry.path < 0 or not profile.counted[entry.process]:
            continue
        hints = found.setdefault(entry.path, FileHints({}, {}, {}))
        target = {
            int(SettingsKind.PROGRAM): hints.requested,
            int(SettingsKind.APPLIED): hints.applied,
            int(SettingsKind.REPORTED): hints.reported,
        }.get(entry.kind)
        if target is not None:
            target.update(entry.values)
    return found


def _layouts(hints: dict[int, FileHints]) -> dict[int, FileLayout]:
    layouts = {}
    for file, found in hints.items():
        unit = _positive(found.reported.get("striping_unit", ""))
        factor = _positive(found.reported.get("striping_factor", ""))
        if unit or factor:
            layouts[file] = FileLayout(unit, factor)
    return layouts


def _positive(text: str) -> int:
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else 0


def _mpi(profile: Profile) -> str:
    """Family of the MPI library that the processes have loaded."""
    names = {int(MpiFamily.MPICH): "mpich", int(MpiFamily.OPENMPI): "openmpi"}
    found = set(profile.processes["mpi_family"].tolist()) & set(names)
    return names[found.pop()] if len(found) == 1 else ""


def _command(profile: Profile) -> str:
    """Command line of the process that came first (a launcher, where there is one)."""
    table = profile.processes
    if not len(table):
        return ""
    first = table[int(np.argmin(table["start_ns"]))]
    words = os.fsdecode(bytes(first["command"]).rstrip(b"\0")).split("\x1f")
    return shlex.join(word for word in words if word) if any(words) else ""


def _elapsed_seconds(profile: Profile) -> float:
    """From the load of the first process to the end of the last, as far as it is known."""
    table = profile.processes
    if not len(table):
        return 0.0
    start = table["start_ns"].astype(np.int64)
    ends = np.where(table["end_ns"] > 0, table["end_ns"].astype(np.int64), start)
    if len(profile.records):
        owner = profile.records["process"]
        last = start[owner] + profile.records["last_ns"].astype(np.int64)
        np.maximum.at(ends, owner, last)
    return max(float(ends.max() - start.min()) * 1e-9, 0.0)


def _trouble(profile: Profile) -> list[str]:
    """What makes the profile incomplete."""
    table = profile.processes[profile.counted]
    notes = []
    shake = handshake(profile, ())
    if not shake.ok:
        notes.append(shake.message)
    killed = int(((table["flags"] & (Flag.EXITED | Flag.EXECED)) == 0).sum())
    if killed:
        notes.append(f"{killed} of {len(table)} processes did not reach their end (killed?)")
    for name, what in (
        ("lost_records", "files found no room in the container: raise STRIPEWISE_MAX_BYTES"),
        ("lost_calls", "calls could not be counted (made inside a signal handler, or no record)"),
    ):
        if number := int(table[name].sum()):
            notes.append(f"{number} {what}")
    return notes


def _remarks(profile: Profile) -> tuple[str, ...]:
    return tuple(text for text in handshake(profile, ()).warnings if "found no room" not in text)
