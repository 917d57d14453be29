# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A program that lets a job script work in a directory of its own on fast storage."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from stripewise.jobs._quoting import quote
from stripewise.jobs._shell_parts import names_function, shell_parts

_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")


def copies_program(
    place: str,
    *,
    source: Path,
    results: Path,
    names: Iterable[str],
    variable: str = "",
    stays: bool = False,
    links: bool = False,
) -> bytes:
    """Return a shell script that runs a job script with its files on fast storage.

    It makes a directory there that no other job has, copies inputs to it, runs its arguments
    there, copies back what is new or changed, and removes the directory.  It does so when the
    script fails or is ended by a signal, too.

    Args:
        place: Directory on that storage, perhaps with environment variables.
        source: Directory of the inputs.
        results: Directory for what is new or changed; what others changed in it meanwhile stays.
        names: Inputs, relative to their directory; ".": all that is in it.
        variable: Of the job's environment, that names the directory in the script; "": none.
        stays: The script works where it is: only some files lie there.
        links: Links of `links_program` lead to these files.

    Raises:
        UsageError: A name holds a NUL.
    """
    return "\n".join(
        (
            "#!/bin/sh",
            f"place={_expanded(place)}",
            f"from={quote(str(source))}",
            f"to={quote(str(results))}",
            f"variable={variable}",
            f"stays={'yes' if stays else ''}",
            # what links stood for was renamed by them: then only its content says its age
            f"newer={'-newer' if links else '-newermc'}",
            *names_function(f'"$1" {quote(name)}' for name in names),
            *shell_parts("command", "copies"),
        )
    ).encode("utf-8", "surrogateescape")


def _expanded(text: str) -> str:
    """Return a path as a shell reads it, whose variables must be set and are not read again."""
    parts, at = [], 0
    for found in _VARIABLE.finditer(text):
        parts.append(quote(text[at : found.start()]) if at < found.start() else "")
        parts.append(f'"${{{found[1] or found[2]}:?is not set in this job}}"')
        at = found.end()
    return "".join((*parts, quote(text[at:]) if at < len(text) else ""))
