# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The canonical form: TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from stripewise.errors import ConfigurationError
from stripewise.formats._base import Format, LoadedConfiguration, Written, canonical
from stripewise.inputs import parse_toml
from stripewise.model import FILE_LAYERS, Configuration, DatasetRule, FileRule, JobSettings, Value
from stripewise.tunables import first_problem

VERSION = 1
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Dataset(BaseModel):
    """`match` and, beside it, HDF5 properties."""

    model_config = ConfigDict(extra="allow", strict=True)
    match: str


class _Rule(_Strict):
    """What a rule holds beside the table of each layer."""

    match: str
    override: bool = False
    dataset: list[_Dataset] = Field(default_factory=list)


_LAYERS: dict[str, Any] = {name: (dict[str, Any], {}) for name in FILE_LAYERS}
_File = create_model("_File", __base__=_Rule, **_LAYERS)


class _Job(_Strict):
    mca: dict[str, Any] = Field(default_factory=dict)
    environment: dict[str, str] = Field(default_factory=dict)
    ranks: int | None = None
    ranks_per_node: int | None = None
    threads: int | None = None
    burst_buffer_nodes: int | None = None
    burst_buffer_files: str | None = None


class _Document(_Strict):
    version: int
    file: list[_File] = Field(default_factory=list)  # type: ignore[valid-type]
    job: _Job = Field(default_factory=_Job)


_KNOWN_KEYS = (*_Document.model_fields, *_File.model_fields, *_Job.model_fields)


class TomlFormat(Format):
    """`best.toml`."""

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
        """Write TOML; only what is not Unicode can be lost."""
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
    """Return the configuration that data in the structure of the canonical form hold.

    Args:
        data: As they stand in TOML, or in the result of a study.
        name: Of the source, for messages.

    Raises:
        ConfigurationError: They are not of this form.
    """
    try:
        document = _Document.model_validate(data)
    except ValidationError as error:
        raise ConfigurationError(f"{name}: {first_problem(error, _KNOWN_KEYS)}") from error
    if document.version != VERSION:
        raise ConfigurationError(
            f"{name}: version = {document.version} is not known: this Stripewise reads"
            f" version = {VERSION}"
        )
    rules = tuple(_file_rule(table) for table in document.file)
    return canonical(Configuration(rules, JobSettings(**document.job.model_dump())))


def _file_rule(table: _Rule) -> FileRule:
    layers: dict[str, Any] = {name: getattr(table, name) for name in FILE_LAYERS}
    datasets = tuple(DatasetRule(d.match, d.model_extra or {}) for d in table.dataset)
    return FileRule(table.match, override=table.override, datasets=datasets, **layers)


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
