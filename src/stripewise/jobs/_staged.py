# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What of a job's files is staged to a tier, and the jobs whose files cannot be.

All jobs stage by themselves, by the program of `copies_program`: inputs as they are when the job
begins, and back what it changed.  Lines that the batch system copies by would name files that may
be gone when the job begins, copy results back over what others wrote meanwhile, and be done with
that only after the next job of a chain has begun.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from stripewise.errors import UsageError
from stripewise.jobs._script import JobScript
from stripewise.text import plural, printable
from stripewise.tiers import Tier, TierRequest

_SLURMS_LOG = "slurm-%j.out"
_FIELD = re.compile(r"%(?:(%)|[0-9]*([A-Za-z]))")
_SHORTEST_NAME = 3
"""A pattern with fewer letters of its own would stand for other files, too (assumed)."""
_PROBE = re.compile(
    rb"^[^#\n]*?(?:\[\[?|\btest)\s+(?:!\s+)?-[efsrdhLnotw]{1,2}\s+(?P<name>[^\s\]]+)", re.MULTILINE
)
_EACH_NODES_OWN = ("/tmp", "/var/tmp", "/dev/shm", "/run/user")
"""Directories that are each node's own everywhere.

Source: Filesystem Hierarchy Standard 3.0 and tmpfs(5); documented."""


def logs_of(script: JobScript) -> tuple[str, ...]:
    """Return names with * of the files to which Slurm writes what jobs of a script print.

    They are no inputs.  One that the script itself names may be, and is not among them.
    """
    said = [option.value for option in script.options if option.name in ("output", "error")]
    patterns = dict.fromkeys([_SLURMS_LOG, *filter(None, said)])
    return tuple(found for text in patterns if (found := _log(script, text)))


def _log(script: JobScript, text: str) -> str:
    """Return the pattern of a log; "" if it is none below the job's directory, or an input."""
    text = os.path.normpath(text)
    if text.startswith(("/", "../")) or "\\" in text:
        return ""
    found = _FIELD.sub(lambda field: "%" if field[1] else _of_field(script, field[2]), text)
    pieces = [piece for piece in found.split("*") if piece.strip("/._-")]
    longest = max(pieces, key=len, default="")
    if len(longest) < _SHORTEST_NAME or _mentions(script, longest):
        return ""
    return found


def _of_field(script: JobScript, letter: str) -> str:
    return (script.resources.job_name or script.name) if letter == "x" else "*"


def _mentions(script: JobScript, text: str) -> bool:
    """Whether the commands of a script hold a text."""
    commands = b"\n".join(
        line for line in script.data.splitlines() if not line.lstrip().startswith(b"#")
    )
    return text.encode("utf-8", "surrogateescape") in commands


def check_staging(
    script: JobScript,
    tier: Tier,
    request: TierRequest,
    *,
    source: Path | None = None,
    results: Path | None = None,
) -> None:
    """Refuse a job whose files could not be staged without harm.

    Args:
        script: The user's, without lines of its own for the tier.
        tier: Kind of tier.
        request: What the job asks for.
        source: Directory that the user names for inputs; None: that in which the job begins.
        results: The same for results.

    Raises:
        UsageError: With the reason and the remedy.
    """
    check_parts(script, tier)
    nodes = script.resources.nodes or 1
    if tier.is_shared(request) is False and nodes > 1:
        raise UsageError(
            f"{script.name} takes {plural(nodes, 'node')}, and each would have storage of its own "
            f"({_kind(request)}), on which the others do not find its files: ask for storage that "
            "they share, or for one node"
        )
    if nodes > 1 and _is_each_nodes_own(request.directory):
        raise UsageError(
            f"{script.name} takes {plural(nodes, 'node')}, which cannot share "
            f"{printable(request.directory)}: name a place that all of them see, or tune a job of "
            "one node"
        )
    if source is not None and results is None:
        raise UsageError(
            f"--stage-in {printable(str(source))}: say with --stage-out where results go: the "
            "same directory, so that the next job finds them, or another one"
        )
    if results is not None and source != results and (line := _probe(script)):
        raise UsageError(
            f"{script.name}, line {line}, looks whether there is a file, which a job before it "
            f"may have left: results would go to {printable(str(results))}, where the next job "
            "does not look: leave --stage-in and --stage-out out, or give both the same directory"
        )


def sharing_note(script: JobScript, tier: Tier, request: TierRequest) -> str:
    """Return what is to be said of a place that several nodes have to share; "" if nothing is."""
    nodes = script.resources.nodes or 1
    if tier.is_shared(request) is not None or (
        nodes < 2 and not script.resources.is_heterogeneous
    ):
        return ""
    return (
        f"{script.name} takes several nodes, which have to share "
        f"{printable(tier.directory_text(request))}: if it is storage of each node, its jobs end "
        "at once, with a line that says so"
    )


def check_parts(script: JobScript, tier: Tier) -> None:
    """Refuse a heterogeneous job on a tier that the batch system gives to one of its parts.

    Raises:
        UsageError: With the remedy.
    """
    if script.resources.is_heterogeneous and tier.markers:
        raise UsageError(
            f"{script.name} is a heterogeneous job, and Slurm gives a burst buffer to one of its "
            "parts alone, which the others cannot see: leave the burst buffer out (--tier none), "
            "or use storage that all of them see (--tier directory)"
        )


def _kind(request: TierRequest) -> str:
    return f"type={request.type}" if request.type else f"access_mode={request.access}"


def _is_each_nodes_own(directory: str) -> bool:
    path = os.path.normpath(directory)
    return any(path == top or path.startswith(f"{top}/") for top in _EACH_NODES_OWN)


def _probe(script: JobScript) -> int:
    """Return the line in which a script asks for a file of its directory; 0: none does."""
    for found in _probes(script):
        return script.data.count(b"\n", 0, found) + 1
    return 0


def _probes(script: JobScript) -> Iterator[int]:
    for found in _PROBE.finditer(script.data):
        if not found["name"].strip(b"'\"").startswith(b"/"):
            yield found.start("name")
