# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Copies a run's files to a burst buffer and brings back what changed.

The agent imports this file on its own: standard library only.
"""

from __future__ import annotations

import fnmatch
import os
import shutil
import stat

TYPE_CHECKING = False  # typing is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Manifest = dict[str, tuple[int, int, int]]
    """Name below the stage to inode, size and time of change of its content."""

_PIECE_BYTES = 64 << 20


def stage_in(
    source: str, target: str, globs: list[str] | None, tick: Callable[[], None]
) -> Manifest:
    """Copy a directory, or the files in it that match.

    Links to files are followed; links to directories still lead where they led.

    Args:
        source: Directory of the run.
        target: An empty directory.
        globs: Names to copy, relative to `source`; None: all.
        tick: Called often; what it raises ends the copy.

    Raises:
        OSError: There is no room, or a file cannot be read.
    """
    for glob in globs or ():
        above = os.path.dirname(glob)
        if above and not set(above) & set("*?["):
            os.makedirs(os.path.join(target, above), exist_ok=True)
    for name, folder in _walk(source, skip=target):
        if folder:
            if globs is None or _leads_to(name, globs):
                os.makedirs(os.path.join(target, name), exist_ok=True)
        elif globs is None or is_one_of(name, globs):
            here, there = os.path.join(source, name), os.path.join(target, name)
            os.makedirs(os.path.dirname(there), exist_ok=True)
            _copy(here, there, tick, follow=True)
    return manifest_of(target)


def stage_out(source: str, target: str, before: Manifest, tick: Callable[[], None]) -> int:
    """Bring back what is new or changed in the stage, and remove what was removed there.

    What it replaces is never written to: it may be a link to an input that others share.

    Args:
        source: The stage.
        target: Directory of the run.
        before: What the stage held before the run.
        tick: Called often; what it raises ends the copy.

    Returns:
        How many files were copied.

    Raises:
        OSError: There is no room, or a file cannot be read.
    """
    copied, seen = 0, set()
    for name, folder in _walk(source):
        here, there = os.path.join(source, name), os.path.join(target, name)
        seen.add(name)
        if folder:
            os.makedirs(there, exist_ok=True)
        elif before.get(name) != _mark(here):
            os.makedirs(os.path.dirname(there), exist_ok=True)
            temporary = f"{there}.stripewise-stage"
            _copy(here, temporary, tick, follow=False)
            if os.path.isdir(there) and not os.path.islink(there):
                shutil.rmtree(there)
            os.replace(temporary, there)
            copied += 1
    for name in sorted(before, reverse=True):
        if name not in seen:
            _remove(os.path.join(target, name))
    return copied


def manifest_of(top: str) -> Manifest:
    """Return what a directory holds."""
    return {name: _mark(os.path.join(top, name)) for name, _ in _walk(top)}


def _mark(path: str) -> tuple[int, int, int]:
    status = os.lstat(path)
    if stat.S_ISDIR(status.st_mode):
        return status.st_ino, 0, 0
    return status.st_ino, status.st_size, status.st_mtime_ns


def _walk(top: str, skip: str = "") -> Iterator[tuple[str, bool]]:
    """Names below a directory, each with whether it is one; directories before what they hold.

    A link to a directory is none: it may lead anywhere, back up too.
    """
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(os.path.join(top, folder)) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                name = os.path.join(folder, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    if entry.path != skip:
                        pending.append(name)
                        yield name, True
                elif entry.is_file() or entry.is_symlink():
                    yield name, False


def is_one_of(name: str, globs: Sequence[str]) -> bool:
    """Whether a name is one of those that globs stand for, in which "*" does not stand for "/"."""
    parts = name.split("/")
    for glob in globs:
        wanted = glob.split("/")
        if len(parts) == len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted)):
            return True
    return False


def _leads_to(folder: str, globs: list[str]) -> bool:
    """Whether files that match may be made in a directory, which must be there for them."""
    parts = folder.split("/")
    for glob in globs:
        above = glob.split("/")[:-1]
        if len(parts) <= len(above) and all(map(fnmatch.fnmatchcase, parts, above)):
            return True
    return False


def _copy(source: str, target: str, tick: Callable[[], None], follow: bool) -> None:
    """Copy one file with its mode and times, or a link."""
    if os.path.islink(source) and not (follow and os.path.isfile(source)):
        if os.path.lexists(target):
            os.unlink(target)
        os.symlink(_link_text(source) if follow else os.readlink(source), target)
        return
    with open(source, "rb") as reader, open(target, "wb") as writer:
        mode = stat.S_IMODE(os.fstat(reader.fileno()).st_mode)
        os.fchmod(writer.fileno(), mode | stat.S_IWUSR)
        offset = 0
        while sent := os.sendfile(writer.fileno(), reader.fileno(), offset, _PIECE_BYTES):
            offset += sent
            tick()
    shutil.copystat(source, target)
    tick()


def _link_text(link: str) -> str:
    """Return where a link leads, in words that hold in another directory."""
    text = os.readlink(link)
    inside = os.path.normpath(text).split(os.sep)[0] != os.pardir
    return text if inside or os.path.isabs(text) else os.path.realpath(link)


def _remove(path: str) -> None:
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        else:
            os.unlink(path)
    except OSError:
        pass  # gone already, or holds something that was not staged
