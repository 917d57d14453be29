# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the results of h5bench: its CSV, and the text that it prints.

Source: hpc-io/h5bench, h5bench_patterns/h5bench_write.c and h5bench_read.c, of 2021 (sizes in
whole GiB, which it calls GB) and of 2022 and later (units of 1024, which it calls KB to TB).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stripewise.core.errors import UsageError
from stripewise.core.inputs import RESULTS
from stripewise.storage.results._base import (
    Data,
    Found,
    Reader,
    Test,
    Timed,
    nodes_of,
    possible,
)
from stripewise.storage.results._lines import lines_of, number, ranks_in, shown

_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50}
_TEXT = re.compile(
    r"(?:\w{1,9} )?(Total number of ranks|Total emulated compute time|Total (?:write|read) size"
    r"|Raw (?:write|read) (?:time|rate)|Metadata time|Observed (?:write |read )?completion time"
    r"|Observed (?:write|read) rate) ?[:=] ?(\S{1,40}) ?(\S{0,9})",
    re.ASCII,
)
_KEYS = {
    "num ranks": "ranks", "total number of ranks": "ranks", "ranks": "ranks",
    "collectivewrite": "collective", "collective data": "collective", "operation": "operation",
    "total size": "size", "total write size": "size", "total read size": "size",
    "raw time": "raw time", "raw write time": "raw time", "raw read time": "raw time",
    "metadata time": "metadata time", "core metadata time": "metadata time",
    "observed time": "time", "observed completion time": "time",
    "observed write completion time": "time", "observed read completion time": "time",
    "observed rate": "rate", "observed write rate": "rate", "observed read rate": "rate",
    "total compute time": "compute time", "total emulated compute time": "compute time",
}  # fmt: skip
"""What a line means, by its words in lower case, in any of the layouts."""
_MORE = 1.25
"""Rates and sizes of a run that differ by more than this (or by their digits) are damaged."""


class H5bench(Reader):
    """Reader of h5bench's CSV and text."""

    name = "h5bench"

    def recognises(self, text: str, name: str) -> bool:
        """Return whether h5bench wrote it."""
        head = text.lstrip()[:400]
        if head.startswith("metric, value, unit") or head.startswith("NUM_RANKS,"):
            return True
        return "Performance Results ====" in text and " size: " in text and "Raw " in text

    def tests(self, text: str, name: str, ranks_per_node: int) -> Found:
        """Return a test for each run."""
        found = []
        for run in _runs(text):
            found.append(_test(run, name, ranks_per_node))
            RESULTS.check_entries(len(found), name)
        if not found:
            raise UsageError(f"{name}: h5bench printed no result: check that the run ended")
        return Found(tuple(found))


def _runs(text: str) -> Iterator[dict[str, tuple[str, str]]]:
    """Yield value and unit by meaning, for each run."""
    run: dict[str, tuple[str, str]] = {}
    for line in lines_of(text):
        begins = line.startswith(("metric, value, unit", "NUM_RANKS,")) or (
            "Performance Results ====" in line
        )
        if begins:
            if "rate" in run:
                yield run
            run = {}
        if (one := _pair(line)) is None:
            continue
        words, value, unit = one
        meaning = _KEYS.get(words)
        if meaning:
            run.setdefault(meaning, (value, unit))
            for operation in ("write", "read"):
                if operation in words:
                    run.setdefault("operation", (operation, ""))
    if "rate" in run:
        yield run


def _pair(line: str) -> tuple[str, str, str] | None:
    """Return words, value and unit of a line of either form."""
    if match := _TEXT.match(line.strip()):
        return match[1].lower(), match[2], match[3]
    cells = [cell.strip() for cell in line.split(",")]
    if not 2 <= len(cells) <= 3:
        return None
    return cells[0].replace("_", " ").lower(), cells[1], cells[2] if len(cells) > 2 else ""


def _test(run: Mapping[str, tuple[str, str]], name: str, ranks_per_node: int) -> Test:
    source = f"{name}: h5bench"
    if "ranks" not in run:
        raise UsageError(f"{source}: the number of ranks is missing: give the whole output")
    ranks = ranks_in(source, "ranks", run["ranks"][0])
    operation = run.get("operation", ("", ""))[0]
    if operation not in ("write", "read"):
        raise UsageError(f"{source}: neither a write nor a read: give the whole output")
    amount, rate = _amount(run, "size", source), _amount(run, "rate", source)
    if not amount or not rate:
        raise UsageError(
            f"{source}: it reports 0 GB, as this version counts only whole GB: there is no rate in"
            " it; use h5bench of 2022 or later"
        )
    if not possible(operation, rate, amount):
        raise UsageError(f"{source}: {amount:g} B at {rate:g} B/s are impossible: check that the "
                         "file is complete")  # fmt: skip
    _check(run, amount / rate, source)
    phases = {
        phase: seconds
        for key, phase in (("raw time", "transfer"), ("metadata time", "metadata"))
        if (seconds := number(run.get(key, ("", ""))[0])) is not None and seconds >= 0
    }
    mode = "collective" if run.get("collective", ("", ""))[0] == "YES" else "independent"
    notes = [] if "collective" in run else ["it does not say whether calls are collective: no is "
                                            "assumed."]  # fmt: skip
    return Test(
        "h5bench", source, nodes_of(name, ranks, ranks_per_node), ranks,
        Data("hdf5", "shared", mode), (Timed(operation, amount, amount / rate, phases),),
        notes=("the rate is that of the whole run without its computing: h5bench's observed rate.",
               *notes),
    )  # fmt: skip


def _amount(run: Mapping[str, tuple[str, str]], key: str, source: str) -> float:
    """Return bytes, or bytes per second."""
    text, unit = run.get(key, ("", ""))
    factor = _UNITS.get(unit.removesuffix("/sec").removesuffix("/s").strip())
    value = number(text)
    if value is None or value < 0 or factor is None:
        raise UsageError(
            f"{source}: {key} = {shown(text + ' ' + unit)!r} cannot be read: check that the file "
            "is complete"
        )
    return value * factor


def _check(run: Mapping[str, tuple[str, str]], seconds: float, source: str) -> None:
    """Raise an error if rate and size do not agree with the time."""
    whole, computing = (number(run.get(key, ("", ""))[0]) for key in ("time", "compute time"))
    if whole is None:
        return
    said = whole - (computing or 0.0)
    if said > 0.1 and not said / _MORE <= seconds <= said * _MORE:
        raise UsageError(
            f"{source}: its size divided by its rate is {seconds:.3g} s, and it took {said:.3g} s:"
            " the file is damaged"
        )
