# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""IOR's text, of versions 2 to 4.

Source: hpc/ior 4.1 (ior-output.c, ior.c, aiori-MPIIO.c); IOR 2.10.3 and 3.0.1, as they print.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stripewise.calibration.readers._ior_hints import HintLines
from stripewise.calibration.readers._ior_setup import Summary
from stripewise.calibration.readers._ior_summary import columns_of, summary_of
from stripewise.calibration.readers._ior_test import RawTest, Row, ior_test
from stripewise.calibration.readers._lines import clock, lines_of, number, shown, whole
from stripewise.calibration.readers._printed import PrintedReader
from stripewise.calibration.readers._record import Found, Test
from stripewise.errors import UsageError
from stripewise.inputs import RESULTS

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
"""A test costs as much as so many repeats."""
_BEGINS = (
    *("write ", "read ", "Operation ", "access", "hints ", "WARNING: Using", "Using actual"),
    *("Options", "Summary", "Parameters", "Results", "Max ", "Finished", "Run ", "Test"),
    *("Command line", "Began", "StartTime", *_FAILED),
)
"""With which a line begins that says something, outside of lists of options."""
_ENDS = ("mdtest-", "-- started at", " Simple Parallel IO benchmark")


class _Run:
    """One run of IOR, read line by line."""

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
        """Take one line; what is none of IOR's is left alone."""
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
        """Take a line that begins something."""
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


class IorText(PrintedReader):
    """What IOR prints."""

    name = "ior"

    def recognises(self, text: str, name: str) -> bool:
        """Whether IOR printed it, or a part of it."""
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
    """Yield the runs of a text, which may hold output of other programs too."""
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
    """Yield the tests; those of which only the summary is left, too."""
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
    """Return the rows of the summary that are about a test."""
    if len(run.tests) == 1:
        return run.summaries
    return [one for one in run.summaries if one.test == raw.number]
