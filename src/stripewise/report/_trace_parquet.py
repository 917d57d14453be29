# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A trace as a Parquet file, for pandas, Polars, DuckDB and Spark."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.extras import require
from stripewise.model import RECORDED_LAYERS, Op, Trace, TraceView, to_json
from stripewise.outputs import whole_file
from stripewise.report._trace_rows import LAYER_NAMES, OP_NAMES, about, is_run

_BATCH = 100_000
_PLAIN = (
    *("process", "rank", "thread", "depth", "flags", "shape", "view", "memory", "offset", "bytes"),
    *("sequence", "start_ns"),
)
_OF_RUNS = ("count", "last_start_ns", "end_ns", "busy_ns", "min_ns", "max_ns")
_ARRAYS_OF_RUNS = ("inner", "stride", "sequence_stride", "durations")
_OF_CALLS = ("duration_ns", "parent_index")


def write_parquet(trace: Trace, rows: NDArray[Any], path: Path) -> None:
    """Write runs of calls, or calls, one each row.

    Files, functions, datasets, layers and operations are texts; what the numbers in `shape`,
    `view` and `memory` mean, and what else is known of the run, is JSON in the metadata under
    `stripewise`.

    Args:
        trace: To write.
        rows: Some of `trace.rows`, or calls of `expand`.
        path: The file; mode 0600, whole or not at all.

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
    """A dictionary column; -1 is null."""
    printable = [
        str(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace") for text in texts
    ]
    places = indices.astype(np.int32)
    numbers = pa.array(places, pa.int32(), mask=places < 0)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(printable, pa.string()))


def _described(trace: Trace, *, runs: bool) -> dict[str, Any]:
    """What the columns alone do not tell, for the metadata."""
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
