# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""IOR's summaryFormat=CSV: results without options.  Source: hpc/ior 4.1, ior-output.c."""

from __future__ import annotations

from collections.abc import Iterator
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
_CANDIDATES = 10
"""Numbers of segments that are tried: a file of nothing but damage takes no longer."""
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
                    if groups[-1].kind not in (row.kind, (0, 0, 0)):
                        groups.append(_Group(row.kind))
                    groups[-1].kind = row.kind
                    groups[-1].rows.append(row)
                elif len(notes) < 20:
                    notes.append(f"{name}: a row cannot be read: {shown(line)!r}.")
        found = tuple(one for group in groups for one in _test(group, name, ranks_per_node))
        if not found:
            raise UsageError(f"{name}: IOR's CSV without a result: check that the run ended")
        return Found(found, tuple(notes))


@dataclass(frozen=True)
class _Row:
    """One row.

    Attributes:
        kind: Block, transfer and ranks.
        operation: "write" or "read".
        repeat: From 1.
        rate: Bytes a second.
        product: Of rate and time, in blocks of all ranks.
        low / high: Between which the blocks of all ranks are: the time has four decimals, which
            for some tens of microseconds say little.
        phases: Name -> seconds.
    """

    kind: tuple[int, int, int]
    operation: str
    repeat: int
    rate: float
    product: float
    low: float
    high: float
    phases: dict[str, float]

    def admits(self, segments: int) -> bool:
        """Whether so many segments were moved."""
        return self.low <= segments <= self.high

    def timed(self, blocks: float) -> Timed | None:
        """Return what was timed if it moved so many blocks of all ranks; None: it cannot be."""
        amount = blocks * self.kind[0] * self.kind[2]
        if not possible(self.operation, self.rate, amount):
            return None
        return Timed(self.operation, amount, amount / self.rate, self.repeat, self.phases)


@dataclass
class _Group:
    """Rows of one block, transfer and number of ranks."""

    kind: tuple[int, int, int]
    rows: list[_Row] = field(default_factory=list)

    def segments(self) -> int:
        """Return the segments on which more than half of the rows agree; 0: there are none.

        The rows whose time says most are asked first.
        """
        rows = sorted(self.rows, key=lambda row: row.high - row.low)
        likely = dict.fromkeys(1 if row.admits(1) else round(row.product) for row in rows)
        for number_of in list(likely)[:_CANDIDATES]:
            if number_of and 2 * sum(row.admits(number_of) for row in rows) > len(rows):
                return number_of
        return 0

    def is_ambiguous(self, segments: int) -> bool:
        """Whether every row's time is too short to tell so many segments from one more."""
        return all(row.admits(segments + 1) for row in self.rows)


def _row(line: str) -> _Row | None:
    """Return a row; None: it is damaged."""
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
    half = half_digit(cells[9])
    least, longest = max(total - half, 0.0) * (1 - SLACK), (total + half) * (1 + SLACK)
    blocks = rate / (ranks * block_bytes)
    if not 1 <= blocks * longest < MOST_BYTES / (ranks * block_bytes):
        return None
    told = {"open": opened, "transfer": moved, "close": closed}
    phases = {phase: seconds for phase, seconds in told.items() if seconds <= longest}
    return _Row((block_bytes, round(transfer * 1024), ranks), cells[0], repeat + 1, rate,
                blocks * total, blocks * least, blocks * longest, phases)  # fmt: skip


def _test(group: _Group, name: str, ranks_per_node: int) -> Iterator[Test]:
    """Yield the test of a group, if any of its rows can be used."""
    block, transfer, ranks = group.kind
    segments = group.segments()
    is_told = 0 < segments * SLACK < 0.5
    notes = [f"{_SAID}."]
    if is_told and group.is_ambiguous(segments):
        notes.append(f"Its times are too short to tell the segments: taken for {segments}.")
    timed = []
    for row in group.rows:
        if segments and row.admits(segments):
            one = row.timed(segments)
        elif is_told:
            one = None
        else:
            one = row.timed(row.product)
        if one is not None:
            timed.append(one)
        elif len(notes) < 20:
            notes.append(
                f"{row.operation} {row.repeat} is left out: its bandwidth for its time is "
                f"{row.product:.3g} times the blocks of all ranks, others' {segments}: "
                "it is damaged."
            )
    if not timed:
        return
    if len({one.amount for one in timed}) > 1:
        notes.append(
            "Rows moved different amounts: a stonewall stopped them, or some are damaged."
        )
    if not segments:
        segments = round(median(one.amount for one in timed) / (ranks * block))
    work = Data("posix", "shared", "independent", block_bytes=block, transfer_bytes=transfer,
                steps=max(segments, 1))  # fmt: skip
    yield Test("ior", f"{name}: IOR", nodes_of(name, ranks, ranks_per_node), ranks, work,
               tuple(timed), notes=tuple(notes))  # fmt: skip
