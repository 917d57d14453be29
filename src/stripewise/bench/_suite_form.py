# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The form of a suite's file: which keys it has, and of which kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from stripewise.errors import ConfigurationError
from stripewise.inputs import parse_toml
from stripewise.machines import Dimension, quantity
from stripewise.tunables import first_problem

MOST = "max"
"""As a number of nodes: the most that other cases of the suite have."""


@dataclass(frozen=True)
class Place:
    """How files of a directory are striped.

    Attributes:
        stripe_count: -1: over all targets; 0: as the storage does by default.
        stripe_bytes: 0: as the storage does by default.
        target: First target; -1: the storage chooses.
    """

    stripe_count: int = 0
    stripe_bytes: int = 0
    target: int = -1


def _size(value: object) -> object:
    return round(quantity(value, Dimension.SIZE)) if isinstance(value, str) else value


def _seconds(value: object) -> object:
    return quantity(value, Dimension.TIME) if isinstance(value, str) else value


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, and anything else as one with it alone."""
    return value if isinstance(value, list) else [value]


_Size = Annotated[int, Field(strict=True, ge=0), BeforeValidator(_size)]
_Seconds = Annotated[float, BeforeValidator(_seconds), Field(ge=0)]
_Count = Annotated[int, Field(strict=True, ge=1, le=10_000_000)]
_Shape = Annotated[str, Field(pattern=r"^[0-9]{1,15}(,[0-9]{1,15}){0,7}$")]
_Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][\w .,+:()/-]*$")]
_Runner = Literal["kernel", "metadata", "ior", "mdtest", "benchio"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class PlaceForm(_Strict):
    """A directory."""

    stripe_count: Annotated[int, Field(ge=-1)] = 0
    stripe_size: _Size = 0
    target: Annotated[int, Field(ge=-1)] = -1


def _many(kind: Any) -> Any:
    """One value, or a list of which each is a case."""
    return Annotated[list[kind], Field(min_length=1), BeforeValidator(as_list)]


class Words(_Strict):
    """What a case may say; what it leaves out is as `[all]` has it, or as `Case` has it."""

    runner: _many(_Runner) = None  # type: ignore[valid-type]
    operation: _many(Literal["write", "write-read", "metadata"]) = None  # type: ignore[valid-type]
    directory: _many(_Name) = None  # type: ignore[valid-type]
    nodes: _many(_Count | Literal["max"]) = None  # type: ignore[valid-type]
    ranks_per_node: _many(_Count) = None  # type: ignore[valid-type]
    pattern: _many(str) = None  # type: ignore[valid-type]
    local: _many(_Shape) = None  # type: ignore[valid-type]
    size: _many(_Shape) = None  # type: ignore[valid-type]
    rank_size: _many(_Size) = None  # type: ignore[valid-type]
    backend: _many(str) = None  # type: ignore[valid-type]
    layout: _many(Literal["shared", "per-process", "per-node"]) = None  # type: ignore[valid-type]
    mode: _many(Literal["independent", "collective", "serial"]) = None  # type: ignore[valid-type]
    transfer: _many(_Size) = None  # type: ignore[valid-type]
    steps: _many(_Count) = None  # type: ignore[valid-type]
    sync: _many(bool) = None  # type: ignore[valid-type]
    cache: _many(Literal["shift", "drop", "direct", "none"]) = None  # type: ignore[valid-type]
    stonewall: _many(_Seconds) = None  # type: ignore[valid-type]
    files: _many(_Count) = None  # type: ignore[valid-type]
    sharing: _many(Literal["own", "shared"]) = None  # type: ignore[valid-type]
    depth: _many(Annotated[int, Field(ge=0, le=16)]) = None  # type: ignore[valid-type]
    width: _many(Annotated[int, Field(ge=0, le=1000)]) = None  # type: ignore[valid-type]
    file_size: _many(_Size) = None  # type: ignore[valid-type]
    beside: _many(_Name) = None  # type: ignore[valid-type]

    def said(self) -> dict[str, list[Any]]:
        """Return the keys that are there, with all values of each."""
        return {key: getattr(self, key) for key in Words.model_fields if getattr(self, key)}


class _More(Words):
    settings: dict[str, Any] = Field(default_factory=dict)
    repeats: _Count | None = None
    unless: Annotated[list[Words], BeforeValidator(as_list)] = Field(default_factory=list)


class CaseForm(_More):
    """A `[[case]]`."""

    series: _Name
    quick: Words | None = None


class QuickForm(Words):
    """`[quick]`: what a short run has instead."""

    repeats: _Count | None = None
    series: Annotated[list[_Name], BeforeValidator(as_list)] = Field(default_factory=list)


class Document(_Strict):
    """A whole file."""

    version: Literal[1]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    title: Annotated[str, Field(min_length=1, max_length=200)]
    about: Annotated[str, Field(max_length=4000)] = ""
    repeats: _Count = 3
    directories: dict[_Name, PlaceForm] = Field(default_factory=dict)
    all: _More = Field(default_factory=_More)
    case: Annotated[list[CaseForm], Field(min_length=1)]
    quick: QuickForm | None = None


_KNOWN = (*Document.model_fields, *CaseForm.model_fields, *PlaceForm.model_fields)


def read_document(text: str, name: str) -> Document:
    """Return a file's content, of which each key by itself is right.

    Raises:
        ConfigurationError: It is no TOML, or a key is unknown or has an impossible value.
    """
    try:
        return Document.model_validate(parse_toml(text))
    except ValidationError as error:
        raise ConfigurationError(f"{name}: {first_problem(error, _KNOWN)}") from error
    except ValueError as error:
        raise ConfigurationError(f"{name}: no TOML ({error})") from error


def places_of(document: Document) -> dict[str, Place]:
    """Return the directories; one named "default", striped by default, where there is none."""
    return {
        key: Place(one.stripe_count, one.stripe_size, one.target)
        for key, one in document.directories.items()
    } or {"default": Place()}
