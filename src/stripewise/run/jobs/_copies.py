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
"""Studies, results beside those that somebody changed meanwhile, and copies that are under way."""


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

    It makes a directory there that no other job has, copies inputs to it as they are when the job
    begins, runs its arguments there, copies back what they changed, and removes the directory.
    It does so when the script fails or is ended by a signal, too.

    Args:
        place: Directory on that storage, perhaps with environment variables.
        source: Directory of the inputs; None: that in which the job begins.
        results: Directory for what is changed; what others changed in it meanwhile stays.  None:
            where the inputs are.
        files: Names of the large files, in which * and ? are any; with these the script works
            where it is, and only they lie there.  None of them: all files do.
        left_out: Names below the directory of the inputs, in which * and ? are any ("[*]" is a
            *), that are no inputs.
        folders: Directories that are made there before the script begins.
        variable: Of the job's environment, that names the directory in the script; "": none.
        links: Links of `links_program` lead to these files.
        shared: All nodes of the job see that storage, whatever it is.
        outlives: That storage is there after the job.
        unsaved: Directory to which the batch system copies what is left there; None: it does not.

    Raises:
        UsageError: A name holds a NUL.
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
            # what links stood for was renamed by them: then only its content says its age
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
    """Return a path as a shell reads it, whose variables must be set and are not read again."""
    parts, at = [], 0
    for found in _VARIABLE.finditer(text):
        parts.append(quote(text[at : found.start()]) if at < found.start() else "")
        parts.append(f'"${{{found[1] or found[2]}:?is not set in this job}}"')
        at = found.end()
    return "".join((*parts, quote(text[at:]) if at < len(text) else ""))


def _pattern(glob: str) -> str:
    """Return a name with * and ? and [...] as a shell reads it; all else is quoted."""
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
    """Return the command that removes those that were copied with the directory they are in."""
    deep = [glob for glob in globs if "/" in glob]
    return f"rm -rf {_below('work', deep)}" if deep else ":"


def _make_folders(folders: Iterable[str]) -> str:
    made = " ".join(f'"$work"/{quote(name)}' for name in folders)
    return f"mkdir -p {made}" if made else ":"


# Links in a job's directory that lead large files to the burst buffer while a command runs.

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


# What programs for a job are put together from: they are for any sh, and need no other file.


def shell_parts(*names: str) -> tuple[str, ...]:
    """Return files of this package, without their first lines."""
    return tuple(map(_part, names))


def names_function(calls: Iterable[str]) -> tuple[str, ...]:
    """Return the lines of the function `names`, which calls its argument for each name.

    Args:
        calls: Its lines, in which "$1" stands for that argument.
    """
    return ("names() {", ":", *calls, "}")


@cache
def _part(name: str) -> str:
    text = files(__package__).joinpath(f"{name}.sh").read_text(encoding="utf-8")
    return text.partition("\n")[2]
