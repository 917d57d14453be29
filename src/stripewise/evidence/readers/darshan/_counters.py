# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Converts records of Darshan's modules to counter rows: one per file, layer and rank.

The counters are defined in darshan-*-log-format.h of Darshan 3.5. Darshan has neither the time nor
the number of closes (both are in the metadata time), and counts the time of fsync as time of
writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core import Gap, ReportedPart
from stripewise.evidence.readers.darshan._isolated import RawLog
from stripewise.evidence.trace import (
    ALL_RANKS,
    COUNTER_ROW,
    N_COMMON,
    SIZE_EDGES,
    IoLayer,
    Op,
    unknown_counters,
)
from stripewise.present import plural

_BINS = (
    *("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M"),
    *("1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS"),
)
assert len(_BINS) == len(SIZE_EDGES)


@dataclass(frozen=True)
class _Shape:
    """Mapping of a module's counters to columns.

    Attributes:
        counts: Names of the counters that are added up, by operation.
        sizes: Text between "SIZE_READ_" and the bin.
    """

    layer: IoLayer
    counts: dict[Op, str]
    sizes: str = ""


_SYSTEM = {Op.OPEN: "OPENS", Op.READ: "READS", Op.WRITE: "WRITES"}
_MPI = {Op.READ: "INDEP_READS NB_READS", Op.WRITE: "INDEP_WRITES NB_WRITES"}
_MOVES = "STATS SEEKS MMAPS DUPS RENAME_SOURCES RENAME_TARGETS"
_SHAPES = {
    "POSIX": _Shape(IoLayer.POSIX, {**_SYSTEM, Op.SYNC: "FSYNCS FDSYNCS", Op.META: _MOVES}),
    "STDIO": _Shape(
        IoLayer.STDIO,
        {**_SYSTEM, Op.OPEN: "OPENS FDOPENS", Op.SYNC: "FLUSHES", Op.META: "SEEKS"},
    ),
    "MPI-IO": _Shape(
        IoLayer.MPIIO,
        {
            **_MPI,
            Op.OPEN: "INDEP_OPENS COLL_OPENS",
            Op.READ_COLLECTIVE: "COLL_READS SPLIT_READS",
            Op.WRITE_COLLECTIVE: "COLL_WRITES SPLIT_WRITES",
            Op.SYNC: "SYNCS",
            Op.META: "VIEWS",
        },
        "AGG_",
    ),
    "H5F": _Shape(IoLayer.HDF5, {Op.OPEN: "OPENS", Op.SYNC: "FLUSHES"}),
    "H5D": _Shape(
        IoLayer.HDF5,
        {Op.META: "OPENS", Op.READ: "READS", Op.WRITE: "WRITES", Op.SYNC: "FLUSHES"},
        "AGG_",
    ),
    "DFS": _Shape(
        IoLayer.DFS,
        {
            Op.OPEN: "OPENS GLOBAL_OPENS LOOKUPS",
            Op.READ: "READS READXS",
            Op.WRITE: "WRITES WRITEXS",
            Op.META: "DUPS GET_SIZES PUNCHES REMOVES STATS",
        },
    ),
    "DAOS": _Shape(
        IoLayer.DAOS,
        {
            Op.OPEN: "OBJ_OPENS ARRAY_OPENS KV_OPENS",
            Op.READ: "OBJ_FETCHES ARRAY_READS KV_GETS",
            Op.WRITE: "OBJ_UPDATES ARRAY_WRITES KV_PUTS",
            Op.META: "OBJ_PUNCHES OBJ_DKEY_PUNCHES OBJ_AKEY_PUNCHES OBJ_DKEY_LISTS OBJ_AKEY_LISTS"
            " OBJ_RECX_LISTS ARRAY_GET_SIZES ARRAY_SET_SIZES ARRAY_STATS ARRAY_PUNCHES"
            " ARRAY_DESTROYS KV_REMOVES KV_LISTS KV_DESTROYS",
        },
    ),
    "PNETCDF_FILE": _Shape(
        IoLayer.PNETCDF, {Op.OPEN: "CREATES OPENS", Op.SYNC: "SYNCS", Op.META: "REDEFS"}
    ),
    "PNETCDF_VAR": _Shape(
        IoLayer.PNETCDF,
        {
            **_MPI,
            Op.META: "OPENS",
            Op.READ_COLLECTIVE: "COLL_READS",
            Op.WRITE_COLLECTIVE: "COLL_WRITES",
        },
        "AGG_",
    ),
}
_OWN_DATA = {"H5F": False, "PNETCDF_FILE": False}
_MOST_SECONDS = 1e15
"""Maximum value of one counter of time: ten million ranks for three years (assumed)."""
_ALWAYS_COUNTED = frozenset(
    "OPENS READS WRITES INDEP_OPENS COLL_OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES"
    " CREATES".split()
)
"""Counters present in all versions; others are -1 in logs of versions without them."""


class Files:
    """Files of a log: index by Darshan's id, in the order of first occurrence."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self._ids = {name: int(record_id) for record_id, name in names.items()}
        self._index: dict[int, int] = {}
        self.paths: list[str] = []

    def join_dfs(self, log: RawLog) -> None:
        """Map files of DFS to those that MPI-IO or POSIX name by a path outside of the container.

        DFS names a file from the root of its container and numbers it by its object; its callers
        name the mounted path. Files are the same if exactly one path ends with the name. Source:
        darshan-dfs.c, DFS_RESOLVE_OBJ_REC_NAME and DFS_GEN_DARSHAN_REC_ID.
        """
        above = [self._names.get(str(one)) for name, module in log.modules.items()
                 if name not in ("DFS", "DAOS") for one in module["id"].tolist()]  # fmt: skip
        paths = {path for path in above if path}
        for one in log.modules["DFS"]["id"].tolist() if "DFS" in log.modules else ():
            name = "/" + self._names.get(str(one), "").lstrip("/")
            same = [path for path in paths if path.endswith(name)] if len(name) > 1 else []
            if len(same) == 1:
                self._index[int(one)] = self.index(self._ids[same[0]])

    def index(self, record_id: int) -> int:
        """Return the index of the file with this id."""
        if record_id not in self._index:
            self._index[record_id] = len(self.paths)
            self.paths.append(self._names.get(str(record_id), f"<file {record_id:#x}>"))
        return self._index[record_id]

    def indices(self, ids: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return (n,) index of each id."""
        return np.array([self.index(int(value)) for value in ids], dtype=np.int32)

    def owners(self, module: NDArray[Any]) -> NDArray[np.int32]:
        """Return (n,) file of each record of a module; for datasets and variables, their file."""
        if "file_id" not in _members(module):
            return self.indices(module["id"])
        pairs = zip(module["id"].tolist(), module["file_id"].tolist(), strict=True)
        return self.indices(np.array([self._file_of(*pair) for pair in pairs], np.uint64))

    def _file_of(self, record_id: int, file_id: int) -> int:
        """Return the file's id, which is only in the name (FILE:DATASET) in H5D's version 1."""
        if str(file_id) in self._names:
            return file_id
        name = self._names.get(str(record_id), "")
        place = name.rfind(":")
        while place > 0:
            if name[:place] in self._ids:
                return self._ids[name[:place]]
            place = name.rfind(":", 0, place)
        return record_id


def counter_rows(log: RawLog, files: Files) -> NDArray[Any]:
    """Return (n,) `COUNTER_ROW` of all modules, ordered by file, layer, rank."""
    files.join_dfs(log)
    parts = [_rows_of(name, module, files) for name, module in log.modules.items()]
    if not parts:
        return np.zeros(0, COUNTER_ROW)
    rows = _merge(np.concatenate(parts))
    _set_outermost(rows)
    return rows


def impossible(log: RawLog, files: Files, rows: NDArray[Any]) -> tuple[Gap, ...]:
    """Return amounts that are unknown because of an impossible counter or a missing one.

    Args:
        log: Log as it was read.
        files: Files of `rows`.
        rows: Result of `counter_rows` for the log, in which these counters are 0.
    """
    found = [
        (part, f"the log has {what} {_odd_words(what)} for {{}}", _odd(log, files, rows, counters))
        for part, what, counters in (
            (ReportedPart.SECONDS, "times", ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")),
            (ReportedPart.READ_BYTES, "read bytes", ("BYTES_READ",)),
            (ReportedPart.WRITE_BYTES, "written bytes", ("BYTES_WRITTEN",)),
            (ReportedPart.CALLS, "numbers of calls", sorted(_ALWAYS_COUNTED)),
        )
    ]
    seen = set().union(*(set(files.owners(module).tolist()) for name, module in log.modules.items()
                         if _OWN_DATA.get(name, True)))  # fmt: skip
    opened = set(range(len(files.paths))) & set(rows["file"].tolist()) - seen
    moved = ReportedPart.BYTES | ReportedPart.SECONDS
    found.append((moved, "the log has only opens, no reads and writes, of {}", opened))
    mappings = "memory mappings of {}: Darshan does not count what they move"
    found.append((moved, mappings, _mapped(log, files)))
    return tuple(
        Gap(part, text.format(plural(len(these), "file")), frozenset(these))
        for part, text, these in found
        if these
    )


def _odd_words(what: str) -> str:
    return "below zero or too large" if what == "times" else "below zero"


def _mapped(log: RawLog, files: Files) -> set[int]:
    module = log.modules.get("POSIX", np.zeros(0, [("id", np.uint64)]))
    return set(files.owners(module)[_counts(module, "MMAPS") > 0].tolist())


def _is_possible(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (n,) bool: whether a counter is a number from 0 to what a run can reach."""
    possible: NDArray[np.bool_] = np.asarray(values >= 0)
    return possible & (values < _MOST_SECONDS) if values.dtype.kind == "f" else possible


def _odd(log: RawLog, files: Files, rows: NDArray[Any], counters: Sequence[str]) -> set[int]:
    """Return the files for which one of these counters is impossible, if it counts."""
    found: set[int] = set()
    for name, module in log.modules.items():
        odd = np.zeros(len(module), bool)
        only_meta = not _OWN_DATA.get(name, True) and counters[0].startswith("F_")
        for counter in counters[2:] if only_meta else counters:
            if counter in _members(module):
                odd |= ~_is_possible(module[counter])
        if odd.any():
            mine = rows["file"][(rows["layer"] == _SHAPES[name].layer) & _is_outermost(rows)]
            found |= set(files.owners(module)[odd].tolist()) & set(mine.tolist())
    return found


def _rows_of(name: str, module: NDArray[Any], files: Files) -> NDArray[Any]:
    shape = _SHAPES[name]
    rows = unknown_counters(len(module))
    rows["file"] = files.owners(module)
    rows["layer"] = shape.layer
    rows["rank"] = np.where(module["rank"] == -1, ALL_RANKS, module["rank"])
    for op, names in shape.counts.items():
        for counter in names.split():
            rows["count"][:, op] += _counts(module, counter)
    if _OWN_DATA.get(name, True):
        _add_data(rows, module)
    rows["seconds"][:, Op.META] += _seconds(module, "F_META_TIME")
    _set_times(rows, module)
    _set_sizes(rows, module, shape.sizes)
    _set_details(rows, module)
    _set_spread(rows, module)
    return rows


def _members(module: NDArray[Any]) -> tuple[str, ...]:
    return module.dtype.names or ()


def _counts(module: NDArray[Any], name: str, missing: int = 0) -> NDArray[np.int64]:
    """Return (n,) a counter; `missing` if it is -1 (not recorded) or the version has none."""
    if name not in _members(module):
        return np.full(len(module), missing, np.int64)
    return np.asarray(np.maximum(module[name], missing))


def _seconds(module: NDArray[Any], name: str) -> NDArray[np.float64]:
    if name not in _members(module):
        return np.zeros(len(module))
    return np.where(_is_possible(module[name]), module[name], 0.0)


def _add_data(rows: NDArray[Any], module: NDArray[Any]) -> None:
    """Add bytes and time; if calls are of both kinds, divide them by number of calls."""
    for one, all_, what, time in (
        (Op.READ, Op.READ_COLLECTIVE, "BYTES_READ", "F_READ_TIME"),
        (Op.WRITE, Op.WRITE_COLLECTIVE, "BYTES_WRITTEN", "F_WRITE_TIME"),
    ):
        calls = rows["count"][:, [one, all_]].astype(np.float64)
        total = calls.sum(axis=1)
        share = np.divide(calls[:, 1], total, out=np.zeros(len(rows)), where=total > 0)
        n_bytes, seconds = _counts(module, what), _seconds(module, time)
        together = np.rint(n_bytes * share).astype(np.int64)
        rows["bytes"][:, all_], rows["bytes"][:, one] = together, n_bytes - together
        rows["seconds"][:, all_], rows["seconds"][:, one] = seconds * share, seconds * (1 - share)


def _set_times(rows: NDArray[Any], module: NDArray[Any]) -> None:
    starts = [_seconds(module, f"F_{what}_START_TIMESTAMP") for what in ("READ", "WRITE")]
    ends = [_seconds(module, f"F_{what}_END_TIMESTAMP") for what in ("READ", "WRITE")]
    first = np.min([np.where(start > 0, start, np.inf) for start in starts], axis=0)
    last = np.max(ends, axis=0)
    rows["first"] = np.where(np.isfinite(first), first, np.nan)
    rows["last"] = np.where(last > 0, last, np.nan)


def _set_sizes(rows: NDArray[Any], module: NDArray[Any], middle: str) -> None:
    for place, bin_name in enumerate(_BINS):
        rows["read_sizes"][:, place] = _counts(module, f"SIZE_READ_{middle}{bin_name}")
        rows["write_sizes"][:, place] = _counts(module, f"SIZE_WRITE_{middle}{bin_name}")
    for place in range(N_COMMON):
        rows["common_size"][:, place] = _counts(module, f"ACCESS{place + 1}_ACCESS")
        rows["common_count"][:, place] = _counts(module, f"ACCESS{place + 1}_COUNT")


def _set_details(rows: NDArray[Any], module: NDArray[Any]) -> None:
    for what in ("reads", "writes"):
        rows[f"sequential_{what}"] = _counts(module, f"SEQ_{what.upper()}")
        rows[f"consecutive_{what}"] = _counts(module, f"CONSEC_{what.upper()}")
    rows["unaligned"] = _counts(module, "FILE_NOT_ALIGNED", -1)
    rows["alignment"] = _counts(module, "FILE_ALIGNMENT")
    ends = [_counts(module, f"MAX_BYTE_{what}", -1) for what in ("READ", "WRITTEN")]
    moved = rows["bytes"].sum(axis=1) > 0
    rows["maximum_offset"] = np.where(moved & (ends[0] + ends[1] != -2), np.max(ends, 0) + 1, -1)


def _set_spread(rows: NDArray[Any], module: NDArray[Any]) -> None:
    """Set slowest and fastest rank of reduced records; Darshan has the variance, not its root.

    A variance of 0 although ranks differ was not computed (some logs of 3.1).
    """
    reduced = rows["rank"] == ALL_RANKS
    known = reduced & (_counts(module, "SLOWEST_RANK", -1) >= 0)
    for which in ("slowest", "fastest"):
        upper = which.upper()
        rows[f"{which}_rank"] = np.where(known, _counts(module, f"{upper}_RANK"), -1)
        rows[f"{which}_bytes"] = np.where(known, _counts(module, f"{upper}_RANK_BYTES"), 0)
        seconds = _seconds(module, f"F_{upper}_RANK_TIME")
        rows[f"{which}_seconds"] = np.where(known, seconds, 0.0)
    for counter, what in (("F_VARIANCE_RANK_TIME", "seconds"), ("F_VARIANCE_RANK_BYTES", "bytes")):
        spread = np.sqrt(_seconds(module, counter))
        computed = known & ((spread > 0) | (rows[f"slowest_{what}"] == rows[f"fastest_{what}"]))
        rows[f"{what}_deviation"] = np.where(computed, spread, np.nan)


def _merge(rows: NDArray[Any]) -> NDArray[Any]:
    """Add up rows of the same file, layer and rank: H5F with its datasets, variables."""
    order = np.lexsort((rows["rank"], rows["layer"], rows["file"]))
    rows = rows[order]
    same = np.zeros(len(rows), bool)
    same[1:] = np.all(
        [rows[name][1:] == rows[name][:-1] for name in ("file", "layer", "rank")], axis=0
    )
    starts = np.flatnonzero(~same)
    merged = rows[starts].copy()
    for begin, end, place in zip(
        starts, np.append(starts[1:], len(rows)), range(len(starts)), strict=True
    ):
        if end - begin > 1:
            merged[place] = _merged(rows[begin:end])
    return merged


def _merged(rows: NDArray[Any]) -> Any:
    """Return one row for several: sums, extremes; spread and alignment of the slowest one."""
    result = rows[int(np.argmax(rows["slowest_seconds"]))].copy()
    for name in (
        *("count", "bytes", "seconds", "read_sizes", "write_sizes"),
        *("sequential_reads", "consecutive_reads", "sequential_writes", "consecutive_writes"),
    ):
        result[name] = rows[name].sum(axis=0)
    result["first"] = _extreme(rows["first"], np.min)
    result["last"] = _extreme(rows["last"], np.max)
    result["maximum_offset"] = rows["maximum_offset"].max()
    sizes, place = np.unique(rows["common_size"], return_inverse=True)
    counts = np.bincount(place.reshape(-1), weights=rows["common_count"].reshape(-1))
    best = np.argsort(-counts * (sizes > 0), kind="stable")[:N_COMMON]
    result["common_size"], result["common_count"] = 0, 0
    result["common_size"][: len(best)] = sizes[best]
    result["common_count"][: len(best)] = counts[best] * (sizes[best] > 0)
    return result


def _extreme(values: NDArray[np.float64], choose: Any) -> float:
    known = values[~np.isnan(values)]
    return float(choose(known)) if known.size else float("nan")


_NO_LAYER = min(IoLayer) - 1


def _is_outermost(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (n,) bool: whether the row is of the highest layer that moved data of its file."""
    level = np.where(rows["layer"] == IoLayer.STDIO, IoLayer.POSIX, rows["layer"]).astype(int)
    has_data = rows["bytes"].sum(axis=1) > 0
    n_files = int(rows["file"].max()) + 1
    highest = np.full(n_files, _NO_LAYER)
    np.maximum.at(highest, rows["file"][has_data], level[has_data])
    any_level = np.full(n_files, _NO_LAYER)
    np.maximum.at(any_level, rows["file"], level)
    highest = np.where(highest == _NO_LAYER, any_level, highest)
    return np.asarray(level == highest[rows["file"]])


def _set_outermost(rows: NDArray[Any]) -> None:
    """Count time and bytes of each file in the highest layer that moved its data.

    POSIX and stdio are on the same level; a file without data counts in its highest layer.
    """
    counted = _is_outermost(rows)
    reads, writes = [Op.READ, Op.READ_COLLECTIVE], [Op.WRITE, Op.WRITE_COLLECTIVE]
    rows["outermost_seconds"] = np.where(counted, rows["seconds"].sum(axis=1), 0.0)
    rows["outermost_read_bytes"] = np.where(counted, rows["bytes"][:, reads].sum(axis=1), 0)
    rows["outermost_write_bytes"] = np.where(counted, rows["bytes"][:, writes].sum(axis=1), 0)
