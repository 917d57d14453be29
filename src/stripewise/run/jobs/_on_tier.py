# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites a job script to work on a burst buffer, if its files can be staged."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from stripewise.core import JobSettings
from stripewise.core.errors import UsageError
from stripewise.present import plural, printable
from stripewise.run.jobs._copies import copies_program
from stripewise.run.jobs._rewrite import Changes, rewrite
from stripewise.run.jobs._script import JobScript
from stripewise.run.shell import Move
from stripewise.run.tiers import StoragePool, Tier, TierRequest, is_plain_path

LONG_SECONDS = 3600
"""Minimum length of jobs that are ended early; shorter ones would lose too much time (assumed)."""
COPYING_SECONDS = 180
"""Time before the limit of a long job that is reserved for copies of changed files (assumed)."""


@dataclass(frozen=True)
class OnTier:
    """How a job uses a tier.

    Attributes:
        tier / pool: Kind of tier, and the pool of its nodes.
        request: Request of the job to the tier; None if it uses no tier.
        own: Whether the script has its own lines for the tier and changes to its directory itself.
        source: Directory of the inputs; None for that in which the job begins.
        results: Directory for files that the job changes; None for that of the inputs.
        files: Globs of the large files; if given, only these are on the tier, and the job works in
            its own directory; if empty, all its files are, and it works there.
        left_out: Globs of files that are not inputs.
        folders: Directories that the job creates there for its large files.
        unsaved: Directory for remaining files of a job that Slurm ends, and whose burst buffer it
            removes, before its files are copied back.
    """

    tier: Tier
    request: TierRequest | None = None
    pool: StoragePool | None = None
    own: bool = False
    source: Path | None = None
    results: Path | None = None
    files: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    unsaved: Path | None = None

    @property
    def saves(self) -> bool:
        """Whether the batch system copies remaining files; the job itself leaves none."""
        request = self.request
        if request is None or self.own or request.persistent or self.unsaved is None:
            return False
        if not (self.tier.copy_in and self.tier.is_shared(request)):
            return False
        return is_plain_path(self.unsaved)

    @property
    def lines(self) -> tuple[str, ...]:
        """Directives for the tier, which only copy remaining files of a job that Slurm ends."""
        if self.request is None or self.keeps_lines:
            return ()
        request = self.request
        if not self.own:
            left = self.unsaved if self.saves else None
            request = replace(request, stage_in=None, stage_out=left)
        return self.tier.directives(request, self.pool)

    @property
    def copies(self) -> bool:
        """Whether the job copies its files itself, with the program of `copies_on_tier`."""
        return self.request is not None and not self.own

    @property
    def keeps_lines(self) -> bool:
        """Whether the script's own lines are kept, since they name an existing burst buffer."""
        return self.own and self.request is not None and bool(self.request.persistent)


def copies_on_tier(on: OnTier, script: JobScript, *, links: bool = False) -> bytes:
    """Return the program that starts the script of a job and copies its files.

    Args:
        on: Use of the tier by the job.
        script: The user's script.
        links: Whether links point to its large files.
    """
    assert on.request is not None
    return copies_program(
        on.tier.directory_text(on.request),
        source=on.source,
        results=on.results,
        files=on.files,
        left_out=(*logs_of(script), *on.left_out),
        folders=on.folders,
        variable=on.tier.directory_variable(on.request),
        links=links,
        shared=on.tier.is_shared(on.request) is True,
        outlives=on.tier.copies_itself or bool(on.request.persistent),
        unsaved=on.unsaved if on.saves else None,
    )


def early_end(script: JobScript, on: OnTier) -> dict[str, str | None]:
    """Return the option that ends a long job in time for its copies, unless it has one.

    At its limit Slurm removes the burst buffer of a job at once (observed: Slurm 22.05).
    """
    seconds = script.resources.wall_seconds or 0
    if not on.copies or not on.tier.markers or seconds < LONG_SECONDS:
        return {}
    if any(option.name == "signal" for option in script.options):
        return {}
    return {"signal": f"B:TERM@{COPYING_SECONDS}"}


def copies_note(on: OnTier) -> str:
    """Return a comment for people that says which files are copied back, and where to."""
    to = printable(str(on.results)) if on.results else "where its inputs are"
    return f"what the job changes is copied to {to} when it ends"


def check_tier_options(script: JobScript) -> None:
    """Refuse sbatch options that request a burst buffer, which Slurm would add to directives.

    Raises:
        UsageError: There is such an option; the message has the line and the remedy.
    """
    for option in script.options:
        if option.name in ("bb", "bbf"):
            raise UsageError(
                f"{script.name}, line {option.line}: --{option.name} asks for a burst buffer too; "
                "write #DW or #BB_LUA lines in its place"
            )


def script_on_tier(
    script: JobScript,
    on: OnTier,
    *,
    step: int | None = None,
    wrap: tuple[str, ...] = (),
    around: tuple[str, ...] = (),
    job: JobSettings | None = None,
    options: Mapping[str, str | None] | None = None,
    moved: Mapping[Move, Path] | None = None,
    within: tuple[str, ...] = (),
    exports: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
) -> bytes:
    """Return the script changed to use the tier, with marks by which it can be reverted.

    Args:
        script: The user's script.
        on: Use of the tier by the job.
        step: Number of the launch line to change; None for the only one.
        wrap: Words to put before its program.
        around: Words to put before its launcher.
        job: Ranks and threads; as in the script if not given.
        options: Options of sbatch to their values, which are added if the script lacks them.
        moved: Moves that name the directory of the script, or one below; they are redirected to
            the tier if the job works there.
        within: Words of the program that copies the job's files and starts the script.
        exports: Environment variables to set before the first command.
        notes: Comments for people.

    Raises:
        UsageError: The script cannot be changed in this way, or a name is not possible on the
            tier.
    """
    if on.tier.markers:
        check_tier_options(script)
    resources = job or JobSettings()
    changes = Changes(
        wrap=wrap,
        around=around,
        step=step,
        directives=on.lines,
        options={**early_end(script, on), **(options or {})},
        drop_burst_buffer=bool(script.burst_buffer)
        and (on.request is None or (on.own and not on.keeps_lines)),
        job=replace(resources, burst_buffer_nodes=None, burst_buffer_files=None),
        moved=(moved or {}) if within and not on.files else {},
        within=within,
        exports=exports or {},
        notes=notes,
    )
    return rewrite(script, changes)


# Files of a job to stage to a tier, and jobs whose files cannot be staged.
#
# All jobs stage their own files, with the program of `copies_program`: inputs when the job begins,
# and changed files back at its end.  Staging by the batch system could name files that are gone
# when the job begins, could copy results over files that others wrote meanwhile, and might finish
# only after the next job of a chain has begun.

_SLURMS_LOG = "slurm-%j.out"
_FIELD = re.compile(r"%(?:(%)|[0-9]*([A-Za-z]))")
_SHORTEST_NAME = 3
"""Minimum number of literal letters in a pattern; with fewer it would match other files
(assumed)."""
_PROBE = re.compile(
    rb"^[^#\n]*?(?:\[\[?|\btest)\s+(?:!\s+)?-[efsrdhLnotw]{1,2}\s+(?P<name>[^\s\]]+)", re.MULTILINE
)
_EACH_NODES_OWN = ("/tmp", "/var/tmp", "/dev/shm", "/run/user")
"""Directories that are local to each node on all systems.

Source: Filesystem Hierarchy Standard 3.0 and tmpfs(5); documented."""


def logs_of(script: JobScript) -> tuple[str, ...]:
    """Return patterns of the files to which Slurm writes the output of a script's jobs.

    These are not inputs.  A file that the script itself names may be one, and is left out.
    """
    named = [option.value for option in script.options if option.name in ("output", "error")]
    patterns = dict.fromkeys([_SLURMS_LOG, *filter(None, named)])
    return tuple(found for text in patterns if (found := _log(script, text)))


def _log(script: JobScript, text: str) -> str:
    """Return the pattern of a log; empty if it is outside the job's directory or an input."""
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
    """Return whether the commands of a script contain a text."""
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
    """Refuse a job whose files cannot be staged safely.

    Args:
        script: The user's script, without its own lines for the tier.
        tier: Kind of tier.
        request: Request of the job to the tier.
        source: Directory that the user names for inputs; None for that in which the job begins.
        results: Directory that the user names for results; None as for inputs.

    Raises:
        UsageError: They cannot; the message has the reason and the remedy.
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
            f"{script.name}, line {line}, checks for a file that an earlier job may have left: "
            f"results would go to {printable(str(results))}, where the next job does not look: "
            "leave --stage-in and --stage-out out, or give both the same directory"
        )


def sharing_note(script: JobScript, tier: Tier, request: TierRequest) -> str:
    """Return a note on a directory that several nodes have to share; empty if there is none."""
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
    """Refuse a heterogeneous job on a tier that the batch system assigns to only one part.

    Raises:
        UsageError: The job is heterogeneous; the message has the remedy.
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
    """Return the line in which a script tests for a file of its directory; 0 if there is none."""
    for found in _probes(script):
        return script.data.count(b"\n", 0, found) + 1
    return 0


def _probes(script: JobScript) -> Iterator[int]:
    for found in _PROBE.finditer(script.data):
        if not found["name"].strip(b"'\"").startswith(b"/"):
            yield found.start("name")
