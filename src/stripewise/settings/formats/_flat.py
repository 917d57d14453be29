# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes the flat format that the runtime library reads (include/stripewise/flat.h)."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import unquote_to_bytes

from stripewise.core import FILE_LAYERS, Configuration, DatasetRule, FileRule, SeriesRule, Value
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

HEADER = "stripewise-flat 1"
_BROKEN = re.compile(r"%(?![0-9a-fA-F]{2})|%00")
_FIELDS = {"file": 3, "dataset": 2, **dict.fromkeys(FILE_LAYERS, 3)}
_SERIES = "series"


class FlatFormat(Format):
    """Format of `STRIPEWISE_CONFIGURATION`; the job's settings are in other variables."""

    name = "flat"
    suffixes = (".flat",)
    summary = "what the runtime library reads; files and datasets only"

    def parse(self, text: str, name: str = "configuration") -> LoadedConfiguration:
        lines = text.split("\n")
        if lines[0] != HEADER:
            raise ConfigurationError(f"{name}: does not begin with {HEADER!r}")
        rules: list[FileRule] = []
        series = 0
        for number, line in enumerate(lines[1:], 2):
            kind = line.partition("\t")[0]
            series += kind == _SERIES
            if series and kind in ("file", "dataset"):
                raise ConfigurationError(f"{name}, line {number}: {kind} is after a series")
            if line and not series:
                _statement(line, f"{name}, line {number}", rules)
        lost = (f"{name}: settings for later files of a series are left out",) if series else ()
        return LoadedConfiguration(Configuration(tuple(rules)), lost)

    def write(self, configuration: Configuration) -> Written:
        lines = [HEADER]
        for rule in canonical(configuration).files:
            lines.append(f"file\t{_encode(rule.match)}\t{int(rule.override)}")
            for layer, settings in rule.layers.items():
                lines += [_line(layer, key, _text(layer, v)) for key, v in settings.items()]
            for dataset in rule.datasets:
                lines.append(f"dataset\t{_encode(dataset.match)}")
                lines += [_line("hdf5", k, _text("hdf5", v)) for k, v in dataset.hdf5.items()]
        return Written("\n".join(lines) + "\n", tuple(lost_parts(configuration, *FILE_LAYERS)))


def flat_text(configuration: Configuration) -> str:
    """Return a configuration in the flat format; runs need no other format."""
    return FlatFormat().write(configuration).text


def series_text(rules: Sequence[SeriesRule]) -> str:
    """Return the statements for later files of a series, the last part of a flat configuration."""
    lines: list[str] = []
    for rule in rules:
        ranges = (*rule.ranks, *rule.size_bytes, *rule.run_bytes)
        lines.append(f"{_SERIES}\t{rule.kind}\t{','.join(map(str, ranges))}")
        lines += [_line("mpiio", key, _text("mpiio", v)) for key, v in rule.mpiio.items()]
    return "".join(f"{line}\n" for line in lines)


def _line(layer: str, key: str, text: str) -> str:
    return f"{layer}\t{_encode(key)}\t{_encode(text)}"


def _text(layer: str, value: Value) -> str:
    """Return a value as C reads it; hints and parameters have the text form of their layer."""
    return str(int(value)) if layer == "hdf5" and isinstance(value, bool) else hint_text(value)


def _encode(text: str) -> str:
    return os.fsdecode(
        b"".join(
            b"%%%02X" % byte if byte < 0x21 or byte in (0x25, 0x7F) else bytes((byte,))
            for byte in os.fsencode(text)
        )
    )


def _decode(field: str, where: str) -> str:
    if _BROKEN.search(field):
        raise ConfigurationError(f"{where}: broken %XX in {field!r}")
    return os.fsdecode(unquote_to_bytes(os.fsencode(field)))


def _statement(line: str, where: str, rules: list[FileRule]) -> None:
    """Add one line to the rules by replacing the last rule with an extended one."""
    fields = [_decode(field, where) for field in line.split("\t")]
    kind = fields[0]
    if len(fields) != _FIELDS.get(kind):
        raise ConfigurationError(f"{where}: {line!r} is not a statement of the flat form")
    if kind == "file":
        if fields[2] not in ("0", "1"):
            raise ConfigurationError(f"{where}: override {fields[2]!r}: write 0 or 1")
        rules.append(FileRule(fields[1], override=fields[2] == "1"))
        return
    if not rules or (kind not in ("hdf5", "dataset") and rules[-1].datasets):
        raise ConfigurationError(f"{where}: {kind} is outside of a file")
    rules[-1] = _extended(rules[-1], kind, fields[1:])


def _extended(rule: FileRule, kind: str, fields: list[str]) -> FileRule:
    if kind == "dataset":
        return replace(rule, datasets=(*rule.datasets, DatasetRule(fields[0])))
    key, value = fields[0], value_from_text(Layer(kind), fields[0], fields[1])
    if rule.datasets:
        *before, last = rule.datasets
        last = DatasetRule(last.match, {**last.hdf5, key: value})
        return replace(rule, datasets=(*before, last))
    layers = {**rule.layers, kind: {**rule.layers[kind], key: value}}
    return FileRule(rule.match, override=rule.override, datasets=(), **layers)
