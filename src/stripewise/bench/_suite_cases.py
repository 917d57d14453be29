# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""From a suite's file to its cases: every combination of the values that are given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from stripewise.bench._case import Case
from stripewise.bench._suite_form import MOST, CaseForm, Document, as_list
from stripewise.errors import ConfigurationError, UsageError
from stripewise.model import Value
from stripewise.tunables import tunable_of

MOST_CASES = 10_000
ELEMENT_BYTES = 8
"""Of the pattern blocks."""
JOB = ("nodes", "ranks_per_node")
_RENAMED = {"transfer": "transfer_bytes", "stonewall": "stonewall_seconds",
            "file_size": "file_bytes"}  # fmt: skip


def cases_of(document: Document, name: str, *, quick: bool = False) -> tuple[Case, ...]:
    """Return all cases in the order of the file.

    Args:
        document: Content of the file.
        name: Of the file, for messages.
        quick: With what `[quick]` has instead; cases that are then the same are one.

    Raises:
        ConfigurationError: There are too many, or keys contradict each other.
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
    """Return what of the job the cases of a series say themselves.

    Returns:
        Series -> "nodes", "ranks_per_node", and "max" where the nodes are the most there are.
    """
    own: dict[str, frozenset[str]] = {}
    for words in document.case:
        said = words.said()
        keys = {key for key in JOB if key in said}
        keys |= {MOST} if MOST in said.get("nodes", ()) else set()
        own[words.series] = own.get(words.series, frozenset()) | keys
    return {series: keys for series, keys in own.items() if keys}


def _expanded(document: Document, words: CaseForm, name: str, *, quick: bool) -> Iterator[Case]:
    """Return every combination of the values of one case."""
    shared, own = document.all.said(), words.said()
    repeats = words.repeats or document.all.repeats or document.repeats
    if quick and document.quick:
        instead = document.quick.said()
        shared = {key: instead.get(key, values) for key, values in shared.items()}
        own = {key: values if key in JOB else instead.get(key, values)
               for key, values in own.items()}  # fmt: skip
        own |= words.quick.said() if words.quick else {}
        repeats = min(repeats, document.quick.repeats or repeats)
    given = {**shared, **own}
    if "nodes" in given:
        given["nodes"] = [_nodes(one, shared, words.series, name) for one in given["nodes"]]
    settings = {**document.all.settings, **words.settings}
    names = _settings_names(settings, words.series, name)
    axes = [*given.values(), *(as_list(one) for one in settings.values())]
    left_out = [one.said() for one in (*document.all.unless, *words.unless)]
    for values in product(*axes):
        plain = dict(zip(given, values, strict=False))
        if any(_holds(condition, plain) for condition in left_out):
            continue
        chosen = tuple(sorted(zip(names, values[len(given) :], strict=True)))
        _check_values(chosen, words.series, name)
        yield _case(plain, chosen, words.series, repeats, name)


def _holds(condition: Mapping[str, list[Any]], plain: Mapping[str, Any]) -> bool:
    return all(plain.get(key) in values for key, values in condition.items())


def _nodes(value: int | str, shared: Mapping[str, list[Any]], series: str, name: str) -> int:
    if isinstance(value, int):
        return value
    numbers = [one for one in shared.get("nodes", ()) if isinstance(one, int)]
    if not numbers:
        raise ConfigurationError(
            f'{name}: case {series!r}: nodes = "{MOST}" is the most that [all] has, which says '
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
    renamed = {_RENAMED.get(key, key): value for key, value in plain.items()}
    return Case(series=series, settings=settings, repeats=repeats, **renamed)


def _local(plain: dict[str, Any], where: str) -> str:
    """Return the elements of a rank that has so many bytes."""
    size = plain.pop("rank_size")
    if plain.keys() & {"local", "size"} or plain.get("pattern", "blocks") != "blocks":
        raise ConfigurationError(
            f"{where}: rank_size is for the pattern blocks; give local or size, in elements, for "
            "others"
        )
    if size == 0 or size % ELEMENT_BYTES:
        raise ConfigurationError(
            f"{where}: rank_size = {size} B is no whole number of elements of {ELEMENT_BYTES} B: "
            f"give {max(size - size % ELEMENT_BYTES, ELEMENT_BYTES)} B"
        )
    return str(size // ELEMENT_BYTES)
