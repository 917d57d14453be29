# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Translates each call of a trace into a verb of the replay program with its arguments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.replay._calls import RankCalls
from stripewise.evidence.replay._plan import Tables
from stripewise.evidence.trace import (
    EventFlag,
    Interned,
    IoLayer,
    Op,
    OpenBit,
    ShapeKind,
    Trace,
    TraceObject,
    members,
)

SKIPPED = ""
"""Verb of a call that moves nothing and is left out, such as a change of hints."""

_DATA = {
    Op.READ: "read",
    Op.READ_COLLECTIVE: "read",
    Op.WRITE: "write",
    Op.WRITE_COLLECTIVE: "write",
}
_PLAIN = {Op.OPEN: "open", Op.CLOSE: "close", Op.SYNC: "fsync"}
_POSIX_META = (
    (r"f?truncate(64)?", "truncate"),
    (r"(posix_)?fallocate(64)?", "fallocate"),
    (r"unlink(at)?|remove", "unlink"),
    (r"l?lseek(64)?|lseek64", "lseek"),
    (r"_*f?l?x?stat.*|fstatat.*|access|faccessat", "stat"),
)
_MPI_WAIT = re.compile(r"(Wait|Test)(all|any|some)?")
_MPI_NAME = re.compile(
    r"open|close|delete|set_view|set_size|preallocate|seek|seek_shared|get_size"
    r"|get_position_shared|sync|i?(read|write)(_shared|_all|_at|_at_all)?"
    r"|(read|write)(_ordered|_(all|ordered|at_all)_(begin|end))"
)
_HDF5_META = {
    "H5Dcreate": "dcreate",
    "H5Dopen": "dopen",
    "H5Dclose": "dclose",
    "H5Dset_extent": "dset_extent",
    "H5Gcreate": "gcreate",
    "H5Awrite": "awrite",
    "H5Aread": "aread",
    "H5Fflush": "fflush",
}
_PNETCDF_META = {
    "delete": "delete",
    "enddef": "enddef",
    "_enddef": "enddef",
    "redef": "redef",
    "begin_indep_data": "begin_indep",
    "end_indep_data": "end_indep",
    "wait": "wait",
    "wait_all": "wait_all",
    "sync": "sync",
    "flush": "flush",
    "sync_numrecs": "sync_numrecs",
}


def verb_of(layer: int, op: int, flags: int, name: str) -> str | None:
    """Return the verb, `SKIPPED`, or None for a call that cannot be replayed."""
    find = _FINDERS.get(IoLayer(layer))
    return find(Op(op), EventFlag(flags), name) if find else None


def _posix(op: Op, flags: EventFlag, name: str) -> str | None:
    if op in _DATA:
        at = not flags & (EventFlag.POINTER | EventFlag.NO_OFFSET)
        return f"posix.{'p' if at else ''}{_DATA[op]}"
    if op in _PLAIN:
        return f"posix.{_PLAIN[op]}"
    for pattern, verb in _POSIX_META:
        if re.fullmatch(pattern, name):
            return f"posix.{verb}"
    return SKIPPED


def _stdio(op: Op, flags: EventFlag, name: str) -> str | None:
    if op in _DATA:
        return f"stdio.{_DATA[op]}"
    if op in (Op.OPEN, Op.CLOSE):
        return f"stdio.{_PLAIN[op]}"
    if op == Op.SYNC or name.startswith("fflush"):
        return "stdio.flush"
    return SKIPPED


def _mpiio(op: Op, flags: EventFlag, name: str) -> str | None:
    plain = re.sub(r"^P?MPI_(File_)?|_c$", "", name)
    if _MPI_WAIT.fullmatch(plain):
        return "mpiio.waitall" if "all" in plain else "mpiio.wait"
    if _MPI_NAME.fullmatch(plain):
        return f"mpiio.{plain}"
    return None if op in _DATA else SKIPPED


def _hdf5(op: Op, flags: EventFlag, name: str) -> str | None:
    plain = re.sub(r"(_async|_multi|[12]|_anon)$", "", name)
    if op in _DATA and not flags & EventFlag.ATTRIBUTE:
        return f"hdf5.{_DATA[op]}"
    if op == Op.OPEN:
        return "hdf5.fcreate" if plain.startswith("H5Fcreate") else "hdf5.fopen"
    if op == Op.CLOSE:
        return "hdf5.fclose"
    verb = _HDF5_META.get(plain)
    return f"hdf5.{verb}" if verb else SKIPPED


def _pnetcdf(op: Op, flags: EventFlag, name: str) -> str | None:
    plain = re.sub(r"^ncmpi_", "", name)
    if op in _DATA and not flags & EventFlag.ATTRIBUTE:
        if re.search(r"var[dm]", plain):
            return None
        posted = "i" if re.match(r"[ib](put|get)", plain) else ""
        return f"pnetcdf.{posted}{'get' if _DATA[op] == 'read' else 'put'}"
    if op == Op.OPEN:
        return "pnetcdf.create" if plain == "create" else "pnetcdf.open"
    if op == Op.CLOSE:
        return "pnetcdf.close"
    verb = _PNETCDF_META.get(plain)
    return f"pnetcdf.{verb}" if verb else SKIPPED


_FINDERS = {
    IoLayer.POSIX: _posix,
    IoLayer.STDIO: _stdio,
    IoLayer.MPIIO: _mpiio,
    IoLayer.HDF5: _hdf5,
    IoLayer.PNETCDF: _pnetcdf,
}
COLLECTIVE = frozenset(
    "mpiio.close mpiio.set_view mpiio.set_size mpiio.preallocate mpiio.sync mpiio.seek_shared "
    "hdf5.fclose hdf5.fflush hdf5.dcreate hdf5.dset_extent hdf5.gcreate hdf5.awrite "
    "pnetcdf.close pnetcdf.enddef pnetcdf.redef pnetcdf.begin_indep pnetcdf.end_indep "
    "pnetcdf.wait_all pnetcdf.sync".split()
)
"""Calls that all ranks that opened a file together make together, whatever they move."""
JOINT = frozenset(("hdf5.dopen", "hdf5.dclose"))
"""Calls that all ranks usually make together, although none has to."""
CREATING = frozenset(("hdf5.fcreate", "pnetcdf.create"))
REMOVING = frozenset(("posix.unlink", "mpiio.delete", "pnetcdf.delete"))


# Properties of the rows of a trace for a replay, determined once for each row.

_READS = (Op.READ, Op.READ_COLLECTIVE)
_WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
_CREATING_BITS = OpenBit.CREATE | OpenBit.TRUNCATE
_COLLECTIVE_OPS = (Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE)
_PARALLEL = (IoLayer.MPIIO, IoLayer.PNETCDF)


KIND_ROW = np.dtype(
    [
        ("key", "<i8"),  # number of layer and file; -1 without a file
        ("verb", "<i8"),  # index into `RowKinds.verbs`; -1 if not replayed
        *((name, "?") for name in ("collective", "opens", "closes", "parallel", "creates")),
        ("empties", "?"),  # whether an open begins with an empty file
        ("removes", "?"),
        ("joint", "?"),  # whether ranks usually make it together, although they need not
    ]
)


@dataclass(frozen=True, eq=False)
class RowKinds:
    """Properties of the rows of a trace for a replay.

    Attributes:
        verbs: Verbs that occur.
        rows: (n_rows,) `KIND_ROW` of the trace.
        read_bytes / write_bytes: Bytes moved by calls that are replayed.
        lost_bytes: Bytes moved by calls that cannot be replayed.
        lost: Number of such calls by the reason, in words.
        skipped: Number of calls that are left out, by name.
    """

    verbs: tuple[str, ...]
    rows: NDArray[Any]
    read_bytes: int
    write_bytes: int
    lost_bytes: int
    lost: Counter[str]
    skipped: Counter[str]

    @property
    def verb(self) -> NDArray[np.int64]:
        """Verb of each row, as in `KIND_ROW`: (n_rows,) int64."""
        return np.asarray(self.rows["verb"])

    def number(self, verb: str) -> int:
        """Return the index of a verb; -2 if no call has it."""
        return self.verbs.index(verb) if verb in self.verbs else -2


def row_kinds(trace: Trace, chosen: NDArray[np.bool_]) -> RowKinds:
    """Return the properties of the chosen rows."""
    rows, names = trace.rows, (*trace.names, "")
    verbs: Interned[str] = Interned()
    kinds = np.zeros(len(rows), KIND_ROW)
    kinds["verb"] = -1
    lost: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    left_out = np.zeros(len(rows), bool)
    find = cache(verb_of)
    unsound = _unsound(trace)
    index = np.flatnonzero(chosen)
    columns = (rows[name][index].tolist() for name in ("layer", "op", "flags", "name", "count"))
    for place, layer, op, flags, number, count in zip(index.tolist(), *columns, strict=True):
        name = names[number]
        found = find(layer, op, flags, name)
        if found is None:
            why = f"{'ADIOS2' if layer == IoLayer.ADIOS2 else name} is not replayed"
        else:
            why = _UNSOUND[unsound[place]].format(name)
        left_out[place] = bool(why)
        if why:
            lost[why] += count
        elif found:
            kinds["verb"][place] = verbs.number(found)
        else:
            skipped[name] += count
    _set_kinds(trace, kinds, verbs.values)
    kept = kinds["verb"] >= 0
    read, written = _bytes_of(rows, kept, _READS), _bytes_of(rows, kept, _WRITES)
    lost_bytes = _bytes_of(rows, left_out, (*_READS, *_WRITES))
    return RowKinds(verbs.values, kinds, read, written, lost_bytes, lost, skipped)


_UNSOUND = (
    "",
    "a selection is not listed completely in the trace",
    "a file view is not listed completely in the trace",
    "{} without its variable is not replayed",
    "the dataset has filters (compression), and the replay has noise instead of its data",
    "HDF5 converts values of a type that the trace does not describe",
    "{} of a directory is not replayed",
)


def _unsound(trace: Trace) -> NDArray[np.int64]:
    """Return why the description of a call is insufficient, (n_rows,) int64 into `_UNSOUND`."""
    rows = trace.rows
    listed = (ShapeKind.BOXES, ShapeKind.POINTS)
    shapes = [one.truncated and one.kind in listed for one in trace.shapes]
    views = [one.truncated for one in trace.views]
    moves = np.isin(rows["op"], (*_READS, *_WRITES))
    of_library = np.isin(rows["layer"], (IoLayer.HDF5, IoLayer.PNETCDF))
    cut_shape = np.array([*shapes, False])[rows["shape"]]  # index -1 refers to the last
    cut_view = np.array([*views, False])[rows["view"]]
    nameless = moves & (rows["bytes"] > 0) & of_library & (rows["object"] < 0)
    unlike = _converted_otherwise(trace) & of_library
    filtered = moves & _of_objects(trace, lambda one: one.storage == "filtered")
    reasons = (cut_shape, cut_view, nameless, filtered, unlike, _of_directories(trace))
    return np.select(reasons, range(1, len(_UNSOUND)), 0)


def _of_directories(trace: Trace) -> NDArray[np.bool_]:
    """Return which rows sync a directory, (n_rows,) bool: what is synced and nothing else."""
    rows = trace.rows
    syncs = (rows["op"] == Op.SYNC) & (rows["layer"] == IoLayer.POSIX)
    return np.asarray(syncs & ~np.isin(rows["file"], np.unique(rows["file"][~syncs])))


def _of_objects(trace: Trace, choose: Callable[[TraceObject], bool]) -> NDArray[np.bool_]:
    """Return which rows concern a dataset that is chosen, (n_rows,) bool."""
    return np.asarray(np.array([*map(choose, trace.objects), False])[trace.rows["object"]])


def element_sizes(trace: Trace) -> NDArray[np.int64]:
    """Return the bytes in memory of each element that a row moves, (n_rows,) int64; 0: unknown."""
    elements = np.array([*(shape.elements for shape in trace.shapes), 0])[trace.rows["shape"]]
    return np.asarray(trace.rows["bytes"] // np.maximum(elements, 1) * (elements > 0))


def moves_members(trace: Trace) -> NDArray[np.bool_]:
    """Return which rows moved some members of a compound, (n_rows,) bool."""
    rows, flags = trace.rows, trace.rows["flags"]
    in_file = np.array([*(one.element_bytes for one in trace.objects), 0])[rows["object"]]
    compound = _of_objects(trace, lambda one: one.type_class == "compound")
    size = element_sizes(trace)
    fewer = compound & (size > 0) & (size < in_file) & ((flags & EventFlag.CONVERTED) == 0)
    return np.asarray(fewer | (compound & ((flags & EventFlag.MEMBERS) != 0)))


def _converted_otherwise(trace: Trace) -> NDArray[np.bool_]:
    """Return which rows converted values in a way that the replay cannot, (n_rows,) bool."""
    rows = trace.rows
    in_file = np.array([*(one.element_bytes for one in trace.objects), 0])[rows["object"]]
    converted = (rows["flags"] & EventFlag.CONVERTED) != 0
    other = _of_objects(trace, lambda one: one.type_class == "other")
    compound = _of_objects(trace, lambda one: one.type_class == "compound")
    smaller = compound & (element_sizes(trace) < in_file)
    return np.asarray(converted & (rows["object"] >= 0) & (other | smaller))


def _set_kinds(trace: Trace, kinds: NDArray[Any], verbs: tuple[str, ...]) -> None:
    """Set the properties that follow from the verbs and the rows."""

    def among(names: frozenset[str]) -> NDArray[np.bool_]:
        return np.isin(kinds["verb"], [i for i, verb in enumerate(verbs) if verb in names])

    rows = trace.rows
    kept, op, file = kinds["verb"] >= 0, rows["op"], rows["file"].astype(np.int64)
    kinds["key"] = np.where(file >= 0, (rows["layer"].astype(np.int64) << 32) | file, -1)
    kinds["collective"] = kept & (np.isin(op, _COLLECTIVE_OPS) | among(COLLECTIVE))
    kinds["opens"] = kept & (op == Op.OPEN) & (file >= 0)
    kinds["closes"] = kept & (op == Op.CLOSE)
    kinds["parallel"] = kept & _is_parallel(trace)
    bits = np.where(op == Op.OPEN, rows["offset"], 0)
    kinds["creates"] = kept & (((bits & int(_CREATING_BITS)) != 0) | among(CREATING))
    new = int(OpenBit.TRUNCATE | OpenBit.EXCLUSIVE)
    kinds["empties"] = kept & (((bits & new) != 0) | among(CREATING))
    kinds["removes"] = among(REMOVING)
    kinds["joint"] = among(JOINT)


def _bytes_of(rows: NDArray[Any], kept: NDArray[np.bool_], ops: tuple[Op, ...]) -> int:
    moved = rows[kept & np.isin(rows["op"], ops)]
    return int((moved["bytes"] * moved["count"]).sum())


def _is_parallel(trace: Trace) -> NDArray[np.bool_]:
    """Return which opens may be collective: for HDF5, those that opened the file by MPI-IO."""
    rows = trace.rows
    opens = rows["op"] == Op.OPEN
    below = rows[opens & (rows["layer"] == IoLayer.MPIIO) & (rows["parent"] >= 0)]
    known = {(int(r["process"]), int(r["file"]), int(r["parent"])) for r in below}
    parallel = np.isin(rows["layer"], _PARALLEL)
    for index in np.flatnonzero(opens & (rows["layer"] == IoLayer.HDF5)):
        row = rows[index]
        parallel[index] = (int(row["process"]), int(row["file"]), int(row["name"])) in known
    return np.asarray(parallel & opens, dtype=bool)


# Data of each call of a rank before it is folded.

_KEPT_FLAGS = int(EventFlag.NO_OFFSET | EventFlag.POINTER | EventFlag.SHARED | EventFlag.CONVERTED)
CALL = np.dtype(
    members(
        "i8 verb op flags bytes",  # as in `CALL_ROW`
        "i8 file object detail group offset gap",  # as in `COLUMNS`
        "i8 key",  # equal for calls that differ only in offset, place and gap
    )
)


def row_columns(trace: Trace, kinds: RowKinds, tables: Tables) -> NDArray[Any]:
    """Return what the calls of each row have in common, (n_rows,) `CALL`; the rest is -1."""
    rows = trace.rows
    found = np.full(len(rows), -1, CALL)
    found["verb"], found["op"], found["bytes"] = kinds.verb, rows["op"], rows["bytes"]
    found["flags"] = rows["flags"] & _KEPT_FLAGS
    known: dict[bytes, int] = {}
    for index in np.flatnonzero(kinds.verb >= 0).tolist():
        one = found[index]
        one["file"], one["object"], one["detail"] = _referred(trace, kinds, tables, index)
        one["key"] = known.setdefault(one.tobytes(), len(known))
    return found


def _referred(trace: Trace, kinds: RowKinds, tables: Tables, index: int) -> tuple[int, int, int]:
    """Return file, object and detail of a row, as numbers of the plan."""
    row, verb = trace.rows[index], kinds.verbs[kinds.verb[index]]
    seen, detail = int(row["object"]), -1
    if verb == "mpiio.set_view":
        detail = tables.view(int(row["view"]))
    elif verb == "hdf5.dset_extent":
        detail = tables.whole(seen)
    elif int(row["memory"]) >= 0:
        detail = tables.buffer(int(row["memory"]))
    elif int(row["shape"]) >= 0:
        detail = tables.shape(int(row["shape"]))
    return tables.file(int(row["file"])), tables.object(seen), detail


def call_columns(
    trace: Trace,
    tables: Tables,
    kinds: RowKinds,
    calls: RankCalls,
    common: NDArray[Any],
    groups: Iterable[tuple[int, int]],
) -> NDArray[Any]:
    """Return the calls of one rank, (n,) `CALL`.

    Args:
        trace: Trace of the run.
        tables: Tables, for the numbers of HDF5 groups.
        kinds: Properties of the rows.
        calls: Calls of the rank.
        common: Result of `row_columns`.
        groups: Communicator number of each open, by its place.
    """
    found = common[calls.row]
    found["offset"], found["gap"] = calls.offset, calls.gap
    for place, number in groups:
        found["group"][place] = number
    _name_groups(trace, kinds, calls, tables, found)
    found["key"] = combined(found["key"], found["group"], found["object"])
    return found


def combined(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers that are equal where all parts are equal."""
    key = np.zeros(len(parts[0]), np.int64)
    for part in parts:
        _, number = np.unique(part, return_inverse=True)
        key = key * (int(number.max(initial=0)) + 1) + number.reshape(-1)
    return key


def _name_groups(
    trace: Trace, kinds: RowKinds, calls: RankCalls, tables: Tables, found: NDArray[Any]
) -> None:
    """Name groups by the datasets created next, as a trace does not contain their names."""
    making, creating = kinds.number("hdf5.gcreate"), kinds.number("hdf5.dcreate")
    verb = found["verb"]
    waiting: dict[int, list[int]] = {}
    made: set[tuple[int, str]] = set()
    for place in map(int, np.flatnonzero((verb == making) | (verb == creating))):
        file = int(found["file"][place])
        if verb[place] == making:
            waiting.setdefault(file, []).append(place)
            continue
        index = int(trace.rows["object"][calls.row[place]])
        name = trace.objects[index].name if index >= 0 else ""
        above = [str(parent) for parent in PurePosixPath(name).parents]
        for parent in above[-2::-1]:  # the outermost group first, without the root
            if (file, parent) not in made and waiting.get(file):
                found["object"][waiting[file].pop(0)] = tables.group(parent)
            made.add((file, parent))
    nameless = [place for places in waiting.values() for place in places]
    for number, place in enumerate(sorted(nameless)):
        found["object"][place] = tables.group(f"/group-{number}")
