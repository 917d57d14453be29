# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of Cray's MPICH_MPIIO_TIMERS=1 in the output of a job.

A block begins with "MPIIO write by phases, all ranks, for NAME" (or writers, readers,
aggregators) and has rows "|   key = minimum maximum average percent%".  The format is documented
(intro_mpi(3) of Cray MPICH) and was not seen on a Cray: what a row may leave out is left out,
and rows that are not known are kept under the names that they have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from stripewise.core import MpiioPhase, MpiioTimers

TITLE = re.compile(
    r"MPIIO (write|read) by phases,?[ \t]*(all ranks|writers|readers|aggregators)"
    r"(?:[ \t]+only)?(?:,?[ \t]+for[ \t]+([^\r\n]+))?"
)
_STATS_TITLE = re.compile(r"MPIIO (?:write|read) access patterns for[ \t]+([^\r\n]+)")
_NAME = re.compile(r"\|[ \t]+(?:for|file)[ \t]+([^\s=][^=]*)")
_SCALE = re.compile(r"time scale:\s*1\s*=\s*(?:2\*\*(\d{1,2})\s*clock|(\d+)\s*clock|.*?second)")
_RANKS = re.compile(r"number of ranks (not )?(?:writing|reading)")
_RATE = re.compile(r"(data send|raw \w+|net \w+) BW(?:\s*\((\w+)/s\))?")
_PERCENT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*%")
_NUMBER = re.compile(r"(?<![\w.])\d{1,20}(?:\.\d{1,9})?(?:[eE][+-]?\d{1,2})?(?![\w.])")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_MEBIBYTE = 1 << 20
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": _MEBIBYTE, "GiB": 1 << 30, "MB": 10**6, "GB": 10**9}
_MOST_PHASES = 64


@dataclass
class _Block:
    """One block while its lines come in."""

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
    """Return the records of all blocks of a text, in order; blocks without any row are left out.

    A title that names no file is of the file whose block of MPICH_MPIIO_STATS came last.
    """
    return tuple(block.record() for block in _blocks(text) if not block.is_empty)


def _blocks(text: str) -> Iterator[_Block]:
    block: _Block | None = None
    last_path = ""
    for raw in text.splitlines():
        line = _ANSI.sub("", raw)
        if of_stats := _STATS_TITLE.search(line):
            last_path = _path(of_stats[1])
        if title := TITLE.search(line):
            if block is not None:
                yield block
            last_path = _path(title[3]) if title[3] else last_path
            block = _Block(last_path, title[1], title[2])
        elif block is not None and (of_stats or (_is_border(line) and not block.is_empty)):
            yield block
            block = None
        elif block is not None:
            _take(block, line)
            last_path = block.path
    if block is not None:
        yield block


def _path(text: str) -> str:
    return text.strip().rstrip("|").rstrip()


def _is_border(line: str) -> bool:
    return line.lstrip().startswith("+--")


def _take(block: _Block, line: str) -> None:
    """Take a line into the block; what is no row of it stands between its lines."""
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
        if number := _NUMBER.search(value):
            block.values["idle_ranks" if ranks[1] else "active_ranks"] = int(float(number[0]))
    elif rate := _RATE.match(key):
        _take_rate(block, rate, value)
    elif len(block.phases) < _MOST_PHASES and (phase := _phase(key, value)):
        block.phases.append(phase)


def _take_rate(block: _Block, rate: re.Match[str], value: str) -> None:
    numbers = _NUMBER.findall(value)
    if numbers:
        unit = _UNITS.get(rate[2] or "MiB", _MEBIBYTE)
        name = rate[1].split()[0].replace("data", "data_send")
        block.values.setdefault(f"{name}_bytes_per_second", float(numbers[-1]) * unit)


def _phase(key: str, value: str) -> MpiioPhase | None:
    """Return a row; of one number the average, of two the extremes; None without a number."""
    percent = _PERCENT.search(value)
    share = float(percent[1]) / 100 if percent else None
    numbers = [float(one) for one in _NUMBER.findall(_PERCENT.sub(" ", value))]
    name = key.replace("(*)", "").strip()
    if not numbers and share is None:
        return None
    if len(numbers) >= 3:
        return MpiioPhase(name, numbers[0], numbers[1], numbers[2], share)
    if len(numbers) == 2:
        return MpiioPhase(name, numbers[0], numbers[1], share=share)
    return MpiioPhase(name, average=numbers[0] if numbers else None, share=share)
