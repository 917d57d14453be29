# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses and checks the text of a policy; it is a separate module since pydantic loads slowly."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from stripewise.core.errors import ConfigurationError
from stripewise.core.inputs import parse_toml
from stripewise.settings._policy import Policy
from stripewise.settings.tunables import Layer, all_tunables, first_problem, size_bytes, suggest

_GROUPS = frozenset({layer.value for layer in Layer} | {"environment"})


def _size_bytes(value: object) -> object:
    """Convert "100 GiB" to bytes; decimal units are powers of ten."""
    if not isinstance(value, str):
        return value
    size = size_bytes(value)
    if size is None:
        raise ValueError('give a size such as "100 GiB"')
    return size


def _absolute(value: str) -> str:
    if not value.startswith("/"):
        raise ValueError("give an absolute path")
    return value


def _key(value: str) -> str:
    if not value.startswith("/") and not _PUBLIC_KEY.fullmatch(value):
        raise ValueError('give a public key of minisign ("RW...") or an absolute path of its file')
    return value


_PUBLIC_KEY = re.compile("RW[A-Za-z0-9+/]{54}")
_Cap = Annotated[int, Field(strict=True, ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Tunables(_Strict):
    allowed: list[str] | None = None
    denied: list[str] = Field(default_factory=list)


class _Caps(_Strict):
    max_trials: _Cap | None = None
    max_runs: _Cap | None = None
    max_bytes: Annotated[_Cap, BeforeValidator(_size_bytes)] | None = None
    max_concurrency: Annotated[int, Field(strict=True, ge=1)] | None = None


class _Document(_Strict):
    version: int = 1
    lock_layout: bool = False
    knowledge: Annotated[str, AfterValidator(_absolute)] | None = None
    models: list[Annotated[str, AfterValidator(_absolute)]] = Field(default_factory=list)
    hybrid: Literal["links", "redirect"] | None = None
    pack_keys: list[Annotated[str, AfterValidator(_key)]] = Field(default_factory=list)
    reports: Annotated[str, AfterValidator(_absolute)] | None = None
    # Policies of earlier versions call this table "knobs".
    tunables: _Tunables = Field(
        default_factory=_Tunables, validation_alias=AliasChoices("tunables", "knobs")
    )
    caps: _Caps = Field(default_factory=_Caps)


_KNOWN_KEYS = {
    key: table
    for form, table in ((_Document, "the top level"), (_Tunables, "[tunables]"), (_Caps, "[caps]"))
    for key in form.model_fields
}


def parse_policy(text: str, name: str) -> Policy:
    """Parse one policy.

    Args:
        text: Policy in TOML.
        name: File name, for messages.

    Raises:
        ConfigurationError: The policy is malformed.
    """
    try:
        document = _Document.model_validate(parse_toml(text))
    except ValidationError as error:
        raise ConfigurationError(f"{name}: policy: {first_problem(error, _KNOWN_KEYS)}") from error
    except ValueError as error:
        raise ConfigurationError(f"{name}: policy is not TOML: {error}") from error
    if document.version != 1:
        raise ConfigurationError(
            f"{name}: policy version {document.version} is not known: write version = 1"
        )
    tunables = document.tunables
    for glob in (*(tunables.allowed or ()), *tunables.denied):
        _check_glob(glob, name)
    return Policy(
        allowed=() if tunables.allowed is None else (tuple(tunables.allowed),),
        denied=tuple(tunables.denied),
        lock_layout=document.lock_layout,
        knowledge=(document.knowledge,) if document.knowledge else (),
        models=tuple(document.models),
        hybrid=document.hybrid or "",
        pack_keys=tuple(document.pack_keys),
        reports=document.reports or "",
        sources=(name,),
        **document.caps.model_dump(),
    )


def _check_glob(glob: str, name: str) -> None:
    """Refuse a glob that can never match, since a typing error must not permit more."""
    group, dot, _ = glob.partition(".")
    wild = any(sign in group for sign in "*?[")
    names = [tunable.name for tunable in all_tunables()]
    if not wild and (not dot or group not in _GROUPS):
        raise ConfigurationError(
            f"{name}: policy: {glob!r} matches no tunable{suggest(glob, names)}:"
            f" begin with one of {', '.join(sorted(_GROUPS))}"
        )
    if not any(sign in glob for sign in "*?[") and glob not in names and group != "environment":
        if closest := suggest(glob, names):
            raise ConfigurationError(f"{name}: policy: no tunable is called {glob!r}{closest}")
