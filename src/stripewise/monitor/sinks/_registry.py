# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sinks by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from pydantic import ValidationError

from stripewise.errors import ConfigurationError
from stripewise.monitor.sinks._base import Sink

_MEMBERS = {
    "prometheus": ("_prometheus", "PrometheusSink"),
    "influx": ("_influx", "InfluxSink"),
    "store": ("_store", "StoreSink"),
}
"""Module and class; only those that are used are imported, since each costs memory."""


def sink_names() -> tuple[str, ...]:
    """Return the names of all sinks."""
    return tuple(_MEMBERS)


def sink_class(name: str) -> type[Sink]:
    """Return a sink's class.

    Raises:
        ConfigurationError: There is none of this name.
    """
    if name not in _MEMBERS:
        raise ConfigurationError(f"there is no sink {name!r}; there are {', '.join(_MEMBERS)}")
    module, attribute = _MEMBERS[name]
    found: type[Sink] = getattr(import_module(f"stripewise.monitor.sinks.{module}"), attribute)
    return found


def create_sink(name: str, settings: Mapping[str, Any], server: str) -> Sink:
    """Return a sink.

    Args:
        name: Of it.
        settings: Its table in the configuration.
        server: Name of this server.

    Raises:
        ConfigurationError: There is none of this name, or a setting is unknown or not right.
    """
    member = sink_class(name)
    try:
        made = member.settings_class.model_validate(dict(settings))
    except ValidationError as error:
        known = member.settings_class.model_fields
        text = _problem(error, settings, known)
        raise ConfigurationError(f"[sinks.{name}]: {text}") from error
    return member(made, server)


def _problem(error: ValidationError, settings: Mapping[str, Any], known: Iterable[str]) -> str:
    """Return the first problem in one line: what, the value, the remedy."""
    first: Any = error.errors(include_url=False)[0]
    where = list(first["loc"])
    while len(where) > 1 and where[0] not in settings:  # what the user did not write
        del where[0]
    shown = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in where)
    shown = shown.removeprefix(".")
    message = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        return f"no key is called {shown!r}; there are {', '.join(known)}"
    if first["type"] == "missing":
        return f"{shown} is missing: add it"
    if first["type"] == "value_error":
        return f"{shown}: {message}" if shown else message
    value = repr(first["input"])
    value = value if len(value) <= 60 else f"{value[:57]}..."
    return f"{shown} = {value}: {message[:1].lower()}{message[1:]}"
