# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the commands that start MPI ranks, also if a variable contains the launcher.

If the program of a launch line is uncertain, the line has the reason.
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
from stripewise.run.shell._shell import ParsedScript, SimpleCommand
from stripewise.run.shell._words import Word

_BEFORE = frozenset(
    "time nice nohup env exec command builtin numactl taskset timeout stdbuf ionice setsid chrt"
    " strace ltrace perf unbuffer catchsegv ddt map forge scalasca scan totalview perf-report"
    " xargs parallel hpcrun likwid-perfctr likwid-pin likwid-mpirun valgrind sudo"
    " prlimit trace-cmd flock script systemd-run aps vtune amplxe-cl gdb cgexec nsys ncu rocprof"
    " rocprofv2 rocprofv3 omnitrace-run rocprof-sys-run tau_exec remora spindle heaptrack psrecord"
    " advisor inspxe-cl uftrace compute-sanitizer pat_run xvfb-run dbus-run-session".split()
)
"""Commands that start another one: for measuring and debugging, and of the system."""
_CONTAINERS = frozenset("singularity apptainer podman docker sarus ch-run enroot shifter".split())
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
        number: Number of the launch line in the script, from 1.
        first_line / last_line: Its first and last line in the script, from 1.
        text: Text as written, from the launcher on.
        launcher: File name of the launcher without a suffix: "srun", "mpirun", ...
        words: Words from the launcher on, without quotes, with variables and substitutions as
            written, and with bytes that are not UTF-8 as surrogates.
        program: Word of the program; empty if it is uncertain.
        arguments: Words after the program.
        problem: Why the program is uncertain; empty if it is certain.
        is_plain: Whether the shell expands none of the words.
        ranks / ranks_per_node / cpus_per_rank / nodes: Numbers in its options; None if the line
            does not set one as a number.
        start / end: Position of its bytes in the script, including redirections.
        spans: Start and end of every word.
        program_at: First byte of the program's word; -1 if it is uncertain.
        read_twice: Construct that expands its words again, so that they cannot be quoted: "`"
            inside backquotes, or "parallel"; empty if there is none.
        known: Words with known variables expanded, each with the index of its original word.
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
    """The program is uncertain; the message says why."""


def read_launches(text: str, reading: ParsedScript) -> tuple[LaunchLine, ...]:
    """Return the launch lines among the commands of a script, given its text as Latin-1."""
    newlines = [match.start() for match in re.finditer("\n", text)]
    found: list[LaunchLine] = []
    for command in reading.commands:
        known = list(known_words(command, reading))
        place = _launcher_place(known, reading)
        if place is not None:
            found.append(_launch(len(found) + 1, text, newlines, command, known[place:]))
    return tuple(found)


def utf8(text: str) -> str:
    """Decode a Latin-1 text as UTF-8, with surrogates for other bytes."""
    return text.encode("latin-1").decode("utf-8", "surrogateescape")


def _launcher_place(known: Sequence[Known], reading: ParsedScript) -> int | None:
    """Return the index of the launcher, or of the command that runs a text that names one."""
    if not known or [word.text for word in known[:2]] in _ASKING:
        return None
    reach = known if os.path.basename(known[0].text) in _BEFORE else known[:1]
    for place, word in enumerate(reach):
        if is_launcher_word(word.text) or word.holds_launcher:
            return place
        if os.path.basename(word.text) in _RUN_TEXT and _is_in_text(known[place + 1 :], reading):
            return place
    if os.path.basename(known[0].text) in _CONTAINERS:
        return 0 if any(is_launcher_word(word.text) for word in known[1:-1]) else None
    is_text = os.path.basename(known[0].text) in _MAY_RUN_TEXT
    return 0 if is_text and _is_in_text(known[1:], reading) else None


def _is_in_text(known: Sequence[Known], reading: ParsedScript) -> bool:
    """Return whether one of the words is a text that names a launcher."""
    texts = [word.text for word in known]
    return any(_IN_TEXT.search(text) or names_launcher(text, reading) for text in texts)


def _launch(
    number: int, text: str, newlines: list[int], command: SimpleCommand, known: Sequence[Known]
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
    if os.path.basename(texts[0]) in _CONTAINERS:
        raise _UnclearError(
            f"{os.path.basename(texts[0])} starts the ranks in a container, into which no library "
            "is loaded"
        )
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
    """Return the index of the program's word in the command."""
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


def _read_twice(command: SimpleCommand) -> str:
    if command.in_backquotes:
        return "`"
    return "parallel" if os.path.basename(command.words[0].text) == "parallel" else ""


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


# Values of the words of a command, as far as the script itself determines them.
#
# A variable that the script always sets to the same value, such as `MPIRUN="mpirun -np 4"`, is
# replaced by it, `$(which srun)` by `srun`, and `${SRUN:-srun}` by the launcher that is its
# default.

_NO_LAUNCHERS = ("sh", "bash", "py", "pl", "csh", "log", "out", "txt", "conf")
_OTHERS = frozenset("ccc_mprun mpirun_rsh mpiexec_mpt mpprun oshrun likwid-mpirun".split())
_SPECIAL = re.compile(r"[$`*?\[\]{}~]")
_ARITHMETIC = r"\$\(\((?:[^()`'\"\\]|\([^()`'\"\\]*\))*\)\)"
_SUBSTITUTION = r"\$\([^()`'\"\\]*\)"
_PARAMETER = r"\$\{\w+(?::?[-=+?][^{}\s$`'\"\\]*)?\}"
_EXPANSION = re.compile(rf"\$\w+|{_PARAMETER}|{_ARITHMETIC}|{_SUBSTITUTION}")
_PARTS = re.compile(rf"(?:{_EXPANSION.pattern}|\S)+")
LOCATED = re.compile(r"(?:\$\(|`)\s*(?:which|command -v|type -p)\s+([\w.]+)\s*(?:\)|`)")
"""A substitution that locates a program."""
_DEFAULT = re.compile(r"\$\{\w+:?[-=]([^{}$`'\"\\]*)\}")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?:\[[@*]\])?\})")
_LEADING = re.compile(rf"(?:{LOCATED.pattern}|{_DEFAULT.pattern}|{_VARIABLE.pattern})(?=\s|$)")
_MOST_NESTED = 5
_MOST_VALUES = 20


@dataclass(frozen=True)
class Known:
    """A word, or one of those in the value of a variable.

    Attributes:
        text: Text of the word.
        index: Index of the original word in the command.
        is_first: Whether it is the first word of the expansion.
        is_open: Whether it may expand to several words, or none.
        holds_launcher: Whether it is a variable that may contain a launcher, among other or
            unknown values.
    """

    text: str
    index: int
    is_first: bool
    is_open: bool
    holds_launcher: bool = False


def known_words(command: SimpleCommand, reading: ParsedScript) -> Iterator[Known]:
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
    """Return whether a word names a launcher, and not a file with a similar name."""
    name = os.path.basename(text)
    is_name = is_launcher(name) and name.rpartition(".")[2] not in _NO_LAUNCHERS
    return is_name or name in _OTHERS


def launch_behind(words: Sequence[Word]) -> Sequence[Word]:
    """Return the words from the launcher on, in a command that starts one; otherwise none."""
    if not words or os.path.basename(words[0].text) not in _BEFORE:
        return ()
    place = next((at for at, word in enumerate(words) if is_launcher_word(word.text)), len(words))
    return words[place:]


def names_launcher(text: str, reading: ParsedScript) -> bool:
    """Return whether a text has a variable that may contain a launcher."""
    names = (found[1] or found[2] for found in _VARIABLE.finditer(text))
    return any(_is_given_launcher(name, reading) for name in names)


def _is_given_launcher(name: str, reading: ParsedScript) -> bool:
    if name not in reading.launchers:  # cached for each name, as in `_is_program`
        given = reading.written.get(name, ())
        reading.launchers[name] = any(map(_begins_with_launcher, given))
    return reading.launchers[name]


def _value(word: Word, reading: ParsedScript) -> str | None:
    """Return the value of a word; None if it is uncertain."""
    return _only_value(word.variable, reading) if word.variable else _named(word.text)


def _only_value(name: str, reading: ParsedScript, depth: int = 0) -> str | None:
    """Return the only value of a variable, with the variable at its beginning expanded too."""
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
    """Return the program that a substitution locates, or the launcher that is a default."""
    located, default = LOCATED.fullmatch(text), _DEFAULT.fullmatch(text)
    if located:
        return located[1]
    return default[1] if default and _begins_with_launcher(default[1]) else None


def _begins_with_launcher(written: str) -> bool:
    words = written.strip("(\"' \t\n").split(None, 1)
    return bool(words) and is_launcher_word(words[0].strip("\"')"))


def _holds_launcher(word: Word, reading: ParsedScript) -> bool:
    is_variable = not word.is_plain and _VARIABLE.fullmatch(word.text)
    return bool(is_variable) and names_launcher(word.text, reading)


def _is_program(word: Word, reading: ParsedScript) -> bool:
    """Return whether no value of a variable is empty or begins like an option."""
    name = word.variable
    if name not in reading.programs:  # cached for each name, which a long script may use often
        values = reading.values.get(name, [])
        reading.programs[name] = bool(values) and all(map(_begins_as_program, values))
    return reading.programs[name]


def _begins_as_program(value: Word | None) -> bool:
    text = value.text if value else ""
    if not text or text[0] in "-`" or text[0].isspace():
        return False
    return not text.startswith("$") or re.match(r"\$(\w+|\{\w+\})/", text) is not None
