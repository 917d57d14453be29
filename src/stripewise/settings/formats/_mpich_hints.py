# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes MPICH_MPIIO_HINTS: `pattern:key=value:key=value,pattern:key=value`.

The runtime library reads this variable with every MPI.
"""

from __future__ import annotations

import re
import shlex

from stripewise.core import Configuration, FileRule, Value
from stripewise.core.errors import ConfigurationError
from stripewise.settings.formats._base import (
    Format,
    LoadedConfiguration,
    Written,
    canonical,
    lost_parts,
    value_from_text,
)
from stripewise.settings.tunables import Layer, hint_text

VARIABLE = "MPICH_MPIIO_HINTS"
_ASSIGNMENT = re.compile(rf"(?:export\s+)?{VARIABLE}\s*=(.*)", re.DOTALL)
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class MpichHintsFormat(Format):
    """Format of a line for a job script."""

    name = "mpich-hints"
    suffixes = (".hints",)
    summary = "MPICH_MPIIO_HINTS, the line for a job script; MPI-IO hints only"

    def parse(self, text: str, name: str = "configuration") -> LoadedConfiguration:
        """Parse the value of the variable, or a shell line that sets it."""
        value = _unquoted(text, name)
        rules = [_rule(part, name) for part in _split(value, ",", name) if part.strip()]
        if not rules:
            raise ConfigurationError(f"{name}: no hints: write pattern:key=value")
        return LoadedConfiguration(Configuration(tuple(rules)))

    def write(self, configuration: Configuration) -> Written:
        """Write `export MPICH_MPIIO_HINTS=...`."""
        lost = lost_parts(configuration)
        entries = []
        for rule in canonical(configuration).files:
            if not rule.mpiio:
                continue
            if re.search(r"[:,#\s]", rule.match) or _UNSAFE.search(rule.match):
                lost.append(f"hints for {rule.match!r}: the pattern holds one of : , # or a blank")
                continue
            hints = [_hint(rule.match, k, v, lost) for k, v in rule.mpiio.items()]
            kept = [hint for hint in hints if hint]
            if kept and not rule.override:
                lost.append(f"override = false for {rule.match}: these hints always override")
            if kept:
                entries.append(":".join([rule.match, *kept]))
        text = f"export {VARIABLE}={shlex.quote(','.join(entries))}\n" if entries else ""
        return Written(text, tuple(lost))


def _hint(match: str, key: str, value: Value, lost: list[str]) -> str:
    text = hint_text(value)
    if re.search(r"[:,#=]|^\s", key) or _UNSAFE.search(key + text) or "#" in text:
        lost.append(f"hint {key}={text!r} for {match}: it cannot be quoted")
        return ""
    return f"{key}=#{text}#" if ":" in text or "," in text else f"{key}={text}"


def _unquoted(text: str, name: str) -> str:
    text = text.replace("\\\n", "").strip()
    assignment = _ASSIGNMENT.fullmatch(text)
    if assignment is None and text[:1] not in ("'", '"'):
        return text
    try:
        words = shlex.split(assignment.group(1) if assignment else text)
    except ValueError as error:
        raise ConfigurationError(f"{name}: {VARIABLE}: {error}: close the quotes") from error
    if len(words) > 1:
        raise ConfigurationError(f"{name}: more than one word after {VARIABLE}=: put in quotes")
    return words[0] if words else ""


def _split(text: str, separator: str, name: str) -> list[str]:
    """Split a text at separators outside of #...#."""
    if text.count("#") % 2:
        raise ConfigurationError(f"{name}: a '#' is not closed")
    parts = [""]
    quoted = False
    for character in text:
        quoted ^= character == "#"
        if character == separator and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _rule(part: str, name: str) -> FileRule:
    pattern, *pieces = _split(part, ":", name)
    pattern = pattern.strip()
    if not pattern or not pieces:
        raise ConfigurationError(
            f"{name}: {part.strip()!r}: write pattern:key=value, and a value that contains ':'"
            " or ',' between '#'"
        )
    mpiio: dict[str, Value] = {}
    for piece in pieces:
        key, equals, value = piece.lstrip().partition("=")
        if not equals or not key:
            raise ConfigurationError(f"{name}: {piece!r} is not key=value")
        mpiio[key] = value_from_text(Layer.MPIIO, key, value.replace("#", ""))
    return FileRule(pattern, mpiio=mpiio, override=True)
