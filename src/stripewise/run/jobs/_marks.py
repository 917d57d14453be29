# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Marks the changes in a script, so that the original can be restored.

A mark contains the number of lines that belong to it, so that no text inside can look like its
end.  All marks are comments that begin at the start of a line, so that sbatch and Slurm's burst
buffer plug-ins continue to read below them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stripewise.core.errors import UsageError

_BEGIN, _END = b"# >>> stripewise", b"# <<< stripewise"
_KEPT = b"#| "
_CLOSED, _CLOSING = b"#: ", b" :"
_ADDED_AT_END = b" after an end without a newline"
_REPLACED_AT_END = b" at an end without a newline"
_ADDED = re.compile(rb"# >>> stripewise: (\d{1,9}) lines? added(" + _ADDED_AT_END + rb")?(\r?\n)")
_REPLACED = re.compile(
    rb"# >>> stripewise: (\d{1,9}) lines? replaced by (\d{1,9})("
    + _REPLACED_AT_END
    + rb")?(\r?\n)"
)


def added_block(lines: list[bytes], eol: bytes, after_open_line: bool) -> bytes:
    """Return a marked block of new lines.

    Args:
        lines: Lines without their ends, which may contain newlines.
        eol: Characters that end a line.
        after_open_line: Whether the line before the block has no newline.
    """
    body = b"".join(line + eol for line in lines)
    suffix = _ADDED_AT_END if after_open_line else b""
    begin = _BEGIN + b": " + _count(body) + b" added" + suffix + eol
    return (eol if after_open_line else b"") + begin + body + _END + eol


def replaced_block(old: bytes, new: bytes, eol: bytes, is_csh: bool = False) -> bytes:
    """Return a marked block that contains old lines as comments, and the new lines.

    Args:
        old: Old lines with their ends, which may be missing at the end of the file.
        new: New lines with their ends.
        eol: Characters that end a line.
        is_csh: Whether the script is for csh, which may continue a comment that ends in a
            backslash.
    """
    is_open = not old.endswith(b"\n")
    kept = b"".join(_keep(line, is_csh) for line in _lines(old + eol if is_open else old))
    body = new if not new or new.endswith(b"\n") else new + eol
    suffix = _REPLACED_AT_END if is_open else b""
    begin = b"%s: %s replaced by %d%s" % (_BEGIN, _count(kept), body.count(b"\n"), suffix)
    return begin + eol + kept + body + _END + eol


def is_rewritten(data: bytes) -> bool:
    """Return whether a script has marks of changes."""
    return any(line.startswith((_BEGIN, _END)) for line in _lines(data))


def revert(data: bytes) -> bytes:
    """Return the original script before it was rewritten, byte for byte.

    Raises:
        UsageError: There are no marks, or they are damaged.
    """
    if not is_rewritten(data):
        raise UsageError(
            "the script has no lines of stripewise to take out; name a script that it has written"
        )
    return b"".join(_Reverting(data).pieces())


class _Reverting:
    def __init__(self, data: bytes) -> None:
        self._lines = list(_lines(data))
        self._next = 0

    def pieces(self) -> Iterator[bytes]:
        """Yield the original script in pieces.

        Raises:
            UsageError: The marks are damaged.
        """
        pending = b""  # the newline of the last line, which may belong to a mark
        while self._next < len(self._lines):
            line = self._lines[self._next]
            added, replaced = _ADDED.fullmatch(line), _REPLACED.fullmatch(line)
            if added:
                pending = pending.removesuffix(added[3]) if added[2] else pending
                self._skip(int(added[1]))
            elif replaced:
                yield pending
                pending = self._kept(int(replaced[1]), int(replaced[2]))
                pending = pending.removesuffix(replaced[4]) if replaced[3] else pending
            elif line.startswith((_BEGIN, _END)):
                raise self._damaged()
            else:
                yield pending
                pending = line
                self._next += 1
        yield pending

    def _skip(self, number: int, kept: int = 0) -> None:
        """Skip a block with a number of lines."""
        end = self._next + 1 + kept + number
        if end >= len(self._lines) or self._lines[end].rstrip(b"\r\n") != _END:
            raise self._damaged()
        self._next = end + 1

    def _kept(self, old: int, new: int) -> bytes:
        lines = self._lines[self._next + 1 : self._next + 1 + old]
        if not all(line.startswith((_KEPT, _CLOSED)) for line in lines):
            raise self._damaged()
        self._skip(new, kept=old)
        return b"".join(map(_original, lines))

    def _damaged(self) -> UsageError:
        return UsageError(
            f"line {self._next + 1}: the lines of stripewise that begin here were changed, so the "
            "original cannot be restored from them; use the script that was rewritten"
        )


def _lines(data: bytes) -> Iterator[bytes]:
    """Yield the lines with their newlines; a carriage return does not end a line."""
    place = 0
    while place < len(data):
        found = data.find(b"\n", place)
        end = len(data) if found < 0 else found + 1
        yield data[place:end]
        place = end


def _count(body: bytes) -> bytes:
    number = body.count(b"\n")
    return b"%d line%s" % (number, b"" if number == 1 else b"s")


def _keep(line: bytes, is_csh: bool) -> bytes:
    """Return a line as a comment."""
    bare = line.removesuffix(b"\n")
    if is_csh and bare.rstrip(b"\r").endswith(b"\\"):
        return _CLOSED + bare + _CLOSING + b"\n"
    return _KEPT + line


def _original(line: bytes) -> bytes:
    if line.startswith(_KEPT):
        return line[len(_KEPT) :]
    return line[len(_CLOSED) :].removesuffix(b"\n").removesuffix(_CLOSING) + b"\n"
