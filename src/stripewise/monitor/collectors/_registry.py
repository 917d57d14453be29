# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Collectors by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pydantic import ValidationError

from stripewise.errors import ConfigurationError
from stripewise.monitor.collectors._base import Collector
from stripewise.tunables import first_problem

_MEMBERS: dict[str, tuple[str, str]] = {
    "lustre-server": ("_lustre_server", "LustreServer"),
    "lustre-client": ("_lustre_client", "LustreClient"),
    "disks": ("_disks", "Disks"),
    "nfs": ("_nfs", "Nfs"),
    "gpfs": ("_gpfs", "Gpfs"),
    "beegfs": ("_beegfs", "BeeGfs"),
    "host": ("_host", "HostFigures"),
}


def collector_names() -> tuple[str, ...]:
    """Return the names of all collectors."""
    return tuple(_MEMBERS)


def collector_problems() -> tuple[str, ...]:
    """Return why plug-ins cannot be used, a line each."""
    return ()


def collector_class(name: str) -> type[Collector]:
    """Return the collector of a name.

    Raises:
        ConfigurationError: There is none.
    """
    if name not in _MEMBERS:
        raise ConfigurationError(f"there is no collector {name!r}: use {', '.join(_MEMBERS)}")
    module, member = _MEMBERS[name]
    found: type[Collector] = getattr(
        import_module(f"stripewise.monitor.collectors.{module}"), member
    )
    return found


def create_collector(name: str, settings: Mapping[str, Any]) -> Collector:
    """Make a collector.

    Raises:
        ConfigurationError: There is none of this name, or its settings are not right.
    """
    kind = collector_class(name)
    form = kind.settings_class
    try:
        return kind(form.model_validate(dict(settings)))
    except ValidationError as error:
        problem = first_problem(error, set(form.model_fields))
        raise ConfigurationError(f"[collectors.{name}] {problem}") from error
