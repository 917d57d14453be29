# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds collectors by name, including those of other packages, and checks their metrics."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, TypeGuard

from pydantic import ValidationError

from stripewise.centre.monitor._records import Metric
from stripewise.centre.monitor.collectors._base import Collector, CollectorSettings
from stripewise.centre.monitor.metrics import METRICS
from stripewise.core.errors import ConfigurationError
from stripewise.present import printable
from stripewise.settings.tunables import first_problem

# Collectors of other packages, found by their entry points.

GROUP = "stripewise.collectors"
"""Group of entry points of the form: name of the collector = "module:Class"."""

_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_LONGEST = 200


@dataclass
class PlugIns:
    """Plug-ins that were found.

    Attributes:
        classes: Collectors that can be used, by name.
        problems: Why other plug-ins cannot be used, by the name of the entry point.
        points: Entry points of `classes`.
    """

    classes: dict[str, type[Collector]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    points: dict[str, EntryPoint] = field(default_factory=dict)

    def give_up(self, name: str, error: BaseException) -> str:
        """Drop a plug-in that cannot be created, and return the reason, as in `problems`."""
        del self.classes[name]
        why = f"cannot be made ({type(error).__name__}: {error}): update or remove it"
        return _tell(self, self.points[name], why)


def load_plug_ins(taken: Collection[str]) -> PlugIns:
    """Import all plug-ins; one that cannot be used is left out and reported, and the others stay.

    Args:
        taken: Names of Stripewise's own collectors.
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
    """Record a problem, and return it; two packages may have used one name."""
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
    """Return the class, or None and the reason why there is none."""
    if not _NAME.fullmatch(point.name):
        return None, "its name is none: use lower-case letters, digits and -"
    if point.name in names:
        return None, "another collector has this name: rename it"
    try:
        kind = point.load()
    except (Exception, SystemExit) as error:  # a foreign module may raise anything when imported
        return None, f"cannot be imported ({type(error).__name__}: {error}): update or remove it"
    if why := _class_problem(kind, point.name):
        return None, why
    return _checked(kind, metrics)


def _class_problem(kind: object, name: str) -> str:
    if not (isinstance(kind, type) and issubclass(kind, Collector)):
        return "is not a class derived from Collector"
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


# Rules for the metrics of plug-ins, which ours meet as well: base units and bounded labels.

_NAME_RULES = re.compile(r"[a-z][a-z0-9_]*")
_ENDINGS = ("_total", "_bucket", "_sum", "_count", "_created", "_gsum", "_gcount")
"""Suffixes that Prometheus and OpenMetrics add. Source: OpenMetrics 1.0, reserved suffixes."""
_SCALED = frozenset(
    "ns us usecs ms msecs milliseconds microseconds nanoseconds minutes hours days jiffies ticks "
    "kb mb gb tb kib mib gib tib kbytes mbytes gbytes kilobytes megabytes gigabytes bits sectors "
    "percent pct percentage".split()
)
"""Units in names that are not base units."""
_UNBOUNDED = frozenset(
    "job jobid job_id tag path file filename directory dir mount mountpoint pid command".split()
)
"""Labels whose values are unbounded, or contain names of users' files."""
_RESERVED = frozenset({"le", "quantile", "server", "cluster", "instance"})
"""Labels that sinks add."""
_MOST_LABELS = 5
_BASE = ("bytes", "seconds")


def why_not(metric: Metric, taken: Collection[str] = ()) -> str:
    """Return what is wrong with a metric, with the remedy; "" if it is valid.

    Args:
        metric: Metric of a plug-in.
        taken: Names of other metrics.
    """
    name = metric.name
    if not _NAME_RULES.fullmatch(name):
        return f"the metric {name!r} has an invalid name: use lower-case letters, digits and _"
    if name in taken:
        return f"the metric {name} is there already: choose another name"
    if name.endswith(_ENDINGS):
        return f"the metric {name} ends as Prometheus's own names do: leave the ending out"
    if not metric.summary or "\n" in metric.summary:
        return f"the metric {name} has no summary of one line: write one"
    return _unit_problem(metric) or _label_problem(metric)


def _unit_problem(metric: Metric) -> str:
    words = metric.name.split("_")
    scaled = sorted(_SCALED & {*words, metric.unit.lower()})
    if scaled or not metric.unit or metric.unit == "%":
        shown = scaled[0] if scaled else repr(metric.unit)
        return (
            f"the metric {metric.name} has the unit {shown}: give bytes, seconds, shares, counts"
        )
    if metric.unit in _BASE and metric.unit not in words:
        return f"the metric {metric.name} does not say its unit: name it ..._{metric.unit}"
    return ""


def _label_problem(metric: Metric) -> str:
    if len(metric.labels) > _MOST_LABELS or len(set(metric.labels)) < len(metric.labels):
        return f"the metric {metric.name}: give at most {_MOST_LABELS} labels, each once"
    for label in metric.labels:
        if not _NAME_RULES.fullmatch(label) or label in _RESERVED:
            return f"the metric {metric.name} cannot have the label {label!r}: choose another name"
        if label in _UNBOUNDED:
            return (
                f"the metric {metric.name} has the label {label!r}, which is not bounded: drop it"
            )
    return ""


# Collectors by name: our own, which are imported on demand, and those of other packages.

_OTHERS = ("_base", "_registry")
OWN = tuple(
    sorted(
        one.name[1:].replace("_", "-")
        for one in iter_modules([str(Path(__file__).parent)])
        if one.name not in _OTHERS and not one.ispkg
    )
)
"""Names of our own collectors, each of which is in the module of its name."""

_loaded: PlugIns | None = None


class PlugInError(ConfigurationError):
    """A plug-in collector cannot be created; `collector_problems` reports why from now on."""


def _plug_ins() -> PlugIns:
    global _loaded
    if _loaded is None:
        _loaded = load_plug_ins(frozenset(OWN))
    return _loaded


def collector_names() -> tuple[str, ...]:
    """Return the names of all collectors, without plug-ins that cannot be used."""
    return (*OWN, *_plug_ins().classes)


def collector_problems() -> tuple[str, ...]:
    """Return why plug-ins cannot be used, one line each: its name, its package, the reason."""
    return tuple(_plug_ins().problems.values())


def collector_class(name: str) -> type[Collector]:
    """Return the class of a collector.

    Raises:
        ConfigurationError: There is no such collector, or its plug-in cannot be used.
    """
    if name in OWN:
        module = import_module(f"{__package__}._{name.replace('-', '_')}")
        return next(one for one in vars(module).values() if _is_collector(one, name))
    if name in _plug_ins().classes:
        return _plug_ins().classes[name]
    if name in _plug_ins().problems:
        raise ConfigurationError(_plug_ins().problems[name])
    raise ConfigurationError(
        f"there is no collector {printable(name)!r}; there are {', '.join(collector_names())}"
    )


def _is_collector(found: object, name: str) -> TypeGuard[type[Collector]]:
    return (
        isinstance(found, type)
        and issubclass(found, Collector)
        and getattr(found, "name", "") == name
    )


def create_collector(name: str, settings: Mapping[str, Any] | None = None) -> Collector:
    """Create a collector.

    Args:
        name: Name of the collector.
        settings: Its table in the configuration.

    Raises:
        ConfigurationError: There is no such collector, or a setting is invalid.
        PlugInError: It belongs to another package, and raises an error when created.
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
    except (Exception, SystemExit) as error:  # a foreign class may raise anything when created
        if name in OWN:
            raise
        raise PlugInError(_plug_ins().give_up(name, error)) from error
