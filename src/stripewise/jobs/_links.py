# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Links in a job's directory that lead large files to the burst buffer while a command runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stripewise.jobs._quoting import quote
from stripewise.jobs._shell_parts import names_function, shell_parts

REPLACED = ".replaced"
"""Ends the name of the file in which the program's names stand whose link it replaced."""


def links_program(variable: str, names: Iterable[str]) -> bytes:
    """Return a shell script that runs its arguments while links lead files elsewhere.

    It makes a link for each name in the job's directory: an input that is there is set aside, and
    a file that is not there yet is made where the link leads.  When the command has ended it takes
    the links out and puts inputs back.  Where the program has replaced, renamed or removed a link,
    files are left as the program would have left them without links.

    Args:
        variable: Names the directory on the burst buffer, in the job.
        names: Relative to the job's directory.

    Raises:
        UsageError: A name holds a NUL.
    """
    calls = [f'"$1" {number} {quote(name)}' for number, name in enumerate(names, 1)]
    place = f"place=${{{variable}:?names no directory on the burst buffer}}"
    lines = ["#!/bin/sh", place, *names_function(calls), *shell_parts("command", "links")]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def replaced_links(program: Path) -> tuple[str, ...]:
    """Return the names whose links the program replaced; its results are in its directory."""
    try:
        text = program.with_name(program.name + REPLACED).read_bytes()
    except OSError:
        return ()
    return tuple(dict.fromkeys(text.decode("utf-8", "surrogateescape").split("\0")[:-1]))
