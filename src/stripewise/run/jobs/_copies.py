# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the shell code that copies or links a job's files to fast storage and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

from stripewise.run.jobs._rewrite import quote

_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_WILD = re.compile(r"\*|\?|\[[!^]?[A-Za-z0-9.-]+\]|\[[*?\[]\]")
_EVERYTHING = ("*", ".[!.]*", "..?*")
OURS = ("*.stripewise", "*.stripewise-*", ".stripewise-*")
"""Files of studies, results set aside since others changed the original, and unfinished copies."""


def copies_program(
    place: str,
    *,
    source: Path | None = None,
    results: Path | None = None,
    files: Iterable[str] = (),
    left_out: Iterable[str] = (),
    folders: Iterable[str] = (),
    variable: str = "",
    links: bool = False,
    shared: bool = False,
    outlives: bool = False,
    unsaved: Path | None = None,
) -> bytes:
    """Return a shell script that runs a job script with its files on fast storage.

    The script creates a directory there for this job only, copies the inputs to it when the job
    begins, runs its arguments there, copies changed files back, and removes the directory, also if
    its arguments fail or are ended by a signal.

    Args:
        place: Directory on that storage, perhaps with environment variables.
        source: Directory of the inputs; None for that in which the job begins.
        results: Directory for changed files, in which files that others have changed meanwhile are
            kept; None for the directory of the inputs.
        files: Names of the large files, with wildcards * and ?; if given, only these are on the
            fast storage and the script works in its own directory; if empty, all files are.
        left_out: Names below the directory of the inputs that are not inputs, with wildcards * and
            ? ("[*]" is a literal *).
        folders: Directories to create there before the script begins.
        variable: Environment variable of the job that names the directory in the script; empty for
            none.
        links: Whether links of `links_program` point to these files.
        shared: Whether all nodes of the job are known to share that storage.
        outlives: Whether that storage persists after the job.
        unsaved: Directory to which the batch system copies remaining files; None if it does not.

    Raises:
        UsageError: A name contains a NUL.
    """
    globs, apart = tuple(files), (*OURS, *left_out)
    return "\n".join(
        (
            "#!/bin/sh",
            f"source={quote(str(source or ''))}",
            f"results={quote(str(results or ''))}",
            f"variable={variable}",
            f"stays={'yes' if globs else ''}",
            f"shared={'yes' if shared else ''}",
            f"outlives={'yes' if outlives else ''}",
            f"unsaved={quote(str(unsaved or ''))}",
            # links have renamed the originals, so only the content shows their age
            f"newer={'-newer' if links else '-newermc'}",
            f"expand_place() {{ printf '%s\\n' {_expanded(place)}; }}",
            f'inputs() {{ "$1" {_below("from", globs or _EVERYTHING)}; }}',
            *_left_out(apart),
            f"remove_logs() {{ {_remove_logs(apart)}; }}",
            f"make_folders() {{ {_make_folders(folders)}; }}",
            *shell_parts("command", "copies"),
        )
    ).encode("utf-8", "surrogateescape")


def _expanded(text: str) -> str:
    """Return a path quoted for a shell, whose variables must be set and are expanded once."""
    parts, at = [], 0
    for found in _VARIABLE.finditer(text):
        parts.append(quote(text[at : found.start()]) if at < found.start() else "")
        parts.append(f'"${{{found[1] or found[2]}:?is not set in this job}}"')
        at = found.end()
    return "".join((*parts, quote(text[at:]) if at < len(text) else ""))


def _pattern(glob: str) -> str:
    """Return a name quoted for a shell except for *, ? and [...]."""
    parts, at = [], 0
    for found in _WILD.finditer(glob):
        parts += [_literal(glob[at : found.start()]), found[0].replace("[^", "[!")]
        at = found.end()
    return "".join((*parts, _literal(glob[at:])))


def _literal(text: str) -> str:
    return quote(text) if text else ""


def _below(variable: str, globs: Iterable[str]) -> str:
    return " ".join(f'"${variable}"/{_pattern(glob)}' for glob in globs)


def _left_out(globs: Iterable[str]) -> Iterator[str]:
    yield "is_left_out() {"
    yield "    case $1 in"
    yield from (f"        ({_pattern(glob)}) return 0 ;;" for glob in globs)
    yield from ("    esac", "    return 1", "}")


def _remove_logs(globs: Iterable[str]) -> str:
    """Return the command that removes logs that were copied along with their directory."""
    deep = [glob for glob in globs if "/" in glob]
    return f"rm -rf {_below('work', deep)}" if deep else ":"


def _make_folders(folders: Iterable[str]) -> str:
    made = " ".join(f'"$work"/{quote(name)}' for name in folders)
    return f"mkdir -p {made}" if made else ":"


# Links in a job's directory that redirect large files to the burst buffer during a command.

REPLACED = ".replaced"
"""Suffix of the file that lists the names whose links the program replaced."""


def links_program(variable: str, names: Iterable[str]) -> bytes:
    """Return a shell script that runs its arguments while links redirect files.

    It creates a link for each name in the job's directory: an existing input is set aside, and a
    new file is created at the target of the link.  When the command has ended, it removes the
    links and restores the inputs.  If the program has replaced, renamed or removed a link, files
    are left as they would be without links.

    Args:
        variable: Environment variable of the job that names the directory on the burst buffer.
        names: Names relative to the job's directory.

    Raises:
        UsageError: A name contains a NUL.
    """
    calls = [f'"$1" {number} {quote(name)}' for number, name in enumerate(names, 1)]
    place = f"place=${{{variable}:?names no directory on the burst buffer}}"
    lines = ["#!/bin/sh", place, *names_function(calls), *shell_parts("command", "links")]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def replaced_links(program: Path) -> tuple[str, ...]:
    """Return the names whose links the program replaced with files in its own directory."""
    try:
        text = program.with_name(program.name + REPLACED).read_bytes()
    except OSError:
        return ()
    return tuple(dict.fromkeys(text.decode("utf-8", "surrogateescape").split("\0")[:-1]))


# Parts of the programs for a job, which run in any sh and need no other file.


def shell_parts(*names: str) -> tuple[str, ...]:
    """Return the shell files of this package, without their first lines."""
    return tuple(map(_part, names))


def names_function(calls: Iterable[str]) -> tuple[str, ...]:
    """Return the shell function `names`, which calls its argument for each name.

    Args:
        calls: Lines of the function, in which "$1" is that argument.
    """
    return ("names() {", ":", *calls, "}")


@cache
def _part(name: str) -> str:
    text = files(__package__).joinpath(f"{name}.sh").read_text(encoding="utf-8")
    return text.partition("\n")[2]
