# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Paths in the shell lines of a script, as far as they are known, and where they lead.

A path begins with a slash, or with a mark of `_expansions`: the directory of a run, one for
temporary files, or what is not known.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from stripewise.jobs._expansions import CURRENT, HERE, TEMPORARY, UNKNOWN, known_part, latin
from stripewise.jobs._launches import utf8


@dataclass(frozen=True)
class RunPaths:
    """Paths in a script of which each run has a directory of its own.

    Attributes:
        here: Absolute: the user's directory, of which each run has a copy.
    """

    here: Path

    def own(self, directory: str) -> str:
        """Return the run's own directory for one that the script itself calls by its name.

        Its word is replaced in the scripts of runs.
        """
        is_own = directory.startswith(HERE) and not is_above(directory)
        place = self.place(directory)
        if is_own or not place or known_part(directory) != directory:
            return directory
        whole = (os.path.realpath(place), os.path.realpath(self.here))  # a link may lead to either
        for one, top in ((place, str(self.here)), whole):
            if Path(one).is_relative_to(top):
                return normal(f"{HERE}/{latin(str(Path(one).relative_to(top)))}")
        return directory

    def joined(self, directory: str, text: str) -> str:
        """Return a path that is relative to a directory, with marks for what is not known."""
        if text.startswith(CURRENT):
            text = "./" + text[1:].lstrip("/")
        if text.startswith(("/", HERE, TEMPORARY, UNKNOWN)):
            return normal(text)
        if directory.startswith(UNKNOWN):
            return directory
        return normal(f"{directory}/{text}") if text else directory

    def place(self, path: str) -> str:
        """Return where a path is for the user, as files are named; "" if that is not known."""
        if path.startswith(HERE):
            return os.path.normpath(f"{self.here}/{self._native(path[1:].lstrip('/'))}")
        return self._native(path) if path.startswith("/") else ""

    @staticmethod
    def _native(text: str) -> str:
        return utf8(known_part(text))

    def outer(self, path: str, follows: bool = True) -> str:
        """Return where a path leads out of the run's directory; "" if it does not."""
        if path.startswith((TEMPORARY, UNKNOWN)):
            return ""
        if path.startswith("/"):
            return path
        below = path[1:].lstrip("/")
        if is_above(path):
            return below
        return self._behind_link(known_part(below), below, follows)

    def _behind_link(self, known: str, below: str, follows: bool) -> str:
        """Return where a path below the run's directory leads by a link; "": it stays there."""
        top = os.path.realpath(self.here)
        place = os.path.join(self.here, utf8(known))
        if not follows:
            place = os.path.dirname(place.rstrip("/"))
        real = os.path.realpath(place)
        if Path(real).is_relative_to(top):
            return ""
        return latin(real) + below[len(known) :]

    def known(self, path: str) -> str:
        """Return the directory or file of a path outside that is certain."""
        known = re.split(r"[*?\[]", known_part(path))[0]
        if known != path:
            known = known.rpartition("/")[0] or "/"
        if known.startswith("/"):
            return known
        return latin(os.path.normpath(f"{self.here}/{utf8(known)}"))


def is_above(path: str) -> bool:
    """Whether a path leads to the directory above the run's, or from there on."""
    return path.startswith(HERE) and path[1:].lstrip("/").split("/")[0] == ".."


def normal(path: str) -> str:
    """Return a path without `.` and `..`, as far as it is known; it begins with a directory."""
    known = known_part(path)
    rest = path[len(known) :]
    if rest:
        known, slash, tail = known.rpartition("/")
        rest = f"{slash}{tail}{rest}"
    begin, parts = path[:1], list[str]()
    for part in known[1:].split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", ".") and not (part == ".." and begin == "/"):
            parts.append(part)
    ended = "/" if parts and known.endswith("/") and not rest else ""
    if begin == "/":
        return "/" + "/".join(parts) + ended + (rest if parts else rest.lstrip("/"))
    return "/".join([begin, *parts]) + ended + rest
