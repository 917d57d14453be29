# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Completes a profile of containers with settings, layouts, alignment and notes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core import Gap, ReportedPart, holds, starts_ranks
from stripewise.evidence.containers._handshake import (
    UNCOUNTED,
    Handshake,
    handshake,
    unseen_programs,
)
from stripewise.evidence.containers._parse import RawContainer, text_of
from stripewise.evidence.containers.container import NOTE_UNSEEN, RecordKind
from stripewise.evidence.readers import begins_with
from stripewise.evidence.trace import (
    ALIGN_BINS,
    READS,
    RECORDED_LAYERS,
    SYSTEM_LAYERS,
    WRITES,
    FileHints,
    FileLayout,
    IoLayer,
    MpiFamily,
    ProcessFlag,
    RunProfile,
    Settings,
    SettingsKind,
    requested_bytes,
)

PAGE_BYTES = 4096
_KILLED = "did not reach their end (killed?)"
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_LINKED = b"HDF5 library version: "
_SUFFIXES = (".h5", ".hdf5", ".hdf", ".he5", ".nc", ".nc4")
_MOST_FILES = 64


def described(profile: RunProfile, raws: Sequence[RawContainer]) -> RunProfile:
    """Complete a profile whose tables and hints are known.

    `unaligned` counts the POSIX and stdio writes whose offset is not a multiple of `alignment`:
    the striping unit that MPI reported, otherwise 4096 bytes. It is -1 where data was moved but
    no offset of a write is known.
    """
    layouts = _layouts(profile.hints) | _own_layouts(profile.settings)
    _set_alignment(profile, layouts)
    _set_single_sizes(profile.counters)
    family, version = _mpi(profile)
    texts = dict.fromkeys(text for raw in raws for text in _recorded_troubles(raw))
    profile = replace(
        profile,
        command=_command(profile),
        elapsed_seconds=_elapsed_seconds(profile),
        layers=tuple(layer.name.lower() for layer in RECORDED_LAYERS),
        layouts=layouts,
        hdf5_unseen=_hdf5_unseen(profile),
        mpi=family,
        mpi_version=version,
        troubles=tuple(texts),
    )
    problems = dict.fromkeys(f"{raw.host}: {text}" for raw in raws for text in raw.problems)
    shake = handshake(profile, ())
    notes = [*problems, *_incompleteness(profile), *(() if shake.ok else (shake.message,))]
    partial = bool(notes)
    gaps = (*profile.gaps, *_gaps(profile, notes, shake))
    remarks = (text for text in shake.warnings if "did not fit" not in text)
    all_notes = dict.fromkeys((*notes, *remarks, *(gap.why for gap in gaps)))
    return replace(
        profile, partial=partial, damaged=bool(problems), gaps=gaps, notes=tuple(all_notes)
    )


def settings_by_file(
    settings: Sequence[Settings], rows: NDArray[Any], processes: NDArray[Any]
) -> dict[int, FileHints]:
    """Join what processes reported on each file's settings; the lowest rank has precedence."""
    found: dict[int, FileHints] = {}
    of_pnetcdf = set(rows["file"][rows["layer"] == IoLayer.PNETCDF].tolist())
    for entry in sorted(settings, key=lambda entry: -int(processes["rank"][entry.process])):
        if entry.path < 0 or not processes["is_program"][entry.process]:
            continue
        if entry.layer in SYSTEM_LAYERS:
            continue  # layouts of files
        passed_on = entry.layer == IoLayer.MPIIO and entry.path in of_pnetcdf
        if passed_on and entry.kind == SettingsKind.PROGRAM:
            continue  # PnetCDF's hints; the program's own are recorded in PnetCDF's layer
        if entry.layer == IoLayer.HDF5 and entry.kind == SettingsKind.PROGRAM:
            continue  # properties, no hints
        hints = found.setdefault(entry.path, FileHints({}, {}, {}))
        target = {
            int(SettingsKind.PROGRAM): hints.requested,
            int(SettingsKind.APPLIED): hints.applied,
            int(SettingsKind.REPORTED): hints.reported,
        }.get(entry.kind)
        if target is not None:
            target.update(entry.values)
    return found


def properties_by_file(
    settings: Sequence[Settings], processes: NDArray[Any]
) -> dict[int, dict[str, str]]:
    """Return the properties of HDF5 that the program set for each file."""
    found: dict[int, dict[str, str]] = {}
    for entry in settings:
        program = processes["is_program"][entry.process]
        if entry.layer == IoLayer.HDF5 and entry.kind == SettingsKind.PROGRAM and program:
            found.setdefault(entry.path, {}).update(entry.values)
    return found


def _recorded_troubles(raw: RawContainer) -> Iterator[str]:
    """Yield messages about problems that the processes of a host recorded.

    Programs that a launcher starts without the library are its own; the ranks are counted.
    """
    notes = raw.records[RecordKind.NOTE]
    for owner, note in zip(notes.processes, notes.tails, strict=True):
        text = text_of(note).strip()
        exe = os.fsdecode(bytes(raw.processes[owner]["exe"][0]))
        if not (text.startswith(NOTE_UNSEEN) and starts_ranks(Path(exe).name)):
            yield f"{raw.host}: {text}"


def _set_alignment(profile: RunProfile, layouts: dict[int, FileLayout]) -> None:
    rows, of_file = profile.counters, np.full(len(profile.paths), PAGE_BYTES)
    for file, layout in layouts.items():
        of_file[file] = layout.stripe_bytes or PAGE_BYTES
    alignment = of_file[rows["file"]]
    zeros = np.log2(np.maximum(alignment & -alignment, 1)).astype(np.int64)
    below = np.arange(ALIGN_BINS) < zeros[:, None]
    system = np.isin(rows["layer"], SYSTEM_LAYERS)
    is_idle = rows["count"][:, (*READS, *WRITES)].sum(axis=1) == 0
    known = system & (is_idle | (rows["write_alignment"].sum(axis=1) > 0))
    unaligned = np.where(below, rows["write_alignment"], 0).sum(axis=1)
    rows["unaligned"] = np.where(known, unaligned, -1)
    rows["alignment"] = np.where(system, alignment, 0)


def _set_single_sizes(rows: NDArray[Any]) -> None:
    """Fill in the common sizes if all calls of a direction are equal; a trace knows the others."""
    places = np.zeros(len(rows), np.int64)
    for kind, ops in (("write", WRITES), ("read", READS)):
        count = rows["count"][:, ops].sum(axis=1)
        size = rows[f"{kind}_max"]
        same = (rows[f"{kind}_min"] == size) & (count > 0) & (size > 0)
        rows["common_size"][same, places[same]] = size[same]
        rows["common_count"][same, places[same]] = count[same]
        places[same] += 1


def _layouts(hints: dict[int, FileHints]) -> dict[int, FileLayout]:
    layouts = {}
    for file, found in hints.items():
        unit = _positive(found.reported.get("striping_unit", ""))
        factor = _positive(found.reported.get("striping_factor", ""))
        if unit or factor:
            layouts[file] = FileLayout(unit, factor)
    return layouts


def _own_layouts(settings: Sequence[Settings]) -> dict[int, FileLayout]:
    """Return the layouts that the processes saw when they closed their files."""
    layouts = {}
    for entry in settings:
        if entry.layer in SYSTEM_LAYERS and entry.path >= 0:
            names = ("stripe_bytes", "stripe_count", "targets", "emulated")
            size, stripes, targets, emulated = (
                _positive(entry.values.get(name, "")) for name in names
            )
            layouts[entry.path] = FileLayout(size, stripes, (), targets, bool(emulated))
    return layouts


def _positive(text: str) -> int:
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else 0


def _mpi(profile: RunProfile) -> tuple[str, str]:
    """Return MPI family and library version of the first rank; both empty without MPI."""
    for process in profile.processes[profile.used_mpi]:
        if family := MpiFamily(process["mpi_family"]):
            return family.name.lower(), bytes(process["mpi_version"]).decode(errors="replace")
    return "", ""


def _command(profile: RunProfile) -> str:
    """Return the command line of the process that started first (the launcher, if any)."""
    table = profile.processes
    if not len(table):
        return ""
    first = table[int(np.argmin(table["start_ns"]))]
    words = os.fsdecode(bytes(first["command"]).rstrip(b"\0")).split("\x1f")
    return shlex.join(word for word in words if word) if any(words) else ""


def _elapsed_seconds(profile: RunProfile) -> float:
    """Return the time from the load of the first process to the end of the last known one."""
    table = profile.processes
    if not len(table):
        return 0.0
    start = table["start_ns"].astype(np.int64)
    ends = np.where(table["end_ns"] > 0, table["end_ns"].astype(np.int64), start)
    whole = float(ends.max() - start.min()) * 1e-9
    ends_of = (profile.counters["last"], profile.helpers["last"])
    return max(whole, *(float(np.fmax.reduce(last, initial=0.0)) for last in ends_of))


def _gaps(profile: RunProfile, notes: Sequence[str], shake: Handshake) -> Iterator[Gap]:
    """Yield unknown or incomplete amounts; a killed process had reported all that it did."""
    yield from (Gap(ReportedPart.ALL, text) for text in notes if not text.endswith(_KILLED))
    flags = int(np.bitwise_or.reduce(profile.program["flags"], initial=0))
    for flag, part, why in UNCOUNTED:
        if flags & flag:
            yield Gap(part, why)
    if shake.ok:
        yield from (
            Gap(ReportedPart.BYTES | ReportedPart.SECONDS, why) for why in unseen_programs(profile)
        )


def _incompleteness(profile: RunProfile) -> list[str]:
    """Return the reasons why the profile is incomplete."""
    table = profile.program
    notes = []
    killed = int(((table["flags"] & (ProcessFlag.EXITED | ProcessFlag.EXECED)) == 0).sum())
    if killed:
        notes.append(f"{killed} of {len(table)} processes {_KILLED}")
    for name, what in (
        (
            "lost_records",
            "files were lost, as the container reached its size limit: raise STRIPEWISE_MAX_BYTES",
        ),
        ("lost_calls", "calls could not be counted (made inside a signal handler, or no record)"),
    ):
        if number := int(table[name].sum()):
            notes.append(f"{number} {what}")
    return notes


def _hdf5_unseen(profile: RunProfile) -> tuple[int, ...]:
    """Find HDF5 files that a program wrote or read without any HDF5 call being seen.

    The executable of the program contains HDF5 (it was linked statically), and the file has the
    signature of HDF5; if the file no longer exists, its name decides.

    Returns:
        Indices into `RunProfile.paths`, those with most bytes first, at most 64.
    """
    rows, programs = profile.counters, profile.processes["exe"].tolist()
    if not len(programs):
        return ()
    seen = (profile.processes["flags"] & ProcessFlag.HDF5) != 0
    process, sizes = rows["process"], requested_bytes(rows)
    found = (process >= 0) & ~seen[process] & (rows["layer"] < IoLayer.HDF5) & (sizes > 0)
    used = {programs[one] for one in set(process[found].tolist())}
    holding = {program for program in used if holds(os.fsdecode(program), _LINKED)}
    if not holding:
        return ()
    found &= np.array([program in holding for program in programs], bool)[process]
    moved = np.zeros(len(profile.paths), np.int64)
    np.add.at(moved, rows["file"][found], sizes[found])
    largest = np.argsort(-moved, kind="stable")[:_MOST_FILES]
    return tuple(int(file) for file in largest if moved[file] and _is_hdf5(profile.paths[file]))


def _is_hdf5(path: str) -> bool:
    """Return whether a file has HDF5's signature, or no longer exists but has such a name."""
    if not os.path.exists(path):
        return path.endswith(_SUFFIXES)
    return begins_with(Path(path), _SIGNATURE)
