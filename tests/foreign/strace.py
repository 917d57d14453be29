# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counts what a program does to regular files, from its system calls as `strace -ff -y` logs them.

This is the judge of amounts: it must not import anything of the product.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

_DATA = (
    "read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2,"
    "copy_file_range,sendfile,splice,mmap,io_uring_setup"
)
COMMAND = ("strace", "-ff", "-y", "-q", "-s", "0", "--seccomp-bpf", "-e", f"trace={_DATA}")

_READS = {"read", "pread64", "readv", "preadv", "preadv2"}
_WRITES = {"write", "pwrite64", "writev", "pwritev", "pwritev2"}
_LINE = re.compile(r"^(\w+)\((.*)\) += (-?\w+)")
_PATH = re.compile(r"\d+<(/[^>]*)>")
# What a run's figures leave out by definition: the system's own files.
_SYSTEM = re.compile(
    r"^/(usr|etc|proc|sys|dev|bin|sbin|lib|lib32|lib64|libx32|opt|boot|run|var/(?!tmp/))(/|$)"
)
_CODE = re.compile(r"\.(py|pyc|pth|so)$|\.pyc\.\d+$|\.so\.\d")
_SESSION = re.compile(r"/(ompi|prte)\.[^/]*\.\d+/")


@dataclass
class Amounts:
    """Data that system calls moved to and from one file or several."""

    read_bytes: int = 0
    write_bytes: int = 0
    reads: int = 0
    writes: int = 0
    empty_reads: int = 0
    empty_writes: int = 0

    def add(self, writing: bool, size_bytes: int) -> None:
        """Count one call; those that moved nothing are counted apart."""
        verb = "write" if writing else "read"
        name = f"{verb}s" if size_bytes > 0 else f"empty_{verb}s"
        setattr(self, name, getattr(self, name) + 1)
        setattr(self, f"{verb}_bytes", getattr(self, f"{verb}_bytes") + size_bytes)


@dataclass
class Observed:
    """What a program did, by its system calls.

    Attributes:
        files: Amounts by path.
        mapped: Files that were mapped into memory: their amounts are not known.
    """

    files: dict[str, Amounts] = field(default_factory=lambda: defaultdict(Amounts))
    mapped: set[str] = field(default_factory=set)

    def total(self) -> Amounts:
        """Return the amounts of all files together."""
        total = Amounts()
        for one in self.files.values():
            for name in vars(total):
                setattr(total, name, getattr(total, name) + getattr(one, name))
        return total


def read_logs(directory: Path, *, code: bool) -> Observed:
    """Count the calls in the logs of all threads, `strace.PID`, in a directory.

    Args:
        directory: Where the logs are.
        code: Whether Python code and libraries count: not if it is Python that reads them.
    """
    seen = Observed()
    for log in sorted(directory.glob("strace.*")):
        for line in log.read_text(errors="replace").splitlines():
            found = _LINE.match(line)
            if found is not None and not found[3].startswith("-"):
                _count(seen, found[1], found[2], found[3])
    seen.mapped = {path for path in seen.mapped if not _CODE.search(path)}
    if not code:
        for path in [path for path in seen.files if _CODE.search(path)]:
            del seen.files[path]
    return seen


def _count(seen: Observed, call: str, arguments: str, result: str) -> None:
    paths = _PATH.findall(arguments)
    if call == "mmap":
        seen.mapped.update(path for path in paths if is_of_the_program(path))
    elif call in _READS or call in _WRITES:
        for path in paths[:1]:
            _add(seen, path, call in _WRITES, int(result, 0))
    elif call in ("copy_file_range", "sendfile", "splice"):
        _count_copy(seen, call, arguments, int(result, 0))


def _count_copy(seen: Observed, call: str, arguments: str, size_bytes: int) -> None:
    """Count a copy in the kernel as a read of one file and a write of the other."""
    descriptors = re.findall(r"\d+<([^>]*)>", arguments)
    source, target = descriptors if call != "sendfile" else reversed(descriptors)
    for path, writing in ((source, False), (target, True)):
        if path.startswith("/"):
            _add(seen, path, writing, size_bytes)


def _add(seen: Observed, path: str, writing: bool, size_bytes: int) -> None:
    if is_of_the_program(path):
        seen.files[path].add(writing, size_bytes)


def is_of_the_program(path: str) -> bool:
    """Return whether a path is neither the system's nor of a session of MPI."""
    return not _SYSTEM.match(path) and not _SESSION.search(path)
