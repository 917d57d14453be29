# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes the canonical format, TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from stripewise.core import (
    FILE_LAYERS,
    JOB_VALUES,
    Configuration,
    DatasetRule,
    FileRule,
    JobSettings,
    Value,
)
from stripewise.core.errors import ConfigurationError
from stripewise.core.inputs import parse_toml
from stripewise.settings.formats._base import Format, LoadedConfiguration, Written, canonical

VERSION = 1
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


_RULE = {"match": str, "override": bool, "dataset": list, **dict.fromkeys(FILE_LAYERS, dict)}
_JOB = {"mca": dict, "environment": dict, **JOB_VALUES}
_DOCUMENT = {"version": int, "file": list, "job": dict}


class TomlFormat(Format):
    """Format of `best.toml`."""

    name = "toml"
    suffixes = (".toml",)
    summary = "the canonical form; holds everything"

    def parse(self, text: str, name: str = "configuration") -> LoadedConfiguration:
        try:
            data = parse_toml(text)
        except ValueError as error:
            raise ConfigurationError(f"{name}: not TOML: {error}") from error
        return LoadedConfiguration(parse_document(data, name))

    def write(self, configuration: Configuration) -> Written:
        """Write a configuration as TOML, in which only text that is not Unicode is lost."""
        configuration = canonical(configuration)
        lost: list[str] = []
        lines = ["version = 1"]
        for rule in configuration.files:
            if not _SURROGATE.search(rule.match):
                lines += _file_lines(rule, lost)
            else:
                lost.append(
                    f"settings for {rule.match!r}: TOML cannot hold a name that is not UTF-8"
                )
        job = configuration.job
        if job.mca or job.environment or job.resources or job.burst_buffer:
            lines += ["", "[job]"]
            numbers = {**job.resources, **job.burst_buffer}
            lines += [f"{name} = {_value(value)}" for name, value in numbers.items()]
            lines += _inline("mca", job.mca, lost) + _inline("environment", job.environment, lost)
        return Written("\n".join(lines) + "\n", tuple(lost))


def parse_document(data: Mapping[str, Any], name: str) -> Configuration:
    """Return the configuration in data with the structure of the canonical TOML.

    Args:
        data: Data from TOML or from the result of a study.
        name: Name of the source, for messages.

    Raises:
        ConfigurationError: The data do not have this structure.
    """
    found = as_it_should_be(data)
    if found is None:
        from stripewise.settings.formats._toml_form import checked  # slow to import

        found = checked(data, name)
    return canonical(found)


def as_it_should_be(data: Mapping[str, Any]) -> Configuration | None:
    """Return the configuration in valid data; None if `checked` has to report a fault."""
    rules, job = data.get("file", []), data.get("job", {})
    if not _has_only(data, _DOCUMENT) or data.get("version") != VERSION:
        return None
    made = [_rule(table) for table in rules]
    environment = job.get("environment", {})
    if not _has_only(job, _JOB) or not all(map(_is_text, environment.values())):
        return None
    if None in made or not _have_text_keys(job.get("mca", {}), environment):
        return None
    return Configuration(tuple(rule for rule in made if rule), JobSettings(**job))


def _rule(table: Any) -> FileRule | None:
    if not _has_only(table, _RULE) or not _is_text(table.get("match")):
        return None
    datasets = [_dataset(one) for one in table.get("dataset", ())]
    layers: dict[str, Any] = {name: table.get(name, {}) for name in FILE_LAYERS}
    if None in datasets or not _have_text_keys(*layers.values()):
        return None
    return FileRule(
        table["match"],
        override=table.get("override", False),
        datasets=tuple(one for one in datasets if one),
        **layers,
    )


def _dataset(table: Any) -> DatasetRule | None:
    if type(table) is not dict or not _is_text(table.get("match")) or not _have_text_keys(table):
        return None
    return DatasetRule(table["match"], {k: v for k, v in table.items() if k != "match"})


def _has_only(table: Any, types: Mapping[str, type]) -> bool:
    return isinstance(table, Mapping) and all(
        type(value) is types.get(key) for key, value in table.items()
    )


def _have_text_keys(*tables: Mapping[Any, Any]) -> bool:
    return all(_is_text(key) for table in tables for key in table)


def _is_text(value: object) -> bool:
    return type(value) is str and not _SURROGATE.search(value)


def _file_lines(rule: FileRule, lost: list[str]) -> list[str]:
    lines = ["", "[[file]]", f"match = {_string(rule.match)}"]
    for layer, settings in rule.layers.items():
        lines += _inline(layer, settings, lost)
    lines.append(f"override = {_value(rule.override)}")
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
    return _string(value) if isinstance(value, str) else json.dumps(value)


def _string(text: str) -> str:
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if ord(character) < 0x20 or character == "\x7f":
        return f"\\u{ord(character):04x}"
    return character
