# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""From a point of the space to a Configuration, and the class of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stripewise.errors import ConfigurationError
from stripewise.model import FILE_LAYERS, Configuration, FileRule, JobSettings, ProgramFacts, Value
from stripewise.tunables._base import Layer, SafetyClass
from stripewise.tunables._points import hint_text
from stripewise.tunables._registry import find, get
from stripewise.tunables._space import point_problem

_DANGER = (SafetyClass.SAFE, SafetyClass.LAYOUT, SafetyClass.CONTRACT)


def build_configuration(
    settings: Mapping[str, Value], facts: ProgramFacts | None = None
) -> Configuration:
    """Make the Configuration that applies these settings to every file.

    Implied settings are added unless given; the settings also act where the program set a
    value itself.

    Args:
        settings: Tunable name to value.
        facts: Of the program; without them one host is assumed.

    Raises:
        UsageError: A tunable does not exist.
        ConfigurationError: A value is not one of that tunable.
    """
    complete: dict[str, Value] = {}
    for name, value in settings.items():
        knob = get(name)
        complete[knob.name] = knob.check(value)
    for name, value in list(complete.items()):
        for other, implied in get(name).implies(value, facts).items():
            # Beside an implementation that ignores it, an implied hint is only noise.
            if facts is None or not point_problem({**complete, other: implied}, facts):
                complete.setdefault(other, implied)
    layers: dict[Layer, dict[str, Value]] = {layer: {} for layer in Layer}
    for name, value in complete.items():
        knob = get(name)
        layers[knob.layer][knob.key] = value
    of_files: dict[str, Any] = {name: layers[Layer(name)] for name in FILE_LAYERS}
    rule = FileRule("*", override=True, **of_files)
    files = () if rule.is_empty else (rule,)
    job = layers[Layer.JOB]
    return Configuration(
        files,
        JobSettings(
            mca=layers[Layer.MCA],
            ranks=_number(job.get("ranks")),
            ranks_per_node=_number(job.get("ranks_per_node")),
            threads=_number(job.get("threads")),
        ),
    )


def _number(value: Value | None) -> int | None:
    return value if isinstance(value, int) else None


def all_settings(configuration: Configuration) -> Iterator[tuple[str, Layer, str, Value]]:
    """Yield where a setting stands, its layer, key and value, for every setting."""
    for number, rule in enumerate(configuration.files, 1):
        for layer, settings in rule.layers.items():
            for key, value in settings.items():
                yield f"file {number} ({rule.match})", Layer(layer), key, value
        for dataset in rule.datasets:
            for key, value in dataset.hdf5.items():
                where = f"file {number} ({rule.match}), dataset {dataset.match}"
                yield where, Layer.HDF5, key, value
    for key, value in configuration.job.mca.items():
        yield "job", Layer.MCA, key, value
    for key, value in configuration.job.resources.items():
        yield "job", Layer.JOB, key, value


def settings_class(configuration: Configuration) -> SafetyClass:
    """Return the most dangerous class in a configuration.

    Tunables that are not known, and environment variables, count as contract: nobody has
    looked at what they can do.
    """
    worst = 2 if configuration.job.environment else 0
    for _, layer, key, _ in all_settings(configuration):
        knob = find(layer, key)
        worst = max(worst, _DANGER.index(knob.safety) if knob else 2)
    return _DANGER[worst]


def canonical_value(layer: Layer, key: str, value: Value) -> Value:
    """Return a setting's value in its canonical type; that of an unknown hint is text.

    Raises:
        ConfigurationError: It is not a value of that tunable, or not one at all.
    """
    knob = find(layer, key)
    if knob is not None:
        return knob.check(value)
    if not isinstance(value, str | int | float):
        raise ConfigurationError(f"{layer.value}.{key} = {value!r}: give a text or a number")
    return hint_text(value)
