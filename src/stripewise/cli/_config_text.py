# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Configurations as lines for a terminal, and as data for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stripewise.formats import effective
from stripewise.model import Configuration, FileRule, Value
from stripewise.report import aligned, configuration_document
from stripewise.tunables import all_settings, find, hint_text, settings_class


def as_data(configuration: Configuration) -> dict[str, Any]:
    """Return a configuration as the canonical TOML has it, with what is empty."""
    found = configuration_document(configuration)
    nothing: dict[str, Any] = {**{layer: {} for layer in FileRule().layers}, "dataset": []}
    return {
        "class": str(settings_class(configuration)),
        "file": [{"match": "", **nothing, **rule} for rule in found["file"]],
        "job": {"mca": {}, "environment": {}, **found.get("job", {})},
    }


def effective_data(configuration: Configuration, name: str) -> dict[str, Any]:
    """Return what acts on a file."""
    found = effective(configuration, name)

    def described(layer: str, settings: Mapping[str, Value]) -> dict[str, Any]:
        return {
            key: {
                "value": value,
                "from": found.origin[f"{layer}.{key}"].match,
                "override": found.origin[f"{layer}.{key}"].override,
            }
            for key, value in settings.items()
        }

    return {
        "file": name,
        **{layer: described(layer, settings) for layer, settings in found.layers.items()},
        "dataset": [{"match": d.match, **d.hdf5} for d in found.datasets],
    }


def table_lines(configuration: Configuration) -> list[str]:
    """Return all settings as an aligned table."""
    rows = [("WHERE", "SETTING", "VALUE", "CLASS", "MEANING")]
    for where, layer, key, value in all_settings(configuration):
        knob = find(layer, key)
        rows.append(
            (
                where,
                f"{layer.value}.{key}",
                hint_text(value),
                str(knob.safety) if knob else "unknown",
                knob.summary if knob else "",
            )
        )
    for variable, text in configuration.job.environment.items():
        rows.append(("job", f"environment.{variable}", text, "unknown", ""))
    if len(rows) == 1:
        return ["nothing is set"]
    overriding = [rule.match for rule in configuration.files if rule.override]
    lines = aligned(rows)
    if overriding:
        lines.append(f"also where the program sets a value itself: {', '.join(overriding)}")
    return lines


def effective_lines(configuration: Configuration, name: str) -> list[str]:
    """Return what acts on a file as an aligned table."""
    found = effective(configuration, name)
    rows = [("SETTING", "VALUE", "FROM", "WHERE THE PROGRAM SETS IT")]
    for layer, settings in found.layers.items():
        for key, value in settings.items():
            rule = found.origin[f"{layer}.{key}"]
            kept = "overrides" if rule.override else "gives way"
            rows.append((f"{layer}.{key}", hint_text(value), rule.match, kept))
    for dataset in found.datasets:
        for key, value in dataset.hdf5.items():
            rows.append((f"hdf5.{key}", hint_text(value), f"dataset {dataset.match}", ""))
    return aligned(rows) if len(rows) > 1 else [f"nothing is set for {name}"]
