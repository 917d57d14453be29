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
from stripewise.run.tiers import Pool, Tier, TierRequest, is_plain_path

LONG_SECONDS = 3600
"""A shorter job would lose much of its time by an early end (assumed)."""
COPYING_SECONDS = 180
"""Before the limit of a long job, for the copies of what it changed (assumed)."""


@dataclass(frozen=True)
class OnTier:
    """How a job uses a tier.

    Attributes:
        tier / pool: Kind of tier, and where its nodes come from.
        request: What the job asks for; None: it uses none.
        own: The script has lines of its own for the tier, and goes to its directory by itself.
        source: Directory of the inputs; None: that in which the job begins.
        results: Directory for what the job changes; None: where the inputs are.
        files: Globs of the large files that alone lie on the tier, and the job works where it is;
            none: all files of the job do, and it works there.
        left_out: Globs of files that are no inputs.
        folders: Directories that the job makes there for its large files.
        unsaved: Directory for what a job leaves there that Slurm ends before its files are copied
            back: Slurm takes its burst buffer at once.
    """

    tier: Tier
    request: TierRequest | None = None
    pool: Pool | None = None
    own: bool = False
    source: Path | None = None
    results: Path | None = None
    files: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    unsaved: Path | None = None

    @property
    def saves(self) -> bool:
        """Whether the batch system copies what is left: the job itself leaves nothing there."""
        request = self.request
        if request is None or self.own or request.persistent or self.unsaved is None:
            return False
        if not (self.tier.copy_in and self.tier.is_shared(request)):
            return False
        return is_plain_path(self.unsaved)

    @property
    def lines(self) -> tuple[str, ...]:
        """The directives; they copy what is left by a job that Slurm ends, and nothing else."""
        if self.request is None or self.keeps_lines:
            return ()
        request = self.request
        if not self.own:
            left = self.unsaved if self.saves else None
            request = replace(request, stage_in=None, stage_out=left)
        return self.tier.directives(request, self.pool)

    @property
    def copies(self) -> bool:
        """Whether the job itself copies its files, by the program of `copies_on_tier`."""
        return self.request is not None and not self.own

    @property
    def keeps_lines(self) -> bool:
        """Whether the script's own lines stay as they are: what they name has a size already."""
        return self.own and self.request is not None and bool(self.request.persistent)


def copies_on_tier(on: OnTier, script: JobScript, *, links: bool = False) -> bytes:
    """Return the program that starts a script of such a job, and copies its files.

    Args:
        on: How the job uses the tier.
        script: The user's.
        links: Links lead to its large files.
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
    """Return the option that ends a long job in time for its copies, if it has none itself.

    At its limit Slurm takes the burst buffer of a job at once (seen: Slurm 22.05).
    """
    seconds = script.resources.wall_seconds or 0
    if not on.copies or not on.tier.markers or seconds < LONG_SECONDS:
        return {}
    if any(option.name == "signal" for option in script.options):
        return {}
    return {"signal": f"B:TERM@{COPYING_SECONDS}"}


def copies_note(on: OnTier) -> str:
    """Return a comment for people: what is copied back, and where to."""
    to = printable(str(on.results)) if on.results else "where its inputs are"
    return f"what the job changes is copied to {to} when it ends"


def check_tier_options(script: JobScript) -> None:
    """Refuse a burst buffer that an option of sbatch asks for; Slurm would add it to directives.

    Raises:
        UsageError: With the line and the remedy.
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
    """Return the script as a job that uses the tier, with marks by which it can be reverted.

    Args:
        script: The user's.
        on: How it uses the tier.
        step: Number of the launch line that is changed; None: the only one.
        wrap: Words in front of its program.
        around: Words in front of its launcher.
        job: Ranks and threads; those of the script if not given.
        options: Options of sbatch to their values, added where the script has them not.
        moved: Moves that name the directory of the script, or one below; where the job goes to the
            tier, they go there instead.
        within: Words of the program that copies the job's files and starts the script.
        exports: Variables that are set before the first command.
        notes: Comments for people.

    Raises:
        UsageError: It cannot be changed so, or the tier cannot hold a name.
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


# What of a job's files is staged to a tier, and the jobs whose files cannot be.
#
# All jobs stage by themselves, by the program of `copies_program`: inputs as they are when the job
# begins, and back what it changed.  Lines that the batch system copies by would name files that
# may be gone when the job begins, copy results back over what others wrote meanwhile, and be done
# with that only after the next job of a chain has begun.

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
            f"{script.name}, line {line}, checks for a file that an earlier job may have left: "
            f"results would go to {printable(str(results))}, where the next job does not look: "
            "leave --stage-in and --stage-out out, or give both the same directory"
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
