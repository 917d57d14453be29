# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Collectors by name: our own, imported when they are asked for, and those of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pydantic import ValidationError

from stripewise.errors import ConfigurationError
from stripewise.monitor.collectors._base import Collector
from stripewise.monitor.collectors._plug_ins import PlugIns, load_plug_ins
from stripewise.text import printable
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
"""Name to module and class."""

_loaded: PlugIns | None = None


class PlugInError(ConfigurationError):
    """A collector of another package cannot be made; `collector_problems` says why from now on."""


def _plug_ins() -> PlugIns:
    global _loaded
    if _loaded is None:
        _loaded = load_plug_ins(frozenset(_MEMBERS))
    return _loaded


def collector_names() -> tuple[str, ...]:
    """Return the names of all collectors; those of plug-ins that cannot be used are left out."""
    return (*_MEMBERS, *_plug_ins().classes)


def collector_problems() -> tuple[str, ...]:
    """Return why plug-ins cannot be used, a line each: its name, its package, the reason."""
    return tuple(_plug_ins().problems.values())


def collector_class(name: str) -> type[Collector]:
    """Return the class of a collector.

    Raises:
        ConfigurationError: There is none of this name, or its plug-in cannot be used.
    """
    if name in _MEMBERS:
        module, member = _MEMBERS[name]
        found: type[Collector] = getattr(
            import_module(f"stripewise.monitor.collectors.{module}"), member
        )
        return found
    if name in _plug_ins().classes:
        return _plug_ins().classes[name]
    if name in _plug_ins().problems:
        raise ConfigurationError(_plug_ins().problems[name])
    raise ConfigurationError(
        f"there is no collector {printable(name)!r}; there are {', '.join(collector_names())}"
    )


def create_collector(name: str, settings: Mapping[str, Any] | None = None) -> Collector:
    """Make a collector.

    Args:
        name: Of the collector.
        settings: Its table in the configuration.

    Raises:
        ConfigurationError: There is none of this name, or a setting is not right.
        PlugInError: It is of another package, and raises something when it is made.
    """
    kind = collector_class(name)
    form = kind.settings_class
    try:
        read = form.model_validate(dict(settings or {}))
    except ValidationError as error:
        wrong = printable(first_problem(error, set(form.model_fields)))
        raise ConfigurationError(f"[collectors.{name}] {wrong}") from error
    try:
        return kind(read)
    except (Exception, SystemExit) as error:  # whatever a foreign class does when it is made
        if name in _MEMBERS:
            raise
        raise PlugInError(_plug_ins().give_up(name, error)) from error
