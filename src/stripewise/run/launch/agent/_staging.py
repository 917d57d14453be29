# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Copies a run's files to a burst buffer, and copies changed files back.

The agent imports this file without the package, so it uses only the standard library.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import stat
import subprocess

TYPE_CHECKING = False  # typing is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    Manifest = dict[str, tuple[int, int, int]]
    """Name below the stage to inode, size and time of change of its content."""

_PIECE_BYTES = 64 << 20
_STAGE = re.compile(r"stripewise-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Names of the directories of runs on a burst buffer."""
MOST_CONTENT_BYTES = 128 << 30
"""Maximum size of a burst buffer's content that is copied for each run.

Assumed: at 1 GiB/s the copy takes two minutes, the longest time of a run of the short case."""


LOCAL_TYPES = (
    "bcachefs", "btrfs", "ext2/ext3", "f2fs", "jfs", "overlayfs", "ramfs", "reiserfs", "tmpfs",
    "xfs", "zfs",
)  # fmt: skip
"""File systems local to one node, as `stat -f` names them (ext4 is "ext2/ext3").

Source: human_fstype() of GNU coreutils; documented."""
_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")


def top_of(stage: dict[str, Any], environment: Mapping[str, str]) -> str:
    """Return the directory of a burst buffer in a job; empty if a variable is not set."""
    text = str(stage.get("directory") or f"${{{stage['variable']}}}")
    names = [one[0] or one[1] for one in _VARIABLE.findall(text)]
    if not all(environment.get(name) for name in names):
        return ""
    return _VARIABLE.sub(lambda found: environment[found[1] or found[2]], text)


def check_shared(top: str, nodes: int) -> None:
    """Refuse a directory that is known not to be shared by several nodes of a job.

    Raises:
        OSError: It is on storage local to a node.
    """
    if nodes < 2:
        return
    words = ("stat", "-f", "-c", "%T", os.path.join(top, "."))
    try:
        answer = subprocess.run(
            words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
        )
    except OSError:
        return  # this cannot be determined
    kind = answer.stdout.decode("utf-8", "replace").strip()
    if kind in LOCAL_TYPES:
        raise OSError(
            f"{top} ({kind}) is storage of each node, which the {nodes} nodes of the job cannot "
            "share: tune a job of one node, or name a place that all nodes see"
        )


def stage_name(run_id: str) -> str:
    """Return the name of the directory of a run on a burst buffer."""
    return f"stripewise-{run_id}"


def stage_in(
    source: str, target: str, globs: list[str] | None, tick: Callable[[], None]
) -> Manifest:
    """Copy a directory, or the files in it that match, without directories of runs.

    Links to files are followed.  Links to directories keep their targets, except those that point
    below the source, which are changed to point to the copy.

    Args:
        source: Directory of the run.
        target: Empty directory.
        globs: Globs of names to copy, relative to `source`; None for all.
        tick: Function that is called often; an error from it ends the copy.

    Raises:
        OSError: There is not enough space, or a file cannot be read.
    """
    for glob in globs or ():
        above = os.path.dirname(glob)
        if above and not set(above) & set("*?["):
            _make_folder(target, above)
    for name, folder in _walk(source, skip=target, stages=False):
        if folder:
            if globs is None or _leads_to(name, globs):
                _make_folder(target, name)
        elif globs is None or is_one_of(name, globs):
            _make_folder(target, os.path.dirname(name))
            _copy(os.path.join(source, name), os.path.join(target, name), tick, top=source)
    return manifest_of(target)


def copy_to(source: str, target: str, place: str, tick: Callable[[], None]) -> None:
    """Copy a file or a directory to a place below the target.

    A file whose destination is a directory keeps its name in it.

    Raises:
        OSError: There is not enough space, or a file cannot be read.
    """
    if os.path.isdir(source):
        stage_in(source, _make_folder(target, place), None, tick)
        return
    if os.path.isdir(os.path.join(target, place)):
        place = os.path.join(place, os.path.basename(source))
    folder = _make_folder(target, os.path.dirname(place))
    _copy(source, os.path.join(folder, os.path.basename(place)), tick, os.path.dirname(source))


def check_content(top: str) -> None:
    """Refuse a burst buffer with more content than can be copied for each run.

    Raises:
        OSError: It contains too much, or a directory cannot be read.
    """
    size_bytes = sum(
        os.stat(path).st_size
        for name, folder in _walk(top, stages=False)
        if not folder and os.path.isfile(path := os.path.join(top, name))
    )
    room = os.statvfs(top)
    most_bytes = min(MOST_CONTENT_BYTES, room.f_bavail * room.f_frsize)
    if size_bytes > most_bytes:
        raise OSError(
            f"the burst buffer holds {size_bytes / 2**30:.1f} GiB, and a run can have a copy of "
            f"at most {most_bytes / 2**30:.1f} GiB: name what the job needs of it with "
            "--stage-in DIR"
        )


def stage_out(source: str, target: str, before: Manifest, tick: Callable[[], None]) -> int:
    """Copy back files that are new or changed in the stage, and remove those removed there.

    Existing files are replaced, never written to, since they may be links to shared inputs.

    Args:
        source: Directory of the stage.
        target: Directory of the run.
        before: Content of the stage before the run.
        tick: Function that is called often; an error from it ends the copy.

    Returns:
        The number of files that were copied.

    Raises:
        OSError: There is not enough space, or a file cannot be read.
    """
    copied, seen = 0, set()
    for name, folder in _walk(source):
        here, there = os.path.join(source, name), os.path.join(target, name)
        seen.add(name)
        if folder:
            _make_folder(target, name)
        elif before.get(name) != _mark(here):
            _make_folder(target, os.path.dirname(name))
            temporary = f"{there}.stripewise-stage"
            _copy(here, temporary, tick)
            if os.path.isdir(there) and not os.path.islink(there):
                shutil.rmtree(there)
            os.replace(temporary, there)
            copied += 1
    for name in sorted(before, reverse=True):
        if name not in seen:
            _remove(os.path.join(target, name))
    return copied


def manifest_of(top: str) -> Manifest:
    """Return the content of a directory."""
    return {name: _mark(os.path.join(top, name)) for name, _ in _walk(top)}


def _mark(path: str) -> tuple[int, int, int]:
    status = os.lstat(path)
    if stat.S_ISDIR(status.st_mode):
        return status.st_ino, 0, 0
    return status.st_ino, status.st_size, status.st_mtime_ns


def _walk(top: str, skip: str = "", stages: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield the names below a directory, and whether each is a directory, before its content.

    A link to a directory does not count as one, since it may point anywhere, even upwards.

    Args:
        top: Path of the directory.
        skip: Path of a directory below it to leave out.
        stages: Whether to include directories of runs at its top.
    """
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(os.path.join(top, folder)) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                name = os.path.join(folder, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    is_stage = not (folder or stages) and _STAGE.fullmatch(entry.name)
                    if entry.path != skip and not is_stage:
                        pending.append(name)
                        yield name, True
                elif entry.is_file() or entry.is_symlink():
                    yield name, False


def is_one_of(name: str, globs: Sequence[str]) -> bool:
    """Return whether a name matches one of the globs, in which "*" does not match "/"."""
    parts = name.split("/")
    for glob in globs:
        wanted = glob.split("/")
        if len(parts) == len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted)):
            return True
    return False


def _make_folder(top: str, name: str) -> str:
    """Create a directory below another without following links out of it; return its path."""
    path = top
    for part in filter(None, name.split("/")):
        path = os.path.join(path, part)
        if os.path.islink(path):
            os.unlink(path)
        os.makedirs(path, exist_ok=True)
    return path


def _leads_to(folder: str, globs: list[str]) -> bool:
    """Return whether matching files may be created in a directory, which must then exist."""
    parts = folder.split("/")
    for glob in globs:
        above = glob.split("/")[:-1]
        if len(parts) <= len(above) and all(map(fnmatch.fnmatchcase, parts, above)):
            return True
    return False


def _copy(source: str, target: str, tick: Callable[[], None], top: str = "") -> None:
    """Copy one file with its mode and times, or a link.

    Args:
        source: Path of the file.
        target: Path of the copy.
        tick: Function that is called often.
        top: Directory below which links are replaced by their targets; empty to keep links.
    """
    if os.path.islink(source) and not (top and os.path.isfile(source)):
        if os.path.lexists(target):
            os.unlink(target)
        os.symlink(_link_text(source, top) if top else os.readlink(source), target)
        return
    if top and os.path.islink(target):
        os.unlink(target)
    with open(source, "rb") as reader, open(target, "wb") as writer:
        mode = stat.S_IMODE(os.fstat(reader.fileno()).st_mode)
        os.fchmod(writer.fileno(), mode | stat.S_IWUSR)
        offset = 0
        while sent := os.sendfile(writer.fileno(), reader.fileno(), offset, _PIECE_BYTES):
            offset += sent
            tick()
    shutil.copystat(source, target)
    tick()


def _link_text(link: str, top: str) -> str:
    """Return the target of a link, changed to be valid in a copy of the directory `top`."""
    text, real, real_top = os.readlink(link), os.path.realpath(link), os.path.realpath(top)
    if os.path.isdir(real) and os.path.commonpath((real, real_top)) == real_top:
        folder = os.path.relpath(os.path.dirname(link), top)
        return os.path.relpath(os.path.relpath(real, real_top), folder)
    inside = os.path.normpath(text).split(os.sep)[0] != os.pardir
    return text if inside or os.path.isabs(text) else os.path.realpath(link)


def _remove(path: str) -> None:
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        else:
            os.unlink(path)
    except OSError:
        pass  # already removed, or contains something that was not staged
