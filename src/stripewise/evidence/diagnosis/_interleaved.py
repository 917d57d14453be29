# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Judges calls that move pieces with holes between them, which further calls then fill.

A program that writes one variable after the other into an array of all variables, or reads an
array column by column, makes a request of each piece. One call for what several of them move needs
no holes; no setting can do that.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core import Interval
from stripewise.evidence.diagnosis._base import WAYS, Hit, Merged, PreparedRun, Rule
from stripewise.evidence.figures import COLLECTIVE, SYSTEM, Calls, FileUse
from stripewise.evidence.trace import (
    IoLayer,
    ShapeKind,
    Trace,
    TraceShape,
    TraceView,
    expanded_index,
    levels_of,
    moved,
)
from stripewise.present import count_text as count
from stripewise.present import plural as things
from stripewise.present import seconds_text as seconds
from stripewise.present import size_text as size

PIECE_BYTES = 64 << 10
LEAST_PIECES = 16
LEAST_CALLS = 100
LEAST_TIMES = 1.5
FEW_CALLS = 32
MOST_CALLS = 1 << 16
"""Maximum number of calls whose offsets are examined."""


@dataclass(frozen=True)
class Comb:
    """Pieces of one call: `run` units at a distance of `period`, in elements or bytes.

    Attributes:
        run / period: Length of a piece, and the distance from one to the next.
        full: Length of a contiguous piece if calls fill all holes of this period.
    """

    run: int
    period: int
    full: int


@dataclass(frozen=True)
class Interleaved:
    """Pieces of the calls of one process in one file, in bytes.

    Attributes:
        piece / period: Length of a piece of one call, and the distance to its next one.
        fillers: Number of calls at different places within a period.
        merged: Length of a contiguous piece of all these calls together.
        bytes: Bytes that the calls move.
        dataset: Name of the dataset, empty without one.
    """

    piece: int
    period: int
    fillers: int
    merged: int
    bytes: int
    dataset: str = ""


def comb_of(shape: TraceShape) -> Comb | None:
    """Return the pieces of a regular selection in the file; None if it is one piece or unknown."""
    if shape.kind is not ShapeKind.REGULAR:
        return None
    chosen = [n * block for n, block in zip(shape.count, shape.block, strict=True)]
    at, inner = len(chosen) - 1, 1
    while at >= 0 and chosen[at] == shape.extents[at]:
        inner *= chosen[at]
        at -= 1
    if at < 0:
        return None
    if shape.count[at] > 1 and shape.stride[at] != shape.block[at]:
        spanned = (shape.count[at] - 1) * shape.stride[at] + shape.block[at]
        is_whole = spanned >= shape.extents[at] - shape.stride[at]
        full = _outward(shape, chosen, at - 1, shape.extents[at] * inner) if is_whole else 0
        run, period = shape.block[at] * inner, shape.stride[at] * inner
        return Comb(run, period, full or spanned * inner)
    above = at - 1
    while above >= 0 and chosen[above] == 1:
        above -= 1
    if above < 0:
        return None
    period = math.prod(shape.extents[above + 1 :])
    return Comb(chosen[at] * inner, period, _outward(shape, chosen, above, period))


def _outward(shape: TraceShape, chosen: list[int], at: int, length: int) -> int:
    """Return the length of a contiguous piece that continues through dimension `at`."""
    for above in reversed(range(at + 1)):
        length *= chosen[above]
        if chosen[above] != shape.extents[above]:
            break
    return length


def comb_of_view(view: TraceView) -> Comb | None:
    """Return the pieces of a file view of equal pieces at one distance, in bytes; else None."""
    if view.truncated or len(view.pieces) != 1 or view.contiguous:
        return None
    piece: Any = view.pieces[0]
    if piece["count"] == 1:
        return Comb(int(piece["bytes"]), view.extent, view.extent)
    period = int(piece["stride"][0])
    return Comb(int(piece["bytes"]), period, period * int(piece["inner"][0] or piece["count"]))


def interleaved(trace: Trace, use: FileUse, writing: bool) -> Interleaved | None:
    """Return the pieces that most bytes of a file's top layer are moved in.

    None if these calls leave no holes, or if no other calls of the same process fill them.
    """
    rows = trace.rows
    ops = dict(WAYS)[writing]
    mine = (rows["file"] == use.index) & (rows["layer"] == use.top) & np.isin(rows["op"], ops)
    best: Interleaved | None = None
    for group in _alike(trace, rows[mine]):
        if best is None or group.bytes > best.bytes:
            best = group
    return best


def _alike(trace: Trace, rows: NDArray[Any]) -> Iterator[Interleaved]:
    """Yield the interleaved calls of each process that have pieces of one kind."""
    kinds: dict[tuple[int, int, Comb], list[int]] = defaultdict(list)
    unit: dict[int, int] = {}
    for place, row in enumerate(rows):
        target, comb, unit_bytes = _target(trace, row)
        if comb is not None:
            kinds[int(row["process"]), target, comb].append(place)
            unit[target] = unit_bytes
    for (_, target, comb), places in kinds.items():
        some, scale = rows[places], unit[target]
        residues = np.unique(np.concatenate([*_starts(trace, some)]) % comb.period)
        if len(residues) < 2 or np.diff(residues).min() < comb.run:
            continue
        whole = len(residues) * comb.run >= comb.period
        yield Interleaved(
            piece=comb.run * scale,
            period=comb.period * scale,
            fillers=len(residues),
            merged=scale * (comb.full if whole else _longest(residues, comb.run)),
            bytes=int((some["bytes"] * some["count"]).sum()),
            dataset=trace.objects[target].name if target >= 0 and scale > 1 else "",
        )


def _target(trace: Trace, row: Any) -> tuple[int, Comb | None, int]:
    """Return the object (-1: bytes of the file), the pieces, and the bytes of their unit."""
    if row["shape"] >= 0 and row["object"] >= 0:
        element_bytes = max(trace.objects[row["object"]].element_bytes, 1)
        return int(row["object"]), comb_of(trace.shapes[row["shape"]]), element_bytes
    if row["layer"] == IoLayer.MPIIO and row["view"] >= 0:
        return -1, comb_of_view(trace.views[row["view"]]), 1
    return -1, None, 1


def _starts(trace: Trace, rows: NDArray[Any]) -> Iterator[NDArray[np.int64]]:
    """Yield where the calls of each row begin: in elements of the dataset, or bytes of the file.

    Calls through one view go on in it, so that they have the place of the view.
    """
    left = MOST_CALLS
    for row in rows:
        if row["shape"] < 0:
            view = trace.views[row["view"]]
            yield np.array([view.displacement + int(view.pieces[0]["offset"])])
            continue
        number = np.array([min(int(row["count"]), max(left, 1))])
        left -= int(number[0])
        _, k = expanded_index(number)
        inner = np.broadcast_to(row["inner"], (len(k), 2))
        yield row["offset"] + moved(levels_of(k, inner), row["stride"])


def _longest(residues: NDArray[np.int64], run: int) -> int:
    """Return the longest contiguous stretch of pieces of `run` units at sorted places."""
    breaks = np.flatnonzero(np.diff(residues) != run)
    lengths = np.diff(np.concatenate([[-1], breaks, [len(residues) - 1]]))
    return int(lengths.max()) * run


def holes(trace: Trace | None, use: FileUse, writing: bool) -> dict[str, int]:
    """Return where the pieces of most bytes come from: holes in the file, or in memory.

    Returns:
        `file_piece_bytes` and `file_period_bytes`, if one call has holes in the file;
        `memory_holes`: whether the buffer has holes while the part in the file has none. Empty if
        selections are unknown.
    """
    if trace is None:
        return {}
    rows = trace.rows
    mine = (rows["file"] == use.index) & (rows["layer"] == use.top)
    mine &= np.isin(rows["op"], dict(WAYS)[writing]) & (rows["bytes"] > 0)
    known = rows[mine & ((rows["shape"] >= 0) | (rows["view"] >= 0))]
    if not len(known):
        return {}
    row = known[int((known["bytes"] * known["count"]).argmax())]
    _, comb, unit = _target(trace, row)
    if comb is not None:
        return {"file_piece_bytes": comb.run * unit, "file_period_bytes": comb.period * unit}
    shape = trace.shapes[row["shape"]] if row["shape"] >= 0 else None
    one_piece = shape is not None and shape.kind in (ShapeKind.REGULAR, ShapeKind.ALL)
    return {"memory_holes": int(one_piece and shape is not None and shape.memory >= 0)}


def _is_amplified(calls: Calls, below: Calls) -> bool:
    """Return whether the holes between the pieces are moved as well."""
    return below.bytes >= LEAST_TIMES * calls.bytes


class InterleavedCalls(Rule):
    """Calls whose holes in the file are filled by further calls of the same process."""

    code = "interleaved-calls"
    group = "requests"
    basis = "one call for what these calls move: the same bytes in the larger pieces of all"
    title = "Several calls fill each other's holes in the file"
    general_remedy = (
        "Move in one call what several calls move between one another: all variables at once, "
        "blocks instead of columns."
    )
    tunes = True

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Find calls in small pieces, with more calls between these.

        The pieces reach the system as they are, or MPI-IO moves what lies between them as well.
        """
        if run.trace is None:
            return
        for use in run.files:
            if use.top not in (IoLayer.HDF5, IoLayer.PNETCDF, IoLayer.MPIIO):
                continue
            for writing, ops in WAYS:
                calls = use.calls(ops, layers=[use.top])
                below = use.calls(ops, layers=SYSTEM, own=False)
                split = below.count >= max(LEAST_PIECES * calls.count, LEAST_CALLS)
                if not (split or _is_amplified(calls, below)):
                    continue
                found = interleaved(run.trace, use, writing) if calls.count else None
                if found is not None and self._applies(found, calls, below):
                    yield self._hit(run, use, writing, found, calls, below)

    @staticmethod
    def _applies(found: Interleaved, calls: Calls, below: Calls) -> bool:
        """Return whether the pieces of most bytes are small and can merge, and cost requests."""
        reach = below.mean_bytes < 2 * max(found.piece, 1) or _is_amplified(calls, below)
        small = found.piece < PIECE_BYTES and reach
        main = 2 * found.bytes * max(calls.ranks, 1) >= calls.bytes
        return small and main and found.merged >= 2 * found.piece

    def _hit(
        self,
        run: PreparedRun,
        use: FileUse,
        writing: bool,
        found: Interleaved,
        calls: Calls,
        below: Calls,
    ) -> Hit:
        evidence: dict[str, float | int | str] = {
            "ranks": calls.ranks,
            "interface": use.top.name.lower(),
            "shared": int(use.shared and run.n_ranks > 1),
            "piece_bytes": found.piece,
            "period_bytes": found.period,
            "interleaved_calls": found.fillers,
            "merged_bytes": found.merged,
            "system_calls": below.count,
            "system_bytes": below.bytes,
            "collective": int(2 * use.calls(COLLECTIVE, layers=[use.top]).bytes > calls.bytes),
        }
        if found.dataset:
            evidence["dataset"] = found.dataset
        after = self._after(run, use, writing, found, calls)
        gain = None if after is None else run.now(calls.elapsed).minus(after)
        return Hit.of_calls(use, calls, gain, writing, evidence)

    @staticmethod
    def _after(
        run: PreparedRun, use: FileUse, writing: bool, found: Interleaved, calls: Calls
    ) -> Interval | None:
        if use.shared and run.n_ranks > 1:
            return run.exchange(calls.bytes, found.merged, writing=writing)
        requests = math.ceil(calls.bytes / max(calls.ranks, 1) / max(found.merged, 1))
        each = run.storage.bulk(min(found.merged, calls.bytes), writing=writing)
        return each.scaled(requests)

    def phrase(self, merged: Merged) -> str:
        evidence = merged.evidence
        piece = size(float(evidence["piece_bytes"]))
        return f"{merged.way_files} in interleaved pieces of {piece}"

    def text(self, merged: Merged) -> str:
        evidence = merged.evidence
        piece, period = (size(float(evidence[f"{n}_bytes"])) for n in ("piece", "period"))
        dataset = f" of {evidence['dataset']}" if "dataset" in evidence else ""
        number = count(int(evidence["interleaved_calls"]))
        reached = float(evidence["system_bytes"])
        is_more = reached >= LEAST_TIMES * merged.bytes
        more = f", which moved {size(reached)} for {size(merged.bytes)}" if is_more else ""
        return (
            f"Each call moves pieces of {piece}{dataset}, {period} apart in the file, so that "
            f"{things(merged.calls, 'call')} became {count(int(evidence['system_calls']))} "
            f"system calls{more}; {number} calls, side by side, fill the holes of one another. "
            f"The slowest rank spent {seconds(merged.stake)} in them."
        )

    def remedy(self, merged: Merged) -> str:
        evidence = merged.evidence
        number = int(evidence["interleaved_calls"])
        verb = "Write" if merged.writing else "Read"
        together = size(float(evidence["merged_bytes"]))
        if number <= FEW_CALLS:
            first = (
                f"{verb} with one call what these {number} calls move (all variables): pieces of "
                f"{together} instead of {size(float(evidence['piece_bytes']))}. In HDF5 and "
                "NetCDF select them together, in MPI-IO use a datatype over all; or give each "
                "variable an array of its own."
            )
        else:
            first = (
                f"{verb} blocks, not columns: select along the last dimension, which is "
                f"contiguous in the file (pieces of up to {together}), and pick the columns in "
                "memory."
            )
        return f"{first}{self._without_source(merged)}"

    @staticmethod
    def _without_source(merged: Merged) -> str:
        """Return what settings can do, with a leading blank."""
        evidence = merged.evidence
        if not evidence["shared"] or evidence["collective"]:
            return ""
        if evidence["interface"] == "hdf5":
            return (
                " Collective transfers gather the pieces of each call: H5Pset_dxpl_mpio(dxpl, "
                "H5FD_MPIO_COLLECTIVE), or without a change of source `stripewise tune --allow "
                "contract` (only right if all ranks make the same transfers)."
            )
        return " Collective calls (and collective buffering) gather the pieces of each call."

    def tune_options(self, merged: Merged) -> str | None:
        if not merged.evidence["shared"]:
            return None
        if merged.evidence["collective"]:
            return ""
        return "--allow contract" if merged.evidence["interface"] == "hdf5" else ""
