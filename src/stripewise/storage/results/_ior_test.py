# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a test of IOR from its options, rows and summary, checked against each other.

A row contains its bandwidth and its time: their product is the moved amount, which the options
also contain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt

from stripewise.present import plural
from stripewise.storage.results._base import Data, Test, Timed, possible
from stripewise.storage.results._ior_setup import Setup, Summary, setup_of
from stripewise.storage.results._lines import half_digit, number, shown, whole

MIB = 1 << 20
SLACK = 0.015
"""Relative difference that rounding in IOR's own sums may leave (assumed)."""
_PHASES = {"open": "open", "wrrd": "transfer", "close": "close"}


@dataclass
class Row:
    """One repeat as it is printed.

    Attributes:
        operation: "write" or "read".
        cells: Texts of "bw", "block", "open", "wrrd", "close" and "total".
        repeat: Number of the repeat, from 1; 0 if unknown.
        moved_bytes: Bytes that IOR reports to have moved instead of the configured ones; 0 if
            none.
        unit: Unit of the bandwidth, in bytes.
    """

    operation: str
    cells: Mapping[str, str]
    repeat: int = 0
    moved_bytes: int = 0
    unit: float = MIB


@dataclass
class RawTest:
    """One test as it is printed.

    Attributes:
        number: Number of the test in its run; -1 if unknown.
        options: Texts by name.
        parameters: Longer list of options.
        rows: Rows in the printed order.
        started: Start time as text.
        hints: Hints of the opened file.
        error: First line of the error with which the run ended, if it failed.
    """

    number: int = -1
    options: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    started: float = 0.0
    hints: dict[str, str] = field(default_factory=dict)
    error: str = ""


def ior_test(
    raw: RawTest, name: str, version: str, command: str, summaries: Sequence[Summary]
) -> Test:
    """Return one test.

    Args:
        raw: Test as it was printed.
        name: Name of the file, for messages.
        version: Version of IOR.
        command: Command line of IOR.
        summaries: Rows of the test in the summary of all tests.

    Raises:
        UsageError: The options cannot be read.
    """
    source = f"{name}: IOR" if raw.number < 1 else f"{name}: IOR test {raw.number}"
    block = next((row.cells["block"] for row in raw.rows if row.cells.get("block")), "")
    setup = setup_of(source, raw.options, raw.parameters, command, next(iter(summaries), None),
                     block)  # fmt: skip
    notes = [f"{one}." for one in setup.notes]
    timed, failed = [], ""
    if setup.dry_run:
        failed = "it was a dry run, which moves nothing"
    else:
        timed = _timed(raw.rows, setup, notes)
        timed += _from_summaries(timed, setup, summaries, notes)
        _check_summaries(timed, setup, summaries, notes)
        failed = "" if timed else _why_none(raw, notes)
    return Test(
        "ior", source, setup.nodes, setup.ranks, _work(setup), tuple(timed), version, setup.path,
        setup.cache, setup.stonewall_seconds, "", setup.settings, raw.hints, raw.started,
        failed, tuple(notes),
    )  # fmt: skip


def _work(setup: Setup) -> Data:
    return Data(
        setup.backend, "per-process" if setup.own else "shared",
        "collective" if setup.collective else "independent", block_bytes=setup.block_bytes,
        transfer_bytes=setup.transfer_bytes, steps=setup.segments, sync=setup.sync,
    )  # fmt: skip


def _why_none(raw: RawTest, notes: list[str]) -> str:
    if raw.error:
        return f"IOR ended with {shown(raw.error, 160)!r}"
    return notes[-1].rstrip(".") if raw.rows and notes else "IOR printed no result of it"


# ---- rows ------------------------------------------------------------------------------------


def _timed(rows: Sequence[Row], setup: Setup, notes: list[str]) -> list[Timed]:
    found: dict[tuple[str, int], Timed] = {}
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.operation] = counts.get(row.operation, 0) + 1
        repeat = row.repeat or counts[row.operation]
        one = _checked_repeat(row, repeat, setup)
        if isinstance(one, str):
            _note(notes, f"{row.operation} {repeat} is left out: {one}")
        elif (row.operation, repeat) in found:
            _note(notes, f"{row.operation} {repeat} is there twice: the first one counts")
        else:
            found[row.operation, repeat] = one
            if not (setup.stonewall_seconds or row.moved_bytes) and (
                one.amount < setup.expected_bytes * (1 - SLACK)
            ):
                _note(notes, f"{row.operation} {repeat} moved {one.amount:.6g} B of "
                            f"{setup.expected_bytes:.6g} B: the file was shorter")  # fmt: skip
    if setup.repetitions:
        for operation in dict.fromkeys(one.operation for one in found.values()):
            number_of = sum(key[0] == operation for key in found)
            if number_of != setup.repetitions:
                _note(notes, f"{plural(number_of, 'repeat')} of {operation} of "
                            f"{setup.repetitions} can be used")  # fmt: skip
    return list(found.values())


def _note(notes: list[str], sentence: str) -> None:
    """Add a note, up to a limit, so that damaged files do not fill the memory."""
    if len(notes) < 100:
        notes.append(f"{sentence}.")


def _checked_repeat(row: Row, repeat: int, setup: Setup) -> Timed | str:
    """Return a repeat, or the reason why it cannot be used."""
    text = row.cells.get("bw", "")
    bandwidth = number(text)
    moved = float(row.moved_bytes or setup.expected_bytes)
    if bandwidth is None or not possible(row.operation, bandwidth * row.unit, moved):
        return f"a bandwidth of {shown(text)!r} is impossible"
    rate = bandwidth * row.unit
    if setup.repetitions and repeat > setup.repetitions:
        return f"there are {plural(setup.repetitions, 'repeat')}"
    total = row.cells.get("total", "")
    seconds = number(total)
    if seconds is not None and seconds >= 0 and total:
        exact = SLACK + half_digit(text) / bandwidth
        if setup.stonewall_seconds and not row.moved_bytes and seconds > 0:
            most = setup.expected_bytes / rate
            if seconds > most * (1 + exact) + half_digit(total):
                return "it moved more than there was"
            # If rounding could explain the missing amount, the run moved everything.
            if rate * (seconds + 2 * half_digit(total)) < moved * 0.999:
                moved = rate * seconds
        elif abs(moved / rate - seconds) > half_digit(total) + exact * moved / rate:
            if not _moved_less(row, rate * seconds, setup):
                return (
                    f"{shown(text)} for {shown(total)} s are not the {moved:.6g} B that were "
                    "moved: the file is damaged"
                )
            moved = rate * seconds
    longest = moved / rate * (1 + SLACK) + (0.0 if seconds is None else half_digit(total))
    phases = {}
    for key, phase in _PHASES.items():
        value = number(row.cells.get(key, ""))
        if value is not None and 0 <= value <= longest:
            phases[phase] = value
    worn_out = bool(setup.stonewall_seconds) and setup.wear_out
    return Timed(row.operation, moved, moved / rate, phases, worn_out=worn_out, repeat=repeat)


def _moved_less(row: Row, moved: float, setup: Setup) -> bool:
    """Return whether a row tells in two ways that less than configured was moved.

    A read moves what a write left that a stonewall ended before, as in IO500: bandwidth times time
    then equals transfers a second times their size times the time of the transfers.
    """
    words = [row.cells.get(key, "") for key in ("IOPS", "wrrd")]
    rate, seconds = (number(one) for one in words)
    if row.moved_bytes or not rate or not seconds or moved >= setup.expected_bytes:
        return False
    again = rate * setup.transfer_bytes * seconds
    digits = half_digit(words[0]) / rate + half_digit(words[1]) / seconds
    return abs(again / moved - 1) < SLACK + digits


# ---- summaries -------------------------------------------------------------------------------


def each_of(low: float, mean: float, high: float, repeats: int) -> tuple[float, ...]:
    """Return the repeats from minimum, mean and maximum; () if they do not determine them.

    They determine one, two or three repeats, but not their order.
    """
    if not 0 < low <= high or not low * (1 - 1e-3) <= mean <= high * (1 + 1e-3):
        return ()
    if repeats == 1:
        return (mean,) if high - low <= 2e-3 * high else ()
    if repeats == 2:
        return (low, high) if abs(low + high - 2 * mean) <= 4e-3 * high else ()
    if repeats == 3:
        third = min(max(3 * mean - low - high, low), high)
        return (low, third, high) if abs(low + third + high - 3 * mean) < 6e-3 * high else ()
    return ()


def in_some_order(rates: tuple[float, ...], place: int) -> tuple[float, ...]:
    """Return repeats of unknown order in a different order for each operation.

    In ascending order, the first repeat of all operations would look slow.
    """
    turn = place % len(rates) if rates else 0
    return (*rates[turn:], *rates[:turn])


def most_spread(low: float, mean: float, high: float, repeats: int) -> float:
    """Return the largest standard deviation that repeats in this range can have."""
    if repeats < 2 or not low <= mean <= high:
        return 0.0
    return sqrt(max((high - mean) * (mean - low), 0.0) * repeats / (repeats - 1))


def _from_summaries(
    timed: Sequence[Timed], setup: Setup, summaries: Sequence[Summary], notes: list[str]
) -> list[Timed]:
    """Return figures of operations without rows."""
    found: list[Timed] = []
    for place, one in enumerate(summaries):
        if any(row.operation == one.operation for row in timed):
            continue
        moved = float(one.moved_bytes or setup.expected_bytes)
        if not all(possible(one.operation, rate * MIB, moved)
                   for rate in (one.low, one.mean, one.high)):  # fmt: skip
            _note(notes, f"The summary of {one.operation} is left out: its bandwidths are "
                        "impossible")  # fmt: skip
            continue
        rates = each_of(one.low, one.mean, one.high, one.repetitions)
        if not rates and not one.low <= one.mean <= one.high:
            _note(notes, f"The summary of {one.operation} is left out: a mean of {one.mean:g} is "
                        f"not between {one.low:g} and {one.high:g}")  # fmt: skip
            continue
        if not rates:
            _note(notes, f"{one.operation}: only the mean of {plural(one.repetitions, 'repeat')} "
                        f"is reported ({one.low:g} to {one.high:g} MiB/s)")  # fmt: skip
        elif len(rates) > 1:
            _note(notes, f"{one.operation}: the order of the repeats is not reported")
        chosen = in_some_order(rates, place) or (one.mean,)
        found += [Timed(one.operation, moved, moved / (rate * MIB), repeat=repeat)
                  for repeat, rate in enumerate(chosen, 1)]  # fmt: skip
    return found


def _check_summaries(
    timed: Sequence[Timed], setup: Setup, summaries: Sequence[Summary], notes: list[str]
) -> None:
    """Note contradictions between the summary and the rows if all rows are there."""
    for one in summaries:
        rates = [row.rate / MIB for row in timed if row.operation == one.operation]
        if not rates or len(rates) != (one.repetitions or setup.repetitions):
            continue
        for what, mine, other in (
            ("least", min(rates), one.low),
            ("greatest", max(rates), one.high),
        ):
            if not abs(mine - other) <= 0.01 * max(mine, 1.0) + 0.5:
                _note(notes, f"The rows and the summary of {one.operation} do not agree: "
                            f"{mine:.6g} and {other:.6g} MiB/s are the {what} bandwidth; the rows "
                            "count")  # fmt: skip


def cell_int(cells: Mapping[str, str], key: str) -> int:
    """Return an integer in a row; 0 if it has none."""
    return whole(cells.get(key, "")) or 0
