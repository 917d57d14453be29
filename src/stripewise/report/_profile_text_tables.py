# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a profile in text: the columns of each, a heading and what stands under it."""

from __future__ import annotations

import math
from collections.abc import Callable

from stripewise.diagnosis import FileRow, LayerRow, RequestRow, VarianceRow
from stripewise.diagnosis.heat_cells import LAYER_NAMES
from stripewise.model import Figured
from stripewise.report._columns import Columns
from stripewise.report._text import format_bytes, format_percent, format_seconds
from stripewise.text import printable

_PATH_WIDTH = 44


def _path(path: str) -> str:
    shown = printable(path)
    return shown if len(shown) <= _PATH_WIDTH else "…" + shown[1 - _PATH_WIDTH :]


def _bytes(value: float) -> str:
    return "-" if not value or math.isnan(value) else format_bytes(value)


def _amount(name: str, show: Callable[[float], str]) -> Callable[[Figured], str]:
    """Return what shows a figure of a row: "-" for zero, "?" where it is not known."""

    def cell(row: Figured) -> str:
        amount = row.amount(name)
        if amount.value is None:
            return "?"
        return f"{'>= ' if amount.why else ''}{show(amount.value)}" if amount.value else "-"

    return cell


def _count(value: int) -> str:
    return str(value) if value else "-"


def _share(value: float | None) -> str:
    if value is None:
        return "?"
    return "-" if math.isnan(value) else format_percent(value)


def _sizes(row: FileRow) -> str:
    sizes = (f"{format_bytes(size)} x{count}" for size, count in row.common_sizes[:2])
    return ", ".join(sizes) or "-"


def _stripes(row: FileRow) -> str:
    layout = row.layout
    if not layout.stripe_count and not layout.stripe_bytes:
        return "-"
    return f"{layout.stripe_count or '?'} x {format_bytes(layout.stripe_bytes)}"


FILES: Columns[FileRow] = (
    ("file", lambda row: _path(row.path)),
    ("interface", lambda row: row.interface),
    ("time", _amount("elapsed_seconds", format_seconds)),
    ("read", _amount("read_bytes", format_bytes)),
    ("written", _amount("write_bytes", format_bytes)),
    ("reads", lambda row: _count(row.read_calls)),
    ("writes", lambda row: _count(row.write_calls)),
    ("common sizes", _sizes),
    ("collective", lambda row: _share(row.collective)),
    ("sequential", lambda row: _share(row.sequential)),
    ("ranks", lambda row: f"{row.data_rank_count} of {row.rank_count}" if row.rank_count else "-"),
    ("opens", lambda row: str(row.opens)),
    ("stripes", _stripes),
)

LAYERS: Columns[LayerRow] = (
    ("interface", lambda row: LAYER_NAMES[row.layer]),
    ("files", lambda row: str(row.files)),
    ("reads", lambda row: _count(row.read_calls)),
    ("writes", lambda row: _count(row.write_calls)),
    ("collective", lambda row: _count(row.collective_calls)),
    ("metadata", lambda row: _count(row.meta_operations)),
    ("read", _amount("read_bytes", format_bytes)),
    ("written", _amount("write_bytes", format_bytes)),
    ("time over ranks", _amount("cumulated_seconds", format_seconds)),
    ("program's own time", _amount("own_seconds", format_seconds)),
    ("slowest rank", _amount("elapsed_seconds", format_seconds)),
)

VARIANCE: Columns[VarianceRow] = (
    ("file", lambda row: _path(row.path)),
    ("ranks", lambda row: str(row.processes)),
    ("fastest", lambda row: str(row.fastest_rank)),
    ("time", lambda row: format_seconds(row.fastest_seconds)),
    ("bytes", lambda row: _bytes(row.fastest_bytes)),
    ("slowest", lambda row: str(row.slowest_rank)),
    ("time", lambda row: format_seconds(row.slowest_seconds)),
    ("bytes", lambda row: _bytes(row.slowest_bytes)),
    ("deviation of time", lambda row: format_seconds(row.seconds_deviation)),
    ("deviation of bytes", lambda row: _bytes(row.bytes_deviation)),
)

REQUESTS: Columns[RequestRow] = (
    ("file", lambda row: _path(row.path)),
    ("", lambda row: "write" if row.writing else "read"),
    ("program", lambda row: _count(row.program_calls)),
    ("collective", lambda row: _count(row.collective_calls)),
    ("mean", lambda row: _bytes(row.program_mean_bytes)),
    ("ranks", lambda row: _count(row.program_ranks)),
    ("system", lambda row: _count(row.system_calls)),
    ("mean", lambda row: _bytes(row.system_mean_bytes)),
    ("ranks", lambda row: "?" if row.system_ranks is None else str(row.system_ranks)),
    ("read-modify", lambda row: "?" if row.modify_bytes is None else _bytes(row.modify_bytes)),
    ("gaps", lambda row: "?" if row.gaps is None else str(row.gaps)),
    ("aligned", lambda row: _share(row.aligned)),
    ("stripe-sized", lambda row: _share(row.unit_sized)),
)
