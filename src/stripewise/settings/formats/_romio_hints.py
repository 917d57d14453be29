# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes ROMIO_HINTS: `key value` lines that apply to every file of the job."""

from __future__ import annotations

import re

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

_WORD = re.compile(r"[^\s#\x00-\x1f\x7f\ud800-\udfff][^\s\x00-\x1f\x7f\ud800-\udfff]*")


_CR = (
    "{} in CR LF: ROMIO takes the CR as part of the value if it reads this file itself, and then "
    "ignores words such as enable; remove it: sed -i 's/\\r$//' FILE"
)
_MOST_NAMED = 5


class RomioHintsFormat(Format):
    """Format of the file named by the variable ROMIO_HINTS, and of /etc/romio-hints."""

    name = "romio-hints"
    summary = (
        "a ROMIO_HINTS file; MPI-IO hints for all files, which the program's own hints override"
    )

    def parse(self, text: str, name: str = "configuration") -> LoadedConfiguration:
        mpiio: dict[str, Value] = {}
        warnings, with_cr = [], []
        for number, line in enumerate(text.split("\n"), 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) == 1:
                raise ConfigurationError(
                    f"{name}, line {number}: {words[0]!r} has no value: write key value"
                )
            if len(words) > 2:
                warnings.append(
                    f"line {number} is ignored, ROMIO takes `key value` and nothing after it"
                )
                continue
            if line.endswith("\r"):
                with_cr.append(number)
            mpiio[words[0]] = value_from_text(Layer.MPIIO, words[0], words[1])
        if with_cr:
            warnings.append(_CR.format(_ending(with_cr)))
        rules = (FileRule("*", mpiio=mpiio),) if mpiio else ()
        return LoadedConfiguration(Configuration(rules), tuple(warnings))

    def write(self, configuration: Configuration) -> Written:
        lost = lost_parts(configuration)
        hints: dict[str, str] = {}
        for rule in canonical(configuration).files:
            if not rule.mpiio:
                continue
            if rule.match != "*":
                lost.append(f"hints for {rule.match}: these files apply to every file")
                continue
            if rule.override:
                lost.append("override = true: the program's own hints override these")
            hints.update(_writable(rule, lost))
        text = "".join(f"{key} {value}\n" for key, value in hints.items())
        return Written(text, tuple(dict.fromkeys(lost)))


def _ending(numbers: list[int]) -> str:
    """Return "line 1 ends" or "lines 1, 2 and 7 more end"."""
    if len(numbers) == 1:
        return f"line {numbers[0]} ends"
    named = ", ".join(map(str, numbers[:_MOST_NAMED]))
    more = len(numbers) - _MOST_NAMED
    return f"lines {named}{f' and {more} more' if more > 0 else ''} end"


def _writable(rule: FileRule, lost: list[str]) -> dict[str, str]:
    hints = {}
    for key, value in rule.mpiio.items():
        text = hint_text(value)
        if _WORD.fullmatch(key) and _WORD.fullmatch("x" + text) and text:
            hints[key] = text
        else:
            lost.append(f"hint {key}={text!r}: a value must be one word")
    return hints
