# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads samples and events of storage systems from JSON lines that a script of a site writes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stripewise.centre.database._records import EventRecord, Problems, SampleRecord
from stripewise.centre.database.ingest._base import Feed, InputReading
from stripewise.centre.database.ingest._profile_record import Origin
from stripewise.core.errors import TraceError
from stripewise.core.inputs import SAMPLES, input_lines, parse_json
from stripewise.present import printable


class SamplesFeed(Feed):
    """Samples of a site's script, only from trusted users because all users see them."""

    name = "samples"
    summary = "samples and events of a storage system, as JSON lines"
    budget = SAMPLES
    needs_trust = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the first line is a sample or an event."""
        return head.startswith(b"{") and is_samples(head.decode("utf-8", "replace"))

    def read(self, path: Path, origin: Origin) -> InputReading:
        """Read samples and events; lines that cannot be used are reported as problems.

        Raises:
            TraceError: No line can be used, or the file is too large.
        """
        found = parse_samples(input_lines(path, SAMPLES))
        if found.problems and not found.records:
            raise TraceError(f"{path}: no line of it can be used: {found.problems[0]}")
        return InputReading(found.records, found.problems)


# Makes records from samples and events in JSON lines, as a script of a site writes them.
#
# One line is one sample of one series, or one event:
#
#     {"file_system": "scratch", "server": "oss1", "target": "OST0000", "metric": "read_bytes",
#      "unit": "bytes", "counter": true, "at": 1767225600, "seconds": 60, "value": 4096}
#     {"event": "maintenance", "file_system": "scratch", "at": 1767225600, "until": 1767232800,
#      "text": "New firmware."}
# `value` is the growth of a counter in the interval that begins at `at`, or the mean of a level.
# Without `server` and `target` the series describes the whole file system; without `until` the
# event has not ended. An event without a file system affects all of them.

FIRST, LAST = 946_684_800, 4_102_444_800
"""The years 2000 and 2100: samples of other times come from a wrong clock."""
LONGEST_SECONDS = 86_400
_LONGEST_NAME, _LONGEST_WORD, _LONGEST_TEXT = 255, 64, 10_000
_METRIC = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
_OF_SAMPLE = frozenset({"file_system", "server", "target", "metric", "unit", "counter", "at",
                        "seconds", "value"})  # fmt: skip
_Key = tuple[str, str, str, str]
_OF_EVENT = frozenset({"event", "file_system", "at", "until", "text"})


@dataclass(frozen=True)
class SamplesText:
    """Result of reading a text of samples and events.

    Attributes:
        records: One `SampleRecord` for each series, and events.
        problems: One sentence for each line that was left out, with its number.
    """

    records: tuple[SampleRecord | EventRecord, ...]
    problems: tuple[str, ...] = ()


def is_samples(head: str) -> bool:
    """Return whether a text begins with a line of samples or events."""
    first = next((line for line in head.splitlines() if line.strip()), "")
    try:
        line = parse_json(first)
    except ValueError:
        return False
    return isinstance(line, dict) and "at" in line and ("metric" in line or "event" in line)


def parse_samples(lines: Iterable[str]) -> SamplesText:
    """Read samples and events; a line that cannot be used is reported and left out."""
    table = _Table()
    problems = Problems()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            table.add(parse_json(line))
        except ValueError as error:
            problems.add(f"line {number}: {printable(str(error))}")
    return SamplesText(table.records(), problems.sentences())


class _Table:
    """Series by their names, and events, collected line by line."""

    def __init__(self) -> None:
        self._series: dict[_Key, tuple[str, bool]] = {}
        self._values: dict[_Key, dict[int, tuple[float, float]]] = {}
        self._events: dict[EventRecord, None] = {}

    def add(self, line: Any) -> None:
        """Add a line.

        Raises:
            ValueError: The line cannot be used.
        """
        if not isinstance(line, dict):
            raise ValueError("it is not a JSON object: write {...}")
        known = _OF_EVENT if "event" in line else _OF_SAMPLE
        if unknown := sorted(set(line) - known):
            raise ValueError(f"{unknown[0][:40]!r} is not known: give {', '.join(sorted(known))}")
        if "event" in line:
            self._events[_event(line)] = None
        else:
            self._add_sample(line)

    def _add_sample(self, line: dict[str, Any]) -> None:
        metric = line.get("metric")
        if not isinstance(metric, str) or not _METRIC.fullmatch(metric):
            raise ValueError(f"metric {metric!r:.60} is not a name such as read_bytes")
        key = (_file_system(line), _name(line, "server", ""), _name(line, "target", ""), metric)
        is_counter = line.get("counter")
        if not isinstance(is_counter, bool):
            raise ValueError("counter: give true for a counter's growth, false for a level")
        kind = (_name(line, "unit", None, _LONGEST_WORD), is_counter)
        at, seconds = _moment(line, "at"), _number(line, "seconds")
        value = _number(line, "value")
        if not 0 < seconds <= LONGEST_SECONDS:
            raise ValueError(f"seconds {seconds:g}: give more than 0, at most {LONGEST_SECONDS}")
        if is_counter and value < 0:
            raise ValueError(f"value {value:g}: a counter's growth is not negative")
        if self._series.setdefault(key, kind) != kind:
            raise ValueError(f"{metric} has another unit, or is not a counter, in a line before")
        if self._values.setdefault(key, {}).setdefault(at, (seconds, value)) != (seconds, value):
            raise ValueError(f"at {at}: a line before has another sample of the same moment")

    def records(self) -> tuple[SampleRecord | EventRecord, ...]:
        """Return the collected records, each series sorted by time."""
        samples = []
        for key, values in self._values.items():
            rows = tuple((at, *rest) for at, rest in sorted(values.items()))
            file_system, server, target, metric = key
            unit, is_counter = self._series[key]
            samples.append(
                SampleRecord(file_system, server, target, metric, unit, is_counter, rows)
            )
        return (*samples, *self._events)


def _event(line: dict[str, Any]) -> EventRecord:
    at = _moment(line, "at")
    until = None if line.get("until") is None else _moment(line, "until")
    if until is not None and until < at:
        raise ValueError(f"until {until} is before at {at}")
    name = _file_system(line) if line.get("file_system") else ""
    kind = _name(line, "event", None, _LONGEST_WORD)
    text = line.get("text")
    line = {**line, "text": " ".join(text.split()) if isinstance(text, str) else text}
    return EventRecord(name, at, until, kind, _name(line, "text", None, _LONGEST_TEXT))


def _file_system(line: dict[str, Any]) -> str:
    name = _name(line, "file_system", None)
    if "/" in name:
        raise ValueError(f"file_system {name[:60]!r}: give a name without a slash")
    return name


def _name(
    line: dict[str, Any], field: str, default: str | None, longest: int = _LONGEST_NAME
) -> str:
    """Return a text field, which must be present unless there is a default."""
    text = line.get(field, default)
    if text == "" and default == "":
        return ""
    if not isinstance(text, str) or not text.strip() or len(text) > longest:
        raise ValueError(f"{field}: give a text of 1 to {longest} characters")
    if text != printable(text):
        raise ValueError(f"{field}: it has characters that cannot be shown")
    return text


def _moment(line: dict[str, Any], field: str) -> int:
    moment = _number(line, field)
    if not moment.is_integer() or not FIRST <= moment < LAST:
        raise ValueError(
            f"{field} {moment:.12g}: give whole seconds since 1970, from 2000 to 2100"
        )
    return int(moment)


def _number(line: dict[str, Any], field: str) -> float:
    value = line.get(field)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{field}: give a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{field}: the number is too large")
    return number
