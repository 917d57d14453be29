# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A job script that works on a storage tier, or keeps its large files there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from stripewise.errors import UsageError
from stripewise.jobs._changes import Changes
from stripewise.jobs._copies import copies_program
from stripewise.jobs._moves import Move
from stripewise.jobs._rewrite import rewrite
from stripewise.jobs._script import JobScript
from stripewise.jobs._staged import logs_of
from stripewise.model import JobSettings
from stripewise.text import printable
from stripewise.tiers import Pool, Tier, TierRequest, is_plain_path

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
