# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A campaign without names: only what an allow-list knows leaves the centre."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from stripewise.bench._anonymous_words import (
    VERSION_KEYS,
    file_system_word,
    is_plain,
    version_words,
)
from stripewise.bench._campaign import Campaign
from stripewise.bench._case import Case, Settings
from stripewise.bench._sample import CaseRun, Sample
from stripewise.bench._suite import Suite, find_suite, suite_names
from stripewise.bench._suite_text import suite_text
from stripewise.errors import ConfigurationError, UsageError
from stripewise.machines import preset_names
from stripewise.model import Value
from stripewise.tunables import all_tunables, tunable_of

_STATUSES = ("ok", "failed", "timeout", "no-space", "no-nodes", "skipped")
_ENDINGS = ("all runs are made",)
_HINT_WORDS = frozenset("enable disable automatic true false on off yes no default".split())
_SHAPE = re.compile(r"[0-9]{1,15}(,[0-9]{1,15}){0,7}")
_LAYOUT = ("stripe_count", "stripe_size_bytes", "targets", "first_target", "files", "components")
_CIRCUMSTANCES = ("load", "other_jobs", "memory_bytes", "free_bytes", "free_memory_bytes",
                  "used_share", "page_cache_bytes", "nodes", "ranks_per_node")  # fmt: skip
_FACTS = ("memory_bytes", "targets", "nodes", "ranks_per_node", "cores", "cores_per_node",
          "metadata_servers", "servers", "capacity_bytes", "slowdown", "seed")  # fmt: skip
_PRESET = re.compile(r"([A-Za-z0-9._-]+?)(@(?:1/[0-9]{1,7}|[0-9.]{1,12}))?")


class _Names:
    """Names of one kind: those that are plain stay, each other one gets a number.

    The names that are given are not plain themselves, so that none of a user's can be the same.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._given: dict[str, str] = {}

    def of(self, name: str) -> str:
        if not name or is_plain(name):
            return name
        return self._given.setdefault(name, f"{self._kind} no.{len(self._given) + 1}")


class _Renaming:
    def __init__(self) -> None:
        self.series = _Names("series")
        self.directories = _Names("directory")
        self.operations = _Names("operation")
        self.phases = _Names("step")
        self.words = _Names("type")
        self.settings = _Names("setting")
        self.values = _Names("value")


def anonymised(campaign: Campaign) -> Campaign:
    """Return a campaign without names of hosts, users, jobs, accounts, paths and lists of nodes.

    Figures, numbers, versions and facts of the hardware stay; a text stays if all of its words
    are words of the field, and is numbered ("series no.1") or left out otherwise.
    """
    names = _Renaming()
    cases = tuple(_case(one, names) for one in campaign.suite.cases)
    key_of = {old.key: new.key for old, new in zip(campaign.suite.cases, cases, strict=True)}
    strangers = _Names("case")
    suite = _suite(campaign.suite, cases, names)
    return Campaign(
        name="",
        suite=suite,
        runs=tuple(
            _run(one, key_of.get(one.key) or strangers.of(one.key), names) for one in campaign.runs
        ),
        storage=file_system_word(campaign.storage),
        machine=_machine(campaign.machine),
        started_unix_seconds=campaign.started_unix_seconds,
        ended_because=_ending(campaign.ended_because),
        about=_about(campaign.about),
    )


def _suite(suite: Suite, cases: tuple[Case, ...], names: _Renaming) -> Suite:
    if suite.name in suite_names() and suite.text:
        built_in = find_suite(suite.name)
        if suite.text == built_in.text:
            return replace(
                built_in, directories=_directories(suite, names), cases=cases, text=suite.text
            )
    name = suite.name if suite.name in suite_names() else "own-suite"
    plain = Suite(name, "A suite of a user", "", _directories(suite, names), cases)
    return replace(plain, text=suite_text(plain))


def _directories(suite: Suite, names: _Renaming) -> dict[str, Any]:
    return {names.directories.of(name): place for name, place in suite.directories.items()}


def _case(case: Case, names: _Renaming) -> Case:
    word = names.words.of
    return replace(
        case,
        series=names.series.of(case.series),
        beside=names.series.of(case.beside),
        directory=names.directories.of(case.directory),
        runner=word(case.runner), operation=names.operations.of(case.operation),
        pattern=word(case.pattern), backend=word(case.backend), layout=word(case.layout),
        mode=word(case.mode), cache=word(case.cache), sharing=word(case.sharing),
        local=_shape(case.local, names), size=_shape(case.size, names),
        settings=_settings(case.settings, names),
    )  # fmt: skip


def _shape(text: str, names: _Renaming) -> str:
    return text if not text or _SHAPE.fullmatch(text) else names.values.of(text)


def _settings(settings: Settings, names: _Renaming) -> Settings:
    kept = []
    for name, value in settings:
        try:
            tunable = tunable_of(name)
        except (UsageError, ConfigurationError):
            kept.append((names.settings.of(name), _plain_value(value, (), names)))
            continue
        kept.append((tunable.name, _plain_value(value, tunable.domain.choices, names)))
    return tuple(sorted(kept))


def _plain_value(value: Value, choices: Iterable[str], names: _Renaming) -> Value:
    if not isinstance(value, str) or value in choices or value.lower() in _HINT_WORDS:
        return value
    return _shape(value, names)


def _run(run: CaseRun, key: str, names: _Renaming) -> CaseRun:
    return replace(
        run,
        key=key,
        status=run.status if run.status in _STATUSES else "failed",
        samples=tuple(_sample(one, names) for one in run.samples),
        message="",
        hints=_hints(run.hints),
        layout=_numbers(run.layout, _LAYOUT),
        circumstances=_numbers(run.circumstances, _CIRCUMSTANCES),
    )


def _sample(sample: Sample, names: _Renaming) -> Sample:
    return replace(
        sample,
        operation=names.operations.of(sample.operation),
        phases={names.phases.of(key): value for key, value in sample.phases.items()},
        percentiles={key: value for key, value in sample.percentiles.items() if _is_number(key)},
    )


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", text) is not None


def _hints(hints: Mapping[str, str]) -> dict[str, str]:
    """Keep hints that are known, with values that are numbers or switches."""
    known = {one.key for one in all_tunables()} | {"romio_filesystem_type"}
    return {
        key: value
        for key, value in hints.items()
        if key in known and (_SHAPE.fullmatch(value) or value.lower() in _HINT_WORDS)
    }


def _numbers(facts: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: facts[key] for key in keys if key in facts and _is_of_numbers(facts[key])}


def _is_of_numbers(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_of_numbers(one) for one in value)
    return isinstance(value, bool | int | float)


def _about(about: Mapping[str, Any]) -> dict[str, Any]:
    from stripewise.simulation.stacks import stack_names

    kept = _numbers(about, _FACTS)
    versions = about.get("versions")
    if isinstance(versions, Mapping):
        found = {
            key: version_words(str(value))
            for key, value in versions.items()
            if str(key).lower() in VERSION_KEYS
        }
        kept["versions"] = {key: value for key, value in found.items() if value}
    if isinstance(own := about.get("stripewise"), str) and (version := version_words(own)):
        kept["stripewise"] = version
    if about.get("stack") in stack_names():
        kept["stack"] = about["stack"]
    if about.get("launcher") in ("local", "slurm", "simulated", "emulated", "allocation"):
        kept["launcher"] = about["launcher"]
    return kept


def _machine(machine: str) -> str:
    found = _PRESET.fullmatch(machine)
    return machine if found and found[1] in preset_names() else ""


def _ending(text: str) -> str:
    if not text or text in _ENDINGS:
        return text
    return "the budget is used up" if "budget" in text else "it was ended"
