# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise machine check`: can a description be used, and what in it may be a slip?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, examples, json_option, note
from stripewise.cli._machine_text import sentence, summary
from stripewise.errors import ConfigurationError

if TYPE_CHECKING:
    from stripewise.machines import Storage


@click.command(
    "check",
    epilog=examples(
        "stripewise machine check site.toml",
        "stripewise machine check              # those that tune uses by itself",
    ),
)
@click.argument("file", metavar="[FILE]", required=False)
@json_option
def command(file: str | None, as_json: bool) -> None:
    """Check a description: exit code 0 if it can be used, 3 with the first problem if not.

    Warnings name what is allowed but may be a slip.  Without FILE, checks every description in
    the directories of the user and of the site.
    """
    from stripewise.machines import load_description

    if file is None:
        _check_all(as_json)
        return
    found = load_description(file)
    answer(as_json, lambda: _data(found), lambda: _lines(found))


def _check_all(as_json: bool) -> None:
    from stripewise.machines import known_storages, machine_directories

    known = known_storages()
    found = [one.storage for one in known.found]
    answer(
        as_json,
        lambda: {"checked": list(map(_data, found)), "problems": list(known.problems)},
        lambda: chain.from_iterable(map(_lines, found)),
    )
    for text in known.problems[:-1]:
        note(text, kind="error")
    if known.problems:
        raise ConfigurationError(known.problems[-1])
    if not found:
        places = " or ".join(map(str, machine_directories()))
        note(f"nothing to check: no description is in {places}")


def _data(found: Storage) -> dict[str, Any]:
    return {**summary(found), "warnings": _warnings(found)}


def _lines(found: Storage) -> Iterator[str]:
    yield sentence(found)
    yield from (f"  warning: {text}" for text in _warnings(found))


def _warnings(found: Storage) -> list[str]:
    from stripewise.machines import description_warnings, mount_warnings

    return [*_stack_warnings(found), *mount_warnings(found), *description_warnings(found)]


def _stack_warnings(storage: Storage) -> list[str]:
    from stripewise.simulation.stacks import stack_names
    from stripewise.tunables import suggest

    if not storage.stack:
        return ["no stack is named: simulations need `--stack`"]
    known = stack_names()
    if storage.stack in known or not known:
        return []
    return [f"stack {storage.stack!r} is not known{suggest(storage.stack, known)}"]
