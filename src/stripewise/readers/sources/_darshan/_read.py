# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A Darshan log -> Evidence, with what is missing said in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.inputs import DARSHAN_LOG
from stripewise.model import (
    ALL_RANKS,
    Evidence,
    FileLayout,
    Gap,
    IoLayer,
    Op,
    Part,
    RunProfile,
    Trace,
)
from stripewise.readers.sources._accesses import foreign_accesses
from stripewise.readers.sources._base import Source, head_of
from stripewise.readers.sources._calls import heat_of
from stripewise.readers.sources._darshan._counters import Files, counter_rows, impossible
from stripewise.readers.sources._darshan._dxt import hosts, read_trace
from stripewise.readers.sources._darshan._heat import heat_rows
from stripewise.readers.sources._darshan._isolated import RawLog, read_log
from stripewise.text import plural, size_text

_LAYER_OF = {
    "POSIX": "posix",
    "STDIO": "stdio",
    "MPI-IO": "mpiio",
    "H5F": "hdf5",
    "H5D": "hdf5",
    "PNETCDF_FILE": "pnetcdf",
    "PNETCDF_VAR": "pnetcdf",
    "DFS": "dfs",
    "DAOS": "daos",
}
_NO_IO = ("APMPI", "APXC", "BG/Q")
"""Modules of communication, of the network and of the machine: not of I/O."""
_VERSION = re.compile(
    r"nvalid (\S.*?) module (?:log format )?version(?: number)? "
    r"\((?:expected \d+, )?got (\d{1,9})\)"
)
_NEWEST_CONCEIVABLE = 16
_DAMAGED = "the log is damaged"
_ERROR = re.compile(r"^\W*[Ee]rror:\s*")
_MOST_NAMED = 6
# A log begins with its version, eight characters, and this number in the writer's byte order
# (darshan-log-format.h, struct darshan_header).
_VERSION_BYTES = 8
_MAGIC = (6567223).to_bytes(8, "little")
_HEAD_BYTES = _VERSION_BYTES + len(_MAGIC)
_OUTERMOST = (
    "I/O time and bytes of a file are those of the highest layer that moved its data (HDF5,"
    " PnetCDF, MPI-IO, POSIX with stdio, then DFS and DAOS); Darshan does not record which call"
    " made which"
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
            TraceError: The log cannot be read at all, or is larger than its budget.
        """
        if path.is_file():
            DARSHAN_LOG.check_bytes(path.stat().st_size, path)
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
    gaps = tuple(_gaps(log, files, counters, trace))
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
        damaged=any(text.startswith(_DAMAGED) for text in trouble),
        gaps=gaps,
        notes=tuple(dict.fromkeys((
            *trouble, *(gap.why for gap in gaps), *layout_notes, *_notes(log, counters, trace),
            *_blocks(log),
        ))),
    )  # fmt: skip
    return Evidence(
        profile, trace, foreign_accesses(trace, knows_views=False) if trace is not None else ()
    )


def _layers(log: RawLog) -> tuple[str, ...]:
    """Layers that were watched: Darshan keeps no record of modules that had nothing to say.

    POSIX, stdio and MPI-IO are always built in; HDF5 and PnetCDF only where a module shows.
    """
    present = {_LAYER_OF[name] for name in log.meta["modules"] if name in _LAYER_OF}
    order = ("daos", "dfs", "posix", "stdio", "mpiio", "pnetcdf", "hdf5")
    return tuple(name for name in order if name in present | {"posix", "stdio", "mpiio"})


def _trouble(log: RawLog) -> tuple[str, ...]:
    """What makes the log a partial one."""
    found = [
        f"{name}: incomplete, Darshan ran out of room for records (DARSHAN_MODMEM,"
        " DARSHAN_NAMEMEM or MAX_RECORDS give more)"
        for name, module in log.meta["modules"].items()
        if module.get("partial_flag")
    ]
    newer = _newer(log)
    said = [
        _ERROR.sub("", line).rstrip(". ")
        for line in log.complaints
        if "rror" in line and line not in newer
    ]
    modules = log.meta["modules"]
    lost = [name for name in _LAYER_OF if name in modules and name not in log.modules]
    if lost and (log.meta["trouble"] or said):
        said.append(f"no record can be read of {', '.join(lost)}")
    what = [*log.meta["trouble"], *list(dict.fromkeys(said))[:_MOST_NAMED]]
    return (*found, f"{_DAMAGED}: {'; '.join(what)}") if what else tuple(found)


def _gaps(log: RawLog, files: Files, counters: NDArray[Any], trace: Trace | None) -> Iterator[Gap]:
    """Say which amounts the log does not tell, or not all."""
    yield from (Gap(Part.ALL, text) for text in _trouble(log))
    yield from (Gap(Part.ALL, text) for text in _newer(log).values() if not _is_detail(text))
    for name, number in log.meta.get("unread", {}).items():
        if name not in _NO_IO:
            records = plural(number, "record") if number else "records"
            is_are = "is" if number == 1 else "are"
            yield Gap(Part.ALL, f"the {name} module holds {records} that {is_are} not read")
    if not log.modules and (trace is not None or "HEATMAP" in log.arrays):
        yield Gap(Part.ALL, "the log has no counters of files, only " + _beside_counters(log))
    elif not _newer(log) and not any(text.startswith(_DAMAGED) for text in _trouble(log)):
        modules = log.meta["modules"]
        lost = [name for name in _LAYER_OF if name in modules and name not in log.modules]
        if lost:
            yield Gap(Part.ALL, f"no record can be read of: {', '.join(lost)}")
    if len(counters):
        yield from impossible(log, files, counters)
    if float(log.meta["job"].get("run_time", 0.0)) < 0:
        yield Gap(Part(0), "the log ends before it begins: how long the run took is not known")


def _is_detail(text: str) -> bool:
    """Whether a module that is too new holds no counters."""
    return text.startswith(("DXT", "HEATMAP", "LUSTRE"))


def _beside_counters(log: RawLog) -> str:
    if "HEATMAP" not in log.arrays:
        return "single calls (DXT)"
    moved = [
        f"{size_text(int(log.arrays[f'HEATMAP/{what}'].sum()))} {words}"
        for what, words in (("read", "read"), ("write", "written"))
    ]
    return f"a heat map ({', '.join(moved)})"


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
    if not log.modules and trace is None and not any(_gaps(log, Files({}), counters, trace)):
        notes.append("the log holds no records of files: the program did no I/O that was seen")
    others = [name for name in modules if name in _NO_IO]
    if others:
        notes.append(f"not looked at, as they do not tell of I/O: {', '.join(others)}")
    empty = [name for name in _LAYER_OF if name in modules and name not in log.modules]
    if empty:
        notes.append(f"no records in: {', '.join(empty)}")
    notes += dict.fromkeys(_newer(log).values())
    if "DFS" in log.modules or "DAOS" in log.modules:
        notes.append("no rule judges requests to DAOS: no finding does not mean that all is well")
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
