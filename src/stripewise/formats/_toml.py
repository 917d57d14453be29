# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The canonical form: TOML, read."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from stripewise.errors import ConfigurationError
from stripewise.formats._base import Format, LoadedConfiguration, Written
from stripewise.formats._canonical import canonical_layers, canonical_settings
from stripewise.formats._toml_write import write_toml
from stripewise.inputs import parse_toml
from stripewise.model import FILE_LAYERS, Configuration, DatasetRule, FileRule, JobSettings
from stripewise.tunables import Layer, first_problem

VERSION = 1


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
        """Read TOML."""
        try:
            document = _Document.model_validate(parse_toml(text))
        except ValidationError as error:
            raise ConfigurationError(f"{name}: {first_problem(error, _KNOWN_KEYS)}") from error
        except ValueError as error:
            raise ConfigurationError(f"{name}: not TOML: {error}") from error
        if document.version != VERSION:
            raise ConfigurationError(
                f"{name}: version = {document.version} is not known: this Stripewise reads"
                f" version = {VERSION}"
            )
        return LoadedConfiguration(_configuration(document))

    def write(self, configuration: Configuration) -> Written:
        """Write TOML."""
        return write_toml(configuration)


def _configuration(document: _Document) -> Configuration:
    return Configuration(
        tuple(_file_rule(table) for table in document.file),
        JobSettings(
            canonical_settings(Layer.MCA, document.job.mca),
            dict(document.job.environment),
            ranks=document.job.ranks,
            ranks_per_node=document.job.ranks_per_node,
            threads=document.job.threads,
        ),
    )


def _file_rule(table: _Rule) -> FileRule:
    return FileRule(
        table.match,
        override=table.override,
        datasets=tuple(
            DatasetRule(d.match, canonical_settings(Layer.HDF5, d.model_extra or {}))
            for d in table.dataset
        ),
        **canonical_layers({name: getattr(table, name) for name in FILE_LAYERS}),
    )
