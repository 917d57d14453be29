# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Determines which rules act on a file, in the same way as the runtime library (flat.h)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from stripewise.core import FILE_LAYERS, Configuration, DatasetRule, FileRule, Value
from stripewise.settings.tunables import DATASET_KEYS

_PREFIX = re.compile(r"[A-Za-z0-9_]{2,}:")
_TOKEN = re.compile(
    r"\\(?P<quoted>.)"
    # a leading bracket inside is a character of the set; a slash ends the search for the closing
    # one
    r"|\[(?P<negated>[!^]?+)(?P<inside>(?:\\.|[^/\\])(?:\\.|[^]/\\])*)\]"
    r"|(?P<wild>[*?])|(?P<plain>.)",
    re.DOTALL,
)
_IN_BRACKETS = re.compile(r"\\?([^\W_])-([^\W_])|\\?(.)", re.DOTALL)


@dataclass(frozen=True)
class Effective:
    """Settings that act on one file.

    Attributes:
        layers: Layer to the settings that act on the file itself; for each key the last rule won.
        origin: Names such as "mpiio.key" to the rule that set the value.
        datasets: Rules for datasets, in order; dataset properties of the file become a rule for
            all datasets.
    """

    layers: Mapping[str, Mapping[str, Value]]
    origin: Mapping[str, FileRule]
    datasets: tuple[DatasetRule, ...]

    def dataset(self, path: str) -> dict[str, Value]:
        """Return the settings that act on a dataset, given by its absolute path in the file."""
        settings: dict[str, Value] = {}
        for rule in self.datasets:
            if _path_matches(rule.match, path):
                settings.update(rule.hdf5)
        return settings


def effective(configuration: Configuration, path: str) -> Effective:
    """Return the settings that act on a file."""
    layers: dict[str, dict[str, Value]] = {name: {} for name in FILE_LAYERS}
    origin: dict[str, FileRule] = {}
    datasets: list[DatasetRule] = []
    for rule in configuration.files:
        if not matches(rule.match, path):
            continue
        for layer, settings in rule.layers.items():
            layers[layer].update(settings)
            origin |= {f"{layer}.{key}": rule for key in settings}
        for_all = {k: v for k, v in rule.hdf5.items() if k in DATASET_KEYS}
        datasets += [DatasetRule("*", for_all)] if for_all else []
        datasets += rule.datasets
    return Effective(layers, origin, tuple(datasets))


def matches(pattern: str, path: str) -> bool:
    """Return whether a file's name matches the glob of a rule.

    A glob without a slash is compared with the basename, one with slashes with as many trailing
    components, and one that begins with a slash with the whole path.  A ROMIO prefix of the name
    is ignored.
    """
    prefix = _PREFIX.match(path)
    if prefix:
        path = path[prefix.end() :]
    return _path_matches(pattern, path.removeprefix("./"))


def _path_matches(pattern: str, path: str) -> bool:
    if pattern.startswith("/"):
        return glob_matches(pattern, path)
    components = path.split("/")
    return glob_matches(pattern, "/".join(components[-(pattern.count("/") + 1) :]))


def glob_matches(pattern: str, text: str) -> bool:
    """Match like fnmatch(3) with FNM_PATHNAME: `*` and `?` do not match a slash."""
    return _compiled(pattern).fullmatch(text) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_TOKEN.sub(_translated, pattern), re.DOTALL)


def _translated(token: re.Match[str]) -> str:
    if token["inside"]:
        negation = "^" if token["negated"] else ""
        return f"(?!/)[{negation}{_IN_BRACKETS.sub(_in_brackets, token['inside'])}]"
    if token["wild"]:
        return "[^/]*" if token["wild"] == "*" else "[^/]"
    return re.escape(token["quoted"] or token["plain"])


def _in_brackets(token: re.Match[str]) -> str:
    first, last, other = token.groups()
    if other is None and first <= last:
        return f"{first}-{last}"
    return re.escape(other or f"{first}-{last}")


def literal_glob(name: str) -> str:
    """Return the glob that matches only this name."""
    return re.sub(r"[*?\[]", lambda sign: f"[{sign.group()}]", name).replace("\\", "\\\\")


def literal_name(pattern: str) -> str | None:
    """Return the only name that a glob matches; None if it can match others."""
    name = re.sub(r"\[([*?\[])\]", lambda sign: f"\\{sign.group(1)}", pattern)
    plain = re.sub(r"\\(.)", "", name, flags=re.DOTALL)
    if re.search(r"[*?\[\\]", plain):
        return None
    return re.sub(r"\\(.)", r"\1", name, flags=re.DOTALL)
