# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes where a script will run, and finds paths that lead out of its directory."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from stripewise.core.errors import UsageError
from stripewise.present import printable
from stripewise.run.shell._paths import CURRENT, HERE

if TYPE_CHECKING:
    from stripewise.run.shell._words import Word


WORKS_IN = "works in"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Effect:
    """Effect of a command of a script outside the directory of a run.

    Attributes:
        line: Line in the script, from 1.
        text: The command as written.
        verb: Kind of the effect: "writes", "moves", "removes", WORKS_IN, ...
        path: Path concerned, absolute or below `..`; empty if unknown.
        known: Directory or file of the path that is known for certain.
        script: Sourced file that contains the command; empty for the script itself.
    """

    line: int
    text: str
    verb: str
    path: str
    known: str = ""
    script: str = ""


@dataclass
class Effects:
    """Effects of a script on files of its user.

    Attributes:
        outer: Effects outside the directory of a run.
        unknown: Effects on paths that only the run knows.
        unguarded: Commands into which no library can be preloaded, with the reason.
        places: Position of each command to its working directory, if that is not known to be in
            the run's; empty if it is unknown.
        unclear: Position of each command of whose directory only the beginning is known, to that.
        above: Words that name paths above the directory of a run, below `..`.
        temporary: Positions of commands that work in a directory for temporary files.
    """

    outer: list[Effect] = field(default_factory=list)
    unknown: list[Effect] = field(default_factory=list)
    unguarded: list[Effect] = field(default_factory=list)
    places: dict[int, str] = field(default_factory=dict)
    unclear: dict[int, str] = field(default_factory=dict)
    above: list[Effect] = field(default_factory=list)
    temporary: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Surroundings:
    """Surroundings in which a script will run.

    Attributes:
        here: Absolute path of the user's directory, of which each run has a copy.
        environment: Environment of the script.
        ours: Variables with directories that are private to each run.
        words: Arguments of the script; None if unknown.
        is_job: Whether it runs as a job of Slurm.
        read: Function that returns the text of a file; None if there is none.
    """

    here: Path
    environment: Mapping[str, str]
    ours: Collection[str] = ()
    words: Sequence[str] | None = None
    is_job: bool = True
    read: Callable[[str], bytes | None] = field(default=lambda path: read_script(path))


def read_script(path: str) -> bytes | None:
    """Return the content of a file that may be a script; None if it is not."""
    try:
        if os.path.getsize(path) > _MOST_BYTES or not os.path.isfile(path):
            return None
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError:
        return None
    return None if b"\0" in data else data


# Words of a script that lead above the directory of its job, as `../bin/ocean` does.
#
# A copy of that directory is in another place, so that paths above it are missing there, and the
# user does not find files written there.

_TEXTS = frozenset("echo printf expr let read set alias eval trap basename ls du df stat".split())
"""Commands whose words are not paths, and commands that only list files."""
_TEXT_FIRST = frozenset("grep egrep fgrep zgrep rg sed awk gawk mawk nawk perl tr cut".split())
"""Commands whose first operand may be a text that looks like a path."""
_ASKING = frozenset(["test", "[", "[["])
_ASKS_FOR = re.compile(r"-[a-zA-Z]")
_OPTION = re.compile(r"-[A-Za-z](?=[^=]*/|\.\.$)")
_PATH = re.compile(rf"(?:{HERE}|{CURRENT}|\.\.?(?:/|$)|[\w.+-]{{2,}}/)")
_PATH_LIST = re.compile(rf"[/.{HERE}{CURRENT}]")
_MOST_TOLD = 3


def paths_in(words: Sequence[Word], name: str) -> Iterator[Word]:
    """Yield the words of a command that may contain paths, including its name.

    Args:
        words: Words of the command.
        name: Name of the command, without a directory.
    """
    yield words[0]
    rest = () if name in _TEXTS else words[1:]
    if name in _ASKING:
        pairs = zip(words, rest, strict=False)
        rest = [word for before, word in pairs if _ASKS_FOR.fullmatch(before.text)]
    if name in _TEXT_FIRST:
        rest = [word for word in rest if not word.text.startswith("-")][1:]
    yield from rest


def parts_of(text: str) -> Iterator[str]:
    """Yield the parts of a word that may be paths, as in `-I../x`, `A=/x:../y` or `/x:../y`."""
    option, value = _OPTION.match(text), text.partition("=")[2]
    value = value or (text if ":" in text and _PATH_LIST.match(text) else "")
    listed = [part for each in re.split("[:,]", value) for part in (each, each.partition("=")[2])]
    for part in (text, text[option.end() :] if option else "", *listed):
        if _PATH.match(part):
            yield part


def check_inside(
    effects: Effects, name: str, here: str | os.PathLike[str], is_named: bool = False
) -> None:
    """Refuse a script that names paths above the directory of its job.

    Args:
        effects: Effects of the script.
        name: Name of the script.
        here: Absolute path of the user's directory, of which the job has a copy.
        is_named: Whether the copy has the same name, so that paths up and back into it work.

    Raises:
        UsageError: It does; the message has the lines and the remedy.
    """
    outer = [effect for effect in effects.outer if effect.path.split("/")[0] == ".."]
    above = [one for one in effects.above if not (is_named and _inside(one.path, here))]
    if not (found := _lines([*above, *outer])):
        return
    count = sum(map(len, found.values()))
    listed = [
        f"{where}: {', '.join(map(printable, paths))}"
        for where, paths in [*found.items()][:_MOST_TOLD]
    ]
    more = f" and {len(found) - _MOST_TOLD} more lines" if len(found) > _MOST_TOLD else ""
    said = f"{name}, {'; '.join(listed)}{more}"
    inside = [_inside(path, here) for paths in found.values() for path in paths]
    if all(inside):
        raise UsageError(
            f"{said} {'leads' if count == 1 else 'lead'} out of the job's directory and back, "
            f"which not all copies of it do: write $SLURM_SUBMIT_DIR/{printable(inside[0])}"
        )
    raise UsageError(
        f"{said} {'lies' if count == 1 else 'lie'} outside of the job's directory, which alone is "
        "copied: start from the directory above, or use an absolute path"
    )


def _lines(effects: Iterable[Effect]) -> dict[str, list[str]]:
    """Return the paths that lead above by their position, in the order of the script."""
    found: dict[str, list[str]] = {}
    for effect in sorted(effects, key=lambda effect: (effect.script, effect.line)):
        script = effect.script and f"{printable(effect.script)}, "
        paths = found.setdefault(f"{script}line {effect.line}", [])
        if (path := effect.path.rstrip("/")) not in paths:
            paths.append(path)
    return found


def _inside(path: str, here: str | os.PathLike[str]) -> str:
    """Return a path that leads back into the job's directory, relative to it; empty for others."""
    found = os.path.relpath(os.path.normpath(os.path.join(here, path)), here)
    return "" if found.split("/")[0] == ".." else found
