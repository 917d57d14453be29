# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the commands of a script that change the directory, and their targets.

Runs of a study work in copies of the directory from which a job is submitted, or on a burst
buffer.  A script that changes to its directory by name would leave the copy.
"""

from __future__ import annotations

import bisect
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from stripewise.run.shell._launches import utf8
from stripewise.run.shell._shell import ParsedScript
from stripewise.run.shell._words import Word

SUBMITTED_FROM = "SLURM_SUBMIT_DIR"
TEMPORARY_VARIABLES = ("TMPDIR", "TMP", "TEMP", "SLURM_TMPDIR")
CHANGE_DIRECTORY = ("cd", "chdir", "pushd", "popd")
_BACK = "-"
_EXPANSION = re.compile(r"\$(\w+)|\$\{(\w+)\}|\$\(\s*pwd\s*\)|`\s*pwd\s*`")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_MOST_NESTED = 8


@dataclass(frozen=True)
class Move:
    """A command that changes the directory.

    Attributes:
        line: Line in the script, from 1.
        text: The command as written.
        target: Target directory, with the values that the script assigns to variables, and others
            as ${NAME}; empty if unknown, "-" for the previous directory.
        until: Byte of the script at which its shell ends.
        start / end: Position of the word with the directory.
        before: Directory before the move, in the form of `target`; empty if unknown.
    """

    line: int
    text: str
    target: str
    until: int = field(default=0, repr=False)
    start: int = field(default=0, repr=False)
    end: int = field(default=0, repr=False)
    before: str = field(default="", repr=False)


class MoveTarget(Enum):
    """The kind of target of a move."""

    HERE = "a directory of the job, wherever it works"
    NAMED = "the directory that it is submitted from, or one below, by its absolute name"
    ELSEWHERE = "another directory"
    UNKNOWN = "not known before the script runs"


def read_moves(text: str, reading: ParsedScript) -> tuple[Move, ...]:
    """Return the moves among the commands of a script, given its text as Latin-1."""
    newlines = [match.start() for match in re.finditer("\n", text)]
    found: list[Move] = []
    way = _DirectoryTracker()
    for command in reading.commands:
        words = command.words
        if not words or words[0].text not in CHANGE_DIRECTORY:
            continue
        named = [w for w in words[1:] if not (w.text.startswith("-") and len(w.text) > 1)]
        word = named[0] if named else words[0]
        alone = _BACK if words[0].text in ("popd", "pushd") else "${HOME}"
        target = _target(word, reading) if named else alone
        target = "" if command.in_backquotes else utf8(target)
        shells = [span for span in reading.subshells if span[0] <= command.start < span[1]]
        until = min((end for _, end in shells), default=len(text))
        found.append(
            Move(
                line=bisect.bisect_left(newlines, command.start) + 1,
                text=utf8(text[command.start : command.end]),
                target=target,
                until=until,
                start=word.start,
                end=word.end,
                before=way.leave(command.start, target, until),
            )
        )
    return tuple(found)


class _DirectoryTracker:
    """Tracks the directories of a shell."""

    def __init__(self) -> None:
        self._at = self._last = f"${{{SUBMITTED_FROM}}}"
        self._outer: list[tuple[int, str, str]] = []

    def leave(self, place: int, target: str, until: int) -> str:
        """Apply a move at a position, and return the directory before it, or "" if unknown."""
        while self._outer and self._outer[-1][0] <= place:
            _, self._at, self._last = self._outer.pop()
        if not self._outer or until < self._outer[-1][0]:
            self._outer.append((until, self._at, self._last))
        before = self._at
        if target == _BACK:
            self._at, self._last = self._last, self._at
        elif not target or target[0] in "/$":
            self._at, self._last = target, before
        else:
            self._at, self._last = before and f"{before}/{target}", before
        return before


def target_of_move(
    move: Move, here: Path, environment: Mapping[str, str], ours: Collection[str] = ()
) -> tuple[MoveTarget, Path]:
    """Return the kind of target of a move, and the directory.

    Args:
        move: Move in a script.
        here: Absolute path of the directory from which the job is submitted.
        environment: Environment in which it is submitted.
        ours: Variables with directories that are private to each run.

    Returns:
        The kind, and the directory: relative to `here` for `NAMED`, absolute for `ELSEWHERE`,
        otherwise empty.
    """
    target = move.target
    if not target or target[0] in "/$":
        return _target_of(target, here, environment, ours)
    if ".." not in target.split("/") or not move.before:
        return MoveTarget.HERE, Path()
    before = _target_of(move.before, here, environment, ours)[0]
    target_kind, path = _target_of(f"{move.before}/{target}", here, environment, ours)
    is_known = (
        before not in (MoveTarget.HERE, MoveTarget.NAMED) and target_kind is not MoveTarget.NAMED
    )
    return (MoveTarget.HERE, Path()) if is_known else (target_kind, path)


def _target_of(
    target: str, here: Path, environment: Mapping[str, str], ours: Collection[str]
) -> tuple[MoveTarget, Path]:
    """Return the kind of a directory that is absolute or begins with a variable."""
    nowhere = Path()
    first = _VARIABLE.match(target)
    if first and first[1] in (SUBMITTED_FROM, *ours):
        below = os.path.normpath(target[first.end() :].lstrip("/") or ".")
        if below.split("/")[0] != "..":
            return MoveTarget.HERE, nowhere
        if first[1] != SUBMITTED_FROM:
            return MoveTarget.UNKNOWN, nowhere
        target = f"{here}/{below}"
    names = _VARIABLE.findall(target)
    if not target or any(not _is_given(name, environment) for name in names):
        return MoveTarget.UNKNOWN, nowhere
    path = os.path.normpath(_VARIABLE.sub(lambda found: environment[found[1]], target))
    if not path.startswith("/"):
        return MoveTarget.HERE, nowhere
    whole = (os.path.realpath(path), os.path.realpath(here))  # a link may point to either
    for one, top in ((path, os.path.normpath(here)), whole):
        if Path(one).is_relative_to(top):
            return MoveTarget.NAMED, Path(one).relative_to(top)
    return MoveTarget.ELSEWHERE, Path(path)


def _is_given(name: str, environment: Mapping[str, str]) -> bool:
    """Return whether the job has a variable as its user has it; sites set those of the job."""
    return (
        name in environment and not name.startswith("SLURM_") and name not in TEMPORARY_VARIABLES
    )


def is_temporary(move: Move) -> bool:
    """Return whether a move leads to a directory for temporary files of the job."""
    first = _VARIABLE.match(move.target)
    return first is not None and first[1] in TEMPORARY_VARIABLES


def known_directory(move: Move, environment: Mapping[str, str]) -> str:
    """Return the directory at or below which a move leads for certain; empty if unknown."""
    path = _VARIABLE.sub(
        lambda found: environment[found[1]] if _is_given(found[1], environment) else "\0",
        move.target,
    )
    known, unknown, _ = path.partition("\0")
    known = known.rpartition("/")[0] if unknown else known
    return os.path.normpath(known) if known.startswith("/") and ".." not in path else ""


def moves_to(
    moves: Sequence[Move],
    target_kind: MoveTarget,
    here: Path,
    environment: Mapping[str, str],
    ours: Collection[str] = (),
) -> dict[Move, Path]:
    """Return the moves of a kind, each with its directory.

    For the other arguments see `target_of_move`.
    """
    targets = {move: target_of_move(move, here, environment, ours) for move in moves}
    return {move: path for move, (kind, path) in targets.items() if kind is target_kind}


def move_before(moves: Sequence[Move], place: int) -> Move | None:
    """Return the move that determines the directory at a byte of the script; None without one.

    Moves to relative names start there; effects of `if` and functions are not considered.
    """
    decisive: list[Move] = []
    for move in moves:
        if not move.start < place < move.until:
            continue
        if move.target == _BACK:
            decisive = decisive[:-1]
        elif not move.target or move.target[0] in "/$":
            decisive.append(move)
    return decisive[-1] if decisive else None


def _target(word: Word, reading: ParsedScript) -> str:
    """Return a directory with the values that the script assigns; empty if one is unknown."""
    text = _expanded(word, reading, _MOST_NESTED)
    if text is None:
        return _one_below(word, reading)
    return "${HOME}" + text[1:] if text == "~" or text.startswith("~/") else text


def _one_below(word: Word, reading: ParsedScript) -> str:
    """Return the least deep of the directories below that a word of a loop names; else nothing."""
    values = reading.values.get(word.variable, [])
    texts = [value.text if value and value.is_plain else "" for value in values]
    is_below = [bool(text) and text[0] not in "/~-" and ".." not in text for text in texts]
    return min(texts, key=lambda text: text.count("/")) if all(is_below) and texts else ""


def _expanded(word: Word, reading: ParsedScript, depth: int) -> str | None:
    if word.is_plain:
        return None if "$" in word.text else word.text
    pieces, place = [], 0
    for match in _EXPANSION.finditer(word.text):
        value = _value(match[1] or match[2] or SUBMITTED_FROM, reading, depth)
        if value is None:
            return None
        pieces += [word.text[place : match.start()], value]
        place = match.end()
    rest = word.text[place:]
    if any(c in part for part in (*pieces[::2], rest) for c in "$`*?["):
        return None
    return "".join([*pieces, rest])


def _value(name: str, reading: ParsedScript, depth: int) -> str | None:
    """Return the value that the script assigns to a variable; its name in braces without one."""
    if name in ("PWD", "cwd"):
        return f"${{{SUBMITTED_FROM}}}"
    values = reading.values.get(name)
    if values is None:
        return f"${{{name}}}"
    if depth == 0 or len(values) != 1 or values[0] is None:
        return None
    return _expanded(values[0], reading, depth - 1)
