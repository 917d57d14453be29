# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the words of a command stand for, as far as the script itself says.

A variable that the script always gives the same value, such as `MPIRUN="mpirun -np 4"`, is read as
that, `$(which srun)` as `srun`, and `${SRUN:-srun}` as the launcher that is its default.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from stripewise.jobs._shell import Command, Reading
from stripewise.jobs._word import Word
from stripewise.readers import is_launcher

_NO_LAUNCHERS = ("sh", "bash", "py", "pl", "csh", "log", "out", "txt", "conf")
_OTHERS = frozenset("ccc_mprun mpirun_rsh mpiexec_mpt mpprun oshrun likwid-mpirun".split())
_SPECIAL = re.compile(r"[$`*?\[\]{}~]")
_ARITHMETIC = r"\$\(\((?:[^()`'\"\\]|\([^()`'\"\\]*\))*\)\)"
_SUBSTITUTION = r"\$\([^()`'\"\\]*\)"
_PARAMETER = r"\$\{\w+(?::?[-=+?][^{}\s$`'\"\\]*)?\}"
_EXPANSION = re.compile(rf"\$\w+|{_PARAMETER}|{_ARITHMETIC}|{_SUBSTITUTION}")
_PARTS = re.compile(rf"(?:{_EXPANSION.pattern}|\S)+")
LOCATED = re.compile(r"(?:\$\(|`)\s*(?:which|command -v|type -p)\s+([\w.]+)\s*(?:\)|`)")
"""What finds a program."""
_DEFAULT = re.compile(r"\$\{\w+:?[-=]([^{}$`'\"\\]*)\}")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?:\[[@*]\])?\})")
_LEADING = re.compile(rf"(?:{LOCATED.pattern}|{_DEFAULT.pattern}|{_VARIABLE.pattern})(?=\s|$)")
_MOST_NESTED = 5
_MOST_VALUES = 20


@dataclass(frozen=True)
class Known:
    """A word, or one of those that a variable stands for.

    Attributes:
        text: Of the word.
        index: Of the word in the command that it is from.
        is_first: It is the first of those that the word stands for.
        is_open: It may become several words, or none.
        holds_launcher: A variable that is given a launcher, among other values or unclear ones.
    """

    text: str
    index: int
    is_first: bool
    is_open: bool
    holds_launcher: bool = False


def known_words(command: Command, reading: Reading) -> Iterator[Known]:
    """Return the words of a command, with the values of variables that are certain."""
    for index, word in enumerate(command.words):
        value = None if word.is_plain else _value(word, reading)
        if value is None:
            is_open = word.is_open and not _is_program(word, reading)
            yield Known(word.text, index, True, is_open, _holds_launcher(word, reading))
        elif word.is_open:
            for i, part in enumerate(_PARTS.findall(value)):
                yield Known(part, index, i == 0, not _EXPANSION.sub("", part))
        else:
            yield Known(value, index, True, False)


def is_launcher_word(text: str) -> bool:
    """Whether a word names a launcher, and no file that is called after one."""
    name = os.path.basename(text)
    is_name = is_launcher(name) and name.rpartition(".")[2] not in _NO_LAUNCHERS
    return is_name or name in _OTHERS


def names_launcher(text: str, reading: Reading) -> bool:
    """Whether a text has a variable that is given a launcher."""
    names = (found[1] or found[2] for found in _VARIABLE.finditer(text))
    return any(_is_given_launcher(name, reading) for name in names)


def _is_given_launcher(name: str, reading: Reading) -> bool:
    if name not in reading.launchers:  # once for each name, as in `_is_program`
        given = reading.written.get(name, ())
        reading.launchers[name] = any(map(_begins_with_launcher, given))
    return reading.launchers[name]


def _value(word: Word, reading: Reading) -> str | None:
    """What a word stands for; None where that is not certain."""
    return _only_value(word.variable, reading) if word.variable else _named(word.text)


def _only_value(name: str, reading: Reading, depth: int = 0) -> str | None:
    """The value of a variable if it is always the same; what that begins with is read as well."""
    values = reading.values.get(name, ())
    if not 0 < len(values) <= _MOST_VALUES or depth > _MOST_NESTED:
        return None
    texts = {value.text if value else None for value in values}
    text = texts.pop()
    if texts or text is None:
        return None
    leading = _LEADING.match(text)
    if leading:
        variable = _VARIABLE.fullmatch(leading[0])
        known = (
            _only_value(variable[1] or variable[2], reading, depth + 1)
            if variable
            else _named(leading[0])
        )
        text = text if known is None else known + text[leading.end() :]
    return None if _SPECIAL.search(_EXPANSION.sub("", text)) else text


def _named(text: str) -> str | None:
    """The program that a substitution looks for, or the launcher that is a default."""
    located, default = LOCATED.fullmatch(text), _DEFAULT.fullmatch(text)
    if located:
        return located[1]
    return default[1] if default and _begins_with_launcher(default[1]) else None


def _begins_with_launcher(written: str) -> bool:
    words = written.strip("(\"' \t\n").split(None, 1)
    return bool(words) and is_launcher_word(words[0].strip("\"')"))


def _holds_launcher(word: Word, reading: Reading) -> bool:
    is_variable = not word.is_plain and _VARIABLE.fullmatch(word.text)
    return bool(is_variable) and names_launcher(word.text, reading)


def _is_program(word: Word, reading: Reading) -> bool:
    """Whether all values of a variable begin as no option does, and are not empty."""
    name = word.variable
    if name not in reading.programs:  # once for each name: a long script may use it often
        values = reading.values.get(name, [])
        reading.programs[name] = bool(values) and all(map(_begins_as_program, values))
    return reading.programs[name]


def _begins_as_program(value: Word | None) -> bool:
    text = value.text if value else ""
    if not text or text[0] in "-`" or text[0].isspace():
        return False
    return not text.startswith("$") or re.match(r"\$(\w+|\{\w+\})/", text) is not None
