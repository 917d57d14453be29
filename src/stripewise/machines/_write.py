# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A described storage as TOML, from which the same storage is read again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from stripewise.machines._description import Storage, Transport
from stripewise.machines._figures import FIGURES, Dimension, Figure, FigureSpec
from stripewise.machines._units import quantity_text
from stripewise.machines._write_costs import basic_string, costs_lines, mount_lines

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def description_text(storage: Storage) -> str:
    """Return the TOML of a storage; what it does not describe is left out."""
    return "\n".join(_lines(storage)) + "\n"


def description_digest(storage: Storage) -> str:
    """Return 16 hexadecimal digits of all that is described."""
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
