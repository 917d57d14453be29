# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites options, launch lines and environment of a job script, between marks."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stripewise.core import JobSettings
from stripewise.core.errors import UsageError
from stripewise.present import printable
from stripewise.run.jobs._marks import added_block, is_rewritten, replaced_block
from stripewise.run.jobs._options import (
    canonical_name,
    header_lines,
    is_directive_line,
    is_option_line,
    option_text,
    takes_value,
)
from stripewise.run.jobs._script import JobScript
from stripewise.run.jobs._systems import is_foreign_line
from stripewise.run.runtime import change_launcher, resource_environment
from stripewise.run.shell import SUBMITTED_FROM, LaunchLine, Move


def rewrite(script: JobScript, changes: Changes) -> bytes:
    """Return a script with changes, which `revert` undoes.

    Raises:
        UsageError: The script is already rewritten; the launch line or its program is uncertain;
            or a text cannot be written.
    """
    if is_rewritten(script.data):
        raise UsageError(
            f"{script.name}: already has lines of stripewise; take them out before it is "
            "rewritten again"
        )
    edits, options = option_changes(script, changes)
    replaced = {**_option_lines(script, edits), **_dropped(script, changes)}
    replaced.update(_statements(script, changes))
    return b"".join(_pieces(script, replaced, header_blocks(script, changes, options)))


def _pieces(
    script: JobScript, replaced: dict[tuple[int, int], bytes], added: dict[int, list[bytes]]
) -> Iterator[bytes]:
    """Yield the pieces of the new script: blocks, and the bytes between them."""
    data, eol = script.data, b"\r\n" if script.is_crlf else b"\n"
    blocks = [
        (start, end, replaced_block(data[start:end], new, eol, script.kind == "csh"))
        for (start, end), new in replaced.items()
    ]
    for at, lines in added.items():
        is_open = not data[:at].endswith(b"\n")
        blocks.append((at, at, added_block(lines, eol, is_open)))
    place = 0
    for start, end, block in sorted(blocks, key=lambda each: each[:2]):
        yield data[place:start]
        yield block
        place = end
    yield data[place:]


def _option_lines(script: JobScript, edits: list[Edit]) -> dict[tuple[int, int], bytes]:
    """Return the changed #SBATCH lines; a line without remaining options is removed."""
    found: dict[tuple[int, int], bytes] = {}
    for edit in edits:
        start = script.data.rfind(b"\n", 0, edit.start) + 1
        newline = script.data.find(b"\n", edit.end)
        end = len(script.data) if newline < 0 else newline + 1
        line = apply_edits(script.data, edits, start, end)
        is_left = not is_option_line(line) or len(line.split(None, 1)) > 1
        found[start, end] = line if is_left else b""
    return found


def _dropped(script: JobScript, changes: Changes) -> dict[tuple[int, int], bytes]:
    if not changes.drop_burst_buffer:
        return {}
    return {(each.start, each.end): b"" for each in script.burst_buffer}


def _statements(script: JobScript, changes: Changes) -> dict[tuple[int, int], bytes]:
    """Return the changed lines of statements."""
    in_launch, moved = list(_launch_line(script, changes)), list(_moves(script, changes))
    spans = [(edit.start, edit.end) for edit in moved]
    if in_launch:
        launch = script.launch(changes.step)
        spans.append((launch.start, launch.end))
    edits = in_launch + moved
    return {
        (start, end): apply_edits(script.data, edits, start, end)
        for start, end in _whole_statements(script, spans)
    }


def _whole_statements(
    script: JobScript, spans: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the parts of the script around these bytes, between places for new lines."""
    breaks, last = script.breaks, (0, 0)
    for start, end in sorted(spans):
        begin = breaks[bisect.bisect_right(breaks, start) - 1]
        stop = breaks[bisect.bisect_left(breaks, end)]
        if begin < last[1]:
            last = (last[0], max(stop, last[1]))
            continue
        if last[1]:
            yield last
        last = (begin, stop)
    if last[1]:
        yield last


def _moves(script: JobScript, changes: Changes) -> Iterator[Edit]:
    """Yield the edits of commands that change to the job's directory by its name."""
    for move, below in changes.moved.items():
        is_csh = script.kind == "csh"
        home = f'"${SUBMITTED_FROM}"' if is_csh else f'"${{{SUBMITTED_FROM}:?}}"'
        rest = quote(f"/{below}", script.kind) if below.parts else ""
        yield Edit(move.start, move.end, _bytes(f"{home}{rest}"))


def _launch_line(script: JobScript, changes: Changes) -> Iterator[Edit]:
    """Yield the edits of the launch line."""
    if not changes.wrap and not changes.around and not changes.job.resources:
        return
    launch = script.certain_launch(changes.step)
    yield from _before(script, launch, launch.spans[0][0], changes.around)
    yield from _before(script, launch, launch.program_at, changes.wrap)
    yield from _resources(script, launch, changes.job)


def _before(
    script: JobScript, launch: LaunchLine, place: int, words: tuple[str, ...]
) -> Iterator[Edit]:
    if words:
        written = "".join(f"{_quoted(script, launch, word)} " for word in words)
        yield Edit(place, place, _bytes(written))


def _resources(script: JobScript, launch: LaunchLine, job: JobSettings) -> Iterator[Edit]:
    """Yield the edits that put ranks and threads into the launch line."""
    if not job.resources:
        return
    try:
        change = change_launcher([text for text, _ in launch.known], job)
    except UsageError as error:
        message = printable(f"{script.name}, line {launch.first_line}: {error}")
        raise UsageError(message) from None
    sources = [index for _, index in launch.known]
    for place, new in change.replaced.items():
        index = sources[place]
        if sources.count(index) > 1:
            raise UsageError(
                f"{script.name}, line {launch.first_line}: the variable "
                f"{printable(launch.words[index])} holds the launcher's options; write them out "
                "in this line"
            )
        yield Edit(*launch.spans[index], _bytes(_quoted(script, launch, new)))
    begin, end = launch.spans[0]
    added = "".join(f" {_quoted(script, launch, word)}" for word in change.added)
    yield Edit(end, end, _bytes(added))
    for name, value in resource_environment(job).items():
        yield Edit(begin, begin, _bytes(f"env {name}={value} "))


def _quoted(script: JobScript, launch: LaunchLine, word: str) -> str:
    written = quote(word, script.kind)
    if launch.read_twice and any(c in written for c in "`\\$\"'"):
        remedy = "write $(...) instead" if launch.read_twice == "`" else "start a script instead"
        raise UsageError(
            f"{script.name}, line {launch.first_line}: {launch.read_twice} reads the words of the "
            f"launch line once more, and cannot carry {printable(written)}; {remedy}"
        )
    return written


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# Changes above the first command of a script: options, directives and new lines.

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
IN_PLACE = "STRIPEWISE_IN_PLACE"
"""Variable with the id of the job whose script already works in its own directory."""
_CODING = re.compile(rb"[ \t\f]*#.*?coding[:=]")
_RESOURCES = {
    "ranks": "ntasks",
    "ranks_per_node": "ntasks-per-node",
    "threads": "cpus-per-task",
}


def option_changes(script: JobScript, changes: Changes) -> tuple[list[Edit], list[str]]:
    """Return the edits of #SBATCH lines, and the new options.

    Raises:
        UsageError: An option is unknown or cannot be written, or its part of a heterogeneous job
            is uncertain.
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
        yield Edit(
            start, option.end, b"" if value is None else _bytes_header(_written(name, value))
        )


def _written(name: str, value: str) -> str:
    return option_text(name, value if value or takes_value(name) else None)


def header_blocks(
    script: JobScript, changes: Changes, options: list[str]
) -> dict[int, list[bytes]]:
    """Return the new lines by the position at which to insert them.

    Raises:
        UsageError: A line cannot be written.
    """
    for_plugin, for_rest = _places(script)
    blocks: dict[int, list[bytes]] = {for_plugin: [], for_rest: []}
    blocks[for_plugin] += [_directive(line) for line in changes.directives]
    blocks[for_rest] += [_bytes_header(f"#SBATCH {option}") for option in options]
    blocks[for_rest] += [_note(line) for note in changes.notes for line in note.splitlines()]
    blocks[for_rest] += _commands(script, changes)
    return {place: lines for place, lines in blocks.items() if lines}


def _places(script: JobScript) -> tuple[int, int]:
    """Return the positions for burst-buffer directives and for all other new lines."""
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
    written = _bytes_header(line)
    if any(c in line for c in "\n\r\0") or not is_directive_line(written):
        raise UsageError(
            f"{printable(line)!r} is not a line of a burst buffer; write #DW, #BB or #BB_LUA and "
            "its words, on one line"
        )
    return written


def _note(line: str) -> bytes:
    return _bytes_header(f"# {printable(line)}".rstrip("\\ "))


def _commands(script: JobScript, changes: Changes) -> Iterator[bytes]:
    if (changes.exports or changes.within) and script.kind not in ("sh", "csh"):
        raise UsageError(
            f"{script.name}: the script is for no shell, so no directory and no variables can be "
            "set in it; write the launch line in a shell script"
        )
    if changes.within:
        yield _bytes_header(_start_again(script.kind, changes.within))
    yield from _exports(script.kind, changes.exports)


def _start_again(kind: str, words: tuple[str, ...]) -> str:
    """Return the line that restarts the script as an argument of a program, once per job.

    A job that is submitted from within another job inherits the variable with another id.
    """
    written = " ".join(quote(word, kind) for word in words)
    if kind == "csh":
        return f'if ( "`printenv {IN_PLACE}`" != "$SLURM_JOB_ID" ) exec {written} "$0" $argv:q'
    return f'[ "${{{IN_PLACE}:-}}" = "${{SLURM_JOB_ID:-0}}" ] || exec {written} "$0" "$@"'


def _exports(kind: str, exports: Mapping[str, str]) -> Iterator[bytes]:
    for name, value in exports.items():
        _checked_name(name)
        written = quote(value, kind)
        yield _bytes_header(
            f"setenv {name} {written}" if kind == "csh" else f"export {name}={written}"
        )


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name) or not name.isascii():
        raise UsageError(
            f"{printable(name)!r} is not a valid name of an environment variable; write letters, "
            "digits and _ only"
        )
    return name


def _bytes_header(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# Changes to make in a job script.


@dataclass(frozen=True)
class Changes:
    """Changes to make in a job script.

    Attributes:
        wrap: Words to put before the program of launch line `step`.
        around: Words to put before the launcher of that line, which takes the line as arguments.
        step: Number of the launch line; None for the only one.
        directives: New lines below the last #SBATCH or #DW line, such as "#DW jobdw type=scratch".
        drop_burst_buffer: Whether to remove the #DW, #BB and #BB_LUA lines.
        options: Option of sbatch to its value, which is replaced or added; None removes the
            option, and an empty text is for options without a value.
        job: Ranks, ranks per node and threads for the launch line, and for #SBATCH options that
            set them; its environment and burst buffer are ignored.
        within: Words of a program that starts the script, given as its argument, in another
            directory; the script calls it first, unless it already runs in it.
        moved: Moves of the script to the directory from which it is submitted, or below, by name;
            they are changed to use SLURM_SUBMIT_DIR instead.
        exports: Environment variable to value, to set before the first command of the script.
        notes: Comments for people.
    """

    wrap: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    step: int | None = None
    directives: tuple[str, ...] = ()
    drop_burst_buffer: bool = False
    options: Mapping[str, str | None] = field(default_factory=dict)
    job: JobSettings = field(default_factory=JobSettings)
    within: tuple[str, ...] = ()
    moved: Mapping[Move, Path] = field(default_factory=dict)
    exports: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


# Edits of bytes.


@dataclass(frozen=True)
class Edit:
    """Bytes that replace those from `start` to `end`."""

    start: int
    end: int
    new: bytes


def apply_edits(data: bytes, edits: Sequence[Edit], start: int, end: int) -> bytes:
    """Return a part of the data with the edits in it applied."""
    pieces, place = [], start
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        if start <= edit.start and edit.end <= end:
            pieces += [data[place : edit.start], edit.new]
            place = edit.end
    return b"".join([*pieces, data[place:end]])


# Quoting of words for a shell.

_SAFE = re.compile(r"[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*")


def quote(word: str, kind: str = "sh") -> str:
    """Return a word quoted for a script.

    Args:
        word: Any text without NUL.
        kind: Kind of the shell, "sh" or "csh"; see `JobScript.kind`.

    Raises:
        UsageError: The word cannot be quoted.
    """
    if "\0" in word:
        raise UsageError(f"{printable(word)!r} holds a NUL, which no shell can carry; take it out")
    if _SAFE.fullmatch(word):
        return word
    if kind != "csh":
        return "'" + word.replace("'", "'\"'\"'") + "'"
    if "\n" in word:
        raise UsageError(
            f"{printable(word)!r} holds a line break, which csh cannot quote; take it out, or use "
            "a script for sh"
        )
    return "'" + word.replace("'", "'\"'\"'").replace("!", "\\!") + "'"
