# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads blocks of Cray's MPICH_MPIIO_STATS=1 and MPICH_MPIIO_TIMERS=1 in a job's output.

A block of statistics begins with "MPIIO write access patterns for NAME" and has lines "|   key =
value"; other output may be between the lines. Source: intro_mpi(3) of Cray MPICH, and blocks in
published job outputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from stripewise.core import Gap, MpiioPhase, MpiioSide, MpiioStats, MpiioTimers, ReportedPart
from stripewise.core.errors import TraceError
from stripewise.core.inputs import MPIIO_STATS, open_input, read_input
from stripewise.evidence.readers._base import Source
from stripewise.evidence.trace import (
    ALL_RANKS,
    Evidence,
    FileLayout,
    IoLayer,
    Op,
    RunProfile,
    unknown_counters,
)
from stripewise.present import plural

# Blocks of Cray's MPICH_MPIIO_TIMERS=1 in the output of a job.
#
# A block begins with "MPIIO write by phases, all ranks, for NAME" (or writers, readers,
# aggregators) and has rows "|   key = minimum maximum average percent%". The format is documented
# (intro_mpi(3) of Cray MPICH) but was not seen on a Cray: optional parts of a row may be missing,
# and unknown rows are kept under the names that they have.


TIMERS_TITLE = re.compile(
    r"MPIIO (write|read) by phases,?[ \t]*(all ranks|writers|readers|aggregators)"
    r"(?:[ \t]+only)?(?:,?[ \t]+for[ \t]+([^\r\n]+))?"
)
_NAME = re.compile(r"\|[ \t]+(?:for|file)[ \t]+([^\s=][^=]*)")
_SCALE = re.compile(r"time scale:\s*1\s*=\s*(?:2\*\*(\d{1,2})\s*clock|(\d+)\s*clock|.*?second)")
_RANKS = re.compile(r"number of ranks (not )?(?:writing|reading)")
_RATE = re.compile(r"(data send|raw \w+|net \w+) BW(?:\s*\((\w+)/s\))?")
_PERCENT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*%")
_DECIMAL = re.compile(r"(?<![\w.])\d{1,20}(?:\.\d{1,9})?(?:[eE][+-]?\d{1,2})?(?![\w.])")
_MEBIBYTE = 1 << 20
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": _MEBIBYTE, "GiB": 1 << 30, "MB": 10**6, "GB": 10**9}
_MOST_PHASES = 64


@dataclass
class _TimersBlock:
    """One block while its lines are read."""

    path: str
    direction: str
    scale: str
    values: dict[str, Any] = field(default_factory=dict)
    phases: list[MpiioPhase] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not self.values and not self.phases

    def record(self) -> MpiioTimers:
        return MpiioTimers(
            self.path, self.direction, self.scale, phases=tuple(self.phases), **self.values
        )


def parse_mpiio_timers(text: str) -> tuple[MpiioTimers, ...]:
    """Return the records of all blocks of a text, in order; blocks without rows are left out.

    A title without a file name refers to the file of the last block of MPICH_MPIIO_STATS.
    """
    return tuple(block.record() for block in _timers_blocks(text) if not block.is_empty)


def _timers_blocks(text: str) -> Iterator[_TimersBlock]:
    block: _TimersBlock | None = None
    last_path = ""
    for raw in text.splitlines():
        line = _ANSI.sub("", raw)
        if of_stats := _TITLE_TEXT.search(line):
            last_path = _path(of_stats[2])
        if title := TIMERS_TITLE.search(line):
            if block is not None:
                yield block
            last_path = _path(title[3]) if title[3] else last_path
            block = _TimersBlock(last_path, title[1], title[2])
        elif block is not None and (of_stats or (_is_border(line) and not block.is_empty)):
            yield block
            block = None
        elif block is not None:
            _take_row(block, line)
            last_path = block.path
    if block is not None:
        yield block


def _path(text: str) -> str:
    return text.strip().rstrip("|").rstrip()


def _is_border(line: str) -> bool:
    return line.lstrip().startswith("+--")


def _take_row(block: _TimersBlock, line: str) -> None:
    """Add a line to the block; ignore it if it is not a row."""
    if scale := _SCALE.search(line):
        if scale[1] or scale[2]:
            block.values["ticks_per_unit"] = 1 << int(scale[1]) if scale[1] else int(scale[2])
        return
    if block.is_empty and (name := _NAME.search(line)):
        block.path = _path(name[1])
    key, equals, value = line.partition("|")[2].partition("=")
    key, value = " ".join(key.split()), value.rstrip().rstrip("|")
    if not equals or not key[:1].isalpha():
        return
    if ranks := _RANKS.match(key):
        if number := _DECIMAL.search(value):
            block.values["idle_ranks" if ranks[1] else "active_ranks"] = int(float(number[0]))
    elif rate := _RATE.match(key):
        _take_rate(block, rate, value)
    elif len(block.phases) < _MOST_PHASES and (phase := _phase(key, value)):
        block.phases.append(phase)


def _take_rate(block: _TimersBlock, rate: re.Match[str], value: str) -> None:
    numbers = _DECIMAL.findall(value)
    if numbers:
        unit = _UNITS.get(rate[2] or "MiB", _MEBIBYTE)
        name = rate[1].split()[0].replace("data", "data_send")
        block.values.setdefault(f"{name}_bytes_per_second", float(numbers[-1]) * unit)


def _phase(key: str, value: str) -> MpiioPhase | None:
    """Return a row; one number is the average, two are the extremes; None without a number."""
    percent = _PERCENT.search(value)
    share = float(percent[1]) / 100 if percent else None
    numbers = [float(one) for one in _DECIMAL.findall(_PERCENT.sub(" ", value))]
    name = key.replace("(*)", "").strip()
    if not numbers and share is None:
        return None
    if len(numbers) >= 3:
        return MpiioPhase(name, numbers[0], numbers[1], numbers[2], share)
    if len(numbers) == 2:
        return MpiioPhase(name, numbers[0], numbers[1], share=share)
    return MpiioPhase(name, average=numbers[0] if numbers else None, share=share)


_PART_BYTES = 4 << 20
_TITLE = re.compile(rb"MPIIO (write|read) access patterns for[ \t]+([^\r\n]+)")
_TITLE_TEXT = re.compile(_TITLE.pattern.decode())
_LINE = re.compile(r"\|\s+([A-Za-z][A-Za-z -]*?)\s*=\s*([^=]*)")
_NUMBER = re.compile(r"-?\d+")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_MOST_REMARKS = 100
_BEYOND = 1 << 53
_FIELDS = {
    key.format(word=word, who=who): field
    for word, who in (("write", "writers"), ("read", "readers"))
    for key, field in (
        ("independent {word}s", "independent"),
        ("collective {word}s", "collective"),
        ("independent {who}", "independent_ranks"),
        ("aggregators", "aggregators"),
        ("stripe count", "stripe_count"),
        ("stripe size", "stripe_bytes"),
        ("system {word}s", "system_calls"),
        ("stripe sized {word}s", "stripe_sized"),
        ("total bytes for {word}s", "total_bytes"),
        ("ave system {word} size", "average_bytes"),
        ("read-modify-write count", "modify_reads"),
        ("read-modify-write bytes", "modify_bytes"),
        ("number of {word} gaps", "gaps"),
        ("ave {word} gap size", "average_gap_bytes"),
    )
}
_NEEDED = ("independent", "collective", "system_calls", "total_bytes")


class MpiioStatsSource(Source):
    """Output of a job in which MPICH_MPIIO_STATS=1 was set."""

    name = "mpiio-stats"
    summary = "job output with MPICH_MPIIO_STATS blocks"
    budget = MPIIO_STATS

    def recognises(self, path: Path) -> bool:
        """Look for the title of a block; beyond the first megabytes only in a text."""
        with suppress(OSError), open_input(path) as file:
            part = tail = b""
            while b"\0" not in part and file.tell() < MPIIO_STATS.file_bytes:
                if not (part := file.read(_PART_BYTES)):
                    break
                if _TITLE.search(tail + part):
                    return True
                tail = part[-256:]
        return False

    def read_one(self, path: Path) -> Evidence:
        """Read all blocks of one output.

        A file that was closed several times has several blocks; each pair of a write and a read
        block is a separate record.

        Raises:
            TraceError: The output is too large, or has no block.
        """
        text = read_input(path, self.budget).decode("utf-8", "surrogateescape")
        records, n_cut = parse_mpiio_stats(text)
        if not records:
            raise TraceError(
                f"{path}: no MPIIO_STATS block; set MPICH_MPIIO_STATS=1 in the job (Cray MPICH)"
            )
        timers = parse_mpiio_timers(text)
        return Evidence(_profile(records, n_cut, timers), mpiio_stats=records, mpiio_timers=timers)


@dataclass
class _Block:
    """One side of one file while its lines are read."""

    path: str
    writing: bool
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        return all(name in self.values for name in _NEEDED)


def _blocks(lines: Iterable[str]) -> Iterator[_Block]:
    block: _Block | None = None
    for raw in lines:
        line = _ANSI.sub("", raw)
        if title := _TITLE_TEXT.search(line):
            if block is not None:
                yield block
            block = _Block(_path(title[2]), title[1] == "write")
        elif block is not None and not _add_line(block, line):
            yield block
            block = None
    if block is not None:
        yield block


def _add_line(block: _Block, line: str) -> bool:
    """Add a line to the block; return False if the block ends."""
    if _is_border(line):
        return not block.values
    match = _LINE.search(line)
    if match is None:
        return True
    key, value = match[1].strip(), match[2].strip()
    if key == "aggregators active":
        numbers = [_bounded(one) for one in _NUMBER.findall(value.split("(")[0])]
        if len(numbers) == 4 and None not in numbers:
            block.values["active"] = tuple(numbers)
    elif key in _FIELDS and (number := _NUMBER.match(value)):
        if (count := _bounded(number[0])) is not None:
            block.values.setdefault(_FIELDS[key], count)
    return True


def _bounded(digits: str) -> int | None:
    """Return a number that can be a count; otherwise None."""
    value = int(digits) if len(digits) <= 20 else -1
    return value if 0 <= value < _BEYOND else None


def parse_mpiio_stats(text: str) -> tuple[tuple[MpiioStats, ...], int]:
    """Return all files of a text in order of their first block, and how many blocks are cut."""
    records: list[MpiioStats] = []
    newest: dict[str, int] = {}
    n_cut = 0
    for block in _blocks(text.splitlines()):
        n_cut += not block.complete
        side = "write" if block.writing else "read"
        place = newest.get(block.path)
        if place is None or getattr(records[place], side) is not None:
            place = newest[block.path] = len(records)
            records.append(MpiioStats(block.path))
        sides: dict[str, Any] = {side: MpiioSide(**block.values)}
        records[place] = replace(records[place], **sides)
    return tuple(records), n_cut


def _profile(
    records: tuple[MpiioStats, ...], n_cut: int, timers: Sequence[MpiioTimers] = ()
) -> RunProfile:
    paths = {path: place for place, path in enumerate(dict.fromkeys(r.path for r in records))}
    rows: dict[int, Any] = {}
    layouts: dict[int, FileLayout] = {}
    for record in records:
        index = paths[record.path]
        row = rows.setdefault(index, _empty_rows(index))
        for writing, side in ((True, record.write), (False, record.read)):
            if side is not None:
                _add(row, side, writing)
                if side.stripe_bytes and (writing or index not in layouts):
                    layouts[index] = FileLayout(side.stripe_bytes, side.stripe_count or 0)
    notes = [*_NOTES]
    cut = f"{plural(n_cut, 'block')} {'is' if n_cut == 1 else 'are'} cut off or damaged"
    if n_cut:
        notes.insert(0, f"{cut}: their figures are missing")
    return RunProfile(
        source="MPICH_MPIIO_STATS output",
        n_ranks=0,
        paths=tuple(paths),
        counters=np.concatenate(list(rows.values())),
        layers=("mpiio", "posix"),
        layouts=layouts,
        partial=bool(n_cut),
        damaged=bool(n_cut),
        gaps=(
            Gap(
                ReportedPart.CALLS,
                "MPICH_MPIIO_STATS records only reads and writes through MPI-IO",
            ),
            *(
                (Gap(ReportedPart.BYTES | ReportedPart.CALLS, cut, frozenset(rows)),)
                if n_cut
                else ()
            ),
        ),
        notes=(
            *notes,
            *islice((n for record in records for n in _remarks(record)), _MOST_REMARKS),
            *islice(map(_timers_remark, timers), _MOST_REMARKS),
        ),
    )


_NOTES = (
    "MPICH_MPIIO_STATS has counts and bytes of MPI-IO and of the system calls below, but no "
    "times, ranks or request sizes: bytes are those of the system calls",
)


def _empty_rows(index: int) -> Any:
    """Return two counter rows of a file: MPI-IO, and the system calls below it."""
    rows = unknown_counters(2)
    rows["file"], rows["rank"] = index, ALL_RANKS
    rows["layer"] = (IoLayer.MPIIO, IoLayer.POSIX)
    return rows


def _add(rows: Any, side: MpiioSide, writing: bool) -> None:
    one, all_ = (Op.WRITE, Op.WRITE_COLLECTIVE) if writing else (Op.READ, Op.READ_COLLECTIVE)
    upper, system = rows[0], rows[1]
    upper["count"][one] += side.independent
    upper["count"][all_] += side.collective
    mostly = all_ if side.collective >= side.independent else one
    upper["bytes"][mostly] += side.total_bytes
    upper[f"outermost_{'write' if writing else 'read'}_bytes"] += side.total_bytes
    system["count"][one] += side.system_calls
    system["bytes"][one] += side.total_bytes


def _remarks(record: MpiioStats) -> Iterator[str]:
    """Yield remarks on values that the counters cannot represent."""
    for word, side in (("write", record.write), ("read", record.read)):
        if side is None:
            continue
        text = f"{record.path}: system {word}s {side.system_calls}, aggregators {side.aggregators}"
        if side.stripe_sized is not None:
            text += f", as large as a stripe {side.stripe_sized}"
        if side.modify_reads:
            text += f"; {side.modify_reads} reads{_bytes_phrase(side.modify_bytes)} to modify"
        if side.gaps:
            mean = _bytes_phrase(side.average_gap_bytes)
            text += f"; {side.gaps} gaps{mean and f'{mean} on average'}"
        yield text


def _bytes_phrase(number: int | None) -> str:
    return "" if number is None else f" of {number} bytes"


def _timers_remark(timers: MpiioTimers) -> str:
    """Describe how the time of a block is divided, and its rates."""
    shares = [
        f"{phase.name} {100 * phase.share:.3g} %"
        for phase in timers.phases
        if phase.share is not None and phase.name not in ("total", "imbalance")
    ]
    rates = [
        f"{name} {rate / 2**20:.4g} MiB/s"
        for name, rate in (
            ("data send", timers.data_send_bytes_per_second),
            ("system calls alone", timers.raw_bytes_per_second),
            ("in all", timers.net_bytes_per_second),
        )
        if rate is not None
    ]
    parts = ", ".join([*shares, *rates]) or "no shares"
    return f"{timers.path}: phases of {timers.direction}s, {timers.scale}: {parts}"
