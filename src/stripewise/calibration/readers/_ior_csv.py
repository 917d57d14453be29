# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""IOR's summaryFormat=CSV: results without options.  Source: hpc/ior 4.1, ior-output.c."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from stripewise.calibration.readers._base import nodes_of
from stripewise.calibration.readers._ior_test import MIB, SLACK
from stripewise.calibration.readers._lines import (
    MOST_BYTES,
    MOST_RANKS,
    half_digit,
    lines_of,
    number,
    shown,
    whole,
)
from stripewise.calibration.readers._printed import PrintedReader, possible
from stripewise.calibration.readers._record import Data, Found, Test, Timed
from stripewise.errors import UsageError
from stripewise.inputs import RESULTS

HEADER = "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),"
_COLUMNS = 12
_SAID = (
    "IOR's CSV does not say the API, the number of files, segments and nodes: taken for a shared "
    "file through POSIX; summaryFormat=JSON says them"
)


class IorCsv(PrintedReader):
    """IOR's summaryFormat=CSV."""

    name = "ior-csv"

    def recognises(self, text: str, name: str) -> bool:
        """Whether IOR wrote it."""
        return HEADER in text[:100_000]

    def tests(self, text: str, name: str, ranks_per_node: int) -> Found:
        """Return a test for each kind of rows."""
        groups: list[_Group] = []
        notes: list[str] = []
        rows = 0
        for line in lines_of(text):
            if line.startswith(HEADER):
                groups.append(_Group((0, 0, 0)))
            elif line.startswith(("write,", "read,")) and groups:
                rows += 1
                RESULTS.check_entries(rows, name)
                row = _row(line)
                if row is not None:
                    if groups[-1].kind not in (row[0], (0, 0, 0)):
                        groups.append(_Group(row[0]))
                    groups[-1].kind = row[0]
                    groups[-1].timed.append(row[1])
                elif len(notes) < 20:
                    notes.append(f"{name}: a row cannot be read: {shown(line)!r}.")
        found = tuple(_test(one, name, ranks_per_node) for one in groups if one.timed)
        if not found:
            raise UsageError(f"{name}: IOR's CSV without a result: check that the run ended")
        return Found(found, tuple(notes))


@dataclass
class _Group:
    """Rows of one block, transfer and number of ranks."""

    kind: tuple[int, int, int]
    timed: list[Timed] = field(default_factory=list)


def _row(line: str) -> tuple[tuple[int, int, int], Timed] | None:
    """Return block, transfer and ranks of a row, and what was timed; None: it is damaged."""
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) != _COLUMNS:
        return None
    values = [number(cell) for cell in cells[1:10]]
    ranks, repeat = whole(cells[10], MOST_RANKS), whole(cells[11], 100_000_000)
    if any(one is None or one < 0 for one in values) or not ranks or repeat is None:
        return None
    bandwidth, _, _, block, transfer, opened, moved, closed, total = (one or 0.0 for one in values)
    rate, block_bytes = bandwidth * MIB, round(block * 1024)
    if not possible(cells[0], rate) or not 1 <= round(transfer * 1024) <= block_bytes < MOST_BYTES:
        return None
    amount = _amount(rate, total, half_digit(cells[9]), ranks * block_bytes)
    if not amount or not possible(cells[0], rate, amount):
        return None
    longest = amount / rate * (1 + SLACK) + half_digit(cells[9])
    told = {"open": opened, "transfer": moved, "close": closed}
    phases = {phase: seconds for phase, seconds in told.items() if seconds <= longest}
    return ((block_bytes, round(transfer * 1024), ranks),
            Timed(cells[0], amount, amount / rate, repeat + 1, phases))  # fmt: skip


def _amount(rate: float, total: float, half: float, each: int) -> float:
    """Return the bytes that were moved: segments of all ranks' blocks if the time tells them.

    0: even one segment takes longer than the time, or no storage holds what it says.
    """
    low = rate * max(total - half, 0.0) * 0.99 / each
    high = rate * (total + half) * 1.01 / each
    if not 1 <= high < MOST_BYTES / each:
        return 0.0
    segments = max(round(rate * total / each), 1)
    return float(segments * each) if low <= segments <= high else rate * total


def _test(group: _Group, name: str, ranks_per_node: int) -> Test:
    block, transfer, ranks = group.kind
    segments = round(median(one.amount for one in group.timed) / (ranks * block))
    work = Data("posix", "shared", "independent", block_bytes=block, transfer_bytes=transfer,
                steps=max(segments, 1))  # fmt: skip
    return Test("ior", f"{name}: IOR", nodes_of(name, ranks, ranks_per_node), ranks, work,
                tuple(group.timed), notes=(f"{_SAID}.",))  # fmt: skip
