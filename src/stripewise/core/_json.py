# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Converts records to and from plain JSON data.

No schema library is used, since paths may contain bytes that are not UTF-8 (surrogates).
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from math import isfinite
from pathlib import PurePath
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Record = TypeVar("Record")
_PLAIN = frozenset({int, float, str, bool, type(None)})
_SMALLEST, _LARGEST = -(1 << 63), (1 << 64) - 1


def to_json(value: Any) -> Any:
    """Convert a record to plain data: dataclasses to objects, tuples and arrays to lists."""
    if type(value) in _PLAIN:
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_json(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Enum):
        return value.value if isinstance(value, str) else value.name.lower()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


def from_json(kind: type[Record], data: Any, name: str = "") -> Record:
    """Restore a record from plain data, ignoring unknown members.

    Args:
        kind: Dataclass of the record.
        data: Data that `to_json` returned.
        name: Place of the data, for messages.

    Raises:
        ValueError: A member is missing, or is of another type.
    """
    if not isinstance(data, Mapping):
        raise _wrong(data, name, "an object")
    found = {}
    for item, hint in _members(kind):  # type: ignore[arg-type]
        if item.name in data:
            found[item.name] = _restored(hint, data[item.name], f"{name}.{item.name}".strip("."))
        elif item.default is MISSING and item.default_factory is MISSING:
            raise ValueError(f"{f'{name}.{item.name}'.strip('.')} is missing")
    return kind(**found)


def check_json(kind: Any, data: Any, name: str = "") -> None:
    """Raise an error if data are not valid for a dataclass or another type.

    Raises:
        ValueError: The data are not valid.
    """
    _restored(kind, data, name)


@cache
def _members(kind: Any) -> tuple[tuple[Any, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((item, hints[item.name]) for item in fields(kind))


def _restored(hint: Any, value: Any, name: str) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _one_of(inner, value, name)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise _wrong(value, name, "a list")
        if inner[-1] is not Ellipsis and len(inner) != len(value):
            raise _wrong(value, name, f"a list of {len(inner)}")
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(_restored(kind, one, name) for kind, one in zip(kinds, value, strict=True))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise _wrong(value, name, "an object")
        return {_key(inner[0], k, name): _restored(inner[1], v, name) for k, v in value.items()}
    if is_dataclass(hint):
        return from_json(hint, value, name)  # type: ignore[arg-type]
    return _plain(hint, value, name)


def _one_of(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
    """Return the type that matches exactly (an int is not a bool), else the first that fits."""
    for kind in sorted(kinds, key=lambda kind: type(value) is not kind):
        try:
            return _restored(kind, value, name)
        except ValueError:
            continue
    raise _wrong(value, name, "of a known type")


def _key(kind: Any, key: Any, name: str) -> Any:
    if kind is not int:
        return _restored(kind, key, name)
    digits = str(key)
    if not digits.isdecimal() or len(digits) > 19:
        raise _wrong(key, name, "a number")
    return int(digits)


def _plain(kind: Any, value: Any, name: str) -> Any:
    if kind is Any:
        return value
    if kind is type(None):
        if value is not None:
            raise _wrong(value, name, "null")
        return None
    if issubclass(kind, Enum) or (issubclass(kind, PurePath) and isinstance(value, str)):
        return kind(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if _SMALLEST <= value <= _LARGEST else float("inf")
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _wrong(value, name, kind.__name__)
    out_of_range = isinstance(value, int) and not _SMALLEST <= value <= _LARGEST
    if out_of_range or (isinstance(value, float) and not isfinite(value)):
        raise _wrong(value, name, "a number of 64 bits")
    return value


def _wrong(value: Any, name: str, wanted: str) -> ValueError:
    shown = repr(value)
    return ValueError(f"{name or 'it'} = {shown[:40]}: not {wanted}")
