# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites a job script: what is changed stands between marks, all else stays byte for byte."""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from stripewise.errors import UsageError
from stripewise.jobs._changes import Changes
from stripewise.jobs._edits import Edit, apply_edits
from stripewise.jobs._header import header_blocks, option_changes
from stripewise.jobs._launches import LaunchLine
from stripewise.jobs._marks import added_block, is_rewritten, replaced_block
from stripewise.jobs._moves import SUBMITTED_FROM
from stripewise.jobs._options import is_option_line
from stripewise.jobs._quoting import quote
from stripewise.jobs._script import JobScript
from stripewise.model import JobSettings
from stripewise.runtime import change_launcher, resource_environment
from stripewise.text import printable


def rewrite(script: JobScript, changes: Changes) -> bytes:
    """Return a script with changes; `revert` takes them out again.

    Raises:
        UsageError: The script is already rewritten; the launch line, or its program, is not
            certain; or something cannot be written.
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
    """The new script: blocks, and the bytes between them."""
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
    """The #SBATCH lines that change; one on which no option is left goes."""
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
    """The lines of the statements that change."""
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
    """Parts of the script in which these bytes are, between places where a line may be put."""
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
    """The edits of the commands that go to the job's directory by its name."""
    for move, below in changes.moved.items():
        is_csh = script.kind == "csh"
        home = f'"${SUBMITTED_FROM}"' if is_csh else f'"${{{SUBMITTED_FROM}:?}}"'
        rest = quote(f"/{below}", script.kind) if below.parts else ""
        yield Edit(move.start, move.end, _bytes(f"{home}{rest}"))


def _launch_line(script: JobScript, changes: Changes) -> Iterator[Edit]:
    """The edits of the launch line."""
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
    """The edits that put ranks and threads into the launch line."""
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
