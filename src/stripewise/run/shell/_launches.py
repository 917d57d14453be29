# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the commands that start MPI ranks, also where a variable names the launcher.

Where it is not certain which word is the program, a launch line says why.
"""

from __future__ import annotations

import bisect
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from stripewise.core import is_launcher
from stripewise.core.errors import UsageError
from stripewise.present import printable
from stripewise.run.runtime import LauncherReading, read_launcher
from stripewise.run.shell._shell import Command, Reading
from stripewise.run.shell._words import Word

_BEFORE = frozenset(
    "time nice nohup env exec command builtin numactl taskset timeout stdbuf ionice setsid chrt"
    " strace ltrace perf unbuffer catchsegv ddt map forge scalasca scan totalview perf-report"
    " xargs parallel hpcrun likwid-perfctr likwid-pin likwid-mpirun valgrind sudo"
    " prlimit trace-cmd flock script systemd-run aps vtune amplxe-cl gdb cgexec".split()
)
_RUN_TEXT = frozenset("eval bash sh dash ksh zsh csh tcsh ssh".split())
_ASKING = (["command", "-v"], ["command", "-V"])
_MAY_RUN_TEXT = frozenset("parallel script flock su".split())
_IN_TEXT = re.compile(
    r"(?:^|[\s;&|/(`])(srun|aprun|jsrun|ibrun|orterun|prterun|mpirun|mpiexec)(?=$|[\s;.])"
)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)


@dataclass(frozen=True)
class LaunchLine:
    """A command of a script that starts MPI ranks.

    Attributes:
        number: In the script, from 1.
        first_line / last_line: Of the script, from 1.
        text: As written, from the launcher on.
        launcher: "srun", "mpirun", ...: the file name, without a suffix.
        words: From the launcher on, without quotes; variables and substitutions as written;
            bytes that are not UTF-8 as surrogates.
        program: Its word; "" where it is not certain.
        arguments: The words after the program.
        problem: Why the program is not certain; "" if it is.
        is_plain: The shell takes every word as it is.
        ranks / ranks_per_node / cpus_per_rank / nodes: Numbers of its options; None where the
            line says none, or not a number.
        start / end: Bytes of the command in the script, redirections included.
        spans: Start and end of every word.
        program_at: First byte of the program's word; -1 where it is not certain.
        read_twice: What reads its words again, so that they cannot be quoted: "`" where the
            command stands between backquotes, "parallel"; "" if nothing does.
        known: The words with the variables whose values are known, each with the index of the
            word that it is from.
    """

    number: int
    first_line: int
    last_line: int
    text: str
    launcher: str
    words: tuple[str, ...]
    program: str
    arguments: tuple[str, ...]
    problem: str
    is_plain: bool
    ranks: int | None = None
    ranks_per_node: int | None = None
    cpus_per_rank: int | None = None
    nodes: int | None = None
    start: int = field(default=0, repr=False)
    end: int = field(default=0, repr=False)
    spans: tuple[tuple[int, int], ...] = field(default=(), repr=False)
    program_at: int = field(default=-1, repr=False)
    read_twice: str = field(default="", repr=False)
    known: tuple[tuple[str, int], ...] = field(default=(), repr=False)


class _UnclearError(Exception):
    """It is not certain which word is the program; the message says why."""


def read_launches(text: str, reading: Reading) -> tuple[LaunchLine, ...]:
    """Return the launch lines among the commands of a script, whose text is Latin-1."""
    newlines = [match.start() for match in re.finditer("\n", text)]
    found: list[LaunchLine] = []
    for command in reading.commands:
        known = list(known_words(command, reading))
        place = _launcher_place(known, reading)
        if place is not None:
            found.append(_launch(len(found) + 1, text, newlines, command, known[place:]))
    return tuple(found)


def utf8(text: str) -> str:
    """Return bytes as Latin-1 as text, in which those that are not UTF-8 are surrogates."""
    return text.encode("latin-1").decode("utf-8", "surrogateescape")


def _launcher_place(known: Sequence[Known], reading: Reading) -> int | None:
    """Return the index of the launcher, or of what runs a text that names one."""
    if not known or [word.text for word in known[:2]] in _ASKING:
        return None
    reach = known if os.path.basename(known[0].text) in _BEFORE else known[:1]
    for place, word in enumerate(reach):
        if is_launcher_word(word.text) or word.holds_launcher:
            return place
        if os.path.basename(word.text) in _RUN_TEXT and _is_in_text(known[place + 1 :], reading):
            return place
    is_text = os.path.basename(known[0].text) in _MAY_RUN_TEXT
    return 0 if is_text and _is_in_text(known[1:], reading) else None


def _is_in_text(known: Sequence[Known], reading: Reading) -> bool:
    """Whether one of the words is a text that names a launcher."""
    texts = [word.text for word in known]
    return any(_IN_TEXT.search(text) or names_launcher(text, reading) for text in texts)


def _launch(
    number: int, text: str, newlines: list[int], command: Command, known: Sequence[Known]
) -> LaunchLine:
    words = command.words[known[0].index :]
    reading, program_at, program, problem = LauncherReading(0), -1, -1, ""
    try:
        reading = _reading(known)
        program = _program(known, reading)
        program_at = command.words[program].start
    except _UnclearError as error:
        problem = printable(str(error))
    after = command.words[program + 1 :] if program >= 0 else ()
    return LaunchLine(
        number=number,
        first_line=bisect.bisect_left(newlines, command.start) + 1,
        last_line=bisect.bisect_left(newlines, command.end - 1) + 1,
        text=utf8(text[words[0].start : command.end]),
        launcher=os.path.basename(known[0].text).partition(".")[0],
        words=tuple(utf8(word.text) for word in words),
        program=utf8(command.words[program].text) if program >= 0 else "",
        arguments=tuple(utf8(word.text) for word in after),
        problem=problem,
        is_plain=all(word.is_plain for word in words),
        ranks=_number(reading.ranks),
        ranks_per_node=_number(reading.ranks_per_node),
        cpus_per_rank=_number(reading.cpus_per_rank),
        nodes=_number(reading.nodes.partition("-")[0]),
        start=command.start,
        end=command.end,
        spans=tuple((word.start, word.end) for word in words),
        program_at=program_at,
        read_twice=_read_twice(command),
        known=tuple((utf8(k.text), k.index - known[0].index) for k in known),
    )


def _reading(known: Sequence[Known]) -> LauncherReading:
    texts = [word.text for word in known]
    if os.path.basename(texts[0]) in _RUN_TEXT | _MAY_RUN_TEXT:
        raise _UnclearError(f"{os.path.basename(texts[0])} runs a text that starts the ranks")
    if known[0].holds_launcher:
        raise _UnclearError(f"{texts[0]} holds a launcher, but its value is not certain")
    if ":" in texts:
        raise _UnclearError("the line starts several programs (':')")
    try:
        return read_launcher([utf8(text) for text in texts])
    except UsageError as error:
        if "--multi-prog" in texts:
            raise _UnclearError("the programs are in the file of --multi-prog") from None
        raise _UnclearError(getattr(error, "cause", str(error))) from None


def _program(known: Sequence[Known], reading: LauncherReading) -> int:
    """Return the index in the command of the word that is the program."""
    place = reading.program
    while place < len(known) and os.path.basename(known[place].text) == "env":
        following = place + 1
        while following < len(known) and _ASSIGNMENT.fullmatch(known[following].text):
            following += 1
        if following >= len(known) or known[following].text.startswith("-"):
            break
        place = following
    word = known[place]
    if not word.text.strip():
        raise _UnclearError(
            f"the program is {word.text!r}, since a backslash continues a line only if nothing "
            "follows it"
        )
    if word.is_open:
        raise _UnclearError(
            f"{word.text} is where the program may begin, and may contain options of the launcher"
        )
    if not word.is_first:
        raise _UnclearError("a variable holds both options of the launcher and the program")
    return word.index


def _read_twice(command: Command) -> str:
    if command.in_backquotes:
        return "`"
    return "parallel" if os.path.basename(command.words[0].text) == "parallel" else ""


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


# What the words of a command stand for, as far as the script itself says.
#
# A variable that the script always gives the same value, such as `MPIRUN="mpirun -np 4"`, is read
# as that, `$(which srun)` as `srun`, and `${SRUN:-srun}` as the launcher that is its default.

_NO_LAUNCHERS = ("sh", "bash", "py", "pl", "csh", "log", "out", "txt", "conf")
_OTHERS = frozenset("ccc_mprun mpirun_rsh mpiexec_mpt mpprun oshrun likwid-mpirun".split())
_SPECIAL = re.compile(r"[$`*?\[\]{}~]")
_ARITHMETIC = r"\$\(\((?:[^()`'\"\\]|\([^()`'\"\\]*\))*\)\)"
_SUBSTITUTION = r"\$\([^()`'\"\\]*\)"
_PARAMETER = r"\$\{\w+(?::?[-=+?][^{}\s$`'\"\\]*)?\}"
_EXPANSION = re.compile(rf"\$\w+|{_PARAMETER}|{_ARITHMETIC}|{_SUBSTITUTION}")
_PARTS = re.compile(rf"(?:{_EXPANSION.pattern}|\S)+")
LOCATED = re.compile(r"(?:\$\(|`)\s*(?:which|command -v|type -p)\s+([\w.]+)\s*(?:\)|`)")
"""A substitution that finds a program."""
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
    """Return what a word stands for; None where that is not certain."""
    return _only_value(word.variable, reading) if word.variable else _named(word.text)


def _only_value(name: str, reading: Reading, depth: int = 0) -> str | None:
    """Return the value of a variable that is always the same; its beginning is read as well."""
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
    """Return the program that a substitution looks for, or the launcher that is a default."""
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
