# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sinks by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from pydantic import ValidationError

from stripewise.errors import ConfigurationError
from stripewise.monitor._records import Round
from stripewise.monitor.sinks._base import Sink
from stripewise.tunables import first_problem

_MEMBERS: dict[str, tuple[str, str]] = {
    "prometheus": ("_prometheus", "PrometheusSink"),
    "influx": ("_influx", "InfluxSink"),
    "store": ("_store", "StoreSink"),
}


def sink_names() -> tuple[str, ...]:
    """Return the names of all sinks."""
    return tuple(_MEMBERS)


def sink_class(name: str) -> type[Sink]:
    """Return the sink of a name.

    Raises:
        ConfigurationError: There is none.
    """
    if name not in _MEMBERS:
        raise ConfigurationError(f"there is no sink {name!r}: use {', '.join(_MEMBERS)}")
    module, member = _MEMBERS[name]
    found: type[Sink] = getattr(import_module(f"stripewise.monitor.sinks.{module}"), member)
    return found


def create_sink(name: str, settings: Mapping[str, Any], server: str) -> Sink:
    """Make a sink.

    Raises:
        ConfigurationError: There is none of this name, or its settings are not right.
    """
    kind = sink_class(name)
    form = kind.settings_class
    try:
        return kind(form.model_validate(dict(settings)), server)
    except ValidationError as error:
        problem = first_problem(error, set(form.model_fields))
        raise ConfigurationError(f"[sinks.{name}] {problem}") from error


def render_prometheus(rounds: Sequence[Round], server: str) -> str:
    """Return rounds as Prometheus reads them."""
    raise NotImplementedError


def render_openmetrics(rounds: Sequence[Round], server: str) -> str:
    """Return rounds as OpenMetrics has them."""
    raise NotImplementedError


def render_influx(rounds: Sequence[Round], server: str) -> str:
    """Return rounds as lines of InfluxDB."""
    raise NotImplementedError
