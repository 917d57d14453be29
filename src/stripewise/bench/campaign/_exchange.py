# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes a campaign as one JSON document that is checked against a schema."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from stripewise.bench._case import (
    Case,
    CaseRun,
    Key,
    Name,
    RunFigure,
    Seconds,
    Short,
    Text,
    case_of,
)
from stripewise.bench.campaign._figures import Campaign
from stripewise.bench.campaign._suite import Suite
from stripewise.bench.campaign._suite_form import MOST_CASES, DirectoryStriping
from stripewise.core import write_file
from stripewise.core.errors import UsageError
from stripewise.core.inputs import CAMPAIGN, parse_json, read_input
from stripewise.present import finite
from stripewise.settings.tunables import first_problem

# The JSON form of a campaign, as models that validate it and define its schema.

FORMAT = "stripewise-campaign"
VERSION = 1

_Value = bool | int | float | Short | list[int]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def _form(record: Any, name: str, about: str, **instead: Any) -> type[BaseModel]:
    """Return the model of a record: its fields with their types, defaults and descriptions.

    Args:
        record: Dataclass whose types define what a file may contain.
        name: Name of the model in the schema.
        about: Description of the model in the schema.
        instead: Type and default of fields that differ in a file, or are added to those of the
            record.
    """
    types = get_type_hints(record, include_extras=True)
    own: dict[str, Any] = {one.name: (types[one.name], _default(one)) for one in fields(record)}
    added = {key: value for key, value in instead.items() if key not in own}
    form: type[BaseModel] = create_model(
        name, __base__=_Strict, __doc__=about, **(added | own | instead)
    )
    return form


def _default(one: dataclasses.Field[Any]) -> Any:
    if one.default_factory is not dataclasses.MISSING:
        return Field(default_factory=one.default_factory)
    return ... if one.default is dataclasses.MISSING else one.default


PlaceForm = _form(DirectoryStriping, "PlaceForm", "How files of a directory are striped.")
CaseForm = _form(
    Case, "CaseForm", "One cell of the matrix; what is left out is as in a suite's file.",
    key=(Annotated[Key, Field(description="by which runs name the case")], ...),
    settings=(dict[Name, _Value], Field(default_factory=dict)),
)  # fmt: skip
SampleForm = _form(RunFigure, "SampleForm", "One figure of a run.")
RunForm = _form(
    CaseRun, "RunForm", "One run of a case.",
    samples=(list[SampleForm], Field(default_factory=list)),  # type: ignore[valid-type]
)  # fmt: skip


class SuiteForm(_Strict):
    """The suite, without its cases."""

    name: Name
    title: Short = ""
    about: Text = ""
    directories: dict[Name, PlaceForm] = Field(default_factory=dict)  # type: ignore[valid-type]
    text: Annotated[str, Field(description="TOML, for people", max_length=1 << 20)] = ""


class CampaignForm(_Strict):
    """All runs of a suite of benchmarks on one storage."""

    format: Literal["stripewise-campaign"]
    version: Literal[1]
    name: Short = ""
    anonymised: Annotated[bool, Field(description="names, users and paths are left out")] = False
    storage: Text = ""
    machine: Short = ""
    started_unix_seconds: Seconds = 0.0
    ended_because: Text = ""
    about: dict[Name, Any] = Field(default_factory=dict)
    suite: SuiteForm
    cases: list[CaseForm]  # type: ignore[valid-type]
    runs: list[RunForm]  # type: ignore[valid-type]


def exchange_schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of the exchange format."""
    schema = CampaignForm.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Campaign of benchmarks by Stripewise",
        **{key: value for key, value in schema.items() if key != "title"},
    }


# Campaigns as one JSON document, for other centres and for nightly series.

_REMEDY = "give a file that `stripewise bench export` wrote"
_KNOWN = tuple(
    {
        name
        for form in (CampaignForm, SuiteForm, CaseForm, RunForm, SampleForm)
        for name in form.model_fields
    }
)


def campaign_json(campaign: Campaign, *, anonymised: bool = False) -> dict[str, Any]:
    """Return a campaign as plain data of the exchange format.

    Args:
        campaign: Campaign to write; it must be anonymised already if `anonymised` is set.
        anonymised: Whether names were left out of it, as recorded in the document.
    """
    document = {
        "format": FORMAT,
        "version": VERSION,
        "name": campaign.name,
        "anonymised": anonymised,
        "storage": campaign.storage,
        "machine": campaign.machine,
        "started_unix_seconds": campaign.started_unix_seconds,
        "ended_because": campaign.ended_because,
        "about": dict(campaign.about),
        "suite": campaign.suite.as_json(),
        "cases": [{"key": case.key, **_without_defaults(case)} for case in campaign.suite.cases],
        "runs": [_run_json(run) for run in campaign.runs],
    }
    return dict(finite(document))


def _without_defaults(case: Case) -> dict[str, Any]:
    usual = Case(case.series)
    data = case.as_json()
    return {
        field.name: data[field.name]
        for field in fields(case)
        if field.name in ("series", "nodes", "ranks_per_node", "repeats")
        or getattr(case, field.name) != getattr(usual, field.name)
    }


def _run_json(run: CaseRun) -> dict[str, Any]:
    data = {
        field.name: getattr(run, field.name)
        for field in fields(run)
        if field.name in ("key", "repeat", "status") or getattr(run, field.name)
    }
    if run.samples:
        data["samples"] = [_sample_json(one) for one in run.samples]
    return data


def _sample_json(sample: RunFigure) -> dict[str, Any]:
    data: dict[str, Any] = {
        "operation": sample.operation,
        "amount": sample.amount,
        "seconds": sample.seconds,
    }
    data |= {"phases": dict(sample.phases)} if sample.phases else {}
    data |= {"percentiles": dict(sample.percentiles)} if sample.percentiles else {}
    return data | ({"worn_out": True} if sample.worn_out else {})


def campaign_text(campaign: Campaign, *, anonymised: bool = False) -> str:
    """Return a campaign as text of the exchange format: one line per case and run."""
    document = campaign_json(campaign, anonymised=anonymised)
    tables = {name: document.pop(name) for name in ("cases", "runs")}
    parts = [f"{json.dumps(key)}: {_line(value)}" for key, value in document.items()]
    for name, rows in tables.items():
        inner = ",\n  ".join(_line(row) for row in rows)
        parts.append(f'"{name}": [\n  {inner}\n]' if rows else f'"{name}": []')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def write_campaign(campaign: Campaign, path: Path, *, anonymised: bool = False) -> None:
    """Write a campaign as one JSON file, atomically.

    Raises:
        StorageError: The file cannot be written.
    """
    write_file(path, campaign_text(campaign, anonymised=anonymised))


def read_exchange(path: Path) -> Campaign:
    """Read a campaign's JSON file.

    Raises:
        UsageError: The file cannot be read, or has another version.
    """
    try:
        data = read_input(path, CAMPAIGN)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}: give a campaign") from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: no campaign: it is not UTF-8 text: {_REMEDY}") from error
    return parse_campaign(text, str(path))


def parse_campaign(text: str, name: str) -> Campaign:
    """Read a campaign from its JSON.

    Args:
        text: Text in the exchange format.
        name: Name of the file, for messages and for a campaign without a name.

    Raises:
        UsageError: The text is not JSON, has another version, or contains unknown keys.
    """
    try:
        data = parse_json(text)
    except ValueError as error:
        raise UsageError(f"{name}: no campaign: it is not JSON ({error}): {_REMEDY}") from error
    _check_version(data, name)
    try:
        form = CampaignForm.model_validate(data)
    except (ValidationError, RecursionError) as error:
        why = first_problem(error, _KNOWN) if isinstance(error, ValidationError) else str(error)
        raise UsageError(f"{name}: no campaign of version {VERSION}: {why}") from error
    return _campaign(form, name)


def _check_version(data: Any, name: str) -> None:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise UsageError(f'{name}: no campaign: it has no "format": "{FORMAT}": {_REMEDY}')
    version = data.get("version")
    if version != VERSION or isinstance(version, bool):
        shown = version if isinstance(version, int) else repr(version)[:40]
        raise UsageError(
            f"{name}: a campaign of version {shown}: this Stripewise reads version {VERSION}: "
            "export it with the same version of Stripewise"
        )


def _campaign(form: Any, name: str) -> Campaign:
    if len(form.cases) > MOST_CASES:
        raise UsageError(f"{name}: more than {MOST_CASES} cases: it is not a campaign of a suite")
    cases = {one.key: case_of(one.model_dump(exclude={"key"})) for one in form.cases}
    if len(cases) < len(form.cases) or len({one.key for one in cases.values()}) < len(cases):
        raise UsageError(f"{name}: two cases are the same: name each case once")
    runs = tuple(_run(one, cases) for one in form.runs)
    known = {(run.key, run.repeat) for run in runs}
    if len(known) < len(runs):
        raise UsageError(f"{name}: a repeat of a case is in it twice: give each run once")
    places = {
        key: DirectoryStriping(**one.model_dump()) for key, one in form.suite.directories.items()
    }
    suite = Suite(
        form.suite.name, form.suite.title, form.suite.about, places, tuple(cases.values()),
        form.suite.text,
    )  # fmt: skip
    return Campaign(
        form.name or Path(name).stem, suite, runs, form.storage, form.machine,
        form.started_unix_seconds, form.ended_because, form.about,
    )  # fmt: skip


def _run(form: Any, cases: Mapping[str, Case]) -> CaseRun:
    data = {key: getattr(form, key) for key in RunForm.model_fields}
    data["samples"] = tuple(RunFigure(**one.model_dump()) for one in form.samples)
    data["key"] = cases[form.key].key if form.key in cases else form.key
    return CaseRun(**data)
