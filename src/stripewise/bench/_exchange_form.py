# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The JSON form of a campaign, as models that check it and give its schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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
