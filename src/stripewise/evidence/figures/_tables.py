# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Computes a run's figures, and tables of files, layers and ranks of shared files.

docs/reference/profile.md defines each figure.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core import Gap, ReportedPart, reasons
from stripewise.evidence.figures._records import Figures, FileRow, LayerRow, VarianceRow, share
from stripewise.evidence.figures._usage import (
    COLLECTIVE,
    DATA,
    METADATA,
    READS,
    SYSTEM,
    WRITES,
    CounterRows,
    FileUse,
)
from stripewise.evidence.figures.heat_cells import LAYER_NAMES
from stripewise.evidence.trace import N_COMMON, IoLayer, Op, RunProfile


def figures(profile: RunProfile, whole: CounterRows, files: Sequence[FileUse]) -> Figures:
    """Return all figures of a run."""
    every = whole.calls()
    in_calls = profile.io_seconds  # includes calls on names of files that were never opened
    io_low, io_seconds = whole.io
    is_reduced = not math.isclose(every.surely, every.elapsed)
    io_low = min(every.surely, io_low) if is_reduced else io_low
    exact = not is_reduced and io_seconds - io_low <= _SAME * io_seconds
    exact &= io_seconds >= in_calls * (1 - _SAME) or io_seconds < profile.elapsed_seconds
    timed = not len(whole.rows) or bool((whole.rows["seconds"] > 0).any())
    timed &= bool(len(whole.rows)) or io_seconds > 0 or not profile.gaps
    known = 1.0 if timed else math.nan
    parts = [whole.calls(ops) for ops in (READS, FLUSHED, NAMING)]
    moved = profile.read_bytes + profile.write_bytes
    unsure = [text for use in files if (text := use.why_missing(ReportedPart.BYTES))]
    kinds = [
        (use.read_bytes > 0, use.write_bytes > 0)
        for use in files
        if not use.why_missing(ReportedPart.BYTES)
    ]
    run_seconds = profile.elapsed_seconds if profile.elapsed_seconds > 0 else math.nan
    overlap = in_calls > io_seconds * (1 + _SAME)
    longest = io_seconds if overlap else whole.longest
    missing = _missing(profile.why_missing, timed, run_seconds)
    for name in _KINDS if unsure else ():
        missing.setdefault(name, reasons(unsure))
    whole_time = math.nan if "rate_bytes_per_second" in missing else 1.0
    return Figures(
        run_seconds=run_seconds,
        n_ranks=profile.n_ranks,
        n_processes=profile.n_processes,
        n_hosts=len(profile.hosts),
        n_files=len(files),
        n_read_only=kinds.count((True, False)),
        n_write_only=kinds.count((False, True)),
        n_read_write=kinds.count((True, True)),
        n_no_data=kinds.count((False, False)),
        n_shared=sum(use.shared for use in files),
        read_bytes=profile.read_bytes,
        write_bytes=profile.write_bytes,
        meta_operations=whole.calls(METADATA).count,
        system_meta_operations=whole.calls(METADATA, layers=SYSTEM, own=False).count,
        cumulated_read_seconds=known * parts[0].cumulated,
        cumulated_write_seconds=known * parts[1].cumulated,
        cumulated_meta_seconds=known * parts[2].cumulated,
        elapsed_read_seconds=known * min(parts[0].elapsed, longest),
        elapsed_write_seconds=known * min(parts[1].elapsed, longest),
        elapsed_meta_seconds=known * min(parts[2].elapsed, longest),
        io_seconds=known * io_seconds,
        io_low_seconds=known * (io_seconds if exact else io_low),
        io_exact=exact,
        io_share=known * share(io_seconds, run_seconds),
        rate_bytes_per_second=whole_time * share(moved, io_seconds),
        meta_share=whole_time * share(parts[2].cumulated, sum(part.cumulated for part in parts)),
        slowest_rank=every.rank,
        threads_seconds=known * in_calls if overlap else 0.0,
        waiting_seconds=min(_waiting(profile), whole.longest),
        n_waiting_files=_n_waiting_files(profile),
        missing=missing,
    )


FLUSHED = (*WRITES, Op.SYNC)
NAMING = tuple(op for op in METADATA if op is not Op.SYNC)
"""Operations whose time is that of writing, and of metadata: what a sync moves was written
before. Darshan adds the time of syncs to that of writes, too.
"""
_SAME = 0.01
"""Relative difference of two times that counts as none."""


def _waiting(profile: RunProfile) -> float:
    """Return the time of the slowest rank in pipes, sockets and devices; NaN if not recorded."""
    if len(profile.processes):
        return math.nan  # only regular files were observed
    rows = profile.counters
    owner = np.unique(profile.actors, return_inverse=True)[1].reshape(-1)
    return float(np.bincount(owner, rows["waiting_seconds"]).max()) if len(rows) else 0.0


def _n_waiting_files(profile: RunProfile) -> int:
    rows = profile.counters
    return len(np.unique(rows["file"][rows["waiting_seconds"] > 0]))


_BYTES = {"read_bytes": ReportedPart.READ_BYTES, "write_bytes": ReportedPart.WRITE_BYTES}
_SECONDS = (
    *("cumulated_read_seconds", "cumulated_write_seconds", "cumulated_meta_seconds"),
    *("elapsed_read_seconds", "elapsed_write_seconds", "elapsed_meta_seconds"),
    *("io_seconds", "io_low_seconds", "io_share"),
)
_KINDS = ("n_read_only", "n_write_only", "n_read_write", "n_no_data")
_CALLS = ("meta_operations", "system_meta_operations", "n_files", "n_shared", *_KINDS)
_RATIOS = ("rate_bytes_per_second", "meta_share")


def _missing(
    why: Callable[[ReportedPart], str], timed: bool, run_seconds: float
) -> dict[str, str]:
    """Return the figures of a run that are unknown or incomplete, and the reasons."""
    found = {name: text for name, part in _BYTES.items() if (text := why(part))}
    untimed = why(ReportedPart.SECONDS) or ("" if timed else "the source has no times of I/O")
    for names, text in (
        (_SECONDS, untimed),
        (_CALLS, why(ReportedPart.CALLS)),
        (_RATIOS, why(ReportedPart.BYTES) or untimed),
    ):
        found |= dict.fromkeys(names if text else (), text)
    if math.isnan(run_seconds):
        text = "the source does not record how long the run took"
        found["run_seconds"] = text
        found["io_share"] = untimed or text
    return found


def file_rows(files: Sequence[FileUse], untimed: str = "") -> tuple[FileRow, ...]:
    """Return the table of files, the one that took most time first.

    Args:
        files: Files of the run.
        untimed: Reason why no times are known; empty if they are.
    """
    rows = (_file_row(use, untimed) for use in files)
    return tuple(
        sorted(rows, key=lambda row: (-row.elapsed_seconds, -row.cumulated_seconds, row.path))
    )


def _file_row(use: FileUse, untimed: str) -> FileRow:
    top, every = use.of_layer(use.top), use.calls()
    data = use.calls(DATA, layers=[use.top])
    together = use.calls(COLLECTIVE, layers=[use.top])
    return FileRow(
        path=use.path,
        interface=_interface(use),
        layer=use.top,
        read_bytes=use.read_bytes,
        write_bytes=use.write_bytes,
        read_calls=use.calls(READS, layers=[use.top]).count,
        write_calls=use.calls(WRITES, layers=[use.top]).count,
        read_sizes=tuple(top["read_sizes"].sum(axis=0).tolist()),
        write_sizes=tuple(top["write_sizes"].sum(axis=0).tolist()),
        common_sizes=_common_sizes(top),
        collective=share(together.count - _fallen(use), data.count),
        sequential=_order(use, "sequential"),
        consecutive=_order(use, "consecutive"),
        opens=use.calls([Op.OPEN]).count,
        meta_operations=use.calls(METADATA).count,
        elapsed_seconds=min(every.elapsed, use.longest),
        cumulated_seconds=every.cumulated,
        rank_count=every.ranks,
        data_rank_count=use.calls(DATA).ranks,
        extent_bytes=use.extent,
        hints=use.hints,
        layout=use.layout,
        missing=_missing_of_file(use, untimed),
    )


def _fallen(use: FileUse) -> int:
    """Return the collective calls of the top layer that were carried out independently."""
    return use.fallen if use.top is IoLayer.HDF5 else 0


def _missing_of_file(use: FileUse, untimed: str) -> dict[str, str]:
    found = {name: text for name, part in _BYTES.items() if (text := use.why_missing(part))}
    if text := use.why_missing(ReportedPart.SECONDS) or untimed:
        found |= dict.fromkeys(("elapsed_seconds", "cumulated_seconds"), text)
    return found


def _interface(use: FileUse) -> str:
    """Return the layers through which the program moved data; without data, all that it used."""
    moving = [layer for layer in use.layers if use.calls(DATA, layers=[layer]).bytes]
    return " + ".join(LAYER_NAMES[layer] for layer in moving or use.layers) or "-"


def _common_sizes(rows: NDArray[Any]) -> tuple[tuple[int, int], ...]:
    """Return the most common sizes over rows that each contain their own: (bytes, calls)."""
    counted: Counter[int] = Counter()
    for size, count in zip(
        rows["common_size"].ravel().tolist(), rows["common_count"].ravel().tolist(), strict=True
    ):
        if count > 0:
            counted[size] += count
    return tuple(counted.most_common(N_COMMON))


def _order(use: FileUse, kind: str) -> float:
    """Return the share of sequential or consecutive calls over both directions, where known."""
    known = [
        (forward, int(use.lowest["count"][:, ops].sum()))
        for writing, ops in ((False, READS), (True, WRITES))
        if not math.isnan(forward := use.order_share(kind, writing))
    ]
    return share(sum(part * count for part, count in known), sum(count for _, count in known))


def layer_rows(
    whole: CounterRows, gaps: Sequence[Gap] = (), untimed: str = "", fallen: int = 0
) -> tuple[LayerRow, ...]:
    """Return the table of layers, from the program down.

    Args:
        whole: Counters of the run.
        gaps: Amounts that are incomplete.
        untimed: Reason why no times are known; empty if they are.
        fallen: Collective calls that HDF5 carried out independently.
    """
    rows = [_layer_row(whole, layer, gaps, untimed) for layer in sorted(whole.seen, reverse=True)]
    return tuple(
        replace(row, collective_calls=max(row.collective_calls - fallen, 0))
        if row.layer is IoLayer.HDF5
        else row
        for row in rows
    )


def _layer_row(whole: CounterRows, layer: IoLayer, gaps: Sequence[Gap], untimed: str) -> LayerRow:
    mine = whole.rows["layer"] == layer
    files = set(whole.rows["file"][mine].tolist())
    mine_of = [gap for gap in gaps if files.intersection(gap.files)]
    missing: dict[str, str] = {}
    for part, names in (
        *((part, (name,)) for name, part in _BYTES.items()),
        (ReportedPart.SECONDS, _TIMES),
    ):
        why = reasons(gap.why for gap in mine_of if gap.parts & part)
        why = why or (untimed if part is ReportedPart.SECONDS else "")
        missing |= dict.fromkeys(names if why else (), why)
    sums = functools.partial(whole.calls, layers=[layer], own=False)
    reads, writes, every = sums(READS), sums(WRITES), sums()
    elapsed = math.nan if whole.reduced[mine].any() else min(every.elapsed, whole.longest)
    return LayerRow(
        layer=layer,
        files=len(files),
        read_calls=reads.count,
        write_calls=writes.count,
        collective_calls=sums(COLLECTIVE).count,
        meta_operations=sums(METADATA).count,
        read_bytes=reads.bytes,
        write_bytes=writes.bytes,
        cumulated_seconds=every.cumulated,
        own_seconds=whole.calls(layers=[layer]).cumulated,
        elapsed_seconds=elapsed,
        missing=missing,
    )


_TIMES = ("cumulated_seconds", "own_seconds", "elapsed_seconds")


def variance_rows(files: Sequence[FileUse]) -> tuple[VarianceRow, ...]:
    """Return the shared files (used by more than one rank), the slowest first."""
    rows = [row for use in files if (row := _variance(use)) is not None]
    return tuple(sorted(rows, key=lambda row: (-row.slowest_seconds, row.path)))


def _variance(use: FileUse) -> VarianceRow | None:
    if use.reduced.any():
        return _reduced_variance(use)
    ranks, inverse = np.unique(use.keys, return_inverse=True)
    if len(ranks) < 2:
        return None
    seconds = np.bincount(inverse, weights=use.rows["outermost_seconds"])
    moved = np.bincount(
        inverse,
        weights=use.rows["outermost_read_bytes"] + use.rows["outermost_write_bytes"],
    )
    fast, slow = int(seconds.argmin()), int(seconds.argmax())
    ends = [(int(ranks[one]), float(seconds[one]), int(moved[one])) for one in (fast, slow)]
    deviations = (float(seconds.std()), float(moved.std()))
    return VarianceRow(use.path, len(ranks), *ends[0], *ends[1], *deviations)


def _reduced_variance(use: FileUse) -> VarianceRow | None:
    """Return the variance that a record of all ranks together contains."""
    known = use.reduced & (use.rows["slowest_rank"] >= 0) & use.own
    if not known.any():
        return None
    row = use.rows[known][use.rows["outermost_seconds"][known].argmax()]
    ends = [
        (int(row[f"{end}_rank"]), float(row[f"{end}_seconds"]), int(row[f"{end}_bytes"]))
        for end in ("fastest", "slowest")
    ]
    deviations = (float(row["seconds_deviation"]), float(row["bytes_deviation"]))
    return VarianceRow(use.path, use.n_ranks, *ends[0], *ends[1], *deviations)
