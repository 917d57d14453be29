# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the TOML file of a suite and expands its lists of values into cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from stripewise.bench._case import ELEMENT_BYTES, Case, Number, hashable
from stripewise.core import Value
from stripewise.core.errors import ConfigurationError, UsageError
from stripewise.core.inputs import parse_toml
from stripewise.settings.tunables import first_problem, tunable_of
from stripewise.storage.machines import Dimension, quantity

MOST = "max"
"""Number of nodes that stands for the largest of the other cases of the suite."""


@dataclass(frozen=True)
class DirectoryStriping:
    """Striping of the files of a directory.

    Attributes:
        stripe_count: Number of stripes; -1 for all targets; 0 for the storage's default.
        stripe_bytes: Stripe size; 0 for the storage's default.
        target: First target; -1 if the storage chooses it.
    """

    stripe_count: Annotated[int, Field(ge=-1, description="-1: all targets; 0: the default")] = 0
    stripe_bytes: Annotated[Number, Field(description="0: the default")] = 0
    target: Annotated[int, Field(ge=-1, description="first target; -1: any")] = -1


def size_of(value: object) -> object:
    """Return the bytes of a size with unit; values that are not texts are left to the model."""
    return round(quantity(value, Dimension.SIZE)) if isinstance(value, str) else value


def seconds_of(value: object) -> object:
    """Return the seconds of a time with unit; values that are not texts are left to the model."""
    return quantity(value, Dimension.TIME) if isinstance(value, str) else value


def as_list(value: Any) -> list[Any]:
    """Return a list unchanged, and anything else as a list with one element."""
    return value if isinstance(value, list) else [value]


_Size = Annotated[int, Field(strict=True, ge=0), BeforeValidator(size_of)]
_Seconds = Annotated[float, BeforeValidator(seconds_of), Field(ge=0)]
_Count = Annotated[int, Field(strict=True, ge=1, le=10_000_000)]
_Shape = Annotated[str, Field(pattern=r"^[0-9]{1,15}(,[0-9]{1,15}){0,7}$")]
_Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][\w .,+:()/-]*$")]
_Runner = Literal["kernel", "metadata", "ior", "mdtest", "benchio"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class PlaceForm(_Strict):
    """Section of a directory in the file."""

    stripe_count: Annotated[int, Field(ge=-1)] = 0
    stripe_size: _Size = 0
    target: Annotated[int, Field(ge=-1)] = -1


def _many(kind: Any) -> Any:
    """Return the type of one value or of a list, of which each value is a case."""
    return Annotated[list[kind], Field(min_length=1), BeforeValidator(as_list)]


class Words(_Strict):
    """Keys of a case; missing ones are as in `[all]`, or as the defaults of `Case`."""

    runner: _many(_Runner) = None  # type: ignore[valid-type]
    operation: _many(Literal["write", "write-read", "metadata"]) = None  # type: ignore[valid-type]
    directory: _many(_Name) = None  # type: ignore[valid-type]
    nodes: _many(_Count | Literal["max"]) = None  # type: ignore[valid-type]
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
    stonewall: _many(_Seconds) = None  # type: ignore[valid-type]
    files: _many(_Count) = None  # type: ignore[valid-type]
    sharing: _many(Literal["own", "shared"]) = None  # type: ignore[valid-type]
    depth: _many(Annotated[int, Field(ge=0, le=16)]) = None  # type: ignore[valid-type]
    width: _many(Annotated[int, Field(ge=0, le=1000)]) = None  # type: ignore[valid-type]
    file_size: _many(_Size) = None  # type: ignore[valid-type]
    beside: _many(_Name) = None  # type: ignore[valid-type]

    def given_values(self) -> dict[str, list[Any]]:
        """Return the keys that are set, with all their values."""
        return {key: getattr(self, key) for key in Words.model_fields if getattr(self, key)}


class _More(Words):
    settings: dict[str, Any] = Field(default_factory=dict)
    repeats: _Count | None = None
    unless: Annotated[list[Words], BeforeValidator(as_list)] = Field(default_factory=list)


class CaseForm(_More):
    """Section `[[case]]` of the file."""

    series: _Name
    quick: Words | None = None


class QuickForm(Words):
    """Section `[quick]` of the file: replacements for a short run."""

    repeats: _Count | None = None
    series: Annotated[list[_Name], BeforeValidator(as_list)] = Field(default_factory=list)


class Document(_Strict):
    """Content of a whole file."""

    version: Literal[1]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    title: Annotated[str, Field(min_length=1, max_length=200)]
    about: Annotated[str, Field(max_length=4000)] = ""
    repeats: _Count = 3
    directories: dict[_Name, PlaceForm] = Field(default_factory=dict)
    all: _More = Field(default_factory=_More)
    case: Annotated[list[CaseForm], Field(min_length=1)]
    quick: QuickForm | None = None


_KNOWN = (*Document.model_fields, *CaseForm.model_fields, *PlaceForm.model_fields)


def read_document(text: str, name: str) -> Document:
    """Return a file's content, in which each single key is valid.

    Raises:
        ConfigurationError: The text is not TOML, or a key is unknown or has an invalid value.
    """
    try:
        return Document.model_validate(parse_toml(text))
    except ValidationError as error:
        raise ConfigurationError(f"{name}: {first_problem(error, _KNOWN)}") from error
    except ValueError as error:
        raise ConfigurationError(f"{name}: no TOML ({error})") from error


def places_of(document: Document) -> dict[str, DirectoryStriping]:
    """Return the directories; without any, one named "default" with default striping."""
    return {
        key: DirectoryStriping(one.stripe_count, one.stripe_size, one.target)
        for key, one in document.directories.items()
    } or {"default": DirectoryStriping()}


# Expansion of a suite's file to its cases: every combination of the given values.

MOST_CASES = 10_000
JOB = ("nodes", "ranks_per_node")
RENAMED = {"transfer": "transfer_bytes", "stonewall": "stonewall_seconds",
           "file_size": "file_bytes"}  # fmt: skip
"""Key of a file to the field of a case, if they differ."""


def cases_of(document: Document, name: str, *, quick: bool = False) -> tuple[Case, ...]:
    """Return all cases in the order of the file.

    Args:
        document: Content of the file.
        name: Name of the file, for messages.
        quick: Whether to apply the replacements of `[quick]`; duplicate cases become one.

    Raises:
        ConfigurationError: There are too many cases, or keys contradict each other.
    """
    cases: list[Case] = []
    for words in document.case:
        if words.quick and not document.quick:
            raise ConfigurationError(
                f"{name}: case {words.series!r}: quick is for short runs: give the table [quick]"
            )
        if quick and document.quick and document.quick.series:
            if words.series not in document.quick.series:
                continue
        for case in _expanded(document, words, name, quick=quick):
            if len(cases) == MOST_CASES:
                raise ConfigurationError(
                    f"{name}: more than {MOST_CASES} cases: give fewer values in its lists"
                )
            cases.append(case)
    return tuple(dict.fromkeys(cases)) if quick else tuple(cases)


def own_keys(document: Document) -> dict[str, frozenset[str]]:
    """Return which job sizes the cases of a series set themselves.

    Returns:
        Series to "nodes", "ranks_per_node", and "max" if the nodes are the largest number.
    """
    own: dict[str, frozenset[str]] = {}
    for words in document.case:
        given = words.given_values()
        keys = {key for key in JOB if key in given}
        keys |= {MOST} if MOST in given.get("nodes", ()) else set()
        own[words.series] = own.get(words.series, frozenset()) | keys
    return {series: keys for series, keys in own.items() if keys}


def _expanded(document: Document, words: CaseForm, name: str, *, quick: bool) -> Iterator[Case]:
    """Yield every combination of the values of one case."""
    shared, own = document.all.given_values(), words.given_values()
    repeats = words.repeats or document.all.repeats or document.repeats
    if quick and document.quick:
        instead = document.quick.given_values()
        shared = {key: instead.get(key, values) for key, values in shared.items()}
        own = {key: values if key in JOB else instead.get(key, values)
               for key, values in own.items()}  # fmt: skip
        own |= words.quick.given_values() if words.quick else {}
        repeats = min(repeats, document.quick.repeats or repeats)
    given = {**shared, **own}
    if "nodes" in given:
        given["nodes"] = [_nodes(one, shared, words.series, name) for one in given["nodes"]]
    settings = {**document.all.settings, **words.settings}
    names = _settings_names(settings, words.series, name)
    axes = [*given.values(), *(as_list(one) for one in settings.values())]
    left_out = [one.given_values() for one in (*document.all.unless, *words.unless)]
    for values in product(*axes):
        plain = dict(zip(given, values, strict=False))
        if any(_is_met(condition, plain) for condition in left_out):
            continue
        plain_settings = map(hashable, values[len(given) :])
        chosen = tuple(sorted(zip(names, plain_settings, strict=True)))
        _check_values(chosen, words.series, name)
        yield _case(plain, chosen, words.series, repeats, name)


def _is_met(condition: Mapping[str, list[Any]], plain: Mapping[str, Any]) -> bool:
    return all(plain.get(key) in values for key, values in condition.items())


def _nodes(value: int | str, shared: Mapping[str, list[Any]], series: str, name: str) -> int:
    if isinstance(value, int):
        return value
    numbers = [one for one in shared.get("nodes", ()) if isinstance(one, int)]
    if not numbers:
        raise ConfigurationError(
            f'{name}: case {series!r}: nodes = "{MOST}" is the most that [all] has, but [all] has '
            "none: give nodes in [all]"
        )
    return max(numbers)


def _settings_names(settings: Mapping[str, Any], series: str, name: str) -> list[str]:
    try:
        return [tunable_of(one).name for one in settings]
    except (UsageError, ConfigurationError) as error:
        raise ConfigurationError(f"{name}: case {series!r}: settings: {error}") from error


def _check_values(settings: Iterable[tuple[str, Value]], series: str, name: str) -> None:
    for key, value in settings:
        try:
            tunable_of(key).check(value)
        except ConfigurationError as error:
            raise ConfigurationError(f"{name}: case {series!r}: settings: {error}") from error


def _case(plain: dict[str, Any], settings: Any, series: str, repeats: int, name: str) -> Case:
    if "rank_size" in plain:
        plain["local"] = _local(plain, f"{name}: case {series!r}")
    if "local" in plain and "size" in plain:
        raise ConfigurationError(f"{name}: case {series!r}: give local or size, not both")
    renamed = {RENAMED.get(key, key): value for key, value in plain.items()}
    return Case(series=series, settings=settings, repeats=repeats, **renamed)


def _local(plain: dict[str, Any], where: str) -> str:
    """Return the elements of a rank with a given number of bytes."""
    size = plain.pop("rank_size")
    if plain.keys() & {"local", "size"} or plain.get("pattern", "blocks") != "blocks":
        raise ConfigurationError(
            f"{where}: rank_size is for the pattern blocks; give local or size, in elements, for "
            "others"
        )
    if size == 0 or size % ELEMENT_BYTES:
        raise ConfigurationError(
            f"{where}: rank_size = {size} B is not a whole number of elements of {ELEMENT_BYTES} "
            f"B: give {max(size - size % ELEMENT_BYTES, ELEMENT_BYTES)} B"
        )
    return str(size // ELEMENT_BYTES)
