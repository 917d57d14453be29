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
from stripewise.bench.campaign._suite_form import DirectoryStriping as DirectoryStriping
from stripewise.bench.runners import find_runner
from stripewise.core.errors import ConfigurationError, UsageError
from stripewise.core.inputs import SUITE, read_input


@dataclass(frozen=True)
class Suite:
    """Declared matrix of cases.

    Attributes:
        name: Name of the suite, such as "array3d".
        title: Title in one line.
        about: What it measures and what its figures mean; may have several lines.
        directories: Name of a directory to the striping of its files.
        cases: All cases in the order of the file.
        text: Text of the file as it was read.
        quick: Cases of a short run; empty if the suite has no `[quick]`.
        own: Series to the job sizes it sets itself, which are kept when a suite is narrowed:
            "nodes", "ranks_per_node"; with "max" its nodes are the largest number.
    """

    name: str
    title: str
    about: str
    directories: Mapping[str, DirectoryStriping]
    cases: tuple[Case, ...]
    text: str = ""
    quick: tuple[Case, ...] = ()
    own: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return plain data without the cases."""
        return {
            "name": self.name,
            "title": self.title,
            "about": self.about,
            "directories": {name: asdict(place) for name, place in self.directories.items()},
            "text": self.text,
        }

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the series in the order of the file."""
        return tuple(dict.fromkeys(one.series for one in self.cases))

    @property
    def n_runs(self) -> int:
        """Number of runs of all cases, including repeats."""
        return sum(one.repeats for one in self.cases)

    @property
    def most_nodes(self) -> int:
        """Number of nodes of the largest job; two simultaneous cases need both their nodes."""
        return max(self.nodes_of(one) for one in self.cases)

    @property
    def bytes(self) -> int:
        """Number of bytes that all runs write in total."""
        return sum(bytes_of(one) * one.repeats for one in self.cases)

    def nodes_of(self, case: Case) -> int:
        """Return the nodes of a case, including those of the one that runs beside it."""
        beside = self.beside(case)
        return case.nodes + (beside.nodes if beside else 0)

    def beside(self, case: Case) -> Case | None:
        """Return the case that runs at the same time: the most similar one of its series."""
        if not case.beside:
            return None
        alike = [one for one in self.cases if one.series == case.beside]
        return max(alike, key=lambda one: _likeness(one, case), default=None)

    def shortened(self) -> Suite:
        """Return the suite with the cases of `[quick]`.

        Raises:
            UsageError: The suite has no `[quick]`.
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

        Cases for other numbers of nodes are made for the given ones.  Nodes and ranks that a
        `[[case]]` sets itself are kept, except that no job has more nodes than the largest given
        number.

        Raises:
            UsageError: It has no such directory or series, or no case remains.
        """
        wanted, lines = list(directories), list(series)
        _check_known("directory", wanted, self.directories)
        _check_known("series", lines, dict.fromkeys(self.series))
        kept = self._selected_cases(wanted, lines)
        if counts := list(nodes):
            kept = [new for one in kept for new in self._cases_on_nodes(one, counts)]
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

    def _selected_cases(self, directories: list[str], series: list[str]) -> list[Case]:
        """Return the cases of these directories and series, and those that run beside them."""
        kept = [
            one
            for one in self.cases
            if (not directories or one.directory in directories)
            and (not series or one.series in series)
        ]
        needed = {one.beside for one in kept if one.beside}
        chosen = set(kept)
        return [one for one in self.cases if one in chosen or one.series in needed]

    def _cases_on_nodes(self, case: Case, counts: list[int]) -> list[Case]:
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
    """Return the bytes that one run of a case writes; its runner must support it."""
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
    """Return a suite that comes with Stripewise, or one from a file.

    Args:
        name: Name of a suite, or path of a TOML file.

    Raises:
        UsageError: There is neither such a suite nor such a file.
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
    """Parse a suite.

    Args:
        text: TOML of the suite.
        name: Name of the file, for messages.

    Raises:
        ConfigurationError: The text is malformed, or contradicts itself.
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


# A suite written back to TOML: each case separately, without lists.

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


def _place(place: DirectoryStriping) -> str:
    usual = DirectoryStriping()
    items = [
        f"{word} = {getattr(place, name)}"
        for name, word in _PLACE.items()
        if getattr(place, name) != getattr(usual, name)
    ]
    return "{ " + ", ".join(items) + " }" if items else "{}"


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
        settings = ", ".join(f"{_value(name)} = {_value(value)}" for name, value in case.settings)
        yield f"settings = {{ {settings} }}"


def _value(value: Any) -> str:
    """Return a value as TOML; its basic strings have the escapes of JSON's."""
    if isinstance(value, tuple | list):
        return "[[" + ", ".join(_value(one) for one in value) + "]]"  # one value, not several
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
