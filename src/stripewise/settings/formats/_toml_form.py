# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the structure of a canonical TOML document, and reports its faults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from stripewise.core import (
    FILE_LAYERS,
    JOB_VALUES,
    Configuration,
    DatasetRule,
    FileRule,
    JobSettings,
)
from stripewise.core.errors import ConfigurationError
from stripewise.settings.formats._toml import VERSION
from stripewise.settings.tunables import first_problem


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Dataset(BaseModel):
    """A dataset rule: `match` and HDF5 properties."""

    model_config = ConfigDict(extra="allow", strict=True)
    match: str


class _Rule(_Strict):
    """Members of a rule other than the tables of the layers."""

    match: str
    override: bool = False
    dataset: list[_Dataset] = Field(default_factory=list)


_LAYERS: dict[str, Any] = {name: (dict[str, Any], {}) for name in FILE_LAYERS}
_File = create_model("_File", __base__=_Rule, **_LAYERS)


class _Tables(_Strict):
    """Members of a job other than its single values."""

    mca: dict[str, Any] = Field(default_factory=dict)
    environment: dict[str, str] = Field(default_factory=dict)


_VALUES: dict[str, Any] = {name: (kind | None, None) for name, kind in JOB_VALUES.items()}
_Job = create_model("_Job", __base__=_Tables, **_VALUES)


class _Document(_Strict):
    version: int
    file: list[_File] = Field(default_factory=list)  # type: ignore[valid-type]
    job: _Job = Field(default_factory=_Job)  # type: ignore[valid-type]


_KNOWN_KEYS = {
    key: table
    for form, table in ((_Job, "[job]"), (_File, "[[file]]"), (_Document, "the top level"))
    for key in form.model_fields
}


def checked(data: Mapping[str, Any], name: str) -> Configuration:
    """Return the configuration in data after a full check.

    Args:
        data: Data from TOML or from the result of a study.
        name: Name of the source, for messages.

    Raises:
        ConfigurationError: The data do not have this structure.
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
    job = document.job.model_dump()  # type: ignore[attr-defined]
    return Configuration(rules, JobSettings(**job))


def _file_rule(table: _Rule) -> FileRule:
    layers: dict[str, Any] = {name: getattr(table, name) for name in FILE_LAYERS}
    datasets = tuple(DatasetRule(d.match, d.model_extra or {}) for d in table.dataset)
    return FileRule(table.match, override=table.override, datasets=datasets, **layers)
