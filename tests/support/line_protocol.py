# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A small parser of InfluxDB's line protocol, after the rules that all its readers share."""

from __future__ import annotations

import re
from typing import NamedTuple

_UNESCAPED = r"(?<!\\)"


class Line(NamedTuple):
    """One line, with one field."""

    measurement: str
    tags: dict[str, str]
    field: str
    value: float
    time_ns: int


def parse_lines(text: str) -> list[Line]:
    """Return the lines of a text; what is malformed is an AssertionError."""
    assert not text or text.endswith("\n")
    return [_parse(line) for line in text.split("\n")[:-1]]


def _parse(line: str) -> Line:
    series, fields, time_text = re.split(_UNESCAPED + " ", line)
    measurement, *pairs = re.split(_UNESCAPED + ",", series)
    tags = {}
    for pair in pairs:
        key, value = re.split(_UNESCAPED + "=", pair)
        assert value, "the protocol has no empty tags"
        assert not value.endswith("\\"), "it would hide what follows"
        tags[key] = re.sub(r"\\([ ,=])", r"\1", value)
    assert len(tags) == len(pairs), "a tag comes twice"
    field, value = fields.split("=")
    number = int(value[:-1]) if value.endswith("i") else float(value)
    return Line(measurement, tags, field, number, int(time_text))
