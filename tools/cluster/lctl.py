# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Replaces Lustre's `lctl` on an emulated storage, to test programs that query such servers.

python tools/cluster/lctl.py MAPPING RELEASE get_param [-nNFR] PATTERN...

It imports little because it is started anew for each query.
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from stripewise.core.errors import StripewiseError
from stripewise.storage.emulation._lustre_parameters import Parameters, parameters
from stripewise.storage.emulation._servers import Servers, set_job_names

_MISSING, _DENIED, _INVALID = 2, 13, 22
"""Exit codes: what errno would be.  Source: lustre/utils/lctl.c."""
_SETTABLE = ("jobid_var", "jobid_name")
_USAGE = (
    "usage: lctl get_param [-nNFR] NAME... | list_param [-FR] NAME... | set_param NAME=VALUE...\n"
)


def write_lctl(path: Path, mapping: Path, release: str) -> None:
    """Write a command `lctl` for one storage.

    Args:
        path: Path of the command.
        mapping: Mapping of the storage.
        release: Release of Lustre whose formats it prints.
    """
    words = (sys.executable, __file__, str(mapping), release)
    path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def main(words: Sequence[str]) -> int:
    """Answer one query.

    Args:
        words: Mapping, release, and the arguments of `lctl`.

    Returns:
        Exit code, like that of `lctl`.
    """
    if len(words) < 3 or words[2] not in ("get_param", "list_param", "set_param"):
        sys.stderr.write(_USAGE)
        return _INVALID
    mapping, release, command, *rest = words
    options = {letter for word in rest if word[:1] == "-" for letter in word[1:]}
    names = [word for word in rest if word[:1] != "-"]
    if not names:
        sys.stderr.write(_USAGE)
        return _INVALID
    try:
        with Servers(Path(mapping)) as servers:
            known = parameters(servers, release)
            if command == "set_param":
                return max(_set(Path(mapping), known, name, options) for name in names)
            if command == "list_param":
                options |= {"N"}
            return max(_get(known, name, options, command) for name in names)
    except StripewiseError as error:
        sys.stderr.write(f"error: {command}: {error}\n")
        return _INVALID


def _get(known: Parameters, pattern: str, options: set[str], command: str) -> int:
    found = sorted(_matching(known, pattern, "R" in options))
    if not found:
        return _complain(command, pattern)
    for name in found:
        text = known.get(name)
        if "N" in options:
            mark = ("/" if text is None else "") if "F" in options else ""
            sys.stdout.write(f"{name}{mark}\n")
        elif text is not None:
            sys.stdout.write(_shown(name, text(), "n" not in options))
    return 0


def _shown(name: str, text: str, with_name: bool) -> str:
    """Return a parameter as text; a value of several lines begins on its own line."""
    if not with_name:
        return text
    return f"{name}=\n{text}" if "\n" in text[:-1] else f"{name}={text}"


def _set(mapping: Path, known: Parameters, assignment: str, options: set[str]) -> int:
    name, separator, value = assignment.partition("=")
    if not separator:
        sys.stderr.write(_USAGE)
        return _INVALID
    if name in _SETTABLE and value:
        set_job_names(mapping, **{name: value})
        if "n" not in options:
            sys.stdout.write(f"{name}={value}\n")
        return 0
    found = sorted(_matching(known, name, False))
    if not found:
        return _complain("set_param", name)
    path = name.replace(".", "/")
    sys.stderr.write(f"error: set_param: setting {path}={value}: {os.strerror(_DENIED)}\n")
    return _DENIED


def _complain(command: str, pattern: str) -> int:
    path = pattern.replace(".", "/")
    sys.stderr.write(f"error: {command}: param_path '{path}': {os.strerror(_MISSING)}\n")
    return _MISSING


# ---- patterns ----------------------------------------------------------------------------------


def _matching(known: Parameters, pattern: str, deeply: bool) -> set[str]:
    """Return the names that a pattern matches, including directories."""
    found: set[str] = set()
    for one in _alternatives(pattern.replace("/", ".")):
        parts = one.split(".")
        for name in known:
            words = name.split(".")
            if len(words) < len(parts) or not all(map(fnmatchcase, words, parts)):
                continue
            depths = range(len(parts), len(words) + 1) if deeply else (len(parts),)
            found |= {".".join(words[:depth]) for depth in depths}
    return found


def _alternatives(pattern: str) -> Iterator[str]:
    """Yield the alternatives of {a,b}."""
    front, opened, rest = pattern.partition("{")
    inside, closed, back = rest.partition("}")
    if not (opened and closed):
        yield pattern
        return
    for one in inside.split(","):
        yield from _alternatives(f"{front}{one}{back}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
