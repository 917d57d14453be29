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


class RomioHintsFormat(Format):
    """Format of the file named by the variable ROMIO_HINTS, and of /etc/romio-hints."""

    name = "romio-hints"
    summary = (
        "a ROMIO_HINTS file; MPI-IO hints for all files, which the program's own hints override"
    )

    def parse(self, text: str, name: str = "configuration") -> LoadedConfiguration:
        mpiio: dict[str, Value] = {}
        warnings = []
        for number, line in enumerate(text.splitlines(), 1):
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
            mpiio[words[0]] = value_from_text(Layer.MPIIO, words[0], words[1])
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


def _writable(rule: FileRule, lost: list[str]) -> dict[str, str]:
    hints = {}
    for key, value in rule.mpiio.items():
        text = hint_text(value)
        if _WORD.fullmatch(key) and _WORD.fullmatch("x" + text) and text:
            hints[key] = text
        else:
            lost.append(f"hint {key}={text!r}: a value must be one word")
    return hints
