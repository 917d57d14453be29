# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a profile in text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from stripewise.diagnosis import FileRow, LayerRow, RequestRow, VarianceRow
from stripewise.model import IoLayer
from stripewise.report._text import format_bytes, format_seconds, printable, significant

_LAYER = {
    IoLayer.POSIX: "POSIX",
    IoLayer.STDIO: "stdio",
    IoLayer.MPIIO: "MPI-IO",
    IoLayer.PNETCDF: "PnetCDF",
    IoLayer.HDF5: "HDF5",
    IoLayer.ADIOS2: "ADIOS2",
}
_PATH_WIDTH = 44


def _table(*columns: str, left: int = 1) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, name in enumerate(columns):
        table.add_column(
            name, justify="left" if place < left else "right", no_wrap=True, overflow="fold"
        )
    return table


def _add(table: Table, cells: Sequence[str]) -> None:
    table.add_row(*(Text(cell) for cell in cells))


def file_table(rows: Sequence[FileRow]) -> Table:
    """Time, bytes, calls, sizes, order, ranks, layout of each file."""
    table = _table(
        *("file", "interface", "time", "read", "written", "reads", "writes", "common sizes"),
        *("collective", "sequential", "ranks", "opens", "stripes"),
        left=2,
    )
    for row in rows:
        common = ", ".join(
            f"{format_bytes(size)} x{count}" for size, count in row.common_sizes[:2]
        )
        _add(
            table,
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


def layer_table(rows: Sequence[LayerRow]) -> Table:
    """Calls, bytes and times of each interface."""
    table = _table(
        *("interface", "files", "reads", "writes", "collective", "metadata", "read", "written"),
        *("time over ranks", "of it the program's", "slowest rank"),
    )
    for row in rows:
        _add(
            table,
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


def variance_table(rows: Sequence[VarianceRow]) -> Table:
    """Fastest and slowest rank of each shared file, with the deviation over ranks."""
    table = _table(
        *("file", "ranks", "fastest", "time", "bytes", "slowest", "time", "bytes"),
        *("deviation of time", "of bytes"),
    )
    for row in rows:
        _add(
            table,
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


def request_table(rows: Sequence[RequestRow]) -> Table:
    """What the program asked of MPI-IO, and what reached the system."""
    table = _table(
        *("file", "", "asked", "of it collective", "mean", "by", "system", "mean", "by"),
        *("read-modify", "gaps", "aligned", "stripe-sized"),
        left=2,
    )
    for row in rows:
        _add(
            table,
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
