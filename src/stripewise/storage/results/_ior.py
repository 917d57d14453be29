# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the text of IOR, versions 2 to 4, with its hints and its summary of all tests.

Source: hpc/ior 4.1 (ior-output.c, ior.c, aiori-MPIIO.c); IOR 2.10.3 and 3.0.1, as they print.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from stripewise.core.errors import UsageError
from stripewise.core.inputs import RESULTS
from stripewise.storage.results._base import Found, Reader, Test
from stripewise.storage.results._ior_setup import Summary
from stripewise.storage.results._ior_test import RawTest, Row, cell_int, ior_test
from stripewise.storage.results._lines import clock, lines_of, number, shown, whole

TITLE = ": MPI Coordinated Test of Parallel I/O"
SUMMARY = "Summary of all tests"
MOVED = "Using actual aggregate bytes moved"
_VERSION = re.compile(r"IOR-(\S{1,40}): MPI Coordinated")
_OPTION = re.compile(r"\s{0,40}([A-Za-z][\w ./]{0,60}?)\s*[:=] ?(.*)", re.ASCII)
_TEST = re.compile(r"Test (\d{1,9}) started: (.*)")
_HEADER = re.compile(r"access +bw\(")
_COLUMNS = {"bw": "bw", "block(KiB)": "block", "open(s)": "open", "wr/rd(s)": "wrrd",
            "close(s)": "close", "total(s)": "total", "iter": "iter"}  # fmt: skip
_UNITS = {"bw(MiB/s)": float(1 << 20), "bw(GiB/s)": float(1 << 30), "bw(MB/s)": 1e6,
          "bw(GB/s)": 1e9}  # fmt: skip
_DEFAULTS = {
    11: "access bw(MiB/s) IOPS Latency(s) block(KiB) xfer(KiB) open(s) wr/rd(s) close(s) "
        "total(s) iter",
    9: "access bw(MiB/s) block(KiB) xfer(KiB) open(s) wr/rd(s) close(s) total(s) iter",
    8: "access bw(MiB/s) block(KiB) xfer(KiB) open(s) wr/rd(s) close(s) iter",
}  # fmt: skip
"""Columns of IOR 3.3 and later, of 2.10 to 3.2, and of 2.8."""
_FAILED = ("ERROR: ", "ior ERROR: ", "** error **")
_TEST_COSTS = 10
"""Cost of a test, in repeats."""
_BEGINS = (
    *("write ", "read ", "Operation ", "access", "hints ", "WARNING: Using", "Using actual"),
    *("Options", "Summary", "Parameters", "Results", "Max ", "Finished", "Run ", "Test"),
    *("Command line", "Began", "StartTime", *_FAILED),
)
"""Starts of meaningful lines outside of lists of options."""
_ENDS = ("mdtest-", "-- started at", " Simple Parallel IO benchmark")


class _Run:
    """One run of IOR, parsed line by line."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.command = ""
        self.began = 0.0
        self.tests: list[RawTest] = []
        self.summaries: list[Summary] = []
        self.broken: list[str] = []
        self.part = ""
        self.columns: tuple[str, ...] = ()
        self.moved = 0
        self.error = ""
        self.hints = HintLines()

    def take(self, line: str) -> None:
        """Parse one line; ignore it if it is not IOR's."""
        if not self.part and not self.hints.is_open and not line.startswith(_BEGINS):
            return
        if self.hints.take(line):
            return
        if line.startswith(("write ", "read ", "Operation ")) or _HEADER.match(line):
            self._row(line)
        elif line.startswith(("WARNING: " + MOVED, MOVED)):
            self.moved = whole(line.partition("=")[2].strip()) or 0
        elif line.startswith(_FAILED):
            self.error = self.error or line.removeprefix("ERROR: ")
        elif not self._section(line):
            self._option(line)

    def _section(self, line: str) -> bool:
        """Parse a line that begins a section."""
        word = line.strip().rstrip(":")
        if word in ("Options", "Summary", "Parameters") and line.strip().endswith(":"):
            self.part = "parameters" if word == "Parameters" else "options"
            if not self.tests or (self.part == "options" and self.tests[-1].options):
                self.tests.append(RawTest(number=len(self.tests)))
        elif line.startswith(SUMMARY):
            self.part = "summary"
        elif word == "Results" or line.startswith(
            ("Max Write", "Max Read", "Finished", "Run fin")
        ):
            self.part = ""
        elif match := _TEST.match(line):
            self._begin(match[1], match[2])
        elif line.startswith("TestID"):
            self._begin(line.partition(":")[2].strip(), "")
        else:
            return False
        return True

    def _begin(self, number_text: str, started: str) -> None:
        self.part, self.moved = "", 0
        number_of = whole(number_text, 1_000_000)
        self.tests.append(RawTest(-1 if number_of is None else number_of, started=clock(started)))

    def _option(self, line: str) -> None:
        match = _OPTION.fullmatch(line)
        if match is None:
            return
        key, value = match[1].strip(), match[2].strip()
        if key in ("Began", "Run began"):
            self.began = clock(value)
        elif key in ("Command line", "Command line used"):
            self.command = value
        elif key == "StartTime" and self.tests:
            self.tests[-1].started = clock(value)
        elif self.part == "options":
            self.tests[-1].options.setdefault(key, value)
        elif self.part == "parameters":
            self.tests[-1].parameters.setdefault(key, value)

    def _row(self, line: str) -> None:
        if columns := columns_of(line):
            self.columns, self.part = columns, "summary"
        elif line.startswith("access"):
            self.columns, self.part = tuple(line.split()), ""
        elif self.part == "summary":
            if summary := summary_of(line, self.columns):
                self.summaries.append(summary)
            else:
                self.broken.append(line)
        elif self.tests:
            self._result(line)

    def _result(self, line: str) -> None:
        words = line.split()
        columns = self.columns
        if len(columns) != len(words):
            columns = tuple(_DEFAULTS.get(len(words), "").split())
        unit = next((one for one in columns if one.startswith("bw(")), "")
        if len(columns) != len(words) or unit not in _UNITS or number(words[1]) is None:
            self.broken.append(line)
            return
        cells = {_COLUMNS.get("bw" if column == unit else column, column): word
                 for column, word in zip(columns, words, strict=True)}  # fmt: skip
        repeat = whole(cells.get("iter", ""), 100_000_000)
        self.tests[-1].rows.append(
            Row(words[0], cells, 0 if repeat is None else repeat + 1, self.moved, _UNITS[unit])
        )
        self.tests[-1].hints = self.hints.found
        self.moved = 0


class IorText(Reader):
    """Reader of IOR's output."""

    name = "ior"

    def recognises(self, text: str, name: str) -> bool:
        """Return whether IOR printed it, or a part of it."""
        return TITLE in text or (SUMMARY in text and "\nOperation " in text)

    def tests(self, text: str, name: str, ranks_per_node: int) -> Found:
        """Return the tests, each with its repeats."""
        found: list[Test] = []
        notes: list[str] = []
        first = ""
        for run in _runs(text, name):
            for line in run.broken[:5]:
                notes.append(f"{name}: a line of IOR cannot be read: {shown(line)!r}.")
            for raw in _raw_tests(run):
                try:
                    found.append(ior_test(raw, name, run.version, run.command,
                                          _summaries(run, raw)))  # fmt: skip
                except UsageError as error:
                    first = first or str(error)
                    notes.append(f"{error}; it is left out.")
        if not found:
            raise UsageError(
                first or f"{name}: IOR's output without a result: check that the run ended"
            )
        return Found(tuple(found), tuple(notes))


def _runs(text: str, name: str) -> Iterator[_Run]:
    """Yield the runs of a text, which may also contain output of other programs."""
    run = None if TITLE in text else _Run("")
    rows = 0
    for line in lines_of(text):
        if TITLE in line:
            if run is not None:
                yield run
            match = _VERSION.search(line)
            run = _Run(match[1] if match else "")
        elif run is not None and line.startswith(_ENDS):
            yield run
            run = None
        elif run is not None:
            run.take(line)
            if line.startswith(("write ", "read ", "TestID")):
                rows += _TEST_COSTS if line.startswith("TestID") else 1
                RESULTS.check_entries(rows, name)
    if run is not None:
        yield run


def _raw_tests(run: _Run) -> Iterator[RawTest]:
    """Yield the tests, including those of which only the summary is left."""
    known = {raw.number for raw in run.tests}
    for place, raw in enumerate(run.tests):
        if place == len(run.tests) - 1:
            raw.error = run.error
        raw.started = raw.started or run.began
        yield raw
    if not run.tests:
        for number_of in dict.fromkeys(one.test for one in run.summaries):
            if number_of not in known:
                yield RawTest(number=number_of)


def _summaries(run: _Run, raw: RawTest) -> list[Summary]:
    """Return the rows of the summary for a test."""
    if len(run.tests) == 1:
        return run.summaries
    return [one for one in run.summaries if one.test == raw.number]


# Hints that IOR prints for an opened file. Source: hpc/ior 4.1, aiori-MPIIO.c, utilities.c.

MOST_HINTS = 1000


class HintLines:
    """Blocks of hints between other lines.

    Attributes:
        found: Values by hint, from the last block that MPI-IO reported.
        is_open: Whether the lines are in a block.
    """

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.is_open = False
        self._is_reported = False

    def take(self, line: str) -> bool:
        """Parse a line; return whether it belongs to a block of hints."""
        if line.startswith(("hints passed to ", "hints returned from ")):
            self.is_open, self._is_reported = True, "returned" in line
            if self._is_reported:
                self.found = {}
            return True
        if not self.is_open:
            return False
        key, is_hint, value = line.strip().partition(" = ")
        if is_hint and line.startswith("\t"):
            if self._is_reported and len(self.found) < MOST_HINTS:
                self.found[key[:200]] = value.strip()[:300]
            return True
        self.is_open = False
        return line.strip() == "}"


# Table "Summary of all tests" of IOR, in its three generations.

_OLD = ("Operation", "Max(MiB)", "Min(MiB)", "Mean(MiB)", "StdDev", "Max(OPs)", "Min(OPs)",
        "Mean(OPs)", "StdDev", "Mean(s)")  # fmt: skip
_OLD_MORE = ("#Tasks", "tPN", "reps", "fPP", "reord", "reordoff", "reordrand", "seed", "segcnt",
             "blksiz", "xsize", "aggsize", "RefNum", "API")  # fmt: skip
"""Columns of IOR 2.10 in the order of its rows, which differs from its header."""


def columns_of(line: str) -> tuple[str, ...]:
    """Return the columns if a line is the header of the table; otherwise ()."""
    if not line.startswith("Operation "):
        return ()
    if "Max (MiB)" in line:
        return _OLD
    words = tuple(line.split())
    return words if "Max(MiB)" in words and "Mean(MiB)" in words else ()


def summary_of(line: str, columns: Sequence[str]) -> Summary | None:
    """Return a row of the table; None if the line is not a row."""
    words = line.split()
    if not words or words[0] not in ("write", "read"):
        return None
    if words[-1] == "EXCEL":
        words.pop()
        columns = (*_OLD, *_OLD_MORE) if len(words) > len(_OLD) else _OLD
    if len(words) != len(columns):
        return None
    cells: dict[str, str] = {}
    for column, word in zip(columns, words, strict=True):
        cells.setdefault(column, word)
    return _row(cells)


def _row(cells: Mapping[str, str]) -> Summary | None:
    rates = [number(cells.get(key, "")) for key in ("Min(MiB)", "Mean(MiB)", "Max(MiB)")]
    low, mean, high = rates
    if low is None or mean is None or high is None:
        return None
    own = cells.get("fPP")
    test = whole(cells.get("Test#", ""), 1_000_000)
    moved = cell_int(cells, "aggsize")
    return Summary(
        cells["Operation"], low, mean, high, cell_int(cells, "reps"),
        -1 if test is None else test, cell_int(cells, "#Tasks"), cell_int(cells, "tPN"),
        cell_int(cells, "blksiz"), cell_int(cells, "xsize"), cell_int(cells, "segcnt"),
        None if own not in ("0", "1") else own == "1",
        "1" in (cells.get("reord"), cells.get("reordrand")), cells.get("API", ""), moved,
    )  # fmt: skip


def json_summary(row: Mapping[str, str]) -> Summary | None:
    """Return a row of the summary in JSON; None if it is damaged."""
    names = {"Min(MiB)": "bwMinMIB", "Mean(MiB)": "bwMeanMIB", "Max(MiB)": "bwMaxMIB",
             "reps": "repetitions", "Test#": "TestID", "#Tasks": "numTasks",
             "tPN": "tasksPerNode", "blksiz": "blockSize", "xsize": "transferSize",
             "segcnt": "segmentCount", "fPP": "filePerProc", "reord": "reorderTasks",
             "reordrand": "reorderTasksRandom", "API": "API",
             "Operation": "operation"}  # fmt: skip
    cells = {mine: row[theirs] for mine, theirs in names.items() if theirs in row}
    return _row(cells) if cells.get("Operation") in ("write", "read") else None
