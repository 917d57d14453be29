# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Read boards with Grafana's own models, those on the path, and say what is wrong.

python grafana_models.py FILE...     prints a line for each field that is lost, or of another type

It runs in a process of its own: all versions of the models have one name.
"""

from __future__ import annotations

import enum
import json
import sys
import types
import typing
from collections.abc import Iterator
from typing import Any


def lost(given: Any, kept: Any, place: str) -> Iterator[str]:
    """Yield what of a JSON value is not in what the models write again."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for key, value in given.items():
            if key in kept:
                yield from lost(value, kept[key], f"{place}.{key}")
            elif value is not None:
                yield f"{place}.{key}: not a field"
    elif isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        for number, (one, other) in enumerate(zip(given, kept, strict=True)):
            yield from lost(one, other, f"{place}[{number}]")
    elif given != kept:
        yield f"{place}: {given!r} became {kept!r}"


def mistyped(value: Any, hint: Any, place: str) -> Iterator[str]:
    """Yield where a value of the models is not of the type that they declare."""
    if isinstance(value, dict) and hasattr(hint, "from_json"):
        # The models leave some lists of objects as they came.
        given, value = value, hint.from_json(value)
        yield from lost(given, value.to_json(), place)
    if not _fits(value, hint):
        yield f"{place}: {value!r} is not {hint}"
    elif type(value).__module__.startswith("grafana_foundation_sdk.models"):
        for name, inner in typing.get_type_hints(type(value)).items():
            yield from mistyped(getattr(value, name), inner, f"{place}.{name}")
    elif isinstance(value, list):
        for number, one in enumerate(value):
            parts = typing.get_args(hint) or (Any,)
            yield from mistyped(one, _inner(parts), f"{place}[{number}]")


def _inner(parts: tuple[Any, ...]) -> Any:
    """Return the type of a list's members from its own, which may be one of several."""
    for part in parts:
        if typing.get_origin(part) is list:
            return typing.get_args(part)[0]
    return parts[0]


def _fits(value: Any, hint: Any) -> bool:
    origin = typing.get_origin(hint)
    if hint in (Any, object):
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, part) for part in typing.get_args(hint))
    if origin is typing.Literal:
        return value in typing.get_args(hint)
    if hint is float:
        return isinstance(value, int | float)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return value in [one.value for one in hint]
    kind = origin or hint
    return not isinstance(kind, type) or isinstance(value, kind)


def main(paths: list[str]) -> None:
    """Print what is wrong with the files."""
    from grafana_foundation_sdk.cog.encoder import JSONEncoder
    from grafana_foundation_sdk.cog.plugins import register_default_plugins
    from grafana_foundation_sdk.models.dashboard import Dashboard

    register_default_plugins()
    for path in paths:
        with open(path, encoding="utf-8") as file:
            given = json.load(file)
        board = Dashboard.from_json(given)
        kept = json.loads(JSONEncoder().encode(board))
        for line in (*lost(given, kept, path), *mistyped(board, Dashboard, path)):
            print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
