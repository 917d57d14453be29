# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Changes above the first command of a script: options, directives, and lines that are new."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stripewise.errors import UsageError
from stripewise.jobs._changes import Changes
from stripewise.jobs._directives import is_directive_line
from stripewise.jobs._edits import Edit
from stripewise.jobs._options import (
    canonical_name,
    header_lines,
    is_option_line,
    option_text,
    takes_value,
)
from stripewise.jobs._quoting import quote
from stripewise.jobs._script import JobScript
from stripewise.jobs._systems import is_foreign_line
from stripewise.text import printable

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
IN_PLACE = "STRIPEWISE_IN_PLACE"
"""Variable with the number of the job whose script works in a directory of its own already."""
_CODING = re.compile(rb"[ \t\f]*#.*?coding[:=]")
_RESOURCES = {
    "ranks": "ntasks",
    "ranks_per_node": "ntasks-per-node",
    "threads": "cpus-per-task",
}


def option_changes(script: JobScript, changes: Changes) -> tuple[list[Edit], list[str]]:
    """Return the edits of #SBATCH lines, and the options that are new.

    Raises:
        UsageError: An option is not known, cannot be written, or its part of a heterogeneous job
            is not certain.
    """
    wanted = {canonical_name(name): value for name, value in changes.options.items()}
    standing = {option.name for option in script.options}
    for resource, number in changes.job.resources.items():
        if script.resources.is_heterogeneous:
            raise UsageError(
                f"{script.name}: {resource} cannot be set in a heterogeneous job, whose parts "
                "have ranks of their own"
            )
        name = _RESOURCES[resource]
        if name in standing:
            wanted.setdefault(name, str(number))
    edits = [edit for name, value in wanted.items() for edit in _edits(script, name, value)]
    new = [
        _written(name, value)
        for name, value in wanted.items()
        if value is not None and name not in standing
    ]
    if new and script.resources.is_heterogeneous:
        raise UsageError(
            f"{script.name}: {new[0]} cannot be added to a heterogeneous job; write it into the "
            "part that it is for"
        )
    return edits, new


def _edits(script: JobScript, name: str, value: str | None) -> Iterator[Edit]:
    found = [option for option in script.options if option.name == name]
    if value is not None and len({option.component for option in found}) > 1:
        raise UsageError(
            f"{script.name}: several parts of the heterogeneous job say {name}; change it there"
        )
    for option in found:
        start = option.start
        if value is None:
            while script.data[start - 1 : start] in (b" ", b"\t"):
                start -= 1
        yield Edit(start, option.end, b"" if value is None else _bytes(_written(name, value)))


def _written(name: str, value: str) -> str:
    return option_text(name, value if value or takes_value(name) else None)


def header_blocks(
    script: JobScript, changes: Changes, options: list[str]
) -> dict[int, list[bytes]]:
    """Return new lines by the position where they are to be put.

    Raises:
        UsageError: One of them cannot be written.
    """
    for_plugin, for_rest = _places(script)
    blocks: dict[int, list[bytes]] = {for_plugin: [], for_rest: []}
    blocks[for_plugin] += [_directive(line) for line in changes.directives]
    blocks[for_rest] += [_bytes(f"#SBATCH {option}") for option in options]
    blocks[for_rest] += [_note(line) for note in changes.notes for line in note.splitlines()]
    blocks[for_rest] += _commands(script, changes)
    return {place: lines for place, lines in blocks.items() if lines}


def _places(script: JobScript) -> tuple[int, int]:
    """Where directives may be put for the burst buffer's plug-ins, and where all the rest."""
    data, is_read = script.data, True
    for_plugin = for_rest = 0
    for number, start, end in header_lines(data):
        line = data[start:end]
        is_read = is_read and line.startswith((b"#", b"\n"))
        is_coding = number == 2 and script.kind == "python" and _CODING.match(line)
        is_read_by_others = is_directive_line(line) or is_foreign_line(line)
        if number == 1 or is_coding or is_option_line(line) or is_read_by_others:
            for_rest = end
            for_plugin = end if is_read else for_plugin
    return for_plugin, for_rest


def _directive(line: str) -> bytes:
    written = _bytes(line)
    if any(c in line for c in "\n\r\0") or not is_directive_line(written):
        raise UsageError(
            f"{printable(line)!r} is no line of a burst buffer; write #DW, #BB or #BB_LUA and its "
            "words, on one line"
        )
    return written


def _note(line: str) -> bytes:
    return _bytes(f"# {printable(line)}".rstrip("\\ "))


def _commands(script: JobScript, changes: Changes) -> Iterator[bytes]:
    if (changes.exports or changes.within) and script.kind not in ("sh", "csh"):
        raise UsageError(
            f"{script.name}: the script is for no shell, so no directory and no variables can be "
            "set in it; write the launch line in a shell script"
        )
    if changes.within:
        yield _bytes(_start_again(script.kind, changes.within))
    yield from _exports(script.kind, changes.exports)


def _start_again(kind: str, words: tuple[str, ...]) -> str:
    """Return the line that starts the script as an argument of a program, once in each job.

    A job that is submitted from within another one inherits the variable, with another number.
    """
    written = " ".join(quote(word, kind) for word in words)
    if kind == "csh":
        return f'if ( "`printenv {IN_PLACE}`" != "$SLURM_JOB_ID" ) exec {written} "$0" $argv:q'
    return f'[ "${{{IN_PLACE}:-}}" = "${{SLURM_JOB_ID:-0}}" ] || exec {written} "$0" "$@"'


def _exports(kind: str, exports: Mapping[str, str]) -> Iterator[bytes]:
    for name, value in exports.items():
        _checked_name(name)
        written = quote(value, kind)
        yield _bytes(f"setenv {name} {written}" if kind == "csh" else f"export {name}={written}")


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name) or not name.isascii():
        raise UsageError(
            f"{printable(name)!r} is no name of an environment variable; write letters, digits "
            "and _ only"
        )
    return name


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
