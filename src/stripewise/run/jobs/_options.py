# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses the option lines of a job script as Slurm does: SBATCH, DW, BB and BB_LUA.

sbatch reads up to the first line that contains anything but a comment.  It splits each line at
blanks; quotes and backslashes work nearly as in a shell, and a bare # begins a comment.

Source: the manual page of sbatch (Slurm 22.05); src/sbatch/opt.c of that version.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from stripewise.core.errors import UsageError
from stripewise.present import printable

_MAGIC = (b"#SBATCH", b"#SLURM")
_SHORT = {
    "A": "account", "a": "array", "b": "begin", "B": "extra-node-info", "c": "cpus-per-task",
    "C": "constraint", "d": "dependency", "D": "chdir", "e": "error", "F": "nodefile",
    "G": "gpus", "h": "help", "H": "hold", "i": "input", "J": "job-name", "k": "no-kill",
    "L": "licenses", "M": "clusters", "m": "distribution", "n": "ntasks", "N": "nodes",
    "O": "overcommit", "o": "output", "p": "partition", "q": "qos", "Q": "quiet",
    "s": "oversubscribe", "S": "core-spec", "t": "time", "v": "verbose", "V": "version",
    "w": "nodelist", "W": "wait", "x": "exclude",
}  # fmt: skip
_VALUES = frozenset(
    "account acctg-freq array batch bb bbf begin chdir cluster-constraint clusters comment"
    " constraint container container-id core-spec cores-per-socket cpu-freq cpus-per-gpu"
    " cpus-per-task deadline delay-boot dependency distribution error exclude export export-file"
    " extra extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket"
    " gpus-per-task gres gres-flags hint input job-name kill-on-invalid-dep licenses mail-type"
    " mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus network nodefile nodelist"
    " nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket open-mode"
    " output partition power prefer priority profile qos reservation segment signal"
    " sockets-per-node switches thread-spec threads-per-core time time-min tmp tres-bind"
    " tres-per-task uid wait-all-nodes wckey wrap".split()
)
_OPTIONAL = frozenset("exclusive get-user-env nice no-kill propagate".split())
_FLAGS = frozenset(
    "contiguous help hold ignore-pbs no-requeue overcommit oversubscribe parsable quiet reboot"
    " requeue spread-job stepmgr test-only usage use-min-nodes verbose version wait".split()
)
_OLD_NAMES = {"workdir": "chdir", "tasks-per-node": "ntasks-per-node", "share": "oversubscribe"}
_ALL = _VALUES | _OPTIONAL | _FLAGS | set(_OLD_NAMES)
_SEPARATORS = ("hetjob", "packjob")


@dataclass(frozen=True)
class JobOption:
    """An option of a job.

    Attributes:
        name: The long name without dashes; as written if the option is unknown; empty for a word
            that belongs to no known option.
        value: Value of the option; None if it has none.
        line: Number of its line in the script, from 1.
        component: Number of its part of a heterogeneous job, from 0.
        words: Words of the option as written, without quotes.
        start / end: Position of its bytes in the script.
    """

    name: str
    value: str | None
    line: int
    component: int
    words: tuple[str, ...]
    start: int
    end: int

    @property
    def is_known(self) -> bool:
        """Whether it is a known option of sbatch."""
        return self.name in _ALL

    @property
    def argument(self) -> str:
        """The option as an argument of sbatch; words of unknown options are separate arguments."""
        if not self.is_known:
            return self.words[0]
        return f"--{self.name}" if self.value is None else f"--{self.name}={self.value}"


def header_lines(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end (with the newline) of the lines that sbatch reads."""
    place, number = 0, 0
    while place < len(data):
        found = data.find(b"\n", place)
        end = len(data) if found < 0 else found + 1
        number += 1
        bare = data[place:end].strip()
        if bare and not bare.startswith(b"#"):
            return
        yield number, place, end
        place = end


def is_option_line(line: bytes) -> bool:
    """Return whether sbatch reads options from a line of the header."""
    return line.startswith(_MAGIC)


def read_options(data: bytes) -> tuple[tuple[JobOption, ...], bool]:
    """Return the options in a job script, and whether the job is heterogeneous."""
    found: list[JobOption] = []
    component = 0
    for number, start, end in header_lines(data):
        if not is_option_line(data[start:end]):
            continue
        words = _split(data, start + _magic_length(data, start), end, number)
        if words and words[0].text.lower() in _SEPARATORS:
            component += 1
            continue
        found += _options(words, number, component)
    return tuple(found), component > 0


def sbatch_arguments(options: Sequence[JobOption], drop: Collection[str]) -> tuple[str, ...]:
    """Return options as arguments of sbatch, with ":" between the parts of the job."""
    arguments: list[str] = []
    last, kept = 0, True
    for option in options:
        arguments += [":"] * (option.component - last)
        last = option.component
        kept = kept if not option.name else option.name not in drop
        if kept:
            arguments.append(option.argument)
    return tuple(arguments)


def canonical_name(name: str) -> str:
    """Return the long name of an option that is given as `-t`, `t`, `--time` or `time`.

    Raises:
        UsageError: sbatch has no option of that name.
    """
    bare = name.lstrip("-")
    known = _long_name(_SHORT.get(bare, bare))
    if known is None:
        raise UsageError(
            f"{printable(name)!r} is not a known option of sbatch; write its long name, "
            "such as time or nodes"
        )
    return known


def option_text(name: str, value: str | None) -> str:
    """Return an option as it is written after #SBATCH.

    Raises:
        UsageError: The value cannot be written there.
    """
    if value is None:
        return f"--{name}"
    if any(c in value for c in "\n\r\0"):
        raise UsageError(
            f"{name}: {printable(value)!r} holds a line break or a NUL, which no #SBATCH line "
            "can; take it out"
        )
    if value and not any(c.isspace() or c in "\"'\\#" for c in value):
        return f"--{name}={value}"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'--{name}="{escaped}"'


def _magic_length(data: bytes, start: int) -> int:
    return next(len(magic) for magic in _MAGIC if data.startswith(magic, start))


@dataclass(frozen=True)
class _Piece:
    text: str
    start: int
    end: int


def _split(data: bytes, place: int, end: int, number: int) -> list[_Piece]:
    """Split a line as sbatch does.

    Raises:
        UsageError: A quote is not closed.
    """
    pieces: list[_Piece] = []
    while True:
        while place < end and data[place : place + 1].isspace():
            place += 1
        start = place
        if place >= end or data[place : place + 1] == b"#":
            return pieces
        text, place, is_comment = _argument(data, place, end, number)
        if not text:  # like a backslash at the end; sbatch 22.05 stops reading there (measured)
            return pieces
        pieces.append(_Piece(text, start, place))
        if is_comment:
            return pieces


def _argument(data: bytes, place: int, end: int, number: int) -> tuple[str, int, bool]:
    """Parse one argument, and return whether a comment follows immediately."""
    out, quote, escaped = bytearray(), b"", False
    while place < end:
        c = data[place : place + 1]
        if c == b"\n" or (not quote and c.isspace()):
            break
        if escaped:
            out += c
            escaped = False
        elif c == b"\\":
            escaped = True
        elif quote:
            quote, out = (b"", out) if c == quote else (quote, out + c)
        elif c in (b'"', b"'"):
            quote = c
        elif c == b"#":
            return _text(bytes(out)), place, True
        else:
            out += c
        place += 1
    if quote:
        raise UsageError(
            f"line {number}: the quote {quote.decode()} of a #SBATCH line is not closed; close it"
        )
    return _text(bytes(out)), place, False


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _options(pieces: Sequence[_Piece], number: int, component: int) -> Iterator[JobOption]:
    i = 0
    while i < len(pieces):
        word = pieces[i].text
        following = pieces[i + 1].text if i + 1 < len(pieces) else None
        name, value, used = _option(word, following)
        last = pieces[i + used - 1]
        words = tuple(piece.text for piece in pieces[i : i + used])
        yield JobOption(name, value, number, component, words, pieces[i].start, last.end)
        i += used


def _option(word: str, following: str | None) -> tuple[str, str | None, int]:
    """Return the name, value and number of words of an option."""
    if word.startswith("--") and len(word) > 2:
        written, equals, value = word[2:].partition("=")
        name = _long_name(written)
        if equals or name is None:
            return name or written, value if equals else None, 1
        return (
            (name, following, 2) if name in _VALUES and following is not None else (name, None, 1)
        )
    if word.startswith("-") and len(word) > 1:
        name = _SHORT.get(word[1])
        if name in _VALUES and len(word) == 2 and following is not None:
            return name, following, 2
        if name in _VALUES or name in _OPTIONAL:
            return name, word[2:] or None, 1
        if name is not None and len(word) == 2:
            return name, None, 1
        return word[1:], None, 1
    return "", word, 1


def _long_name(written: str) -> str | None:
    """Return the option with a name or unique abbreviation; None if there is not exactly one."""
    if written not in _ALL:
        matches = [name for name in _ALL if written and name.startswith(written)]
        if len(matches) != 1:
            return None
        written = matches[0]
    return _OLD_NAMES.get(written, written)


def takes_value(name: str) -> bool:
    """Return whether an option with a long name requires a value."""
    return name in _VALUES


# Burst-buffer lines in a script: #DW of DataWarp, #BB and #BB_LUA of Slurm.
#
# Slurm's plug-ins stop at the first non-empty line that does not begin with a #.
#
# Source: src/plugins/burst_buffer/datawarp/burst_buffer_datawarp.c of Slurm 22.05.

_MAKERS = (("create_persistent",), ("destroy_persistent",))
_BEGINNING = re.compile(rb"#(DW|BB_LUA|BB)(?![A-Za-z0-9_])")


@dataclass(frozen=True)
class Directive:
    """A burst-buffer line (directive).

    Attributes:
        kind: Kind of directive: "DW", "BB" or "BB_LUA".
        words: Words of the directive, as in ("jobdw", "type=scratch", "capacity=200GiB").
        line: Number of its (first) line in the script, from 1.
        start / end: Position of its bytes, including the newline.
    """

    kind: str
    words: tuple[str, ...]
    line: int
    start: int
    end: int


def persistent_maker(directives: Iterable[Directive]) -> Directive | None:
    """Return the directive that creates or removes a persistent burst buffer; None without one."""
    return next((one for one in directives if one.kind == "BB" and one.words[:1] in _MAKERS), None)


def is_directive_line(line: bytes) -> bool:
    """Return whether a line is a burst-buffer directive."""
    return _BEGINNING.match(line) is not None


def read_directives(data: bytes) -> tuple[Directive, ...]:
    """Return the directives of a script, which a backslash continues on the next line."""
    found: list[Directive] = []
    rest = ""
    for number, start, end in header_lines(data):
        match = _BEGINNING.match(data, start)
        if match is None:
            rest = ""
            continue
        kind = match[1].decode()
        text = data[match.end() : end].decode("utf-8", "surrogateescape").strip()
        first = (number, start)
        if rest and found and found[-1].kind == kind:
            last = found.pop()
            first, text = (last.line, last.start), f"{rest} {text}"
        rest = text[:-1] if text.endswith("\\") else ""
        found.append(Directive(kind, _words(rest or text), *first, end))
    return tuple(found)


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:  # a quote that is not closed
        return tuple(text.split())
