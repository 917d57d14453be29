# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The canonical form: TOML, written."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stripewise.formats._base import Written
from stripewise.formats._canonical import canonical
from stripewise.model import Configuration, DatasetRule, FileRule, Value

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def write_toml(configuration: Configuration) -> Written:
    """Write a configuration as TOML; only what is not Unicode can be lost."""
    configuration = canonical(configuration)
    lost: list[str] = []
    lines = ["version = 1"]
    for rule in configuration.files:
        if not _SURROGATE.search(rule.match):
            lines += _file_lines(rule, lost)
        else:
            lost.append(f"settings for {rule.match!r}: TOML cannot hold a name that is not UTF-8")
    job = configuration.job
    if job.mca or job.environment or job.resources:
        lines += ["", "[job]"]
        lines += [f"{name} = {value}" for name, value in job.resources.items()]
        lines += _inline("mca", job.mca, lost) + _inline("environment", job.environment, lost)
    return Written("\n".join(lines) + "\n", tuple(lost))


def _file_lines(rule: FileRule, lost: list[str]) -> list[str]:
    lines = ["", "[[file]]", f"match = {_string(rule.match)}"]
    for layer, settings in rule.layers.items():
        lines += _inline(layer, settings, lost)
    lines.append(f"override = {'true' if rule.override else 'false'}")
    for dataset in rule.datasets:
        if _SURROGATE.search(dataset.match):
            lost.append(f"settings for dataset {dataset.match!r}: the name is not UTF-8")
        else:
            lines += _dataset_lines(dataset, lost)
    return lines


def _dataset_lines(dataset: DatasetRule, lost: list[str]) -> list[str]:
    lines = ["[[file.dataset]]", f"match = {_string(dataset.match)}"]
    lines += [f"{_key(k)} = {_value(v)}" for k, v in _unicode_only(dataset.hdf5, lost).items()]
    return lines


def _inline(name: str, settings: Mapping[str, Value], lost: list[str]) -> list[str]:
    kept = _unicode_only(settings, lost)
    if not kept:
        return []
    inside = ", ".join(f"{_key(key)} = {_value(value)}" for key, value in kept.items())
    return [f"{name} = {{ {inside} }}"]


def _unicode_only(settings: Mapping[str, Value], lost: list[str]) -> dict[str, Value]:
    kept = {}
    for key, value in settings.items():
        if _SURROGATE.search(key) or (isinstance(value, str) and _SURROGATE.search(value)):
            lost.append(f"{key!r}: TOML cannot hold text that is not UTF-8")
        else:
            kept[key] = value
    return kept


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _string(key)


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(str(element) for element in value) + "]"
    return repr(value)


def _string(text: str) -> str:
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if ord(character) < 0x20 or character == "\x7f":
        return f"\\u{ord(character):04x}"
    return character
