# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""TOML to a described storage: its form first, then each figure, then what they say together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from stripewise.errors import ConfigurationError
from stripewise.inputs import parse_toml
from stripewise.machines._checks import check_together, converted
from stripewise.machines._description import KINDS, Storage, Transport
from stripewise.machines._figures import FIGURES, SPEC_OF, Evidence, Figure
from stripewise.machines._parse_costs import RawCosts, RawExchange, RawMount, costs_of
from stripewise.tunables import first_problem, suggest

VERSION = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_REMEDY = 'write { value = ..., kind = "assumed", source = "..." }'


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Raw(_Strict):
    """A figure as it is written."""

    value: Any
    kind: Literal["measured", "documented", "assumed"]
    source: str
    interval: list[Any] | None = None


def _as_table(value: object) -> object:
    if not isinstance(value, dict):
        raise ValueError(f"a figure is a table: {_REMEDY}")
    return value


_RawFigure = Annotated[_Raw, BeforeValidator(_as_table)]


class _Transport(_Strict):
    when: dict[str, str] = Field(default_factory=dict)
    figures: dict[str, Any] = Field(default_factory=dict)
    hangs_from_nodes: Annotated[int, Field(ge=0)] = 0
    from_nodes: Annotated[int, Field(ge=1)] = 1


class _Figures(_Strict):
    """Figures by their names."""

    figures: dict[str, _RawFigure]


def _tables() -> dict[str, Any]:
    """Return a model for each table of figures."""
    keys: dict[str, list[str]] = {}
    for spec in FIGURES:
        table, _, key = spec.name.partition(".")
        keys.setdefault(table, []).append(key)
    optional: Any = (_RawFigure | None, None)
    return {
        table: create_model(f"_{table}", __base__=_Strict, **dict.fromkeys(names, optional))
        for table, names in keys.items()
    }


_TABLES = _tables()


class _Document(_Strict):
    version: int
    name: str
    title: str
    kind: str
    stack: str = ""
    mounts: list[str] = Field(default_factory=list)
    slowdown: Annotated[float, Field(ge=1, le=1e9)] = 1.0
    transport: dict[str, _Transport] = Field(default_factory=dict)
    mount: RawMount = Field(default_factory=RawMount)
    costs: RawCosts = Field(default_factory=RawCosts)


_FIELDS: dict[str, Any] = {
    table: (model, Field(default_factory=model)) for table, model in _TABLES.items()
}
_Whole = create_model("_Whole", __base__=_Document, **_FIELDS)
_KNOWN_KEYS = tuple(
    dict.fromkeys(
        [*_Whole.model_fields, *_Raw.model_fields, *_Transport.model_fields]
        + [*RawMount.model_fields, *RawCosts.model_fields, *RawExchange.model_fields]
        + [spec.name.partition(".")[2] for spec in FIGURES]
    )
)


def parse_description(text: str, name: str = "description") -> Storage:
    """Read a description.

    Args:
        text: Its TOML.
        name: Of the file, for messages.

    Raises:
        ConfigurationError: It is malformed; one line with the figure, its value and the remedy.
    """
    try:
        raw = parse_toml(text)
    except ValueError as error:
        raise ConfigurationError(f"{name}: not TOML: {error}") from error
    try:
        version = raw.get("version")
        if "version" in raw and (version != VERSION or isinstance(version, bool)):
            raise ValueError(
                f"version = {version!r} is not known: this Stripewise reads version = {VERSION}"
            )
        return _storage(_Whole.model_validate(raw))
    except ValidationError as error:
        raise ConfigurationError(f"{name}: {first_problem(error, _KNOWN_KEYS)}") from error
    except ValueError as error:
        raise ConfigurationError(f"{name}: {error}") from error


def _storage(document: Any) -> Storage:
    _check_words(document)
    storage = Storage(
        name=document.name,
        title=document.title,
        kind=document.kind,
        stack=document.stack,
        figures=dict(_figures(document)),
        transports=tuple(_transport(name, one) for name, one in document.transport.items()),
        slowdown=document.slowdown,
        mounts=tuple(dict.fromkeys(document.mounts)),
        mount=document.mount.mount(),
        costs=costs_of(document.costs),
    )
    check_together(storage)
    return storage


def _check_words(document: Any) -> None:
    if not _NAME.fullmatch(document.name):
        raise ValueError(
            f"name = {document.name!r}: use at most 64 letters, digits, '-', '_' and '.'"
        )
    if not document.title.strip() or not document.title.isprintable():
        raise ValueError(f"title = {document.title!r}: say in one line what the storage is")
    if document.kind not in KINDS:
        raise ValueError(
            f"kind = {document.kind!r}: no kind of storage is called so"
            f"{suggest(document.kind, KINDS)} (known: {', '.join(KINDS)})"
        )
    if document.stack and not _NAME.fullmatch(document.stack):
        raise ValueError(f'stack = {document.stack!r}: name an MPI-IO, such as "cray"')
    for path in document.mounts:
        if not path.startswith("/") or not path.isprintable():
            raise ValueError(f'mounts: {path!r}: write absolute paths, such as "/scratch"')


def _figures(document: Any) -> Iterator[tuple[str, Figure]]:
    for spec in FIGURES:
        table, _, key = spec.name.partition(".")
        raw = getattr(getattr(document, table), key)
        if raw is not None:
            yield spec.name, _figure(spec.name, raw, spec.name)
        elif spec.default is None:
            raise ValueError(f"{spec.name} is missing ({spec.meaning}): add {key} to [{table}]")


def _figure(name: str, raw: _Raw, where: str) -> Figure:
    spec = SPEC_OF[name]
    value = converted(spec, raw.value, where)
    if not raw.source.strip():
        raise ValueError(f"{where}: source is empty: say who measured, wrote or assumes this")
    low = high = None
    if raw.interval is not None:
        if len(raw.interval) != 2:
            raise ValueError(f"{where}: interval = {raw.interval!r}: write [lowest, highest]")
        low, high = (converted(spec, end, f"{where}: interval") for end in raw.interval)
        if not low <= value <= high:
            raise ValueError(
                f"{where}: interval = {raw.interval!r} does not hold the value {raw.value!r}: "
                "correct one of them"
            )
    return Figure(value, Evidence(raw.kind), raw.source, low, high)


def _transport(name: str, raw: _Transport) -> Transport:
    where = f"transport.{name}"
    if not _NAME.fullmatch(name):
        raise ValueError(f"{where}: use at most 64 letters, digits, '-', '_' and '.' for its name")
    flat = dict(_flattened(raw.figures))
    for key in flat:
        if key not in SPEC_OF:
            raise ValueError(f"{where}: no figure is called {key!r}{suggest(key, SPEC_OF)}")
    try:
        found = _Figures.model_validate({"figures": flat}).figures
    except ValidationError as error:
        raise ValueError(f"{where}.{first_problem(error, _KNOWN_KEYS)}") from error
    figures = {key: _figure(key, one, f"{where}.figures: {key}") for key, one in found.items()}
    return Transport(name, raw.when, figures, raw.hangs_from_nodes, raw.from_nodes)


def _flattened(figures: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield figures by dotted names; TOML reads a dotted key without quotes as tables."""
    for key, value in figures.items():
        if key in _TABLES and isinstance(value, dict):
            yield from ((f"{key}.{inner}", one) for inner, one in value.items())
        else:
            yield key, value
