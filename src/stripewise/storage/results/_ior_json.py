# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads IOR's summaries in JSON and in CSV.

Versions of IOR lose a bracket after repeats, close the document before its summary, write a bare
inf, or put messages of verbose runs in between. Each object is identified by its own names, so
objects are read in their order and brackets between them are not needed. Source: hpc/ior issues
102, 233, 503 and pull requests 264, 369.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import StringIO
from statistics import median

from stripewise.core.errors import UsageError
from stripewise.core.inputs import RESULTS, parse_json
from stripewise.present import plural
from stripewise.storage.results._base import (
    Data,
    Found,
    Reader,
    Test,
    Timed,
    nodes_of,
    possible,
)
from stripewise.storage.results._ior import MOVED, TITLE, HintLines, json_summary
from stripewise.storage.results._ior_setup import Summary
from stripewise.storage.results._ior_test import MIB, SLACK, RawTest, Row, ior_test
from stripewise.storage.results._lines import (
    MOST_BYTES,
    MOST_RANKS,
    clock,
    half_digit,
    lines_of,
    number,
    shown,
    whole,
)

_TOKEN = re.compile(
    r'\s*(?:("(?:[^"\\\n]|\\.)*")|([{}\[\]:,])|(-?[0-9][0-9.eE+-]{0,60}|-?inf(?:inity)?|-?nan'
    r"|true|false|null)(?![A-Za-z0-9]))",
    re.IGNORECASE,
)
_ROWS = {"bwMiB": "bw", "blockKiB": "block", "iops": "IOPS", "openTime": "open",
         "wrRdTime": "wrrd", "closeTime": "close", "totalTime": "total"}  # fmt: skip
DEEPEST = 100


@dataclass
class _Object:
    """An object that is being read; its kind is "Parameters", "Options" or its label."""

    label: str
    values: dict[str, str] = field(default_factory=dict)
    twice: str = ""

    def put(self, key: str, value: str) -> None:
        if self.values.setdefault(key, value) != value:
            self.twice = key


class _Document:
    """One document of IOR, read object by object."""

    def __init__(self) -> None:
        self.version = ""
        self.command = ""
        self.tests: list[RawTest] = []
        self.summaries: list[Summary] = []
        self.notes: list[str] = []
        self.moved = 0
        self.finished = False
        self.hints = HintLines()

    def test(self) -> RawTest:
        if not self.tests:
            self.tests.append(RawTest(number=0))
        return self.tests[-1]

    def value(self, inside: _Object, key: str, value: str) -> None:
        """Store a value as soon as it is read."""
        if key == "Version":
            self.version = value[:40]
        elif key == "Command line":
            self.command = value
        elif key == "StartTime":
            number_of = whole(inside.values.get("TestID", ""), 1_000_000)
            self.tests.append(
                RawTest(-1 if number_of is None else number_of, started=clock(value))
            )
        elif key == "Finished":
            self.finished = True

    def whole_object(self, one: _Object) -> None:
        """Process an object at its end."""
        if one.twice:
            self.notes.append(f"a part says {one.twice} twice, which is ambiguous; it is left out")
        elif one.label == "Parameters":
            self.test().parameters = one.values
        elif one.label == "Options":
            self.test().options = one.values
        elif "bwMaxMIB" in one.values:
            if summary := json_summary(one.values):
                self.summaries.append(summary)
        elif one.values.get("access") in ("write", "read"):
            cells = {mine: one.values[theirs] for theirs, mine in _ROWS.items()
                     if theirs in one.values}  # fmt: skip
            self.test().rows.append(Row(one.values["access"], cells, 0, self.moved))
            self.test().hints = self.hints.found
            self.moved = 0


class IorJson(Reader):
    """Reader of IOR's summaryFormat=JSON."""

    name = "ior-json"

    def recognises(self, text: str, name: str) -> bool:
        """Return whether IOR wrote it."""
        head = text[:100_000]
        return '"Command line"' in head and '"tests"' in text and "{" in head

    def tests(self, text: str, name: str, ranks_per_node: int) -> Found:
        """Return the tests, each with its repeats."""
        documents, notes = _documents(text, name)
        found: list[Test] = []
        first = ""
        for one in documents:
            notes += [f"{name}: {note}." for note in one.notes[:20]]
            if not one.finished and one.tests:
                notes.append(f"{name}: its end is missing: the complete part was read.")
            for raw in one.tests:
                mine = [s for s in one.summaries if s.test == raw.number or len(one.tests) == 1]
                try:
                    found.append(ior_test(raw, name, one.version, one.command, mine))
                except UsageError as error:
                    first = first or str(error)
                    notes.append(f"{error}; it is left out.")
        if not found:
            raise UsageError(
                first or f"{name}: no JSON of IOR with a test: check that the file is complete"
            )
        return Found(tuple(found), tuple(notes))


def _documents(text: str, name: str) -> tuple[list[_Document], list[str]]:
    try:
        parse_json(text)
        strict, problem = True, ""
    except ValueError as error:
        strict, problem = False, str(error).splitlines()[0] if str(error) else "it is cut off"
    found = [_Document()]
    dropped = _read(text, strict, found, name)
    notes = []
    if not strict:
        left = f", without {plural(dropped, 'line')} of other text" if dropped else ""
        notes.append(f"{name}: it is not valid JSON ({problem}): read part by part{left}.")
    return [one for one in found if one.tests or one.command], notes


def _read(text: str, strict: bool, found: list[_Document], name: str) -> int:
    """Read all objects of a text into documents; return the number of lines that are not JSON."""
    inside: list[_Object] = [_Object("")]
    label = last = ""
    dropped = rows = 0
    for tokens in _tokens(text, strict, lambda line: found[-1].hints.take(line)):
        if isinstance(tokens, str):
            dropped += bool(tokens.strip())
            if TITLE in tokens:
                found[-1].version = tokens.partition(":")[0].strip().removeprefix("IOR-")[:40]
            elif MOVED in tokens:
                found[-1].moved = whole(tokens.partition("=")[2].strip()) or 0
            continue
        for token in tokens:
            if token == "{":
                inside.append(_Object(label))
                if len(inside) > DEEPEST:
                    raise UsageError(f"{name}: nested too deeply: check that it is IOR's JSON")
            elif token == "}" and len(inside) > 1:
                rows += 1
                RESULTS.check_entries(rows, name)
                found[-1].whole_object(inside.pop())
            elif token == ":":
                label = last
                continue
            elif token not in ("[", "]", ",", "}"):
                last = token[1:-1] if token.startswith('"') else token
                if label:
                    if label == "Version" and found[-1].tests:
                        found.append(_Document())
                        inside = [_Object("")]
                    inside[-1].put(label, last)
                    found[-1].value(inside[-1], label, last)
            if token not in ("[", "]"):
                label = ""
    return dropped


def _tokens(text: str, strict: bool, other: Callable[[str], bool]) -> Iterator[list[str] | str]:
    """Yield the tokens of each line; a line that is not JSON unchanged."""
    if strict:
        yield from ([_plain(match)] for match in _TOKEN.finditer(text))
        return
    for line in StringIO(text, newline="\n"):
        if other(line):
            yield "hint"
            continue
        tokens, place = [], 0
        line = line.rstrip()
        while place < len(line) and (match := _TOKEN.match(line, place)):
            tokens.append(_plain(match))
            place = match.end()
        yield tokens if place == len(line) and tokens else line


def _plain(match: re.Match[str]) -> str:
    """Return a token; a string keeps one quote at each end, and loses its escapes."""
    text = match[1]
    if text is None:
        return match[2] or match[3]
    if "\\" not in text:
        return text
    try:
        return f'"{json.loads(text)}"'
    except ValueError:
        return text


# IOR's summaryFormat=CSV: results without options. Source: hpc/ior 4.1, ior-output.c.

HEADER = "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),"
_COLUMNS = 12
_CANDIDATES = 10
"""Maximum number of segments that are tried, which limits the time for damaged files."""
_SAID = (
    "IOR's CSV does not say the API, the number of files, segments and nodes: a shared file "
    "through POSIX is assumed; summaryFormat=JSON says them"
)


class IorCsv(Reader):
    """Reader of IOR's summaryFormat=CSV."""

    name = "ior-csv"

    def recognises(self, text: str, name: str) -> bool:
        """Return whether IOR wrote it."""
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
        repeat: Number of the repeat, from 1.
        rate: Bytes per second.
        product: Product of rate and time, in blocks of all ranks.
        low / high: Range of the blocks of all ranks: the time has four decimals, which are
            imprecise for some tens of microseconds.
        phases: Seconds by name.
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
        """Return whether this number of segments is consistent with the row."""
        return self.low <= segments <= self.high

    def timed(self, blocks: float) -> Timed | None:
        """Return the figure for this number of blocks of all ranks; None if impossible."""
        amount = blocks * self.kind[0] * self.kind[2]
        if not possible(self.operation, self.rate, amount):
            return None
        return Timed(self.operation, amount, amount / self.rate, self.phases, repeat=self.repeat)


@dataclass
class _Group:
    """Rows of one block, transfer and number of ranks."""

    kind: tuple[int, int, int]
    rows: list[_Row] = field(default_factory=list)

    def segments(self) -> int:
        """Return the number of segments on which more than half of the rows agree, or 0.

        The rows with the most precise time are considered first.
        """
        rows = sorted(self.rows, key=lambda row: row.high - row.low)
        likely = dict.fromkeys(1 if row.admits(1) else round(row.product) for row in rows)
        for number_of in list(likely)[:_CANDIDATES]:
            if number_of and 2 * sum(row.admits(number_of) for row in rows) > len(rows):
                return number_of
        return 0

    def is_ambiguous(self, segments: int) -> bool:
        """Return whether all times are too short to distinguish this number from one more."""
        return all(row.admits(segments + 1) for row in self.rows)


def _row(line: str) -> _Row | None:
    """Return a row; None if it is damaged."""
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
    known = {"open": opened, "transfer": moved, "close": closed}
    phases = {phase: seconds for phase, seconds in known.items() if seconds <= longest}
    return _Row((block_bytes, round(transfer * 1024), ranks), cells[0], repeat + 1, rate,
                blocks * total, blocks * least, blocks * longest, phases)  # fmt: skip


def _test(group: _Group, name: str, ranks_per_node: int) -> Iterator[Test]:
    """Yield the test of a group, if any of its rows can be used."""
    block, transfer, ranks = group.kind
    segments = group.segments()
    is_told = 0 < segments * SLACK < 0.5
    notes = [f"{_SAID}."]
    if is_told and group.is_ambiguous(segments):
        notes.append(f"Its times are too short to determine the segments: {segments} are assumed.")
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
