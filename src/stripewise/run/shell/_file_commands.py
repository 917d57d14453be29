# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Determines which of their words well-known commands write, move or remove.

Source: the manuals of GNU coreutils 9.1, findutils 4.9, tar 1.34, sed 4.8, rsync 3.2, git 2.39.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from stripewise.run.shell._arguments import (
    CHANGES_REPOSITORY,
    MAKES,
    MOVES,
    REMOVES,
    WRITES,
    Arguments,
    Changes,
    Copies,
    Handler,
    Use,
    named,
    part_of,
    table,
)
from stripewise.run.shell._remote_data import REMOTE_HANDLERS, pushed_to
from stripewise.run.shell._words import Word


def uses_of(name: str, words: Sequence[Word]) -> Iterator[Use] | None:
    """Return the effects of a command on files; None if it is not known to change any.

    Args:
        name: Name of the command, without a directory.
        words: Words after its name.
    """
    handler = _HANDLERS.get(name)
    return None if handler is None else handler(words)


def _ln(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "tS", ("target-directory", "suffix"))
    into = found.values("t", "target-directory")
    if not into and len(found.operands) > 1:
        into = found.operands[-1:]
    nofollow = found.has("n", "no-dereference", "T")
    yield from (Use(WRITES, word, follows=not nofollow) for word in into or [named(".")])


def _install(words: Sequence[Word]) -> Iterator[Use]:
    if Arguments.of(words, "mogSt").has("d", "directory"):
        handler: Handler = Changes(letters="mog", names="mode owner group")
    else:
        names = "mode owner group suffix target-directory"
        handler = Copies(target=_TARGET, letters="mogSt", names=names)
    yield from handler(words)


def _dd(words: Sequence[Word]) -> Iterator[Use]:
    yield from (Use(WRITES, part_of(word, 3)) for word in words if word.text.startswith("of="))


def _tar(words: Sequence[Word]) -> Iterator[Use]:
    words = list(words)
    if words and not words[0].text.startswith("-"):
        words = [*_unbundled(words)]
    names = ("file", "directory", "exclude", "exclude-from", "files-from", "transform")
    found = Arguments.of(words, "fCTXbIgNVKL", names)
    directories = found.values("C", "directory")
    if found.has("x", "extract", "get"):
        if not found.has("O", "to-stdout"):
            yield from (Use(WRITES, word) for word in directories or [named(".")])
    elif found.has("c", "r", "u", "A", "create", "append", "update", "delete", "concatenate"):
        files = found.values("f", "file")
        yield from (Use(WRITES, word) for word in files if word.text != "-")
    if found.has("remove-files"):
        within = directories[-1] if directories else None
        yield from (Use(REMOVES, word, False, within) for word in found.operands)


def _unbundled(words: Sequence[Word]) -> Iterator[Word]:
    """Return the words of tar with a dash before each letter of the first one."""
    rest = list(words[1:])
    for letter in words[0].text:
        yield named(f"-{letter}")
        if letter in "fCTXbIgNVKL" and rest:
            yield rest.pop(0)
    yield from rest


def _unzip(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "dx")
    if not found.has("l", "p", "t", "v", "Z"):
        yield Use(WRITES, next(iter(found.values("d")), named(".")))


def _cpio(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "DEFHIO", ("directory", "file"))
    if found.has("i", "extract") and not found.has("t", "to-stdout"):
        yield Use(WRITES, next(iter(found.values("D", "directory")), named(".")))
    elif found.has("p", "pass-through"):
        yield from (Use(WRITES, word) for word in found.operands[-1:])
    yield from (Use(WRITES, word) for word in found.values("O"))


def _find(words: Sequence[Word]) -> Iterator[Use]:
    """Return the effects of find itself, without the commands that it starts."""
    texts = [word.text for word in words]
    if "-delete" in texts:
        yield from (Use(REMOVES, word, follows=False) for word in found_in(words))
    for option, word in zip(texts, words[1:], strict=False):
        if option in ("-fprint", "-fprint0", "-fprintf", "-fls"):
            yield Use(WRITES, word)


def found_in(words: Sequence[Word]) -> list[Word]:
    """Return the directories that find searches."""
    begin = 0
    while begin < len(words) and words[begin].text in ("-H", "-L", "-P"):
        begin += 1
    found = []
    for word in words[begin:]:
        if word.text.startswith(("-", "(", "!")):
            break
        found.append(word)
    return found or [named(".")]


def started_by_find(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield the commands that find starts, with its search directories in place of `{}`."""
    places, place = found_in(words), 0
    while place < len(words):
        if words[place].text not in ("-exec", "-execdir", "-ok", "-okdir"):
            place += 1
            continue
        command: list[Word] = []
        place += 1
        while place < len(words) and words[place].text not in (";", "+"):
            word = words[place]
            if "{}" in word.text:
                command += [_below(word, each) for each in places]
            else:
                command.append(word)
            place += 1
        yield command


def _below(word: Word, place: Word) -> Word:
    text = word.text.replace("{}", f"{place.text.rstrip('/')}/*", 1)
    return replace(place, text=text, variable="", is_plain=place.is_plain)


_CHANGING = frozenset(
    "add am apply bisect branch checkout cherry-pick clean commit fetch gc init merge mv pull push"
    " rebase reset restore revert rm stash submodule switch tag worktree".split()
)


def _git(words: Sequence[Word]) -> Iterator[Use]:
    within, place = None, 0
    while place < len(words) and words[place].text.startswith("-"):
        takes = words[place].text in ("-C", "-c", "--git-dir", "--work-tree")
        if words[place].text == "-C" and place + 1 < len(words):
            within = words[place + 1]
        place += 2 if takes else 1
    if place >= len(words):
        return
    name, rest = words[place].text, words[place + 1 :]
    if name == "clone":
        names = ("branch", "depth", "origin")
        operands = Arguments.of(rest, "boucj", names).operands
        yield Use(WRITES, operands[1] if len(operands) > 1 else named("."), within=within)
    elif name in _CHANGING:
        yield Use(CHANGES_REPOSITORY, named("."), within=within)
    if name == "push":
        yield from pushed_to(rest)


def _patch(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "dopiBrzY", ("directory", "output", "input"))
    within = next(iter(found.values("d", "directory")), None)
    into = found.values("o", "output") or found.operands[:1] or [named(".")]
    yield from (Use(WRITES, word, within=within) for word in into)


_LFS = ("setstripe", "mkdir", "migrate", "mirror", "hsm_archive", "hsm_release", "hsm_remove")


def _lfs(words: Sequence[Word]) -> Iterator[Use]:
    if words and words[0].text in _LFS:
        found = Arguments.of(words[1:], "cSipoLEdm", ("stripe-count", "stripe-size", "pool"))
        yield from (Use(WRITES, word) for word in found.operands)


def _mktemp(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "p", ("suffix",))
    within = next(iter(found.values("p", "tmpdir")), None)
    if within is not None:
        yield Use(MAKES, within)
    yield from (Use(MAKES, word) for word in found.operands if "/" in word.text)


def _flock(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words[:1] if words and not words[0].text.startswith("-") else [])
    yield from (Use(WRITES, word) for word in found.operands)


_AWK_OUTPUT = re.compile(r"(?:>>?|\btee(?:\s+-a)?)\s*\"?([^\"\s;{}|]*/[^\"\s;{}|]*)\"")


def _awk(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "fvFi", ("file", "assign", "include", "field-separator"))
    if any(word.text == "inplace" for word in found.values("i", "include")):
        yield from (
            Use(WRITES, word) for word in found.operands[0 if found.has("f", "file") else 1 :]
        )
    for word in found.operands[:1]:
        yield from (Use(WRITES, named(path)) for path in _AWK_OUTPUT.findall(word.text))


_COMPILERS = "cc gcc g++ gfortran c++ clang mpicc mpicxx mpif90 mpifort ifort icc ftn CC ld"
_PACKERS = "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 pigz pbzip2"
_LAST_OF_SEVERAL = "nccopy cdo ncks ncrcat ncra ncea nces ncwa ncbo ncecat h5repack sbcast"
_TARGET = "t target-directory"
_HANDLERS = table({
    "rm rmdir unlink": Changes(REMOVES, follows=False),
    "shred": Changes(REMOVES, letters="ns", names="iterations size"),
    "mv": Copies(target=_TARGET, letters="St", names="suffix target-directory", moves=True),
    "cp": Copies(target=_TARGET, letters="St", names="suffix target-directory"),
    "scp": Copies(letters="PioclFJS", remote=""),
    "rsync": Copies(
        letters="efBMT@", remote="",
        names="exclude include rsh filter files-from log-file chmod bwlimit",
    ),
    "ln": _ln,
    "install": _install,
    "mkdir mkfifo": Changes(letters="m", names="mode"),
    "touch": Changes(letters="drt", names="date reference"),
    "tee": Changes(),
    "truncate": Changes(letters="sr", names="size reference"),
    "chmod chown chgrp chattr": Changes(skip=1, instead="reference"),
    "setfacl": Changes(letters="mxMX", names="modify remove set"),
    "setfattr": Changes(letters="nvx", names="name value remove"),
    _PACKERS: Changes(MOVES, letters="SbTp", names="suffix",
                      unless="c stdout to-stdout t test l list"),
    "dd": _dd,
    "tar gtar bsdtar": _tar,
    "unzip": _unzip,
    "zip sqlite3 script": Changes(most=1),
    "ar": lambda words: (Use(WRITES, word) for word in words[1:2]),
    "awk gawk mawk nawk": _awk,
    "fallocate": Changes(letters="lo", names="length offset"),
    "rename": Changes(skip=2),
    "csplit": Changes(most=0, letters="f", names="prefix", written="f prefix"),
    "uniq": Changes(skip=1, most=1, letters="fsw"),
    "cpio": _cpio,
    "split": Changes(skip=1, most=1, letters="abClnt", names="bytes lines number suffix-length"),
    "find": _find,
    "git": _git,
    "make gmake ninja": Changes(most=0, letters="CfIjloW", names="directory file jobs",
                                written="C directory"),
    "cmake": Changes(most=0, letters="BSDGC", names="build prefix", written="B build prefix"),
    "patch": _patch,
    "lfs": _lfs,
    "sort": Changes(most=0, letters="o", names="output", written="o output"),
    _COMPILERS: Changes(most=0, letters="o", written="o"),
    "mktemp": _mktemp,
    "flock": _flock,
    "sed": Changes(skip=1, instead="e f expression file", letters="efl", names="expression file",
                   only="i in-place"),
    "perl": Changes(skip=1, instead="e E expression file", letters="eEmMIF",
                    names="expression file", only="i"),
    _LAST_OF_SEVERAL: Copies(least=2, letters="dvopfl"),
    **REMOTE_HANDLERS,
})  # fmt: skip
