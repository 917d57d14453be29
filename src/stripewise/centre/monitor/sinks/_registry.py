# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sinks by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pydantic import BaseModel, ValidationError

from stripewise.centre._settings import keys_of
from stripewise.centre.monitor.sinks._base import Sink
from stripewise.core.errors import ConfigurationError
from stripewise.present import printable
from stripewise.settings.tunables import first_problem

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
    found: type[Sink] = getattr(
        import_module(f"stripewise.centre.monitor.sinks.{module}"), attribute
    )
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
        text = printable(_problem(error, settings, member.settings_class))
        raise ConfigurationError(f"[sinks.{name}]: {text}") from error
    return member(made, server)


def _problem(error: ValidationError, settings: Mapping[str, Any], form: type[BaseModel]) -> str:
    """Return the first problem in one line: what, the value, the remedy."""
    first: Any = error.errors(include_url=False)[0]
    if first["type"] == "value_error":
        place: Any = first["loc"] if "targets" in settings else ()
        where = f"{place[0]}[{place[1] + 1}]: " if len(place) > 1 else ""
        return where + str(first["msg"]).removeprefix("Value error, ")
    text = first_problem(error, keys_of(form))
    return text if "targets" in settings else text.removeprefix("targets[1]").lstrip(".: ")
