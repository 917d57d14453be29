# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses a described storage from TOML and checks each figure and all of them together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, isnan
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from stripewise.core import SIZED, Exchange, Interval, StorageCosts
from stripewise.core.errors import ConfigurationError
from stripewise.core.inputs import parse_toml
from stripewise.settings.tunables import first_problem, suggest
from stripewise.storage.machines._description import KINDS, Mount, Storage, Transport
from stripewise.storage.machines._figures import (
    EXAMPLES,
    FIGURES,
    SPEC_OF,
    Dimension,
    Figure,
    FigureOrigin,
    FigureSpec,
    quantity,
)

# Measured costs of requests, and where they were measured, read from TOML.

_Intervals = dict[str, list[str]]


class _ParseCostsStrict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class RawExchange(_ParseCostsStrict):
    """Measurements of collective transfers, as written in TOML."""

    stack: str
    ranks: Annotated[int, Field(ge=1)]
    collective: bool
    opening: list[str]
    write: _Intervals = Field(default_factory=dict)
    read: _Intervals = Field(default_factory=dict)


class RawCosts(_ParseCostsStrict):
    """The table `[costs]`."""

    host: str = ""
    processors: Annotated[int, Field(ge=0)] = 0
    measured: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    disturbed: str = ""
    write: _Intervals = Field(default_factory=dict)
    read: _Intervals = Field(default_factory=dict)
    sync: _Intervals = Field(default_factory=dict)
    calls: _Intervals = Field(default_factory=dict)
    exchange: list[RawExchange] = Field(default_factory=list)


def costs_of(raw: RawCosts) -> StorageCosts:
    """Return the costs from their table.

    Raises:
        ValueError: A size or a time is invalid; the message names the table.
    """
    return StorageCosts(
        host=raw.host,
        processors=raw.processors,
        measured=raw.measured,
        disturbed=raw.disturbed,
        calls={name: _interval(ends, f"costs.calls: {name}") for name, ends in raw.calls.items()},
        exchange=tuple(map(_exchange, raw.exchange)),
        **{name: _table(getattr(raw, name), f"costs.{name}") for name in SIZED},
    )


def _exchange(raw: RawExchange) -> Exchange:
    where = f"costs.exchange of {raw.stack}"
    opening = _interval(raw.opening, f"{where}: opening")
    tables = (_table(table, where) for table in (raw.write, raw.read))
    return Exchange(raw.stack, raw.ranks, raw.collective, opening, *tables)


def _table(raw: Mapping[str, Sequence[str]], where: str) -> dict[int, Interval]:
    found = {}
    for size, ends in raw.items():
        try:
            number = int(quantity(size, Dimension.SIZE))
        except ValueError as error:
            raise ValueError(f"{where}: {size!r} {error}") from error
        found[number] = _interval(ends, f"{where}: {size}")
    return found


def _interval(ends: Sequence[str], where: str) -> Interval:
    try:
        low, middle, high = (quantity(end, Dimension.TIME) for end in ends)
        if 0 < low <= middle <= high < float("inf"):
            return Interval(low, middle, high)
    except ValueError:
        pass
    raise ValueError(f"{where} = {ends!r}: write three times in order, each with its unit")


# Conversion of TOML to a described storage: its form, then each figure, then all together.

VERSION = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_REMEDY = 'write { value = ..., kind = "assumed", source = "..." }'


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Raw(_Strict):
    """A figure as written in TOML."""

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
    mount: Mount = Field(default_factory=Mount)
    costs: RawCosts = Field(default_factory=RawCosts)


_FIELDS: dict[str, Any] = {
    table: (model, Field(default_factory=model)) for table, model in _TABLES.items()
}
_Whole = create_model("_Whole", __base__=_Document, **_FIELDS)
_KNOWN_KEYS = tuple(
    dict.fromkeys(
        [*_Whole.model_fields, *_Raw.model_fields, *_Transport.model_fields]
        + [*Mount.__dataclass_fields__, *RawCosts.model_fields, *RawExchange.model_fields]
        + [spec.name.partition(".")[2] for spec in FIGURES]
    )
)


def parse_description(text: str, name: str = "description") -> Storage:
    """Read a description.

    Args:
        text: TOML of the description.
        name: Name of the file, for messages.

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
        mount=document.mount,
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
        raise ValueError(f"title = {document.title!r}: describe the storage in one line")
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
        raise ValueError(
            f"{where}: source is empty: name who measured, documented or assumed this"
        )
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
    return Figure(value, FigureOrigin(raw.kind), raw.source, low, high)


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


# Requirements on each figure, and on figures together.

_MOST = {
    Dimension.COUNT: 1e7,
    Dimension.RATIO: 10.0,
    Dimension.SIZE: float(1 << 60),
    Dimension.TIME: 1e9,
    Dimension.BANDWIDTH: 1e18,
}
"""Largest value of each dimension; beyond it a unit is wrong."""
_LEAST = {Dimension.COUNT: 1.0, Dimension.SIZE: 1.0, Dimension.BANDWIDTH: 1e-3}
_PLAIN = (Dimension.COUNT, Dimension.RATIO)


def converted(spec: FigureSpec, value: object, where: str) -> float:
    """Return a value in base units.

    Raises:
        ValueError: It has no unit or the wrong one, is negative, or is beyond all reason; the
            message begins with `where`.
    """
    shown = f"{where} = {_short(value)}"
    number = _number(spec.dimension, value, shown)
    least = 0.0 if spec.default == 0 else _LEAST.get(spec.dimension, 0.0)
    if isnan(number):
        raise ValueError(f"{shown} is not a number: give {EXAMPLES[spec.dimension]} or its like")
    if number < 0:
        raise ValueError(f"{shown} is negative: give {EXAMPLES[spec.dimension]} or its like")
    if not isfinite(number) or number > _MOST[spec.dimension]:
        raise ValueError(f"{shown} is too large: check its unit")
    if number > spec.most:
        raise ValueError(f"{shown} is more than {spec.most:g}: give a number from 0 to it")
    if number < least:
        what = "is 0" if number == 0 else "is too small"
        remedy = "; leave it out if nothing is limited" if spec.default is not None else ""
        raise ValueError(f"{shown} {what}: give {EXAMPLES[spec.dimension]} or its like{remedy}")
    if spec.dimension is Dimension.COUNT and number != int(number):
        raise ValueError(f"{shown} is not a whole number: give one")
    return number


def _number(dimension: Dimension, value: object, shown: str) -> float:
    if dimension in _PLAIN:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{shown} is not a plain number: write {EXAMPLES[dimension]}")
        return float("inf") if abs(value) > 1e300 else float(value)
    if not isinstance(value, str):
        raise ValueError(f"{shown} has no unit: write it as {EXAMPLES[dimension]}")
    try:
        return quantity(value, dimension)
    except ValueError as error:
        raise ValueError(f"{shown} {error}") from error


def _short(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a very large number"
    return text if len(text) < 60 else text[:57] + "..."


def check_together(storage: Storage) -> None:
    """Raise ValueError if figures contradict each other."""
    targets = storage.value("servers.targets")
    stripes = storage.value("layout.stripe_count")
    if stripes > targets:
        raise ValueError(
            f"layout.stripe_count = {stripes:.0f} is more than servers.targets = {targets:.0f}: "
            "a file has at most one stripe on each target"
        )
    seen: dict[tuple[tuple[str, str], ...], str] = {}
    for transport in storage.transports:
        when = tuple(sorted(transport.when.items()))
        if when in seen:
            raise ValueError(
                f"transport.{transport.name}: the same `when` as transport.{seen[when]}: "
                "give each its own variables"
            )
        seen[when] = transport.name


def description_warnings(storage: Storage) -> list[str]:
    """Return warnings on values of a description that are allowed, but may be mistakes."""
    found = []
    for way in ("write", "read"):
        process, file, node, target, whole = (
            storage.value(f"{name}_{way}")
            for name in (
                "client.process",
                "client.file",
                "client.node",
                "servers.target",
                "servers.whole",
            )
        )
        targets = storage.value("servers.targets")
        if isfinite(process) and process > node:
            found.append(f"client.process_{way} is more than client.node_{way}, which limits it")
        if isfinite(file) and file > node:
            found.append(f"client.file_{way} is more than client.node_{way}, which limits it")
        if whole < target:
            found.append(f"servers.whole_{way} is less than one target: servers.target_{way}")
        if isfinite(whole) and whole > 1.5 * targets * target:
            found.append(f"servers.whole_{way} is much more than all targets: it limits nothing")
    assumed = sum(figure.kind is FigureOrigin.ASSUMED for figure in storage.figures.values())
    if assumed:
        verb = "is" if assumed == 1 else "are"
        found.append(f"{assumed} of {len(storage.figures)} figures {verb} assumed")
    return found
