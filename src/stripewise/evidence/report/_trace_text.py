# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows the rows of a trace, and counts its contents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace import (
    RECORDED_LAYERS,
    EventFlag,
    Evidence,
    IoLayer,
    Op,
    OpenBit,
    ShapeKind,
    Trace,
)
from stripewise.present import TextTable, plural, printable, seconds_text, size_text
from stripewise.present.blocks import Block, Column, Content, Fact, Facts, Points, Table

LAYER_NAMES = {layer: layer.name.lower() for layer in RECORDED_LAYERS}
OP_NAMES = {op: op.name.lower().replace("_", " ") for op in Op}
_DATA = (Op.READ, Op.WRITE, Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE)


def select_rows(
    trace: Trace,
    *,
    ranks: Sequence[int] = (),
    files: Sequence[str] = (),
    layers: Sequence[str] = (),
) -> NDArray[Any]:
    """Return the rows of some ranks, files and layers in order of time: (n,) `TRACE_ROW`.

    Args:
        trace: Trace that contains the rows.
        ranks: Numbers of ranks; all if empty.
        files: Patterns (`*.h5`), or parts of paths; all if empty.
        layers: Names as in `LAYER_NAMES`; all if empty.
    """
    rows = trace.rows
    keep = np.ones(len(rows), bool)
    if ranks:
        keep &= np.isin(rows["rank"], list(ranks))
    if layers:
        keep &= np.isin(rows["layer"], [IoLayer[name.upper()] for name in layers])
    if files:
        wanted = [i for i, path in enumerate(trace.paths) if any(_fits(path, p) for p in files)]
        keep &= np.isin(rows["file"], wanted)
    rows = rows[keep]
    order = np.argsort(rows["start_ns"], kind="stable")
    return np.asarray(rows[order])


def about(trace: Trace) -> dict[str, Any]:
    """Return facts about the run as a whole."""
    return {
        "source": trace.source,
        "start": trace.start,
        "ranks": trace.n_ranks,
        "lost_calls": trace.lost_calls,
        "notes": list(trace.notes),
    }


def _fits(path: str, pattern: str) -> bool:
    return pattern in path or fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")


def row_as_json(trace: Trace, row: Any) -> dict[str, Any]:
    """Return one row with names instead of numbers; times in nanoseconds."""
    own = set(row.dtype.names) - {"object", "row", "parent_index"}
    found = {name: row[name].tolist() for name in row.dtype.names if name in own}
    entry = int(row["object"])
    return {
        **found,
        "layer": LAYER_NAMES[IoLayer(found["layer"])],
        "op": OP_NAMES[Op(found["op"])],
        "name": name_of(trace, found["name"]),
        "parent": name_of(trace, found["parent"]),
        "file": trace.paths[found["file"]] if found["file"] >= 0 else "",
        "dataset": trace.objects[entry].name if entry >= 0 else "",
        "flags": [str(flag.name).lower() for flag in EventFlag if found["flags"] & flag],
    }


def is_run(rows: Any) -> bool:
    """Return whether rows, or one, are runs of equal calls (`Trace.rows`), not of `expand`."""
    return "count" in rows.dtype.names


def name_of(trace: Trace, index: int) -> str:
    """Return the name of a function; empty if there is none."""
    return trace.names[index] if index >= 0 else ""


HEADINGS = ("start", "rank", "call", "times", "bytes", "where", "stride", "busy", "file")


def row_cells(trace: Trace, row: Any) -> tuple[str, ...]:
    """Return a row or a call as texts under `HEADINGS`; calls made by another are indented."""
    run = is_run(row)
    indent = "  " * min(int(row["depth"]), 4)
    size, data = int(row["bytes"]), int(row["op"]) in _DATA
    path = trace.paths[row["file"]] if row["file"] >= 0 else ""
    if row["object"] >= 0:
        path += f":{trace.objects[row['object']].name}"
    failed = " (failed)" if int(row["flags"]) & EventFlag.FAILED else ""
    return (
        f"{row['start_ns'] * 1e-9:.6f}",
        str(int(row["rank"])) if row["rank"] >= 0 else f"p{int(row['process'])}",
        indent + (name_of(trace, int(row["name"])) or OP_NAMES[Op(int(row["op"]))]) + failed,
        str(int(row["count"])) if run else "1",
        size_text(size) if data else "",
        where(trace, row),
        _strides(row) if run else "",
        seconds_text(int(row["busy_ns" if run else "duration_ns"]) * 1e-9),
        printable(path),
    )


def where(trace: Trace, row: Any) -> str:
    """Describe the `offset` of a row: a byte, a selection with its corner, the mode of an open."""
    flags, offset = int(row["flags"]), int(row["offset"])
    if row["op"] == Op.OPEN:
        return "|".join(str(bit.name).lower() for bit in OpenBit if offset & bit)
    if flags & EventFlag.NO_OFFSET and row["shape"] < 0:
        return ""
    if row["shape"] >= 0:
        return selection_text(trace, int(row["shape"]), offset)
    if row["view"] >= 0 and int(row["op"]) in _DATA:
        return f"{offset} in view {int(row['view'])}"
    return str(offset) if int(row["op"]) in _DATA or offset else ""


def selection_text(trace: Trace, index: int, offset: int) -> str:
    """Return a selection in HDF5's terms: `start (0, 6) stride ... count ... block ...`."""
    shape = trace.shapes[index]
    if shape.kind in (ShapeKind.ALL, ShapeKind.NONE):
        return str(shape.kind)
    start = np.unravel_index(offset, shape.extents) if _inside(shape.extents, offset) else ()
    corner = f"start {_numbers(start)}"
    if shape.kind == ShapeKind.REGULAR:
        stride = f" stride {_numbers(shape.stride)}" if set(shape.count) != {1} else ""
        return f"{corner}{stride} count {_numbers(shape.count)} block {_numbers(shape.block)}"
    return f"{corner} {shape.total_boxes} {shape.kind}"


def _inside(extents: Sequence[int], offset: int) -> bool:
    size = float(np.prod(np.array(extents, float))) if extents else 0.0
    return 0 <= offset < size < 2**62


def _numbers(values: Sequence[Any]) -> str:
    return "(" + ", ".join(str(int(value)) for value in values) + ")"


def _strides(row: Any) -> str:
    if row["count"] < 2:
        return ""
    levels = [(int(row["stride"][0]), int(row["inner"][0]))]
    for level in (1, 2):
        if row["inner"][level - 1]:
            inner = int(row["inner"][level]) if level < 2 else 0
            levels.append((int(row["stride"][level]), inner))
    return " ".join(f"{stride}x{times}" if times else str(stride) for stride, times in levels)


def table_lines(trace: Trace, rows: NDArray[Any], width: int | None = None) -> Iterator[str]:
    """Yield the lines of an aligned table, in blocks of columns that fit into `width`."""
    cells = [row_cells(trace, row) for row in rows]
    table = TextTable(HEADINGS, cells, keys=2, left=frozenset({2, 5, 6, 8}))
    for number, lines in enumerate(table.blocks(width)):
        if number:
            yield ""
        yield from lines


# Counts of the contents of a trace.

_SHOWN_FILES = 12


def trace_info(evidence: Evidence, size_bytes: int = 0) -> dict[str, Any]:
    """Count the contents of a trace, and of each of its files by layer.

    Args:
        evidence: Evidence that was read; without a trace it contains only counters.
        size_bytes: Size of its source in bytes, 0 if unknown.
    """
    profile, trace = evidence.profile, evidence.trace
    found: dict[str, Any] = {
        "source": profile.source,
        "command": profile.command,
        "ranks": profile.n_ranks,
        "processes": profile.n_processes,
        "hosts": list(profile.hosts),
        "start": profile.start,
        "elapsed_seconds": profile.elapsed_seconds,
        "size_bytes": size_bytes,
        "recorded_processes": len(profile.processes),
        "unchecked_processes": profile.unchecked,
        "has_trace": trace is not None,
        "notes": list(profile.notes),
    }
    if trace is None:
        return {**found, "calls": 0, "records": 0, "lost_calls": 0, "files": []}
    calls = int(trace.rows["count"].sum())
    return {
        **found,
        "calls": calls,
        "records": len(trace.rows),
        "bytes_per_call": size_bytes / calls if calls else 0.0,
        "lost_calls": trace.lost_calls,
        "threads": len(np.unique(trace.rows[["process", "thread"]])),
        "datasets": len({(entry.file, entry.name) for entry in trace.objects}),
        "selections": len(trace.shapes),
        "views": len(trace.views),
        "files": _files(trace),
    }


def _files(trace: Trace) -> list[dict[str, Any]]:
    entries = []
    for file in np.unique(trace.rows["file"][trace.rows["file"] >= 0]).tolist():
        rows = trace.rows[trace.rows["file"] == file]
        layers = {
            IoLayer(layer).name.lower(): int(rows["count"][rows["layer"] == layer].sum())
            for layer in np.unique(rows["layer"])[::-1].tolist()
        }
        entries.append(
            {
                "path": trace.paths[file],
                "records": len(rows),
                "calls": layers,
                "processes": len(np.unique(rows["process"])),
                "datasets": sorted({o.name for o in trace.objects if o.file == file}),
            }
        )
    return sorted(entries, key=lambda entry: -sum(entry["calls"].values()))


_FACTS = (
    ("ranks", "Ranks", "count"),
    ("processes", "Processes", "count"),
    ("hosts", "Nodes", "text"),
    ("elapsed_seconds", "Run time", "seconds"),
    ("calls", "Calls", "count"),
    ("records", "Records", "count"),
    ("lost_calls", "Calls lost", "count"),
    ("threads", "Threads", "count"),
    ("datasets", "Datasets", "count"),
    ("size_bytes", "Size", "bytes"),
    ("checksum", "Checksum", "text"),
)
_FILES = (
    Column("path", "File", "path"),
    Column("processes", "Processes", "count"),
    Column("calls", "Calls"),
    Column("datasets", "Datasets", "count"),
)


def info_content(info: dict[str, Any], *, everything: bool = False) -> Content:
    """Return `trace_info` as text; unless `everything`, with only some of the files."""
    known = {**info, "hosts": ", ".join(info["hosts"]), "checksum": _checked(info)}
    if not info["has_trace"]:
        known["calls"] = "no single calls, only counters"
    items = [
        Fact(name, title, known[name], "text" if isinstance(known[name], str) else kind)
        for name, title, kind in _FACTS
        if known.get(name)
    ]
    blocks: list[Block] = [Facts("facts", "", items)]
    if files := info["files"][: None if everything else _SHOWN_FILES]:
        rows = [
            {
                **one,
                "calls": ", ".join(f"{layer} {count}" for layer, count in one["calls"].items()),
                "datasets": len(one["datasets"]) or None,
            }
            for one in files
        ]
        more = len(info["files"]) - len(files)
        note = f"{plural(more, 'more file')}: --all shows all." if more else ""
        blocks.append(Table("files", "Files", _FILES, rows, note))
    if info["notes"]:
        blocks.append(Points.of("notes", "Good to know", info["notes"]))
    return Content(info["source"], info["command"], blocks)


def _checked(info: dict[str, Any]) -> str:
    """Return whether the checksum of the log matches, as text; empty without a checksum."""
    unchecked, recorded = info["unchecked_processes"], info["recorded_processes"]
    if unchecked is None:
        return ""
    if not unchecked:
        return "matches"
    of_all = f" for {unchecked} of {plural(recorded, 'process', 'processes')}"
    return "not checked" + (of_all if unchecked < recorded else "")
