# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The form in which values are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stripewise.errors import ConfigurationError
from stripewise.model import Configuration, DatasetRule, FileRule, Value
from stripewise.tunables import Layer, canonical_value


def canonical_settings(layer: Layer, settings: Mapping[str, Any]) -> dict[str, Value]:
    """Return settings with canonical values; wrong ones stay for the check to find."""
    return {key: _canonical(layer, key, value) for key, value in settings.items()}


def _canonical(layer: Layer, key: str, value: Any) -> Value:
    plain: Value = tuple(value) if isinstance(value, list) else value
    try:
        return canonical_value(layer, key, plain)
    except ConfigurationError:
        return plain


def canonical_layers(
    layers: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Value]]:
    """Return the settings of a file rule, by layer, with canonical values."""
    return {name: canonical_settings(Layer(name), settings) for name, settings in layers.items()}


def canonical(configuration: Configuration) -> Configuration:
    """Return the configuration with every value in its canonical type."""
    return Configuration(
        tuple(
            FileRule(
                rule.match,
                override=rule.override,
                datasets=tuple(
                    DatasetRule(d.match, canonical_settings(Layer.HDF5, d.hdf5))
                    for d in rule.datasets
                ),
                **canonical_layers(rule.layers),
            )
            for rule in configuration.files
        ),
        replace(configuration.job, mca=canonical_settings(Layer.MCA, configuration.job.mca)),
    )
