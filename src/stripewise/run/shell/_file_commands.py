# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which of their words well-known commands write, move or remove.

Source: the manuals of GNU coreutils 9.1, findutils 4.9, tar 1.34, sed 4.8, rsync 3.2, git 2.39.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from stripewise.run.shell._arguments import (
    CHANGES_REPOSITORY,
    MAKES,
    MOVES,
    REMOVES,
    WRITES,
    Arguments,
    Handler,
    Use,
    named,
    part_of,
)
from stripewise.run.shell._remote_data import REMOTE_HANDLERS, pushed_to
from stripewise.run.shell._words import Word


def uses_of(name: str, words: Sequence[Word]) -> Iterator[Use] | None:
    """Return what a command does to files; None where it is not known to change any.

    Args:
        name: Of the command, without a directory.
        words: Behind its name.
    """
    handler = _HANDLERS.get(name)
    return None if handler is None else handler(words)


# -- tables ------------------------------------------------------------------------------------


def _all(
    verb: str, letters: str = "", names: Iterable[str] = (), follows: bool = True, skip: int = 0
) -> Handler:
    """Every operand is changed, but for the first ones."""

    def handler(words: Sequence[Word]) -> Iterator[Use]:
        found = Arguments.of(words, letters, names)
        first = 0 if found.has("reference") else skip
        yield from (Use(verb, word, follows) for word in found.operands[first:])

    return handler


def _last(
    letters: str = "t",
    names: Iterable[str] = (),
    moves: bool = False,
    remote: str | None = None,
) -> Handler:
    """The last operand is written, or what -t names, where the command has such an option."""

    def handler(words: Sequence[Word]) -> Iterator[Use]:
        found = Arguments.of(words, letters, ("target-directory", *names))
        into = found.values("t", "target-directory") if "t" in letters else []
        sources = found.operands if into else found.operands[:-1]
        for word in into or found.operands[-1:]:
            yield Use(WRITES, word, remote=remote)
        if moves or found.has("remove-source-files"):
            yield from (Use(MOVES, word, follows=False, remote=remote) for word in sources)

    return handler


def _ln(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "tS", ("target-directory", "suffix"))
    into = found.values("t", "target-directory")
    if not into and len(found.operands) > 1:
        into = found.operands[-1:]
    nofollow = found.has("n", "no-dereference", "T")
    yield from (Use(WRITES, word, follows=not nofollow) for word in into or [named(".")])


def _install(words: Sequence[Word]) -> Iterator[Use]:
    if Arguments.of(words, "mogSt").has("d", "directory"):
        yield from _all(WRITES, "mog", ("mode", "owner", "group"))(words)
    else:
        yield from _last("mogSt", ("mode", "owner", "group", "suffix"))(words)


def _output(letters: str, *names: str) -> Handler:
    """An option names what is written."""

    def handler(words: Sequence[Word]) -> Iterator[Use]:
        found = Arguments.of(words, letters, names)
        yield from (Use(WRITES, word) for word in found.values(*letters, *names))

    return handler


def _in_place(letters: str, is_wanted: Callable[[Arguments], bool], script: str) -> Handler:
    """An editor of streams, where it edits files; `script`: options with what it does."""

    def handler(words: Sequence[Word]) -> Iterator[Use]:
        found = Arguments.of(words, letters, ("expression", "file"))
        if is_wanted(found):
            first = 0 if found.has(*script, "expression", "file") else 1
            yield from (Use(WRITES, word) for word in found.operands[first:])

    return handler


def _compress(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "SbTp", ("suffix",))
    if not found.has("c", "stdout", "to-stdout", "t", "test", "l", "list"):
        yield from (Use(MOVES, word) for word in found.operands)


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


def _first(words: Sequence[Word]) -> Iterator[Use]:
    yield from (Use(WRITES, word) for word in Arguments.of(words).operands[:1])


def _cpio(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "DEFHIO", ("directory", "file"))
    if found.has("i", "extract") and not found.has("t", "to-stdout"):
        yield Use(WRITES, next(iter(found.values("D", "directory")), named(".")))
    elif found.has("p", "pass-through"):
        yield from (Use(WRITES, word) for word in found.operands[-1:])
    yield from (Use(WRITES, word) for word in found.values("O"))


def _split(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "abClnt", ("bytes", "lines", "number", "suffix-length"))
    yield from (Use(WRITES, word) for word in found.operands[1:2])


def _find(words: Sequence[Word]) -> Iterator[Use]:
    """What find itself does; commands that it starts are read by `started_by_find`."""
    texts = [word.text for word in words]
    if "-delete" in texts:
        yield from (Use(REMOVES, word, follows=False) for word in found_in(words))
    for option, word in zip(texts, words[1:], strict=False):
        if option in ("-fprint", "-fprint0", "-fprintf", "-fls"):
            yield Use(WRITES, word)


def found_in(words: Sequence[Word]) -> list[Word]:
    """Return the directories that find looks through."""
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
    """Yield the commands that find starts, with the places that it looks through for `{}`."""
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


def _make(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "CfIjloW", ("directory", "file", "jobs"))
    yield from (Use(WRITES, word) for word in found.values("C", "directory"))


def _cmake(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "BSDGC", ("build", "prefix"))
    yield from (Use(WRITES, word) for word in found.values("B", "build", "prefix"))


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


def _sed_edits(found: Arguments) -> bool:
    return found.has("i", "in-place")


_AWK_OUTPUT = re.compile(r"(?:>>?|\btee(?:\s+-a)?)\s*\"?([^\"\s;{}|]*/[^\"\s;{}|]*)\"")


def _awk(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "fvFi", ("file", "assign", "include", "field-separator"))
    if any(word.text == "inplace" for word in found.values("i", "include")):
        yield from (
            Use(WRITES, word) for word in found.operands[0 if found.has("f", "file") else 1 :]
        )
    for word in found.operands[:1]:
        yield from (Use(WRITES, named(path)) for path in _AWK_OUTPUT.findall(word.text))


def _second(words: Sequence[Word]) -> Iterator[Use]:
    yield from (Use(WRITES, word) for word in Arguments.of(words, "fsw").operands[1:2])


def _archive(words: Sequence[Word]) -> Iterator[Use]:
    yield from (Use(WRITES, word) for word in words[1:2])


def _perl_edits(found: Arguments) -> bool:
    return found.has("i")


def _copied_last(words: Sequence[Word]) -> Iterator[Use]:
    """Programs that write the last of several files."""
    operands = Arguments.of(words, "dvopfl").operands
    if len(operands) > 1:
        yield Use(WRITES, operands[-1])


def _table(names: str, handler: Handler) -> dict[str, Handler]:
    return dict.fromkeys(names.split(), handler)


_RSYNC = ("exclude", "include", "rsh", "filter", "files-from", "log-file", "chmod", "bwlimit")
_COMPILERS = "cc gcc g++ gfortran c++ clang mpicc mpicxx mpif90 mpifort ifort icc ftn CC ld"
_HANDLERS: dict[str, Handler] = {
    **_table("rm rmdir unlink", _all(REMOVES, follows=False)),
    "shred": _all(REMOVES, "ns", ("iterations", "size")),
    "mv": _last("St", ("suffix",), moves=True),
    "cp": _last("St", ("suffix",)),
    "scp": _last("PioclFJS", remote=""),
    "rsync": _last("efBMT@", _RSYNC, remote=""),
    "ln": _ln,
    "install": _install,
    "mkdir": _all(WRITES, "m", ("mode",)),
    "mkfifo": _all(WRITES, "m", ("mode",)),
    "touch": _all(WRITES, "drt", ("date", "reference")),
    "tee": _all(WRITES),
    "truncate": _all(WRITES, "sr", ("size", "reference")),
    **_table("chmod chown chgrp chattr", _all(WRITES, skip=1)),
    "setfacl": _all(WRITES, "mxMX", ("modify", "remove", "set")),
    "setfattr": _all(WRITES, "nvx", ("name", "value", "remove")),
    **_table("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 pigz pbzip2", _compress),
    "dd": _dd,
    **_table("tar gtar bsdtar", _tar),
    "unzip": _unzip,
    **_table("zip sqlite3 script", _first),
    "ar": _archive,
    **_table("awk gawk mawk nawk", _awk),
    "fallocate": _all(WRITES, "lo", ("length", "offset")),
    "rename": _all(WRITES, skip=2),
    "csplit": _output("f", "prefix"),
    "uniq": _second,
    "cpio": _cpio,
    "split": _split,
    "find": _find,
    "git": _git,
    **_table("make gmake ninja", _make),
    "cmake": _cmake,
    "patch": _patch,
    "lfs": _lfs,
    "sort": _output("o", "output"),
    **_table(_COMPILERS, _output("o")),
    "mktemp": _mktemp,
    "flock": _flock,
    "sed": _in_place("efl", _sed_edits, "ef"),
    "perl": _in_place("eEmMIF", _perl_edits, "eE"),
    **_table("nccopy cdo ncks ncrcat ncra ncea nces ncwa ncbo ncecat h5repack sbcast",
             _copied_last),
    **REMOTE_HANDLERS,
}  # fmt: skip
