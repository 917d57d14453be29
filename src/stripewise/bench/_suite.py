# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Suites: a matrix of cases, in a TOML file that users read and change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from stripewise.bench._case import Case
from stripewise.errors import ConfigurationError, UsageError
from stripewise.inputs import SUITE, parse_toml, read_input
from stripewise.machines import Dimension, quantity
from stripewise.tunables import first_problem, tunable_of

MOST_CASES = 10_000


@dataclass(frozen=True)
class Place:
    """How files of a directory are striped.

    Attributes:
        stripe_count: -1: over all targets; 0: as the storage does by default.
        stripe_bytes: 0: as the storage does by default.
        target: First target; -1: the storage chooses.
    """

    stripe_count: int = 0
    stripe_bytes: int = 0
    target: int = -1


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
    """

    name: str
    title: str
    about: str
    directories: Mapping[str, Place]
    cases: tuple[Case, ...]
    text: str = ""

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

        Cases of other numbers of nodes are made for those that are given.

        Raises:
            UsageError: It has no such directory or series, or nothing is left.
        """
        wanted, lines = list(directories), list(series)
        _check_known("directory", wanted, self.directories)
        _check_known("series", lines, {one.series: None for one in self.cases})
        kept = [
            one
            for one in self.cases
            if (not wanted or one.directory in wanted) and (not lines or one.series in lines)
        ]
        if counts := list(nodes):
            kept = [replace(one, nodes=n) for one in _on_one(kept) for n in counts]
        if ranks_per_node is not None:
            kept = [replace(one, ranks_per_node=ranks_per_node) for one in kept]
        if repeats is not None:
            kept = [replace(one, repeats=repeats) for one in kept]
        kept = list(dict.fromkeys(kept))
        if not kept:
            raise UsageError(f"nothing is left of the suite {self.name}: give other --dirs")
        return replace(self, cases=tuple(kept))


def _on_one(cases: Iterable[Case]) -> list[Case]:
    """Return cases that differ in more than their number of nodes."""
    return list(dict.fromkeys(replace(one, nodes=1) for one in cases))


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


# ---- the form --------------------------------------------------------------------------------


def _size(value: object) -> object:
    if not isinstance(value, str):
        return value
    return round(quantity(value, Dimension.SIZE))


def _seconds(value: object) -> object:
    return quantity(value, Dimension.TIME) if isinstance(value, str) else value


def _list(value: object) -> object:
    return value if isinstance(value, list) else [value]


_Size = Annotated[int, Field(strict=True, ge=0), BeforeValidator(_size)]
_Count = Annotated[int, Field(strict=True, ge=1, le=10_000_000)]
_Shape = Annotated[str, Field(pattern=r"^[0-9]{1,15}(,[0-9]{1,15}){0,7}$")]
_Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][\w .,+:()/-]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Place(_Strict):
    stripe_count: Annotated[int, Field(ge=-1)] = 0
    stripe_size: _Size = 0
    target: Annotated[int, Field(ge=-1)] = -1


def _many(kind: Any) -> Any:
    """One value, or a list of which each is a case."""
    return Annotated[list[kind], Field(min_length=1), BeforeValidator(_list)]


class _Words(_Strict):
    """What a case may say; what it leaves out is as `[all]` has it, or as `Case` has it."""

    runner: _many(Literal["kernel", "metadata", "ior", "mdtest", "benchio"]) = None  # type: ignore[valid-type]
    operation: _many(Literal["write", "write-read", "metadata"]) = None  # type: ignore[valid-type]
    directory: _many(_Name) = None  # type: ignore[valid-type]
    nodes: _many(_Count) = None  # type: ignore[valid-type]
    ranks_per_node: _many(_Count) = None  # type: ignore[valid-type]
    pattern: _many(str) = None  # type: ignore[valid-type]
    local: _many(_Shape) = None  # type: ignore[valid-type]
    size: _many(_Shape) = None  # type: ignore[valid-type]
    rank_size: _many(_Size) = None  # type: ignore[valid-type]
    backend: _many(str) = None  # type: ignore[valid-type]
    layout: _many(Literal["shared", "per-process", "per-node"]) = None  # type: ignore[valid-type]
    mode: _many(Literal["independent", "collective", "serial"]) = None  # type: ignore[valid-type]
    transfer: _many(_Size) = None  # type: ignore[valid-type]
    steps: _many(_Count) = None  # type: ignore[valid-type]
    sync: _many(bool) = None  # type: ignore[valid-type]
    cache: _many(Literal["shift", "drop", "direct", "none"]) = None  # type: ignore[valid-type]
    stonewall: _many(Annotated[float, BeforeValidator(_seconds), Field(ge=0)]) = None  # type: ignore[valid-type]
    files: _many(_Count) = None  # type: ignore[valid-type]
    sharing: _many(Literal["own", "shared"]) = None  # type: ignore[valid-type]
    depth: _many(Annotated[int, Field(ge=0, le=16)]) = None  # type: ignore[valid-type]
    width: _many(Annotated[int, Field(ge=0, le=1000)]) = None  # type: ignore[valid-type]
    file_size: _many(_Size) = None  # type: ignore[valid-type]
    beside: _many(_Name) = None  # type: ignore[valid-type]
    settings: dict[str, Any] = Field(default_factory=dict)
    repeats: _Count | None = None


class _Case(_Words):
    series: _Name


class _Document(_Strict):
    version: Literal[1]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    title: Annotated[str, Field(min_length=1, max_length=200)]
    about: Annotated[str, Field(max_length=4000)] = ""
    repeats: _Count = 3
    directories: dict[_Name, _Place] = Field(default_factory=dict)
    all: _Words = Field(default_factory=_Words)
    case: Annotated[list[_Case], Field(min_length=1)]


_RENAMED = {"transfer": "transfer_bytes", "stonewall": "stonewall_seconds",
            "file_size": "file_bytes"}  # fmt: skip
_KNOWN = (*_Document.model_fields, *_Case.model_fields, *_Place.model_fields)


def parse_suite(text: str, name: str) -> Suite:
    """Read a suite.

    Args:
        text: Its TOML.
        name: Of the file, for messages.

    Raises:
        ConfigurationError: It is malformed, or contradicts itself.
    """
    try:
        document = _Document.model_validate(parse_toml(text))
    except ValidationError as error:
        raise ConfigurationError(f"{name}: {first_problem(error, _KNOWN)}") from error
    except ValueError as error:
        raise ConfigurationError(f"{name}: no TOML ({error})") from error
    places = {
        key: Place(one.stripe_count, one.stripe_size, one.target)
        for key, one in document.directories.items()
    } or {"default": Place()}
    cases = tuple(_cases(document, name))
    for case in cases:
        if case.directory not in places:
            raise ConfigurationError(
                f"{name}: case {case.series!r} goes to the directory {case.directory!r}, which "
                f"[directories] does not have: it has {', '.join(places)}"
            )
    return Suite(document.name, document.title, document.about, places, cases, text)


def _cases(document: _Document, name: str) -> Iterator[Case]:
    number = 0
    for words in document.case:
        for case in _expanded(document, words, name):
            number += 1
            if number > MOST_CASES:
                raise ConfigurationError(
                    f"{name}: more than {MOST_CASES} cases: give fewer values in its lists"
                )
            yield case


def _expanded(document: _Document, words: _Case, name: str) -> Iterator[Case]:
    """Return every combination of the values of one case."""
    given: dict[str, Any] = {}
    for source in (document.all, words):
        said = source.model_dump(exclude_none=True, exclude={"settings", "repeats", "series"})
        given |= said
    settings = {**document.all.settings, **words.settings}
    names = _settings_names(settings, name)
    axes = [*given.values(), *(_list(one) for one in settings.values())]
    repeats = words.repeats or document.all.repeats or document.repeats
    for values in product(*axes):
        plain = dict(zip(given, values, strict=False))
        chosen = tuple(sorted(zip(names, values[len(given) :], strict=True)))
        yield _case(plain, chosen, words.series, repeats, name)


def _settings_names(settings: Mapping[str, Any], name: str) -> list[str]:
    try:
        return [tunable_of(one).name for one in settings]
    except (UsageError, ConfigurationError) as error:
        raise ConfigurationError(f"{name}: settings: {error}") from error


def _case(plain: dict[str, Any], settings: Any, series: str, repeats: int, name: str) -> Case:
    if "rank_size" in plain:
        if plain.keys() & {"local", "size"} or plain.get("pattern", "blocks") != "blocks":
            raise ConfigurationError(
                f"{name}: case {series!r}: rank_size is for the pattern blocks; give local or "
                "size, in elements, for others"
            )
        plain["local"] = str(max(plain.pop("rank_size") // 8, 1))
    if "local" in plain and "size" in plain:
        raise ConfigurationError(f"{name}: case {series!r}: give local or size, not both")
    renamed = {_RENAMED.get(key, key): value for key, value in plain.items()}
    return Case(series=series, settings=settings, repeats=repeats, **renamed)
