# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A suite as TOML again: each of its cases by itself, no lists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from stripewise.bench._case import Case
from stripewise.bench._suite import Place, Suite

_WORDS = {
    "transfer_bytes": "transfer",
    "stonewall_seconds": "stonewall",
    "file_bytes": "file_size",
}
_PLACE = {"stripe_count": "stripe_count", "stripe_bytes": "stripe_size", "target": "target"}


def suite_text(suite: Suite) -> str:
    """Return TOML from which `parse_suite` reads the same cases and directories."""
    lines = ["version = 1"]
    lines += [f"{key} = {_value(getattr(suite, key))}" for key in ("name", "title", "about")]
    lines += ["", "[directories]"]
    lines += [f"{_value(name)} = {_place(place)}" for name, place in suite.directories.items()]
    for case in suite.cases:
        lines += ["", "[[case]]", *_case(case)]
    return "\n".join(lines) + "\n"


def _place(place: Place) -> str:
    usual = Place()
    said = [
        f"{word} = {getattr(place, name)}"
        for name, word in _PLACE.items()
        if getattr(place, name) != getattr(usual, name)
    ]
    return "{ " + ", ".join(said) + " }" if said else "{}"


def _case(case: Case) -> Iterator[str]:
    usual = Case(case.series)
    yield f"series = {_value(case.series)}"
    for field in fields(case):
        value = getattr(case, field.name)
        if field.name in ("series", "settings"):
            continue
        if field.name == "repeats" or value != getattr(usual, field.name):
            yield f"{_WORDS.get(field.name, field.name)} = {_value(value)}"
    if case.settings:
        said = ", ".join(f"{_value(name)} = {_value(value)}" for name, value in case.settings)
        yield f"settings = {{ {said} }}"


def _value(value: Any) -> str:
    """Return a value of TOML; its basic strings have the escapes of JSON's."""
    if isinstance(value, tuple | list):
        return "[[" + ", ".join(_value(one) for one in value) + "]]"  # one value, not several
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
