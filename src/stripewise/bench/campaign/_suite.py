# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds, reads and writes suites: the matrix of cases of a campaign."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from stripewise.bench._case import Case
from stripewise.bench.campaign._suite_check import check_suite
from stripewise.bench.campaign._suite_form import (
    MOST,
    RENAMED,
    cases_of,
    own_keys,
    places_of,
    read_document,
)
from stripewise.bench.campaign._suite_form import MOST_CASES as MOST_CASES
from stripewise.bench.campaign._suite_form import Place as Place
from stripewise.bench.runners import find_runner
from stripewise.core.errors import ConfigurationError, UsageError
from stripewise.core.inputs import SUITE, read_input


@dataclass(frozen=True)
class Suite:
    """A declared matrix of cases.

    Attributes:
        name: "array3d"; of a user's file what it says.
        title: One line.
        about: What it measures, and what its figures tell; may have several lines.
        directories: Name -> how its files are striped.
        cases: All of them, in the order of the file.
        text: Of the file, as it was read.
        quick: Cases of a short run; none: the suite has no `[quick]`.
        own: Series -> what of the job it says itself, so that it stays when a suite is narrowed:
            "nodes", "ranks_per_node"; with "max" its nodes are the most there are.
    """

    name: str
    title: str
    about: str
    directories: Mapping[str, Place]
    cases: tuple[Case, ...]
    text: str = ""
    quick: tuple[Case, ...] = ()
    own: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return plain data, without the cases."""
        return {
            "name": self.name,
            "title": self.title,
            "about": self.about,
            "directories": {name: asdict(place) for name, place in self.directories.items()},
            "text": self.text,
        }

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the lines, in the order of the file."""
        return tuple(dict.fromkeys(one.series for one in self.cases))

    @property
    def n_runs(self) -> int:
        """Runs of all cases, repeats and all."""
        return sum(one.repeats for one in self.cases)

    @property
    def most_nodes(self) -> int:
        """Nodes of the largest job; two that run at the same time need theirs each."""
        return max(self.nodes_of(one) for one in self.cases)

    @property
    def bytes(self) -> int:
        """Bytes that all runs write, one after another."""
        return sum(bytes_of(one) * one.repeats for one in self.cases)

    def nodes_of(self, case: Case) -> int:
        """Return the nodes of a case together with the one that runs beside it."""
        beside = self.beside(case)
        return case.nodes + (beside.nodes if beside else 0)

    def beside(self, case: Case) -> Case | None:
        """Return the case that runs at the same time: of its series the one that is most alike."""
        if not case.beside:
            return None
        alike = [one for one in self.cases if one.series == case.beside]
        return max(alike, key=lambda one: _likeness(one, case), default=None)

    def shortened(self) -> Suite:
        """Return the suite with the cases of `[quick]`.

        Raises:
            UsageError: It has no `[quick]`.
        """
        if not self.quick:
            raise UsageError(
                f"the suite {self.name} has no [quick]: give --nodes and --repeat, or add it"
            )
        return replace(self, cases=self.quick)

    def narrowed(
        self,
        *,
        nodes: Iterable[int] = (),
        ranks_per_node: int | None = None,
        directories: Iterable[str] = (),
        series: Iterable[str] = (),
        repeats: int | None = None,
    ) -> Suite:
        """Return the suite on these nodes and with only these directories and series.

        Cases of other numbers of nodes are made for those that are given.  What a `[[case]]`
        says of nodes and ranks itself stays, except that no job has more nodes than the most
        that are given.

        Raises:
            UsageError: It has no such directory or series, or nothing is left.
        """
        wanted, lines = list(directories), list(series)
        _check_known("directory", wanted, self.directories)
        _check_known("series", lines, dict.fromkeys(self.series))
        kept = self._only(wanted, lines)
        if counts := list(nodes):
            kept = [new for one in kept for new in self._on(one, counts)]
        if ranks_per_node is not None:
            kept = [self._with_ranks(one, ranks_per_node) for one in kept]
        if repeats is not None:
            kept = [replace(one, repeats=repeats) for one in kept]
        kept = list(dict.fromkeys(kept))
        if not kept:
            raise UsageError(
                f"nothing is left of the suite {self.name}: give other --dirs or --nodes"
            )
        check_suite(kept, self.directories, self.name)
        return replace(self, cases=tuple(kept))

    def _only(self, directories: list[str], series: list[str]) -> list[Case]:
        """Return the cases of these, and those that run beside them."""
        kept = [
            one
            for one in self.cases
            if (not directories or one.directory in directories)
            and (not series or one.series in series)
        ]
        needed = {one.beside for one in kept if one.beside}
        chosen = set(kept)
        return [one for one in self.cases if one in chosen or one.series in needed]

    def _on(self, case: Case, counts: list[int]) -> list[Case]:
        own = self.own.get(case.series, frozenset())
        if MOST in own:
            return [replace(case, nodes=max(counts))]
        if "nodes" in own:
            return [case] if case.nodes <= max(counts) else []
        return [replace(case, nodes=count) for count in counts]

    def _with_ranks(self, case: Case, ranks_per_node: int) -> Case:
        if "ranks_per_node" in self.own.get(case.series, frozenset()):
            return case
        return replace(case, ranks_per_node=ranks_per_node)


def bytes_of(case: Case) -> int:
    """Return the bytes that one run of a case writes; its runner can make it."""
    if case.operation == "metadata":
        return case.ranks * case.files * case.file_bytes
    work = find_runner(case.runner).workload(case)
    return work.bytes if work is not None else 0


def _likeness(one: Case, other: Case) -> tuple[bool, bool, bool]:
    return (
        one.nodes == other.nodes,
        one.ranks_per_node == other.ranks_per_node,
        one.directory == other.directory,
    )


def _check_known(what: str, names: Iterable[str], known: Mapping[str, object]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(f"the suite has no {what} {name!r}: it has {', '.join(known)}")


# ---- files -----------------------------------------------------------------------------------


def suite_names() -> tuple[str, ...]:
    """Return the names of the suites that come with Stripewise."""
    folder = files("stripewise.bench") / "suites"
    return tuple(sorted(one.name[:-5] for one in folder.iterdir() if one.name.endswith(".toml")))


def find_suite(name: str) -> Suite:
    """Return a suite that comes with Stripewise, or that of a file.

    Args:
        name: Of a suite, or the path of a TOML file.

    Raises:
        UsageError: There is neither.
        ConfigurationError: The file cannot be read or is malformed.
    """
    if name in suite_names():
        file = files("stripewise.bench") / "suites" / f"{name}.toml"
        return parse_suite(file.read_text(encoding="utf-8"), f"{name}.toml")
    path = Path(name)
    if not name.endswith(".toml") and not path.exists():
        raise UsageError(
            f"there is no suite {name!r}: give the path of a .toml file, or one of "
            f"{', '.join(suite_names())}"
        )
    try:
        text = read_input(path, SUITE).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: a suite is UTF-8 text: save it as UTF-8") from error
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror or error}: give a file") from error
    return parse_suite(text, str(path))


def parse_suite(text: str, name: str) -> Suite:
    """Read a suite.

    Args:
        text: Its TOML.
        name: Of the file, for messages.

    Raises:
        ConfigurationError: It is malformed, or contradicts itself.
    """
    document = read_document(text, name)
    places = places_of(document)
    cases = cases_of(document, name)
    quick = cases_of(document, name, quick=True) if document.quick else ()
    if not cases or (document.quick and not quick):
        raise ConfigurationError(f"{name}: no case is left: give fewer conditions in unless")
    check_suite(cases, places, name)
    check_suite(quick, places, f"{name}: [quick]")
    return Suite(
        document.name, document.title, document.about, places, cases, text, quick,
        own_keys(document),
    )  # fmt: skip


# A suite as TOML again: each of its cases by itself, no lists.

_WORDS = {name: word for word, name in RENAMED.items()}
_PLACE = {"stripe_count": "stripe_count", "stripe_bytes": "stripe_size", "target": "target"}


def suite_text(suite: Suite) -> str:
    """Return TOML from which `parse_suite` reads the same cases and directories."""
    lines = ["version = 1"]
    lines += [f"{key} = {_value(getattr(suite, key))}" for key in ("name", "title", "about")]
    lines += ["", "[directories]"]
    lines += [f"{_value(name)} = {_place(place)}" for name, place in suite.directories.items()]
    for case in suite.cases:
        lines += ["", "[[case]]", *_case(case)]
    return "\n".join(lines) + "\n"


def _place(place: Place) -> str:
    usual = Place()
    said = [
        f"{word} = {getattr(place, name)}"
        for name, word in _PLACE.items()
        if getattr(place, name) != getattr(usual, name)
    ]
    return "{ " + ", ".join(said) + " }" if said else "{}"


def _case(case: Case) -> Iterator[str]:
    usual = Case(case.series)
    yield f"series = {_value(case.series)}"
    for one in fields(case):
        value = getattr(case, one.name)
        if one.name in ("series", "settings"):
            continue
        if one.name == "repeats" or value != getattr(usual, one.name):
            yield f"{_WORDS.get(one.name, one.name)} = {_value(value)}"
    if case.settings:
        said = ", ".join(f"{_value(name)} = {_value(value)}" for name, value in case.settings)
        yield f"settings = {{ {said} }}"


def _value(value: Any) -> str:
    """Return a value of TOML; its basic strings have the escapes of JSON's."""
    if isinstance(value, tuple | list):
        return "[[" + ", ".join(_value(one) for one in value) + "]]"  # one value, not several
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
