# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns as one JSON document, for other centres and for nights in a row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stripewise.bench._campaign import Campaign
from stripewise.bench._case import Case, case_of
from stripewise.bench._exchange_form import (
    FORMAT,
    VERSION,
    CampaignForm,
    CaseForm,
    RunForm,
    SampleForm,
    SuiteForm,
)
from stripewise.bench._sample import CaseRun, Sample
from stripewise.bench._suite import Place, Suite
from stripewise.bench._suite_cases import MOST_CASES
from stripewise.errors import UsageError
from stripewise.inputs import CAMPAIGN, parse_json, read_input
from stripewise.outputs import write_file
from stripewise.text import finite
from stripewise.tunables import first_problem

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
    cases = {one.key: _case(one) for one in form.cases}
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


def _case(form: CaseForm) -> Case:
    said = form.model_dump(exclude={"key"})
    said["settings"] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in form.settings.items()
    }
    return case_of(said)


def _run(form: RunForm, cases: Mapping[str, Case]) -> CaseRun:
    said = {key: getattr(form, key) for key in RunForm.model_fields}
    said["samples"] = tuple(Sample(**one.model_dump()) for one in form.samples)
    said["key"] = cases[form.key].key if form.key in cases else form.key
    return CaseRun(**said)
