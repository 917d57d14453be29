# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""From a point of the space to a Configuration, and the class of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stripewise.errors import ConfigurationError
from stripewise.model import FILE_LAYERS, Configuration, FileRule, JobSettings, ProgramFacts, Value
from stripewise.tunables._base import Layer, SafetyClass
from stripewise.tunables._registry import find, get
from stripewise.tunables._settings import (
    hint_text,
    scoped,
    scopes,
    settings_on,
    split_scope,
    tunable_of,
)


def build_configuration(
    settings: Mapping[str, Value], facts: ProgramFacts | None = None
) -> Configuration:
    """Make the Configuration that applies these settings: to every file, or to those named.

    Implied settings are added unless given; the settings also act where the program set a
    value itself.

    Args:
        settings: Tunable name to value; with a glob behind `@` for the files that it matches.
        facts: Of the program; without them one host is assumed.

    Raises:
        UsageError: A tunable does not exist.
        ConfigurationError: A value is not one of that tunable.
    """
    checked: dict[str, Value] = {}
    for name, value in settings.items():
        knob = tunable_of(name)
        checked[scoped(knob.name, split_scope(name)[1])] = knob.check(value)
    of_all = with_implied(settings_on(checked, ""), facts)
    rules = [_rule("*", of_all)]
    for match in scopes(checked):
        given = settings_on(checked, match)
        complete = with_implied({**of_all, **given}, facts)
        own = {name for name in checked if split_scope(name)[1] == match}
        kept = {n: v for n, v in complete.items() if n not in of_all or scoped(n, match) in own}
        rules.append(_rule(match, kept))
    layers = _by_layer(of_all)
    environment = {name: str(value) for name, value in layers[Layer.ENVIRONMENT].items()}
    job = JobSettings(layers[Layer.MCA], environment, **layers[Layer.JOB])
    return Configuration(tuple(rule for rule in rules if not rule.is_empty), job)


def with_implied(settings: Mapping[str, Value], facts: ProgramFacts | None) -> dict[str, Value]:
    """Return the settings with those that they need to act, where these are not given."""
    from stripewise.tunables._space import is_valid  # of use to strategies, not to each run

    complete = dict(settings)
    for name, value in settings.items():
        for other, implied in get(name).implies(value, facts).items():
            # Beside an implementation that ignores it, an implied hint is only noise.
            if facts is None or is_valid({**complete, other: implied}, facts):
                complete.setdefault(other, implied)
    return complete


def _by_layer(settings: Mapping[str, Value]) -> dict[str, dict[str, Any]]:
    layers: dict[str, dict[str, Any]] = {layer: {} for layer in Layer}
    for name, value in settings.items():
        knob = get(name)
        layers[knob.layer][knob.key] = value
    return layers


def _rule(match: str, settings: Mapping[str, Value]) -> FileRule:
    layers = _by_layer(settings)
    of_files: dict[str, Any] = {name: layers[name] for name in FILE_LAYERS}
    return FileRule(match, override=True, **of_files)


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
    job = configuration.job
    for name, wanted in (*job.resources.items(), *job.burst_buffer.items()):
        yield "job", Layer.JOB, name, wanted


def settings_class(configuration: Configuration) -> SafetyClass:
    """Return the most dangerous class in a configuration.

    Tunables and environment variables that are not known count as contract: nobody has
    looked at what they can do.
    """
    knobs = [find(layer, key) for _, layer, key, _ in all_settings(configuration)]
    classes = {knob.safety if knob else SafetyClass.CONTRACT for knob in knobs}
    for name in configuration.job.environment:
        variable = find(Layer.ENVIRONMENT, name)
        classes.add(variable.safety if variable else SafetyClass.CONTRACT)
    return max(classes, key=list(SafetyClass).index, default=SafetyClass.SAFE)


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
