# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a described storage as TOML, from which the same storage is read again."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict

from stripewise.core import SIZED, Interval, StorageCosts
from stripewise.storage.machines._description import Mount, Storage, Transport
from stripewise.storage.machines._figures import (
    FIGURES,
    Dimension,
    Figure,
    FigureSpec,
    quantity_text,
)

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def description_text(storage: Storage) -> str:
    """Return the TOML of a storage; figures that it does not describe are left out."""
    return "\n".join(_lines(storage)) + "\n"


def description_digest(storage: Storage) -> str:
    """Return 16 hexadecimal digits of the whole description."""
    return hashlib.sha256(description_text(storage).encode()).hexdigest()[:16]


def _lines(storage: Storage) -> Iterator[str]:
    yield "version = 1"
    for key in ("name", "title", "kind", "stack"):
        yield f"{key} = {basic_string(getattr(storage, key))}"
    if storage.mounts:
        yield f"mounts = [{', '.join(map(basic_string, storage.mounts))}]"
    if storage.slowdown != 1:
        yield f"slowdown = {float(storage.slowdown)!r}"
    table = ""
    for spec in FIGURES:
        if spec.name not in storage.figures:
            continue
        home, _, key = spec.name.partition(".")
        if home != table:
            table = home
            yield from ("", f"[{table}]")
        yield f"{key} = {_figure(spec, storage.figures[spec.name])}"
    for transport in storage.transports:
        yield from _transport(transport)
    yield from mount_lines(storage.mount)
    yield from costs_lines(storage.costs)


def _transport(transport: Transport) -> Iterator[str]:
    yield from ("", f"[transport.{_key(transport.name)}]")
    when = ", ".join(f"{_key(key)} = {basic_string(text)}" for key, text in transport.when.items())
    yield f"when = {{ {when} }}" if when else "when = {}"
    if transport.hangs_from_nodes:
        yield f"hangs_from_nodes = {transport.hangs_from_nodes}"
    if transport.from_nodes != 1:
        yield f"from_nodes = {transport.from_nodes}"
    if transport.figures:
        yield f"[transport.{_key(transport.name)}.figures]"
    for spec in FIGURES:
        if spec.name in transport.figures:
            yield f'"{spec.name}" = {_figure(spec, transport.figures[spec.name])}'


def _figure(spec: FigureSpec, figure: Figure) -> str:
    value = _value(figure.value, spec.dimension)
    text = f'value = {value}, kind = "{figure.kind.value}", source = {basic_string(figure.source)}'
    if figure.low is not None and figure.high is not None:
        ends = ", ".join(_value(end, spec.dimension) for end in (figure.low, figure.high))
        text += f", interval = [{ends}]"
    return f"{{ {text} }}"


def _value(value: float, dimension: Dimension) -> str:
    text = quantity_text(value, dimension)
    return text if dimension in (Dimension.COUNT, Dimension.RATIO) else f'"{text}"'


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else basic_string(key)


# Measured costs of requests, and where they were measured, written as TOML.


def mount_lines(mount: Mount) -> Iterator[str]:
    """Yield the table `[mount]`; characters that are not Unicode are shown as ?."""
    if mount != Mount():
        yield from ("", "[mount]")
        for name, text in asdict(mount).items():
            if text:
                shown = text.encode("utf-8", "replace").decode()
                yield f"{name} = {basic_string(shown)}"


def costs_lines(costs: StorageCosts) -> Iterator[str]:
    """Yield the table `[costs]` and those below it."""
    if costs == StorageCosts():
        return
    yield from ("", "[costs]", f"host = {basic_string(costs.host)}")
    yield from (f"processors = {costs.processors}", f"measured = {float(costs.measured)!r}")
    if costs.disturbed:
        yield f"disturbed = {basic_string(costs.disturbed)}"
    for name in SIZED:
        yield from _table_lines(f"costs.{name}", _sized(getattr(costs, name)))
    yield from _table_lines("costs.calls", costs.calls)
    for one in costs.exchange:
        yield from ("", "[[costs.exchange]]", f"stack = {basic_string(one.stack)}")
        yield from (f"ranks = {one.ranks}", f"collective = {json.dumps(one.collective)}")
        yield f"opening = {_ends(one.opening)}"
        yield from _table_lines("costs.exchange.write", _sized(one.write))
        yield from _table_lines("costs.exchange.read", _sized(one.read))


def _sized(table: Mapping[int, Interval]) -> dict[str, Interval]:
    return {quantity_text(size, Dimension.SIZE): cost for size, cost in table.items()}


def _table_lines(name: str, table: Mapping[str, Interval]) -> Iterator[str]:
    if table:
        yield f"[{name}]"
        yield from (f"{basic_string(key)} = {_ends(cost)}" for key, cost in table.items())


def _ends(cost: Interval) -> str:
    return f"[{', '.join(basic_string(quantity_text(end, Dimension.TIME)) for end in cost)}]"


def basic_string(text: str) -> str:
    """Return a basic string; TOML needs the same escapes as JSON, and also DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
