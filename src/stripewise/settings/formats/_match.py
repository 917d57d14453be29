# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tells which rules act on a file, as the runtime library does (flat.h)."""

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
    # a bracket that is first inside is one of the characters; a slash ends the search for the last
    r"|\[(?P<negated>[!^]?+)(?P<inside>(?:\\.|[^/\\])(?:\\.|[^]/\\])*)\]"
    r"|(?P<wild>[*?])|(?P<plain>.)",
    re.DOTALL,
)
_IN_BRACKETS = re.compile(r"\\?([^\W_])-([^\W_])|\\?(.)", re.DOTALL)


@dataclass(frozen=True)
class Effective:
    """What acts on one file.

    Attributes:
        layers: Layer to what acts there on the file itself, later rules having won key by key.
        origin: "mpiio.key" and the like to the rule that it comes from.
        datasets: Rules for datasets, in order; properties of datasets that stand at the file
            are a rule for all of them.
    """

    layers: Mapping[str, Mapping[str, Value]]
    origin: Mapping[str, FileRule]
    datasets: tuple[DatasetRule, ...]

    def dataset(self, path: str) -> dict[str, Value]:
        """Return what acts on a dataset, given by its absolute path in the file."""
        settings: dict[str, Value] = {}
        for rule in self.datasets:
            if _path_matches(rule.match, path):
                settings.update(rule.hdf5)
        return settings


def effective(configuration: Configuration, path: str) -> Effective:
    """Return what acts on a file."""
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
    """Whether a file's name matches a rule.

    Without slash: the basename; with slashes: as many trailing components as the pattern
    has; beginning with a slash: the whole path.  A ROMIO prefix of the name is taken off.
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
    """Match as fnmatch(3) does with FNM_PATHNAME: `*` and `?` stop at a slash."""
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
    """Return the glob that matches this name and nothing else."""
    return re.sub(r"[*?\[]", lambda sign: f"[{sign.group()}]", name).replace("\\", "\\\\")


def literal_name(pattern: str) -> str | None:
    """Return the one name that a glob matches; None if it can match others."""
    name = re.sub(r"\[([*?\[])\]", lambda sign: f"\\{sign.group(1)}", pattern)
    plain = re.sub(r"\\(.)", "", name, flags=re.DOTALL)
    if re.search(r"[*?\[\\]", plain):
        return None
    return re.sub(r"\\(.)", r"\1", name, flags=re.DOTALL)
