# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a trace for Perfetto and as Parquet.

Source: "Trace Event Format", the JSON object format with complete (X), counter (C) and metadata
(M) events; times in microseconds.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core import to_json, whole_file
from stripewise.core.extras import require
from stripewise.evidence.report._trace_text import (
    LAYER_NAMES,
    OP_NAMES,
    about,
    is_run,
    name_of,
    where,
)
from stripewise.evidence.trace import (
    RECORDED_LAYERS,
    EventFlag,
    IoLayer,
    Op,
    Trace,
    TraceView,
    heat_of,
)

_LANE = 1_000_000
_MB = 1e6


def write_trace_events(trace: Trace, rows: NDArray[Any], path: Path) -> None:
    """Write a slice for each row, and counters of the bandwidth.

    A process in the output is one of the run (its number is the rank, if each rank is one
    process), a thread is one of its threads. A folded run is one slice from its first start to its
    last end, with the number of its calls; interleaved runs are on lanes of their own beside the
    thread.

    Args:
        trace: Trace to write.
        rows: Some of `trace.rows`, or calls of `expand`.
        path: The file, which gets mode 0600; it is written completely or not at all.

    Raises:
        StorageError: The file cannot be written.
    """
    table = rows[np.lexsort((rows["depth"], rows["start_ns"], rows["thread"]))]
    with whole_file(path) as place, place.open("w", encoding="ascii") as out:
        out.write('{"displayTimeUnit":"ns","otherData":')
        json.dump(about(trace), out)
        out.write(',"traceEvents":[\n')
        separator = ""
        for event in _events(trace, table):
            out.write(separator + json.dumps(event, separators=(",", ":")))
            separator = ",\n"
        out.write("\n]}\n")


def _events(trace: Trace, table: NDArray[Any]) -> Iterator[dict[str, Any]]:
    pids = _pids(trace)
    for process in np.unique(table["process"]).tolist():
        rank = int(trace.process_rank[process])
        name = f"rank {rank}" if rank >= 0 else f"process {process}"
        host = trace.hosts[int(trace.process_host[process])]
        pid = pids[process]
        yield _meta("process_name", pid, 0, {"name": f"{name} on {host}"})
        yield _meta("process_sort_index", pid, 0, {"sort_index": pid})
        mine = table[table["process"] == process]
        for thread in np.unique(mine["thread"]).tolist():
            yield from _slices(trace, mine[mine["thread"] == thread], pid, thread)
    yield from _counters(trace, pids)


def _pids(trace: Trace) -> list[int]:
    """Return ranks, if each is one process; otherwise the processes' own numbers."""
    ranks = trace.process_rank.tolist()
    one_each = len(set(ranks)) == len(ranks) and min(ranks, default=-1) >= 0
    return ranks if one_each else [*range(len(ranks))]


def _meta(name: str, pid: int, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "name": name, "pid": pid, "tid": tid, "args": args}


def _slices(trace: Trace, rows: NDArray[Any], pid: int, thread: int) -> Iterator[dict[str, Any]]:
    """Yield the slices of one thread; each lane is a stack in which slices nest."""
    lanes: list[list[int]] = []
    for row in rows:
        start, end = int(row["start_ns"]), _end(row)
        number = _lane(lanes, start, end)
        if number == len(lanes):
            lanes.append([])
            name = f"thread {thread}" + (f", lane {number}" if number else "")
            yield _meta("thread_name", pid, thread + number * _LANE, {"name": name})
        lanes[number].append(end)
        yield _slice(trace, row, pid, thread + number * _LANE, end - start)


def _lane(lanes: list[list[int]], start: int, end: int) -> int:
    """Return the first lane in which a slice fits into the open one, or a new lane."""
    for number, lane in enumerate(lanes):
        while lane and lane[-1] <= start:
            lane.pop()
        if not lane or lane[-1] >= end:
            return number
    return len(lanes)


def _end(row: Any) -> int:
    if is_run(row):
        return max(int(row["end_ns"]), int(row["start_ns"]))
    return int(row["start_ns"]) + max(int(row["duration_ns"]), 0)


def _slice(trace: Trace, row: Any, pid: int, tid: int, duration: int) -> dict[str, Any]:
    args: dict[str, Any] = {"bytes": int(row["bytes"])}
    if is_run(row) and row["count"] > 1:
        busy = int(row["busy_ns"])
        args |= {"calls": int(row["count"]), "busy_ms": busy * 1e-6}
        args["total_bytes"] = int(row["bytes"]) * int(row["count"])
    if row["file"] >= 0:
        args["file"] = trace.paths[row["file"]].encode("utf-8", "replace").decode()
    if row["object"] >= 0:
        args["dataset"] = trace.objects[row["object"]].name
    if place := where(trace, row):
        args["where"] = place
    if int(row["flags"]) & EventFlag.FAILED:
        args["failed"] = True
    op = Op(int(row["op"]))
    return {
        "ph": "X",
        "name": name_of(trace, int(row["name"])) or OP_NAMES[op],
        "cat": f"{LAYER_NAMES[IoLayer(int(row['layer']))]},{OP_NAMES[op]}",
        "pid": pid,
        "tid": tid,
        "ts": int(row["start_ns"]) / 1000,
        "dur": duration / 1000,
        "args": args,
    }


def _counters(trace: Trace, pids: list[int]) -> Iterator[dict[str, Any]]:
    """Yield the bandwidth of each process in each layer per time bin, 0 if nothing was moved."""
    bins = trace.bins.copy()
    bins["rank"], bins["file"] = bins["process"], -1
    heat, width = heat_of(bins)
    for process in np.unique(heat["rank"]).tolist():
        for layer in RECORDED_LAYERS:
            mine = heat[(heat["rank"] == process) & (heat["layer"] == layer)]
            name = f"{LAYER_NAMES[layer]} MB/s"
            for row in _with_ends(mine):
                yield {
                    "ph": "C",
                    "name": name,
                    "pid": pids[process],
                    "ts": row[0] * width * 1e6,
                    "args": {"read": row[1] / width / _MB, "written": row[2] / width / _MB},
                }


def _with_ends(heat: NDArray[Any]) -> list[tuple[int, float, float]]:
    """Return (bin, bytes read, bytes written), with zeros behind each sequence of bins."""
    found: list[tuple[int, float, float]] = []
    for row in heat:
        place = int(row["bin"])
        if found and found[-1][0] + 1 < place:
            found.append((found[-1][0] + 1, 0.0, 0.0))
        found.append((place, float(row["read_bytes"]), float(row["write_bytes"])))
    return [*found, (found[-1][0] + 1, 0.0, 0.0)] if found else []


# A trace as a Parquet file, for pandas, Polars, DuckDB and Spark.

_BATCH = 100_000
_PLAIN = (
    *("process", "rank", "thread", "depth", "flags", "shape", "view", "memory", "offset", "bytes"),
    *("sequence", "start_ns"),
)
_OF_RUNS = ("count", "last_start_ns", "end_ns", "busy_ns", "min_ns", "max_ns")
_ARRAYS_OF_RUNS = ("inner", "stride", "sequence_stride", "durations")
_OF_CALLS = ("duration_ns", "parent_index")


def write_parquet(trace: Trace, rows: NDArray[Any], path: Path) -> None:
    """Write runs of calls, or calls, one per row.

    Files, functions, datasets, layers and operations are texts; the tables that `shape`, `view`
    and `memory` refer to, and further facts about the run, are JSON in the metadata under
    `stripewise`.

    Args:
        trace: Trace to write.
        rows: Some of `trace.rows`, or calls of `expand`.
        path: The file, which gets mode 0600; it is written completely or not at all.

    Raises:
        RuntimeMissingError: pyarrow is not installed.
        StorageError: The file cannot be written.
    """
    require("parquet", "Parquet output")
    import pyarrow as pa
    import pyarrow.parquet as pq

    metadata = {"stripewise": json.dumps(_described(trace, runs=is_run(rows)))}
    schema = _batch(pa, trace, rows[:0]).schema.with_metadata(metadata)
    with (
        whole_file(path) as place,
        pq.ParquetWriter(place, schema, compression="zstd") as writer,
    ):
        for start in range(0, max(len(rows), 1), _BATCH):
            batch = _batch(pa, trace, rows[start : start + _BATCH])
            writer.write_table(batch.cast(schema))


def _batch(pa: Any, trace: Trace, rows: NDArray[Any]) -> Any:
    columns: dict[str, Any] = {name: pa.array(rows[name]) for name in _PLAIN}
    columns["host"] = _words(pa, trace.hosts, trace.process_host[rows["process"]])
    for name, texts in (
        ("file", trace.paths),
        ("dataset", [entry.name for entry in trace.objects]),
        ("name", trace.names),
        ("parent", trace.names),
    ):
        columns[name] = _words(pa, texts, rows["object" if name == "dataset" else name])
    columns["layer"] = _words(pa, [LAYER_NAMES[layer] for layer in RECORDED_LAYERS], rows["layer"])
    columns["op"] = _words(pa, [OP_NAMES[op] for op in Op], rows["op"])
    runs = is_run(rows)
    for name in _OF_RUNS if runs else _OF_CALLS:
        columns[name] = pa.array(rows[name])
    for name in _ARRAYS_OF_RUNS if runs else ():
        width = rows.dtype[name].shape[0]
        flat = pa.array(np.ascontiguousarray(rows[name]).reshape(-1))
        columns[name] = pa.FixedSizeListArray.from_arrays(flat, width)
    return pa.table(columns)


def _words(pa: Any, texts: Any, indices: NDArray[Any]) -> Any:
    """Return a dictionary column; -1 is null."""
    printable = [
        str(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace") for text in texts
    ]
    places = indices.astype(np.int32)
    numbers = pa.array(places, pa.int32(), mask=places < 0)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(printable, pa.string()))


def _described(trace: Trace, *, runs: bool) -> dict[str, Any]:
    """Return the metadata that the columns do not contain."""
    return {
        "version": 1,
        "rows": "runs" if runs else "calls",
        **about(trace),
        "hosts": list(trace.hosts),
        "objects": to_json(trace.objects),
        "shapes": to_json(trace.shapes),
        "views": [_view(entry) for entry in trace.views],
    }


def _view(view: TraceView) -> dict[str, Any]:
    names = view.pieces.dtype.names or ()
    pieces = [{name: np.asarray(piece[name]).tolist() for name in names} for piece in view.pieces]
    fields = {field.name: getattr(view, field.name) for field in dataclasses.fields(view)}
    return {**fields, "pieces": pieces}
