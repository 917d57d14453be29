# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes configurations and tunables as lines for a terminal and as data for JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from stripewise.core import Configuration, FileRule, Value
from stripewise.present import aligned
from stripewise.settings.formats import effective
from stripewise.settings.tunables import Tunable, all_settings, find, hint_text, settings_class


def configuration_document(configuration: Configuration) -> dict[str, Any]:
    """Convert a configuration to the structure of its canonical TOML."""
    document: dict[str, Any] = {"version": 1, "file": []}
    for rule in configuration.files:
        entry: dict[str, Any] = {"match": rule.match}
        entry.update({layer: dict(s) for layer, s in rule.layers.items() if s})
        entry["override"] = rule.override
        if rule.datasets:
            entry["dataset"] = [{"match": d.match, **d.hdf5} for d in rule.datasets]
        document["file"].append(entry)
    job: dict[str, Any] = {**configuration.job.resources, **configuration.job.burst_buffer}
    if configuration.job.mca:
        job["mca"] = dict(configuration.job.mca)
    if configuration.job.environment:
        job["environment"] = dict(configuration.job.environment)
    if job:
        document["job"] = job
    return document


def configuration_json(configuration: Configuration) -> dict[str, Any]:
    """Return a configuration in the structure of the canonical TOML, including empty parts."""
    found = configuration_document(configuration)
    nothing: dict[str, Any] = {**{layer: {} for layer in FileRule().layers}, "dataset": []}
    return {
        "class": str(settings_class(configuration)),
        "file": [{"match": "", **nothing, **rule} for rule in found["file"]],
        "job": {"mca": {}, "environment": {}, **found.get("job", {})},
    }


def effective_json(configuration: Configuration, name: str) -> dict[str, Any]:
    """Return the settings that act on a file, as data."""
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


def configuration_lines(configuration: Configuration) -> list[str]:
    """Return all settings as an aligned table."""
    rows = [("WHERE", "SETTING", "VALUE", "CLASS", "MEANING")]
    for where, layer, key, value in all_settings(configuration):
        tunable = find(layer, key)
        rows.append(
            (
                where,
                f"{layer.value}.{key}",
                hint_text(value),
                str(tunable.safety) if tunable else "unknown",
                tunable.summary if tunable else "",
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
    """Return the settings that act on a file as an aligned table."""
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


# Tunables.


def tunable_json(tunable: Tunable, forbidden: str) -> dict[str, Any]:
    """Return a description of a tunable as data, with the reason if a policy forbids it."""
    return {
        "name": tunable.name,
        "layer": tunable.layer.value,
        "key": tunable.key,
        "kind": tunable.domain.kind,
        "choices": list(tunable.domain.choices),
        "default": tunable.domain.default,
        "class": tunable.safety.value,
        "acts_at": tunable.acts_at.value,
        "stacks": list(tunable.stacks),
        "effect_order": tunable.search.effect_order,
        "summary": tunable.summary,
        "also": tunable.also or None,
        "only_by_name": tunable.search.by_name or None,
        "source": tunable.source,
        "forbidden": forbidden or None,
    }


def tunable_lines(tunable: Tunable, forbidden: str) -> Iterator[str]:
    """Yield a description of a tunable, in lines of at most 80 characters of text."""
    yield tunable.name
    rows = [
        ("what it does", tunable.summary),
        ("values", tunable.domain.words),
        ("default", tunable.domain.default),
        ("class", f"{tunable.safety.value}"),
        ("acts at", tunable.acts_at.value),
        ("honoured by", ", ".join(tunable.stacks)),
        ("also known as", tunable.also),
        ("searched", f"only if named: {tunable.search.by_name}" if tunable.search.by_name else ""),
        ("source", tunable.source),
    ]
    rows = [(title, text) for title, text in rows if text]
    if forbidden:
        rows.append(("forbidden", forbidden))
    for title, text in rows:
        wrapped = textwrap.wrap(text, 80) or [""]
        yield f"  {title:<14}{wrapped[0]}"
        yield from (" " * 16 + line for line in wrapped[1:])


def tunables_lines(tunables: Sequence[Tunable], forbidden: Collection[str]) -> Iterator[str]:
    """Yield the lines of a table of tunables, with marks on those that a policy forbids."""
    width = max(len(tunable.name) for tunable in tunables)
    yield f"{'TUNABLE':<{width}}  {'CLASS':<9}{'STACKS':<20}WHAT IT DOES"
    for tunable in tunables:
        mark = "  [forbidden by policy]" if tunable.name in forbidden else ""
        stacks = ", ".join(tunable.stacks)
        yield (
            f"{tunable.name:<{width}}  {tunable.safety.value:<9}{stacks:<20}"
            f"{tunable.summary}{mark}"
        )
