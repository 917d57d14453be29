# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads a Darshan log with its extended trace and heat map, and reports what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core import Gap, ReportedPart
from stripewise.core.errors import TraceError
from stripewise.core.inputs import DARSHAN_LOG
from stripewise.evidence.containers import make_single
from stripewise.evidence.readers._base import Source, head_of
from stripewise.evidence.readers._calls import foreign_accesses, heat_of, set_processes
from stripewise.evidence.readers._waits import with_waits_apart
from stripewise.evidence.readers.darshan._counters import Files, counter_rows, impossible
from stripewise.evidence.readers.darshan._isolated import RawLog, read_log
from stripewise.evidence.readers.darshan._old import old_version
from stripewise.evidence.readers.darshan._several import check_names, joined
from stripewise.evidence.trace import (
    ALL_RANKS,
    HEAT_ROW,
    TRACE_ROW,
    EventFlag,
    Evidence,
    FileLayout,
    IoLayer,
    Op,
    RunProfile,
    Trace,
    expanded_index,
    summed_heat,
)
from stripewise.present import plural, size_text

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
"""Modules of communication, of the network and of the machine, which do no I/O."""
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
_MAGICS = (_MAGIC, _MAGIC[::-1])
_HEAD_BYTES = _VERSION_BYTES + len(_MAGIC)
_LOGS_TRIED = 4
_ENDINGS = (".darshan", ".darshan.gz", ".darshan.bz2")
_OUTERMOST = (
    "I/O time and bytes of a file are those of the highest layer that moved its data (HDF5, "
    "PnetCDF, MPI-IO, POSIX with stdio, then DFS and DAOS); Darshan does not record which "
    "call caused which"
)


class DarshanSource(Source):
    """A Darshan log, or the logs of one run's processes in a directory.

    PyDarshan is needed only to read it, not to recognise it.
    """

    name = "darshan"
    summary = "a Darshan log (*.darshan) or a directory with those of one run's processes"
    budget = DARSHAN_LOG

    def recognises(self, path: Path) -> bool:
        """Look for the version and the magic number at the beginning of a log."""
        if path.is_dir():
            return any(_is_log(log) for log in _logs_in(path)[:_LOGS_TRIED])
        return _is_log(path)

    def read_one(self, path: Path) -> Evidence:
        """Read a log of any version that PyDarshan reads, complete or damaged.

        Raises:
            RuntimeMissingError: PyDarshan is not installed.
            TraceError: The log cannot be read at all, or exceeds its budget.
        """
        return self.read_several([path])

    def read_several(self, paths: Sequence[Path]) -> Evidence:
        """Read the logs of one run, each of one process.

        Raises:
            RuntimeMissingError: PyDarshan is not installed.
            TraceError: A log cannot be read, or they are of several runs, which are named.
        """
        logs = [log for path in paths for log in (_logs_in(path) if path.is_dir() else [path])]
        if len(logs) == 1:
            return _evidence(self._read_raw(logs[0]))
        check_names(logs)
        return _evidence(*joined([(log, self._read_raw(log)) for log in logs]))

    def _read_raw(self, path: Path) -> RawLog:
        if version := old_version(path, _MAGICS):
            raise TraceError(
                f"{path}: a log of Darshan {version[:1]} (format {version}), which neither "
                "PyDarshan nor Stripewise reads: use darshan-parser of Darshan 2.3, or trace a "
                "new run"
            )
        if path.is_file():
            self.budget.check_bytes(path.stat().st_size, path)
        return read_log(path)


def _is_log(path: Path) -> bool:
    head = head_of(path, _HEAD_BYTES)
    version, magic = head[:_VERSION_BYTES], head[_VERSION_BYTES:]
    if version[:1].isdigit() and magic in _MAGICS:
        return True
    return bool(old_version(path, _MAGICS))


def _logs_in(directory: Path) -> list[Path]:
    """Return the complete logs in a directory, in the order of their names."""
    try:
        return sorted(one for one in directory.iterdir() if one.name.endswith(_ENDINGS))
    except OSError:
        return []


def _evidence(log: RawLog, notes: tuple[str, ...] = ()) -> Evidence:
    job = log.meta["job"]
    version = job.get("metadata", {}).get("lib_ver", "")
    source = f"Darshan {version} log" if version else "Darshan log"
    files = Files(log.meta["names"])
    counters = with_waits_apart(counter_rows(log, files), files.paths)
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
            *trouble, *(gap.why for gap in gaps), *notes, *layout_notes,
            *_notes(log, counters, trace), *_blocks(log),
        ))),
    )  # fmt: skip
    return Evidence(
        profile, trace, foreign_accesses(trace, knows_views=False) if trace is not None else ()
    )


def _layers(log: RawLog) -> tuple[str, ...]:
    """Return the observed layers: Darshan keeps no record of modules without events.

    POSIX, stdio and MPI-IO are always built in; HDF5 and PnetCDF count only if a module appears.
    """
    present = {_LAYER_OF[name] for name in log.meta["modules"] if name in _LAYER_OF}
    order = ("daos", "dfs", "posix", "stdio", "mpiio", "pnetcdf", "hdf5")
    return tuple(name for name in order if name in present | {"posix", "stdio", "mpiio"})


def _trouble(log: RawLog) -> tuple[str, ...]:
    """Return the reasons why the log is incomplete."""
    found = [
        (
            f"{name}: incomplete, as Darshan reached its limit of records (raise DARSHAN_MODMEM, "
            "DARSHAN_NAMEMEM or MAX_RECORDS)"
        )
        for name, module in log.meta["modules"].items()
        if module.get("partial_flag")
    ]
    newer = _newer(log)
    messages = [
        _ERROR.sub("", line).rstrip(". ")
        for line in log.complaints
        if "rror" in line and line not in newer
    ]
    modules = log.meta["modules"]
    lost = [name for name in _LAYER_OF if name in modules and name not in log.modules]
    if lost and (log.meta["trouble"] or messages):
        messages.append(f"no record can be read of {', '.join(lost)}")
    what = [*log.meta["trouble"], *list(dict.fromkeys(messages))[:_MOST_NAMED]]
    return (*found, f"{_DAMAGED}: {'; '.join(what)}") if what else tuple(found)


def _gaps(log: RawLog, files: Files, counters: NDArray[Any], trace: Trace | None) -> Iterator[Gap]:
    """Yield the amounts that the log contains only in part, or not at all."""
    yield from (Gap(ReportedPart.ALL, text) for text in _trouble(log))
    yield from (
        Gap(ReportedPart.ALL, text) for text in _newer(log).values() if not _is_detail(text)
    )
    for name, number in log.meta.get("unread", {}).items():
        if name not in _NO_IO:
            records = plural(number, "record") if number else "records"
            is_are = "is" if number == 1 else "are"
            yield Gap(
                ReportedPart.ALL, f"the {name} module holds {records} that {is_are} not read"
            )
    if not log.modules and (trace is not None or "HEATMAP" in log.arrays):
        yield Gap(
            ReportedPart.ALL, "the log has no counters of files, only " + _beside_counters(log)
        )
    elif not _newer(log) and not any(text.startswith(_DAMAGED) for text in _trouble(log)):
        modules = log.meta["modules"]
        lost = [name for name in _LAYER_OF if name in modules and name not in log.modules]
        if lost:
            yield Gap(ReportedPart.ALL, f"no record can be read of: {', '.join(lost)}")
    if len(counters):
        yield from impossible(log, files, counters)
    if float(log.meta["job"].get("run_time", 0.0)) < 0:
        yield Gap(ReportedPart(0), "the log ends before it begins: the run time is not known")


def _is_detail(text: str) -> bool:
    """Return whether a module that is too new contains no counters."""
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
    """Return the library's messages on modules newer than itself, and their meaning."""
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
        notes.append("the log holds no records of files: no I/O of the program was recorded")
    others = [name for name in modules if name in _NO_IO]
    if others:
        notes.append(f"ignored, as they do not record I/O: {', '.join(others)}")
    empty = [name for name in _LAYER_OF if name in modules and name not in log.modules]
    if empty:
        notes.append(f"no records in: {', '.join(empty)}")
    notes += dict.fromkeys(_newer(log).values())
    if "DFS" in log.modules or "DAOS" in log.modules:
        notes.append(
            "requests to DAOS are not judged: the absence of findings does not mean that "
            "all is well"
        )
    if trace is None and not any(name.startswith("DXT_") for name in modules):
        notes.append(
            "single calls were not recorded (DXT was off), so access patterns are not "
            "known; DARSHAN_MOD_ENABLE="
        )
        notes[-1] += "DXT_POSIX,DXT_MPIIO records them"
    reduced = (counters["rank"] == ALL_RANKS).any()
    if reduced and log.meta["job"].get("nprocs", 0) > 1:
        notes.append(
            "shared files have one record for all ranks: their times are sums over ranks;"
            " DARSHAN_DISABLE_SHARED_REDUCTION=1 keeps a record for each rank"
        )
    made = counters["count"][counters["layer"] == IoLayer.MPIIO] > 0
    reads = made[:, Op.READ] & made[:, Op.READ_COLLECTIVE]
    writes = made[:, Op.WRITE] & made[:, Op.WRITE_COLLECTIVE]
    if (reads | writes).any():
        notes.append(
            "MPI-IO: for files with both independent and collective calls, bytes and time "
            "are divided in proportion to the number of calls"
        )
    if "H5F" in modules and "H5D" not in modules:
        notes.append("HDF5: opens and flushes of files only, the log has no datasets (H5D)")
    if _format(log) < (3, 41) and log.modules:
        notes.append("the run time is in whole seconds (log format before 3.41)")
    return notes


def _format(log: RawLog) -> tuple[int, ...]:
    """Return the version of the log's format; the newest if the log does not contain it."""
    parts = str(log.meta["job"].get("log_ver", "")).split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else (99,)


def _blocks(log: RawLog) -> list[str]:
    """Describe the most used selections; Darshan has their size, but not their position.

    For a dataset with three dimensions the values are in D3 to D5 or in D1 to D3, depending on the
    version: dimensions of no length are left out.
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
    return f"blocks of {shape} elements of {plural(int(record['DATATYPE_SIZE']), 'byte')}"


def _layouts(log: RawLog, files: Files) -> tuple[dict[int, FileLayout], list[str]]:
    """Return the layouts by file; for a composite one, the component with the most stripes."""
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
    """Return the layout of a component (Darshan 3.4.6: "LUSTRE_COMP_...") or file (before)."""

    def value(*names: str) -> int:
        found = (counters[name] for name in names if counters.get(name, -1) >= 0)
        return next(found, 0)

    return FileLayout(
        stripe_bytes=value("LUSTRE_COMP_STRIPE_SIZE", "LUSTRE_STRIPE_SIZE"),
        stripe_count=value(
            "LUSTRE_COMP_STRIPE_COUNT", "LUSTRE_STRIPE_COUNT", "LUSTRE_STRIPE_WIDTH"
        ),
        targets=tuple(targets),
        n_targets=value("LUSTRE_OSTS"),
    )


# Conversion of DXT segments to a trace: each read and write of POSIX and MPI-IO.

_LAYERS = {"DXT_POSIX": IoLayer.POSIX, "DXT_MPIIO": IoLayer.MPIIO}
NAMES = ("POSIX read", "POSIX write", "MPI-IO read", "MPI-IO write")
VIEW_NOTE = (
    "DXT has one offset and length for a call of MPI-IO, whatever its file view: the patterns "
    "come from the system calls below where there are any, and collective and independent MPI-IO "
    "calls are not distinguished"
)


def read_trace(log: RawLog, files: Files, source: str) -> Trace | None:
    """Return the trace of the calls that DXT recorded; None without DXT."""
    parts = [_rows(log, module, files) for module in _LAYERS if module in log.arrays]
    parts = [part for part in parts if len(part)]
    if not parts:
        return None
    rows = np.concatenate(parts)
    _set_parents(rows)
    order = np.lexsort((rows["depth"], rows["start_ns"], rows["rank"]))
    rows = rows[order]
    rank = rows["rank"].astype(np.int64)
    rows["sequence"] = np.arange(len(rows)) - np.searchsorted(rank, rank)
    ranks = set_processes(rows)
    job = log.meta["job"]
    notes = (VIEW_NOTE,) if (rows["layer"] == IoLayer.MPIIO).any() else ()
    here = [f"{name}/segments" for name in _LAYERS if name in log.arrays]
    if number := sum(_impossible(log.arrays[name]) for name in here):
        notes = (
            *notes,
            f"the times or sizes of {plural(number, 'call')} in DXT are impossible: taken as not "
            "known",
        )
    return Trace(
        source=f"{source} (DXT)",
        rows=rows,
        names=NAMES,
        paths=tuple(files.paths),
        process_rank=ranks,
        process_host=np.full(len(ranks), -1, np.int64),
        n_ranks=int(job.get("nprocs", 0)),
        start=float(job.get("start_time_sec", 0)) + float(job.get("start_time_nsec", 0)) * 1e-9,
        notes=(*notes, "reads and writes only: DXT records no opens, closes or metadata calls"),
    )


def hosts(log: RawLog) -> tuple[str, ...]:
    """Return the names of the nodes, which only DXT contains."""
    found = {name for module in _LAYERS for name in log.meta.get(f"{module}/hosts", ())}
    return tuple(sorted(name for name in found if name))


def _impossible(segments: NDArray[Any]) -> int:
    """Count calls with an impossible time or size; they are 0 in the trace."""
    start, end = segments["start"], segments["end"]
    return int((~((start >= 0) & (end >= start)) | (segments["length"] < 0)).sum())


def _rows(log: RawLog, module: str, files: Files) -> NDArray[Any]:
    owners, segments = log.arrays[module], log.arrays[f"{module}/segments"]
    layer = _LAYERS[module]
    record, place = expanded_index(owners["n_writes"] + owners["n_reads"])
    writing = place < owners["n_writes"][record]
    rows = np.zeros(len(segments), TRACE_ROW)
    rows["rank"] = owners["rank"][record]
    rows["file"] = files.indices(owners["id"])[record]
    rows["name"] = (2 if layer == IoLayer.MPIIO else 0) + writing
    for name in ("parent", "object", "shape", "view", "memory"):
        rows[name] = -1
    rows["layer"] = layer
    rows["op"] = np.where(writing, Op.WRITE, Op.READ)
    rows["offset"], rows["bytes"] = segments["offset"], np.maximum(segments["length"], 0)
    rows["flags"] = np.where(segments["offset"] < 0, EventFlag.NO_OFFSET, 0)
    start = np.clip(np.nan_to_num(segments["start"]), 0, 4e9)
    end = np.maximum(np.clip(np.nan_to_num(segments["end"]), 0, 4e9), start)
    rows["start_ns"], rows["end_ns"] = np.rint(start * 1e9), np.rint(end * 1e9)
    make_single(rows, rows["end_ns"] - rows["start_ns"])
    return rows


def _set_parents(rows: NDArray[Any]) -> None:
    """Mark system calls on a file that MPI-IO reads and writes as made by MPI-IO."""
    through = np.unique(rows["file"][rows["layer"] == IoLayer.MPIIO])
    served = (rows["layer"] == IoLayer.POSIX) & np.isin(rows["file"], through)
    rows["parent"][served] = 2 + (rows["op"][served] == Op.WRITE)
    rows["depth"][served] = 1


# Conversion of HEATMAP records to heat rows; all bins are made as wide as the widest.

_NAMED = {
    "heatmap:POSIX": IoLayer.POSIX,
    "heatmap:STDIO": IoLayer.STDIO,
    "heatmap:MPIIO": IoLayer.MPIIO,
}
# Ids of those names, which many logs do not list (PyDarshan 3.5, report.py).
_BY_ID = {
    16592106915301738621: IoLayer.POSIX,
    3989511027826779520: IoLayer.STDIO,
    3668870418325792824: IoLayer.MPIIO,
}


def heat_rows(log: RawLog) -> tuple[NDArray[Any], float]:
    """Return the rows of bins with data, and the width of a bin in seconds (0: no heat map)."""
    if "HEATMAP" not in log.arrays:
        return np.zeros(0, HEAT_ROW), 0.0
    records = log.arrays["HEATMAP"]
    widths = records["width"]
    layers = np.array([_layer(log, int(value)) for value in records["id"]])
    used = (layers >= 0) & np.isfinite(widths) & (widths > 0)
    if not used.any():
        return np.zeros(0, HEAT_ROW), 0.0
    width = float(widths[used].max())
    record, place = expanded_index(records["bins"])
    read, write = log.arrays["HEATMAP/read"], log.arrays["HEATMAP/write"]
    filled = used[record] & ((read > 0) | (write > 0))
    record, place = record[filled], place[filled]
    rows = np.zeros(len(record), HEAT_ROW)
    rows["rank"], rows["file"], rows["layer"] = records["rank"][record], -1, layers[record]
    rows["bin"] = np.floor(place * widths[record] / width + 1e-9).astype(np.int64)
    rows["read_bytes"], rows["write_bytes"] = read[filled], write[filled]
    return summed_heat(rows), width


def _layer(log: RawLog, record_id: int) -> int:
    name = log.meta["names"].get(str(record_id), "")
    return int(_NAMED.get(name, _BY_ID.get(record_id, -1)))
