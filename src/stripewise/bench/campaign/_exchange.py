# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes a campaign as one JSON document that is checked against a schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stripewise.bench._case import Case, CaseRun, Sample, case_of
from stripewise.bench.campaign._figures import Campaign
from stripewise.bench.campaign._suite import Suite
from stripewise.bench.campaign._suite_form import MOST_CASES, Place
from stripewise.core import write_file
from stripewise.core.errors import UsageError
from stripewise.core.inputs import CAMPAIGN, parse_json, read_input
from stripewise.present import finite
from stripewise.settings.tunables import first_problem

# The JSON form of a campaign, as models that check it and give its schema.

FORMAT = "stripewise-campaign"
VERSION = 1

_Text = Annotated[str, Field(max_length=4000)]
_Short = Annotated[str, Field(max_length=300)]
_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Key = Annotated[str, Field(min_length=1, max_length=2000)]
_Count = Annotated[int, Field(ge=1, le=10_000_000)]
_Number = Annotated[int, Field(ge=0, le=1 << 62)]
_Amount = Annotated[float, Field(ge=0, le=1e30, allow_inf_nan=False)]
_Seconds = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
_Value = bool | int | float | _Short | list[int]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class PlaceForm(_Strict):
    """How files of a directory are striped."""

    stripe_count: Annotated[int, Field(ge=-1, description="-1: all targets; 0: the default")] = 0
    stripe_bytes: Annotated[_Number, Field(description="0: the default")] = 0
    target: Annotated[int, Field(ge=-1, description="first target; -1: any")] = -1


class SuiteForm(_Strict):
    """The suite, without its cases."""

    name: _Name
    title: _Short = ""
    about: _Text = ""
    directories: dict[_Name, PlaceForm] = Field(default_factory=dict)
    text: Annotated[str, Field(description="TOML, for people", max_length=1 << 20)] = ""


class CaseForm(_Strict):
    """One cell of the matrix; what is left out is as in a suite's file."""

    key: Annotated[_Key, Field(description="by which runs name the case")]
    series: _Name
    runner: _Name = "kernel"
    operation: _Name = "write"
    directory: _Name = "default"
    nodes: _Count = 1
    ranks_per_node: _Count = 1
    pattern: _Name = "blocks"
    local: Annotated[_Short, Field(description="elements of a rank, by dimension")] = ""
    size: Annotated[_Short, Field(description="elements of the array, by dimension")] = ""
    backend: _Name = "posix"
    layout: _Name = "shared"
    mode: _Name = "independent"
    transfer_bytes: _Number = 0
    steps: _Count = 1
    settings: dict[_Name, _Value] = Field(default_factory=dict)
    sync: bool = True
    cache: _Name = "shift"
    stonewall_seconds: _Seconds = 0.0
    files: _Number = 0
    sharing: _Name = "own"
    depth: _Number = 0
    width: _Number = 0
    file_bytes: _Number = 0
    beside: _Short = ""
    repeats: _Count = 3


class SampleForm(_Strict):
    """One figure of a run."""

    operation: _Name
    amount: Annotated[_Amount, Field(description="bytes, or operations of metadata")]
    seconds: Annotated[float, Field(gt=0, le=1e12, allow_inf_nan=False)]
    phases: Annotated[dict[_Name, _Seconds], Field(description="seconds of each phase")] = Field(
        default_factory=dict
    )
    percentiles: Annotated[
        dict[_Name, _Seconds], Field(description="percent -> seconds of one operation")
    ] = Field(default_factory=dict)
    worn_out: bool = False


class RunForm(_Strict):
    """One run of a case."""

    key: Annotated[_Key, Field(description="of the case")]
    repeat: _Count
    status: _Name
    samples: list[SampleForm] = Field(default_factory=list)
    message: _Text = ""
    started_unix_seconds: _Seconds = 0.0
    elapsed_seconds: _Seconds = 0.0
    node_seconds: _Seconds = 0.0
    written_bytes: _Number = 0
    hints: dict[_Name, _Text] = Field(default_factory=dict)
    layout: Annotated[
        dict[_Name, Any], Field(description="stripe_count, stripe_size_bytes, targets as found")
    ] = Field(default_factory=dict)
    circumstances: dict[_Name, Any] = Field(default_factory=dict)


class CampaignForm(_Strict):
    """All runs of a suite of benchmarks on one storage."""

    format: Literal["stripewise-campaign"]
    version: Literal[1]
    name: _Short = ""
    anonymised: Annotated[bool, Field(description="names, users and paths are left out")] = False
    storage: _Text = ""
    machine: _Short = ""
    started_unix_seconds: _Seconds = 0.0
    ended_because: _Text = ""
    about: dict[_Name, Any] = Field(default_factory=dict)
    suite: SuiteForm
    cases: list[CaseForm]
    runs: list[RunForm]


def exchange_schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of the exchange format."""
    schema = CampaignForm.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Campaign of benchmarks by Stripewise",
        **{key: value for key, value in schema.items() if key != "title"},
    }


# Campaigns as one JSON document, for other centres and for nights in a row.

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
        campaign: As it is to be told; `anonymised` is only said in the document.
        anonymised: Whether names were left out of it.
    """
    suite = campaign.suite
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
        "suite": {
            "name": suite.name,
            "title": suite.title,
            "about": suite.about,
            "directories": {name: asdict(place) for name, place in suite.directories.items()},
            "text": suite.text,
        },
        "cases": [{"key": case.key, **_without_defaults(case)} for case in suite.cases],
        "runs": [_run_json(run) for run in campaign.runs],
    }
    return dict(finite(document))


def _without_defaults(case: Case) -> dict[str, Any]:
    usual = Case(case.series)
    said = case.as_json()
    return {
        field.name: said[field.name]
        for field in fields(case)
        if field.name in ("series", "nodes", "ranks_per_node", "repeats")
        or getattr(case, field.name) != getattr(usual, field.name)
    }


def _run_json(run: CaseRun) -> dict[str, Any]:
    said = {
        field.name: getattr(run, field.name)
        for field in fields(run)
        if field.name in ("key", "repeat", "status") or getattr(run, field.name)
    }
    if run.samples:
        said["samples"] = [_sample_json(one) for one in run.samples]
    return said


def _sample_json(sample: Sample) -> dict[str, Any]:
    said: dict[str, Any] = {
        "operation": sample.operation,
        "amount": sample.amount,
        "seconds": sample.seconds,
    }
    said |= {"phases": dict(sample.phases)} if sample.phases else {}
    said |= {"percentiles": dict(sample.percentiles)} if sample.percentiles else {}
    return said | ({"worn_out": True} if sample.worn_out else {})


def campaign_text(campaign: Campaign, *, anonymised: bool = False) -> str:
    """Return a campaign as text of the exchange format: a line for each case and run."""
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
    """Write a campaign as one JSON file, whole or not at all.

    Raises:
        StorageError: It cannot be written.
    """
    write_file(path, campaign_text(campaign, anonymised=anonymised))


def read_exchange(path: Path) -> Campaign:
    """Read a campaign's JSON file.

    Raises:
        UsageError: It cannot be read, or is none of this version.
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
        text: Of the exchange format.
        name: Of the file, for messages; a campaign without a name is called after it.

    Raises:
        UsageError: It is not JSON, of another version, or has what the format does not have.
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


def _campaign(form: CampaignForm, name: str) -> Campaign:
    if len(form.cases) > MOST_CASES:
        raise UsageError(f"{name}: more than {MOST_CASES} cases: it is no campaign of a suite")
    cases = {one.key: case_of(one.model_dump(exclude={"key"})) for one in form.cases}
    if len(cases) < len(form.cases) or len({one.key for one in cases.values()}) < len(cases):
        raise UsageError(f"{name}: two cases are the same: name each case once")
    runs = tuple(_run(one, cases) for one in form.runs)
    known = {(run.key, run.repeat) for run in runs}
    if len(known) < len(runs):
        raise UsageError(f"{name}: a repeat of a case stands in it twice: give each run once")
    places = {key: Place(**one.model_dump()) for key, one in form.suite.directories.items()}
    suite = Suite(
        form.suite.name, form.suite.title, form.suite.about, places, tuple(cases.values()),
        form.suite.text,
    )  # fmt: skip
    return Campaign(
        form.name or Path(name).stem, suite, runs, form.storage, form.machine,
        form.started_unix_seconds, form.ended_because, form.about,
    )  # fmt: skip


def _run(form: RunForm, cases: Mapping[str, Case]) -> CaseRun:
    said = {key: getattr(form, key) for key in RunForm.model_fields}
    said["samples"] = tuple(Sample(**one.model_dump()) for one in form.samples)
    said["key"] = cases[form.key].key if form.key in cases else form.key
    return CaseRun(**said)
