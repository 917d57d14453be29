# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Collectors of other packages, found by the entry points that these declare."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points

from stripewise.monitor.collectors._base import Collector, CollectorSettings
from stripewise.monitor.metrics import METRICS, Metric, why_not
from stripewise.text import printable

GROUP = "stripewise.collectors"
"""Group of entry points: the collector's name = "module:Class"."""

_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_LONGEST = 200


@dataclass
class PlugIns:
    """What was found.

    Attributes:
        classes: Collectors that can be used, by name.
        problems: Why another one cannot, by the name of its entry point.
        points: Entry points of `classes`.
    """

    classes: dict[str, type[Collector]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    points: dict[str, EntryPoint] = field(default_factory=dict)

    def give_up(self, name: str, error: BaseException) -> str:
        """Use one no more that cannot be made, and return why, as `problems` has it."""
        del self.classes[name]
        why = f"cannot be made ({type(error).__name__}: {error}): update or remove it"
        return _tell(self, self.points[name], why)


def load_plug_ins(taken: Collection[str]) -> PlugIns:
    """Import all plug-ins; one that cannot be used is left out and told, and the rest stay.

    Args:
        taken: Names of our own collectors.
    """
    found = PlugIns()
    metrics = {metric.name for metric in METRICS}
    for point in sorted(entry_points(group=GROUP), key=lambda one: (_package(one), one.name)):
        names = {*taken, *found.classes}
        kind, why = _load(point, names, metrics)
        if kind is None:
            _tell(found, point, why)
            continue
        found.classes[point.name], found.points[point.name] = kind, point
        metrics.update(metric.name for metric in kind.metrics)
    return found


def _tell(found: PlugIns, point: EntryPoint, why: str) -> str:
    """Note a problem, and return it; two packages may have used one name."""
    key = point.name
    while key in found.problems:
        key += " "
    shown = printable(f"the collector {point.name!r} of the package {_package(point)}: {why}")
    found.problems[key] = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
    return found.problems[key]


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "?"


def _load(
    point: EntryPoint, names: Collection[str], metrics: Collection[str]
) -> tuple[type[Collector] | None, str]:
    """Return the class, or None and why not."""
    if not _NAME.fullmatch(point.name):
        return None, "its name is none: use lower-case letters, digits and -"
    if point.name in names:
        return None, "another collector has this name: rename it"
    try:
        kind = point.load()
    except (Exception, SystemExit) as error:  # whatever a foreign module does when it is imported
        return None, f"cannot be imported ({type(error).__name__}: {error}): update or remove it"
    if why := _class_problem(kind, point.name):
        return None, why
    return _checked(kind, metrics)


def _class_problem(kind: object, name: str) -> str:
    if not (isinstance(kind, type) and issubclass(kind, Collector)):
        return "is no class derived from Collector"
    if inspect.isabstract(kind):
        return f"lacks {', '.join(sorted(kind.__abstractmethods__))}"
    if getattr(kind, "name", "") != name:
        return f"calls itself {getattr(kind, 'name', '')!r}: give both the same name"
    if not isinstance(getattr(kind, "summary", None), str):
        return "has no summary: write one line"
    if not issubclass(kind.settings_class, CollectorSettings):
        return "has settings that do not derive from CollectorSettings"
    return ""


def _checked(
    kind: type[Collector], metrics: Collection[str]
) -> tuple[type[Collector] | None, str]:
    declared = getattr(kind, "metrics", ())
    if not declared or not all(isinstance(metric, Metric) for metric in declared):
        return None, "declares no metrics"
    for place, metric in enumerate(declared):
        earlier = {one.name for one in declared[:place]}
        if why := why_not(metric, {*metrics, *earlier}):
            return None, why
    return kind, ""
