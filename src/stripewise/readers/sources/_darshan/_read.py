# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A Darshan log -> Evidence, with what is missing said in words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import ALL_RANKS, Evidence, FileLayout, IoLayer, Op, RunProfile, Trace
from stripewise.readers.sources._accesses import foreign_accesses
from stripewise.readers.sources._base import Source, head_of
from stripewise.readers.sources._calls import heat_of
from stripewise.readers.sources._darshan._counters import Files, counter_rows
from stripewise.readers.sources._darshan._dxt import hosts, read_trace
from stripewise.readers.sources._darshan._heat import heat_rows
from stripewise.readers.sources._darshan._isolated import RawLog, read_log

_LAYER_OF = {
    "POSIX": "posix",
    "STDIO": "stdio",
    "MPI-IO": "mpiio",
    "H5F": "hdf5",
    "H5D": "hdf5",
    "PNETCDF_FILE": "pnetcdf",
    "PNETCDF_VAR": "pnetcdf",
}
_READ = {*_LAYER_OF, "LUSTRE", "DXT_POSIX", "DXT_MPIIO", "HEATMAP"}
_VERSION = re.compile(
    r"nvalid (\S.*?) module (?:log format )?version(?: number)? "
    r"\((?:expected \d+, )?got (\d{1,9})\)"
)
_NEWEST_CONCEIVABLE = 16
_MOST_NAMED = 6
# A log begins with its version, eight characters, and this number in the writer's byte order
# (darshan-log-format.h, struct darshan_header).
_VERSION_BYTES = 8
_MAGIC = (6567223).to_bytes(8, "little")
_HEAD_BYTES = _VERSION_BYTES + len(_MAGIC)
_OUTERMOST = (
    "I/O time and bytes of a file are those of the highest layer that moved its data (HDF5,"
    " PnetCDF, MPI-IO, then POSIX with stdio); Darshan does not record which call made which"
)


class DarshanSource(Source):
    """A Darshan log; PyDarshan is needed only to read it, not to recognise it."""

    name = "darshan"
    summary = "a Darshan log (*.darshan)"

    def recognises(self, path: Path) -> bool:
        """Look for the version and the magic number that a log begins with."""
        head = head_of(path, _HEAD_BYTES)
        version, magic = head[:_VERSION_BYTES], head[_VERSION_BYTES:]
        return version[:1].isdigit() and magic in (_MAGIC, _MAGIC[::-1])

    def read(self, path: Path) -> Evidence:
        """Read a log of any version that PyDarshan reads, whole or damaged.

        Raises:
            RuntimeMissingError: PyDarshan is not installed.
            TraceError: The log cannot be read at all.
        """
        return _evidence(read_log(path))


def _evidence(log: RawLog) -> Evidence:
    job = log.meta["job"]
    version = job.get("metadata", {}).get("lib_ver", "")
    source = f"Darshan {version} log" if version else "Darshan log"
    files = Files(log.meta["names"])
    counters = counter_rows(log, files)
    trace = read_trace(log, files, source)
    layouts, layout_notes = _layouts(log, files)
    heat, width = heat_rows(log)
    elapsed = max(float(job.get("run_time", 0.0)), 0.0)
    if not width and trace is not None:
        heat, width = heat_of(trace, elapsed)
    trouble = _trouble(log)
    profile = RunProfile(
        source=source,
        command=str(log.meta["exe"]).strip(),
        job_id=str(job["jobid"]) if job.get("jobid", -1) >= 0 else "",
        user=f"uid {job['uid']}" if job.get("uid", -1) >= 0 else "",
        n_ranks=max(int(job.get("nprocs", 0)), 0),
        n_processes=max(int(job.get("nprocs", 0)), 0),
        hosts=hosts(log),
        start=float(job.get("start_time_sec", 0)) + float(job.get("start_time_nsec", 0)) * 1e-9,
        elapsed_seconds=elapsed,
        paths=tuple(files.paths),
        counters=counters,
        layers=_layers(log),
        heat=heat,
        heat_bin_seconds=width,
        layouts=layouts,
        partial=bool(trouble),
        notes=(*trouble, *layout_notes, *_notes(log, counters, trace), *_blocks(log)),
    )
    return Evidence(
        profile, trace, foreign_accesses(trace, knows_views=False) if trace is not None else ()
    )


def _layers(log: RawLog) -> tuple[str, ...]:
    """Layers that were watched: Darshan keeps no record of modules that had nothing to say.

    POSIX, stdio and MPI-IO are always built in; HDF5 and PnetCDF only where a module shows.
    """
    present = {_LAYER_OF[name] for name in log.meta["modules"] if name in _LAYER_OF}
    order = ("posix", "stdio", "mpiio", "pnetcdf", "hdf5")
    return tuple(name for name in order if name in present | {"posix", "stdio", "mpiio"})


def _trouble(log: RawLog) -> tuple[str, ...]:
    """What makes the log a partial one."""
    found = [
        f"{name}: incomplete, Darshan ran out of room for records (DARSHAN_MODMEM,"
        " DARSHAN_NAMEMEM or MAX_RECORDS give more)"
        for name, module in log.meta["modules"].items()
        if module.get("partial_flag")
    ]
    found += [f"the log is damaged: {what}" for what in log.meta["trouble"]]
    newer = _newer(log)
    said = [line for line in log.complaints if "rror" in line and line not in newer]
    found += [f"the log is damaged: {line}" for line in list(dict.fromkeys(said))[:_MOST_NAMED]]
    return tuple(found)


def _newer(log: RawLog) -> dict[str, str]:
    """What the library says of modules that are newer than itself, and what that means."""
    found = {}
    for line in log.complaints:
        match = _VERSION.search(line)
        if match is not None and 1 < int(match[2]) <= _NEWEST_CONCEIVABLE:
            found[line] = (
                f"{match[1].replace(' ', '_')} is of format version {match[2]}, which PyDarshan's"
                f" library {log.meta.get('library', '')} is too old to read: its records are"
                " missing; update PyDarshan (pip install --upgrade darshan)"
            )
    return found


def _notes(log: RawLog, counters: NDArray[Any], trace: Trace | None) -> list[str]:
    modules = log.meta["modules"]
    notes = [_OUTERMOST] if log.modules else []
    if not log.modules and trace is None:
        notes.append("the log holds no records of files: the program did no I/O that was seen")
    others = [name for name in modules if name not in _READ]
    if others:
        notes.append(f"not looked at: {', '.join(others)}")
    empty = [name for name in _LAYER_OF if name in modules and name not in log.modules]
    if empty:
        notes.append(f"no records in: {', '.join(empty)}")
    notes += dict.fromkeys(_newer(log).values())
    if trace is None and not any(name.startswith("DXT_") for name in modules):
        notes.append("no single calls (DXT was off): no patterns; DARSHAN_MOD_ENABLE=")
        notes[-1] += "DXT_POSIX,DXT_MPIIO records them"
    reduced = (counters["rank"] == ALL_RANKS).any()
    if reduced and log.meta["job"].get("nprocs", 0) > 1:
        notes.append(
            "shared files have one record for all ranks: their times are sums over ranks;"
            " DARSHAN_DISABLE_SHARED_REDUCTION=1 keeps each rank's"
        )
    made = counters["count"][counters["layer"] == IoLayer.MPIIO] > 0
    reads = made[:, Op.READ] & made[:, Op.READ_COLLECTIVE]
    writes = made[:, Op.WRITE] & made[:, Op.WRITE_COLLECTIVE]
    if (reads | writes).any():
        notes.append(
            "MPI-IO: bytes and time of files with independent and collective calls are shared"
            " out by number of calls"
        )
    if "H5F" in modules and "H5D" not in modules:
        notes.append("HDF5: opens and flushes of files only, the log has no datasets (H5D)")
    if _format(log) < (3, 41) and log.modules:
        notes.append("the run's length is in whole seconds (log format before 3.41)")
    return notes


def _format(log: RawLog) -> tuple[int, ...]:
    """Version of the log's format; of a log that does not tell the newest."""
    parts = str(log.meta["job"].get("log_ver", "")).split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else (99,)


def _blocks(log: RawLog) -> list[str]:
    """Blocks of the most used selections: Darshan knows their size, not where they lie.

    Of a dataset with three dimensions the values stand in D3 to D5 or in D1 to D3, by version:
    dimensions of no length are left out.
    """
    notes: dict[str, None] = {}
    for name, word in (("H5D", "dataset"), ("PNETCDF_VAR", "variable")):
        module = log.modules.get(name)
        if module is None or "ACCESS1_COUNT" not in (module.dtype.names or ()):
            continue
        for row in np.argsort(-module["ACCESS1_COUNT"], kind="stable"):
            text = _block(module[row])
            if text and len(notes) < _MOST_NAMED:
                label = log.meta["names"].get(str(int(module["id"][row])), f"one {word}")
                notes.setdefault(f"{label}: most often {text}")
    return list(notes)


def _block(record: np.void) -> str:
    sides = [int(record[f"ACCESS1_LENGTH_D{place}"]) for place in range(1, 6)]
    if record["ACCESS1_COUNT"] <= 0 or not any(side > 0 for side in sides):
        return ""
    shape = " x ".join(str(side) for side in sides if side > 0)
    return f"blocks of {shape} elements of {int(record['DATATYPE_SIZE'])} bytes"


def _layouts(log: RawLog, files: Files) -> tuple[dict[int, FileLayout], list[str]]:
    """Layouts by file; of a composite one the component with the most stripes."""
    layouts: dict[int, FileLayout] = {}
    composite = set()
    for entry in log.meta.get("lustre", ()):
        index = files.index(entry["id"])
        layout = _layout(entry["counters"], entry["targets"])
        if entry["component"]:
            composite.add(index)
        if index not in layouts or layout.stripe_count > layouts[index].stripe_count:
            layouts[index] = layout
    if not composite:
        return layouts, []
    note = f"{len(composite)} files have composite layouts; the widest component is shown"
    return layouts, [note]


def _layout(counters: dict[str, int], targets: list[int]) -> FileLayout:
    """Of a component ("LUSTRE_COMP_...", Darshan 3.4.6), or of a file (before)."""

    def value(*names: str) -> int:
        found = (counters[name] for name in names if counters.get(name, -1) >= 0)
        return next(found, 0)

    return FileLayout(
        stripe_bytes=value("LUSTRE_COMP_STRIPE_SIZE", "LUSTRE_STRIPE_SIZE"),
        stripe_count=value(
            "LUSTRE_COMP_STRIPE_COUNT", "LUSTRE_STRIPE_COUNT", "LUSTRE_STRIPE_WIDTH"
        ),
        targets=tuple(targets),
    )
