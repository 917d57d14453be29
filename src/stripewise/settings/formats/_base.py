# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of a format, which converts a Configuration to text and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from stripewise.core import Configuration, DatasetRule, Value
from stripewise.core.errors import ConfigurationError
from stripewise.core.inputs import CONFIGURATION
from stripewise.settings.tunables import (
    Layer,
    all_settings,
    canonical_value,
    check_configuration,
    configuration_warnings,
    find,
)


@dataclass(frozen=True)
class LoadedConfiguration:
    """Result of reading a configuration.

    Attributes:
        configuration: Values in their canonical types.
        warnings: Settings that were ignored or may have no effect, a line each.
    """

    configuration: Configuration
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    """Result of writing a configuration.

    Attributes:
        text: Text in the format.
        lost: Parts of the configuration that the format cannot express, a line each; if nothing is
            lost, reading the text gives settings with the same effect.
        notes: How other readers of the format may interpret the text differently, a line each.
    """

    text: str
    lost: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Format(ABC):
    """One text format of configurations.

    Attributes:
        name: Name on the command line.
        suffixes: Suffixes of files in this format; may be empty.
        summary: Summary in one line.
    """

    name: str
    suffixes: tuple[str, ...] = ()
    summary: str

    @abstractmethod
    def parse(self, text: str, name: str = "configuration") -> LoadedConfiguration:
        """Parse a text without checking values; invalid ones are kept.

        Args:
            text: Text in the format.
            name: Name of the source, for messages.

        Raises:
            ConfigurationError: The text is not in this format.
        """

    @abstractmethod
    def write(self, configuration: Configuration) -> Written:
        """Write a configuration that has been checked."""

    def read(self, text: str, name: str = "configuration") -> LoadedConfiguration:
        """Parse a text and check its values.

        Raises:
            ConfigurationError: The text is not in this format, or has unknown or impossible
                settings.
        """
        loaded = self.parse(text, name)
        CONFIGURATION.check_entries(_n_entries(loaded.configuration), name)
        problems = check_configuration(loaded.configuration)
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise ConfigurationError(f"{name}: {problems[0]}{more}")
        warnings = configuration_warnings(loaded.configuration)
        return LoadedConfiguration(loaded.configuration, (*loaded.warnings, *warnings))


def _n_entries(configuration: Configuration) -> int:
    """Return the number of rules and settings."""
    rules = sum(1 + len(rule.datasets) for rule in configuration.files)
    settings = len(list(all_settings(configuration)))
    return rules + settings + len(configuration.job.environment)


def value_from_text(layer: Layer, key: str, text: str) -> Value:
    """Return a setting's value parsed from text; unreadable text is kept for the check."""
    with suppress(ConfigurationError):
        if tunable := find(layer, key):
            return tunable.parse(text)
    return text


def canonical(configuration: Configuration) -> Configuration:
    """Return the configuration with every value in its canonical type.

    Lists become tuples; invalid values are kept, so that the check reports them.
    """
    rules = []
    for rule in configuration.files:
        layers: dict[str, Any] = {name: _canonical(name, on) for name, on in rule.layers.items()}
        datasets = tuple(DatasetRule(d.match, _canonical("hdf5", d.hdf5)) for d in rule.datasets)
        rules.append(replace(rule, datasets=datasets, **layers))
    job = configuration.job
    return Configuration(tuple(rules), replace(job, mca=_canonical("mca", job.mca)))


def _canonical(layer: str, settings: Mapping[str, Value]) -> dict[str, Value]:
    checked: dict[str, Value] = {}
    for key, value in settings.items():
        checked[key] = tuple(value) if isinstance(value, list) else value
        with suppress(ConfigurationError):
            checked[key] = canonical_value(Layer(layer), key, checked[key])
    return checked


def lost_parts(configuration: Configuration, *supported: str) -> list[str]:
    """Return the parts of a configuration that a format cannot express, a line each.

    Args:
        configuration: Configuration to write.
        supported: Layers besides MPI-IO that the format can express, and "mca" for the job.
    """
    lost = []
    for rule in configuration.files:
        of_datasets = any(dataset.hdf5 for dataset in rule.datasets)
        if "hdf5" not in supported and (rule.hdf5 or of_datasets):
            lost.append(f"HDF5 properties for {rule.match}")
        lost += [
            f"{Layer(layer).settings} for {rule.match}: {', '.join(settings)}"
            for layer, settings in rule.layers.items()
            if settings and layer not in ("mpiio", "hdf5", *supported)
        ]
    job = configuration.job
    if "mca" not in supported and job.mca:
        lost.append("MCA parameters " + ", ".join(job.mca))
    if job.environment:
        lost.append("environment variables " + ", ".join(job.environment))
    of_job: dict[str, Value] = {**job.resources, **job.burst_buffer}
    if of_job:
        resources = (f"{name}={value}" for name, value in of_job.items())
        lost.append("the job's " + ", ".join(resources))
    return lost
