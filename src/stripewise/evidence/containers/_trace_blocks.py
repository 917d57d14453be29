# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses the blocks of a trace in a container into rows, and defines their structs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core.inputs import TRACE
from stripewise.evidence.containers.container import RECORD, scan_records
from stripewise.evidence.trace import (
    BIN_ROW,
    DURATION_BINS,
    RECORDED_LAYERS,
    TRACE_ROW,
    Op,
    ShapeKind,
    bounded,
    copy_common,
    members,
    take_rows,
)

# Structs of a trace, field by field as in native/include/stripewise/trace.h.
#
# Each dtype has the name of its struct, without the flexible member at its end. A test compiles
# that header and compares every size and offset.

TRACE_VERSION = 1
RUN_LEVELS = 3
SHAPE_TRUNCATED = 0x1
VIEW_TRUNCATED = 0x1


class TraceBlockKind(IntEnum):
    """Kinds of blocks of a trace; continues `BlockKind`."""

    THREAD = 3
    EVENTS = 4


class TraceRecordKind(IntEnum):
    """Kinds of records of a trace; continues `RecordKind`."""

    THREAD = 16
    EVENT = 17
    RUN = 18
    NAME = 19
    OBJECT = 20
    SHAPE = 21
    VIEW = 22
    BINS = 23


TYPE_CLASSES = ("other", "integer", "float", "string", "compound")
"""Type classes of elements, by number."""
STORAGES = ("other", "contiguous", "chunked", "compact", "filtered")
"""Storage layouts of datasets, by number."""
SHAPE_KINDS = dict(enumerate(ShapeKind, start=1))

THREAD_RECORD = np.dtype(
    members(
        ("header", RECORD),
        "u4 thread tid n_slots slot_bytes",
        "u8 start_ns lost_calls",
        ("reserved", "<u8", (3,)),
    ),
    align=True,
)

EVENT = np.dtype(
    members(
        ("header", RECORD),
        "u8 sequence start_ns duration_ns file_id",
        "i8 offset",
        "u8 bytes",
        "u4 name parent shape object",
        "u2 thread",
        "u1 layer op depth thread_high",
        "u2 flags",
    ),
    align=True,
)

_BRIEF_FIELDS = members(
    ("first", EVENT),
    "u8 count last_start_ns end_ns min_ns max_ns",
    ("inner", "<u8", (RUN_LEVELS - 1,)),
    ("stride", "<i8", (RUN_LEVELS,)),
    ("sequence_stride", "<i8", (RUN_LEVELS,)),
)
RUN_WITHOUT_DURATIONS = np.dtype(_BRIEF_FIELDS, align=True)
RUN = np.dtype([*_BRIEF_FIELDS, ("durations", "<u4", (DURATION_BINS,))], align=True)

NAME_RECORD = np.dtype(members(("header", RECORD), "u4 name text_bytes"), align=True)

OBJECT_RECORD = np.dtype(
    members(
        ("header", RECORD),
        "u8 file_id",
        "u4 object element_bytes",
        "u1 layer type_class storage n_dims",
        "u4 name_bytes",
    ),
    align=True,
)

SHAPE_RECORD = np.dtype(
    members(
        ("header", RECORD),
        "u4 shape object",
        "u1 kind n_dims",
        "u2 flags",
        "u4 n_boxes memory reserved",
        "u8 total_boxes elements",
    ),
    align=True,
)

PIECE = np.dtype(
    members(
        "i8 offset",
        "u8 bytes count",
        ("inner", "<u8", (RUN_LEVELS - 1,)),
        ("stride", "<i8", (RUN_LEVELS,)),
    ),
    align=True,
)

VIEW_RECORD = np.dtype(
    members(
        ("header", RECORD),
        "u8 file_id",
        "u4 view flags",
        "i8 displacement",
        "u8 etype_bytes filetype_bytes",
        "i8 filetype_lower filetype_extent",
        "u8 total_pieces",
        "u4 n_pieces reserved",
    ),
    align=True,
)

BIN = np.dtype(
    members(
        "u8 start_ns",
        "u4 width_log2 calls",
        "u8 read_bytes write_bytes busy_ns",
    ),
    align=True,
)

BINS_RECORD = np.dtype(members(("header", RECORD), "u8 file_id", "u4 layer n_bins"), align=True)


# Parsing of a trace's blocks and records into rows that still use the numbers of their process.

MOST_ROWS = TRACE.entries
"""Maximum number of rows of one run that are read; about 4 GB of memory."""

_LATEST_NS = 1 << 60
_WIDEST_LOG2 = 60
_TAILED = (
    TraceRecordKind.NAME,
    TraceRecordKind.OBJECT,
    TraceRecordKind.SHAPE,
    TraceRecordKind.VIEW,
)


@dataclass
class RawTrace:
    """Contents of the trace in one container; owners are indices of its processes.

    Attributes:
        rows: (owner, `TRACE_ROW` with raw numbers, file ids) for each block and kind.
        described: (owner, record kind, record with its tail) of names, objects, shapes and views.
        bins: (owner, `BIN_ROW` by the owner's clock, file ids).
        lost: Calls that were not recorded because the trace was full.
        tracing: Owners that recorded events.
        damaged: Messages about what could not be read, with their counts.
        room: Number of rows that may still be read.
    """

    rows: list[tuple[int, NDArray[Any], NDArray[np.uint64]]] = field(default_factory=list)
    described: list[tuple[int, int, bytes]] = field(default_factory=list)
    bins: list[tuple[int, NDArray[Any], NDArray[np.uint64]]] = field(default_factory=list)
    lost: int = 0
    tracing: set[int] = field(default_factory=set)
    damaged: Counter[str] = field(default_factory=Counter)
    room: int = MOST_ROWS


def add_events(payload: bytes, owner: int, raw: RawTrace, *, begins: bool) -> None:
    """Parse the payload of a THREAD block (`begins`) or an EVENTS block."""
    raw.tracing.add(owner)
    start = _add_slots(payload, owner, raw) if begins else 0
    if start is None:
        return
    offsets, heads = scan_records(payload, start)
    kinds, sizes = heads["kind"], heads["bytes"]
    events = (kinds == TraceRecordKind.EVENT) | (kinds == TraceRecordKind.RUN)
    known = heads["version"] == TRACE_VERSION
    raw.damaged["events of another version of the format"] += int((events & ~known).sum())
    for kind, dtype in (
        (TraceRecordKind.EVENT, EVENT),
        (TraceRecordKind.RUN, RUN_WITHOUT_DURATIONS),
        (TraceRecordKind.RUN, RUN),
    ):
        chosen = (kinds == kind) & known & (sizes == dtype.itemsize)
        events &= ~chosen
        _add_rows(_gather(payload, offsets[chosen], dtype), owner, raw)
    raw.damaged["events of a wrong size"] += int((events & known).sum())
    add_shared_records(payload, offsets, heads, owner, raw)


def add_shared_records(
    payload: bytes, offsets: NDArray[np.int64], heads: NDArray[Any], owner: int, raw: RawTrace
) -> None:
    """Extract names, objects, shapes, views and bins from scanned records."""
    kinds, sizes = heads["kind"], heads["bytes"]
    known = heads["version"] == TRACE_VERSION
    tailed = np.isin(kinds, _TAILED) & known
    for start, size, kind in zip(
        offsets[tailed].tolist(), sizes[tailed].tolist(), kinds[tailed].tolist(), strict=True
    ):
        raw.described.append((owner, kind, payload[start : start + size]))
    bins = (kinds == TraceRecordKind.BINS) & known & (sizes >= BINS_RECORD.itemsize)
    for size in np.unique(sizes[bins]).tolist():
        n_bins = (size - BINS_RECORD.itemsize) // BIN.itemsize
        if n_bins:
            _add_bins(payload, offsets[bins & (sizes == size)], n_bins, owner, raw)


def _gather(payload: bytes, offsets: NDArray[np.int64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return (n,) records of a dtype at offsets that are multiples of 8."""
    words = np.frombuffer(payload, np.uint64, len(payload) // 8)
    n_words = dtype.itemsize // 8
    taken = words[(offsets // 8)[:, None] + np.arange(n_words)]
    found: NDArray[Any] = taken.view(dtype).reshape(-1)
    return found


def _add_slots(payload: bytes, owner: int, raw: RawTrace) -> int | None:
    """Read the open runs of a thread; return where its log begins."""
    if len(payload) < THREAD_RECORD.itemsize:
        return None
    thread = np.frombuffer(payload, THREAD_RECORD, 1)[0]
    if not int(thread["header"]["bytes"]):
        return None  # the process ended between making the block and filling it
    size, count = int(thread["slot_bytes"]), int(thread["n_slots"])
    start = int(THREAD_RECORD.itemsize)
    if size != RUN.itemsize or count > (len(payload) - start) // size:
        raw.damaged["blocks of a thread"] += 1
        return None
    if int(thread["header"]["version"]) != TRACE_VERSION:
        raw.damaged["events of another version of the format"] += 1
        return None
    raw.lost += min(int(thread["lost_calls"]), _LATEST_NS)
    slots = np.frombuffer(payload, RUN, count, start)
    _add_rows(slots[slots["count"] > 0], owner, raw)
    return start + count * size


def _add_rows(found: NDArray[Any], owner: int, raw: RawTrace) -> None:
    if len(found) > raw.room:
        raw.damaged[f"events beyond the first {MOST_ROWS}, which are not read"] += (
            len(found) - raw.room
        )
        found = found[: raw.room]
    if not len(found):
        return
    rows, file_ids = _rows(found)
    sound = (rows["layer"] < len(RECORDED_LAYERS)) & (rows["op"] < len(Op)) & (rows["count"] > 0)
    for name in ("start_ns", "end_ns", "sequence"):
        sound &= (rows[name] >= 0) & (rows[name] < _LATEST_NS)
    raw.damaged["events that are invalid"] += int((~sound).sum())
    if not sound.all():
        rows, file_ids = take_rows(rows, sound), file_ids[sound]
    raw.room -= len(rows)
    rows["process"] = owner
    raw.rows.append((owner, rows, file_ids))


def _rows(found: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.uint64]]:
    """Return the events or runs as `TRACE_ROW` with raw numbers, and their file ids."""
    names = found.dtype.names or ()
    run = "first" in names
    first = found["first"] if run else found
    rows = np.zeros(len(found), TRACE_ROW)
    copy_common(rows, first)
    rows["thread"] += first["thread_high"].astype(np.int32) << 16
    for name in ("bytes", "sequence", "start_ns"):
        rows[name] = bounded(first[name])
    rows["busy_ns"] = bounded(first["duration_ns"])
    if run:
        for name in ("count", "last_start_ns", "end_ns", "min_ns", "max_ns", "inner"):
            rows[name] = bounded(found[name])
        for name in ("stride", "sequence_stride"):
            rows[name] = found[name]
        if "durations" in names:
            rows["durations"] = found["durations"]
        else:
            _few_durations(rows)
    else:
        make_single(rows, rows["busy_ns"].copy())
    return rows, first["file_id"].astype(np.uint64)


def make_single(rows: NDArray[Any], busy_ns: NDArray[np.int64]) -> None:
    """Fill in the fields that follow from start and duration of single calls, in place."""
    rows["count"] = 1
    rows["last_start_ns"] = rows["start_ns"]
    rows["end_ns"] = rows["start_ns"] + np.minimum(busy_ns, _LATEST_NS)
    rows["busy_ns"] = rows["min_ns"] = rows["max_ns"] = busy_ns
    rows["durations"][np.arange(len(rows)), duration_bin(busy_ns)] = 1


def _few_durations(rows: NDArray[Any]) -> None:
    """Estimate the histogram of a brief run from its minimum, maximum and mean, in place."""
    place = np.arange(len(rows))
    for value, number in (
        (rows["min_ns"], (rows["count"] > 1).astype(np.int64)),
        (rows["max_ns"], np.ones(len(rows), np.int64)),
        (_rest_mean(rows), np.clip(rows["count"] - 2, 0, 0xFFFFFFFF)),
    ):
        np.add.at(rows["durations"], (place, duration_bin(value)), number.astype(np.uint32))


def _rest_mean(rows: NDArray[Any]) -> NDArray[np.int64]:
    rest = rows["busy_ns"] - rows["min_ns"] - rows["max_ns"]
    mean = rest // np.maximum(rows["count"] - 2, 1)
    return np.asarray(np.clip(mean, rows["min_ns"], np.maximum(rows["max_ns"], rows["min_ns"])))


def duration_bin(nanoseconds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return bins of durations: b from 4^(b-1) x 256 ns up to 4^b x 256 ns, the last the rest."""
    edges = 256 * 4 ** np.arange(DURATION_BINS - 1, dtype=np.int64)
    return np.asarray(np.searchsorted(edges, nanoseconds, side="right"))


def _add_bins(
    payload: bytes, offsets: NDArray[np.int64], n_bins: int, owner: int, raw: RawTrace
) -> None:
    dtype = np.dtype([("record", BINS_RECORD), ("bins", BIN, (n_bins,))])
    found = _gather(payload, offsets, dtype)
    record, bins = found["record"], found["bins"]
    used = np.arange(n_bins) < record["n_bins"][:, None].astype(np.int64)
    used &= (bins["width_log2"] > 0) & (bins["width_log2"] <= _WIDEST_LOG2)
    used &= (bins["start_ns"] < _LATEST_NS) & (record["layer"] < len(RECORDED_LAYERS))[:, None]
    record, bins = record[np.nonzero(used)[0]], bins[used]
    rows = np.zeros(len(bins), BIN_ROW)
    rows["layer"], rows["start_ns"] = record["layer"], bins["start_ns"]
    rows["width_ns"] = np.int64(1) << bins["width_log2"].astype(np.int64)
    for name in ("calls", "read_bytes", "write_bytes", "busy_ns"):
        rows[name] = np.minimum(bins[name], np.uint64(1 << 62))
    raw.bins.append((owner, rows, record["file_id"]))
