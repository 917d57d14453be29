# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""IOR's summaryFormat=JSON, also where it is no JSON.

Versions of IOR lose a bracket after repeats, close the document before its summary, write a bare
inf, or put messages of verbose runs in between.  Each object says by its own names what it is, so
objects are read in their order and brackets between them are not needed.
Source: hpc/ior issues 102, 233, 503 and pull requests 264, 369.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import StringIO

from stripewise.calibration.readers._ior import MOVED, TITLE
from stripewise.calibration.readers._ior_hints import HintLines
from stripewise.calibration.readers._ior_setup import Summary
from stripewise.calibration.readers._ior_summary import json_summary
from stripewise.calibration.readers._ior_test import RawTest, Row, ior_test
from stripewise.calibration.readers._lines import clock, whole
from stripewise.calibration.readers._printed import PrintedReader
from stripewise.calibration.readers._record import Found, Test
from stripewise.errors import UsageError
from stripewise.inputs import RESULTS, parse_json
from stripewise.text import plural

_TOKEN = re.compile(
    r'\s*(?:("(?:[^"\\\n]|\\.)*")|([{}\[\]:,])|(-?[0-9][0-9.eE+-]{0,60}|-?inf(?:inity)?|-?nan'
    r"|true|false|null)(?![A-Za-z0-9]))",
    re.IGNORECASE,
)
_ROWS = {"bwMiB": "bw", "blockKiB": "block", "openTime": "open", "wrRdTime": "wrrd",
         "closeTime": "close", "totalTime": "total"}  # fmt: skip
DEEPEST = 100


@dataclass
class _Object:
    """An object that is being read; "Parameters", "Options" or what its label is."""

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
        """Take a value as soon as it is read."""
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
        """Take an object at its end."""
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


class IorJson(PrintedReader):
    """IOR's summaryFormat=JSON."""

    name = "ior-json"

    def recognises(self, text: str, name: str) -> bool:
        """Whether IOR wrote it."""
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
                notes.append(f"{name}: its end is missing: what is whole was read.")
            for raw in one.tests:
                mine = [s for s in one.summaries if s.test == raw.number or len(one.tests) == 1]
                try:
                    found.append(ior_test(raw, name, one.version, one.command, mine))
                except UsageError as error:
                    first = first or str(error)
                    notes.append(f"{error}; it is left out.")
        if not found:
            raise UsageError(
                first or f"{name}: no JSON of IOR with a test: check that the file is whole"
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
        notes.append(f"{name}: it is no valid JSON ({problem}): read part by part{left}.")
    return [one for one in found if one.tests or one.command], notes


def _read(text: str, strict: bool, found: list[_Document], name: str) -> int:
    """Read all objects of a text into documents; return how many lines are no JSON."""
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
    """Yield the tokens of each line; a line that is no JSON as it is."""
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
