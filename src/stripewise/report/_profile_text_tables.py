# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a profile in text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stripewise.diagnosis import FileRow, LayerRow, RequestRow, VarianceRow
from stripewise.model import IoLayer
from stripewise.report._columns import TextTable
from stripewise.report._text import format_bytes, format_seconds, significant
from stripewise.text import printable

_LAYER = {
    IoLayer.POSIX: "POSIX",
    IoLayer.STDIO: "stdio",
    IoLayer.MPIIO: "MPI-IO",
    IoLayer.PNETCDF: "PnetCDF",
    IoLayer.HDF5: "HDF5",
    IoLayer.ADIOS2: "ADIOS2",
}
_PATH_WIDTH = 44
_TWO = frozenset({0, 1})


def file_table(rows: Sequence[FileRow]) -> TextTable:
    """Time, bytes, calls, sizes, order, ranks, layout of each file."""
    headings = (
        *("file", "interface", "time", "read", "written", "reads", "writes", "common sizes"),
        *("collective", "sequential", "ranks", "opens", "stripes"),
    )
    table = TextTable(headings, left=_TWO)
    for row in rows:
        common = ", ".join(
            f"{format_bytes(size)} x{count}" for size, count in row.common_sizes[:2]
        )
        table.rows.append(
            [
                _path(row.path),
                row.interface,
                _time(row.elapsed_seconds),
                _bytes(row.read_bytes),
                _bytes(row.write_bytes),
                _count(row.read_calls),
                _count(row.write_calls),
                common or "-",
                _share(row.collective),
                _share(row.sequential),
                f"{row.data_rank_count} of {row.rank_count}" if row.rank_count else "-",
                str(row.opens),
                _stripes(row),
            ],
        )
    return table


def _stripes(row: FileRow) -> str:
    layout = row.layout
    if not layout.stripe_count and not layout.stripe_bytes:
        return "-"
    return f"{layout.stripe_count or '?'} x {format_bytes(layout.stripe_bytes)}"


def layer_table(rows: Sequence[LayerRow]) -> TextTable:
    """Calls, bytes and times of each interface."""
    table = TextTable(
        (
            *("interface", "files", "reads", "writes", "collective", "metadata", "read"),
            *("written", "time over ranks", "program's own time", "slowest rank"),
        )
    )
    for row in rows:
        table.rows.append(
            [
                _LAYER[row.layer],
                str(row.files),
                _count(row.read_calls),
                _count(row.write_calls),
                _count(row.collective_calls),
                _count(row.meta_operations),
                _bytes(row.read_bytes),
                _bytes(row.write_bytes),
                _time(row.cumulated_seconds),
                _time(row.own_seconds),
                _seconds(row.elapsed_seconds),
            ],
        )
    return table


def variance_table(rows: Sequence[VarianceRow]) -> TextTable:
    """Fastest and slowest rank of each shared file, with the deviation over ranks."""
    table = TextTable(
        (
            *("file", "ranks", "fastest", "time", "bytes", "slowest", "time", "bytes"),
            *("deviation of time", "deviation of bytes"),
        )
    )
    for row in rows:
        table.rows.append(
            [
                _path(row.path),
                str(row.processes),
                str(row.fastest_rank),
                format_seconds(row.fastest_seconds),
                _bytes(row.fastest_bytes),
                str(row.slowest_rank),
                format_seconds(row.slowest_seconds),
                _bytes(row.slowest_bytes),
                _seconds(row.seconds_deviation),
                _bytes(row.bytes_deviation),
            ],
        )
    return table


def request_table(rows: Sequence[RequestRow]) -> TextTable:
    """What the program asked of MPI-IO, and what reached the system."""
    headings = (
        *("file", "", "program", "collective", "mean", "ranks", "system", "mean", "ranks"),
        *("read-modify", "gaps", "aligned", "stripe-sized"),
    )
    table = TextTable(headings, keys=2, left=_TWO)
    for row in rows:
        table.rows.append(
            [
                _path(row.path),
                "write" if row.writing else "read",
                _count(row.program_calls),
                _count(row.collective_calls),
                _bytes(row.program_mean_bytes),
                _count(row.program_ranks),
                _count(row.system_calls),
                _bytes(row.system_mean_bytes),
                "?" if row.system_ranks is None else str(row.system_ranks),
                "?" if row.modify_bytes is None else _bytes(row.modify_bytes),
                "?" if row.gaps is None else str(row.gaps),
                _share(row.aligned),
                _share(row.unit_sized),
            ],
        )
    return table


def _path(path: str) -> str:
    shown = printable(path)
    return shown if len(shown) <= _PATH_WIDTH else "…" + shown[1 - _PATH_WIDTH :]


def _bytes(value: float) -> str:
    return "-" if not value or math.isnan(value) else format_bytes(value)


def _count(value: int) -> str:
    return str(value) if value else "-"


def _seconds(value: float) -> str:
    return "?" if math.isnan(value) else format_seconds(value)


def _time(value: float) -> str:
    return format_seconds(value) if value else "-"


def _share(value: float | None) -> str:
    if value is None:
        return "?"
    return "-" if math.isnan(value) else f"{significant(100 * value)} %"
