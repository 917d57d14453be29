# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A job script that works on a storage tier, or keeps its large files there."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from stripewise.errors import UsageError
from stripewise.jobs._changes import Changes
from stripewise.jobs._copies import copies_program
from stripewise.jobs._moves import Move
from stripewise.jobs._rewrite import rewrite
from stripewise.jobs._script import JobScript
from stripewise.model import JobSettings
from stripewise.tiers import Pool, Tier, TierRequest, check_path

MOST_STAGED = 200
"""So many lines of staging at most; more make the script unreadable (assumed)."""


@dataclass(frozen=True)
class OnTier:
    """How a job uses a tier.

    Attributes:
        tier / pool: Kind of tier, and where its nodes come from.
        request: What the job asks for; None: it uses none.
        own: The script has lines of its own for the tier, and goes to its directory by itself.
        inputs: Name to whether it is a directory: copied to the tier before the job, one by one,
            where the request names no directory.
        source: The directory that they are in.
        folders: Directories that the job makes there for its large files.
        is_hybrid: Only some files lie on the tier; the job works where it is.
    """

    tier: Tier
    request: TierRequest | None = None
    pool: Pool | None = None
    own: bool = False
    inputs: Mapping[str, bool] = field(default_factory=dict)
    source: Path = Path()
    folders: tuple[str, ...] = ()
    is_hybrid: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        """The directives.

        Raises:
            UsageError: Too much would be staged, or what the tier cannot name.
        """
        if self.request is None or self.keeps_lines:
            return ()
        if self.copies:
            return self.tier.directives(self.request, self.pool)
        for path in (self.request.stage_in, self.request.stage_out):
            if path is not None:
                check_path(path)
        lines = self.tier.directives(self.request, self.pool)
        if self.request.stage_in is not None or not self.inputs:
            return lines
        staged = tuple(
            self.tier.staged(self.request, self.source / name, name, is_directory=is_directory)
            for name, is_directory in self.inputs.items()
        )
        if len(staged) > MOST_STAGED:
            raise UsageError(
                f"{len(staged)} files would be staged in one by one: put them into a directory, "
                "and name it with --stage-in"
            )
        return (*lines[:1], *staged, *lines[1:])

    @property
    def copies(self) -> bool:
        """Whether the job itself copies its files, by the program of `copies_on_tier`."""
        return self.request is not None and self.tier.copies_itself

    @property
    def keeps_lines(self) -> bool:
        """Whether the script's own lines stay as they are: what they name has a size already."""
        return self.own and self.request is not None and bool(self.request.persistent)

    @property
    def variable(self) -> str:
        """Name of the variable whose directory the job goes to; "" if it stays where it is."""
        if self.request is None or self.own or self.is_hybrid or self.copies:
            return ""
        return self.tier.directory_variable(self.request)

    @property
    def place(self) -> str:
        """Directory below that of the variable which the job makes first; "": none."""
        return "" if self.request is None or self.own else self.request.place

    @property
    def hybrid_variable(self) -> str:
        """Name of the variable below which a job makes directories that it does not go to."""
        if self.request is None or not (self.is_hybrid and (self.place or self.folders)):
            return ""
        return self.tier.directory_variable(self.request)


def results_place(script: Path) -> Path:
    """Return the directory to which a job copies its results, if the user names none.

    Inputs beside the script, which may have been changed meanwhile, are not written over.
    """
    return script.with_name(f"{script.stem}.results")


def place_of_script(path: Path) -> str:
    """Return the name of a script's directory on a burst buffer that outlives jobs.

    Scripts of the same name in other directories have other ones.
    """
    name = re.sub(r"[^A-Za-z0-9_]+", "_", path.stem)[:40]
    return f"{name}-{sha256(os.fsencode(path.absolute())).hexdigest()[:8]}"


def copies_on_tier(on: OnTier, *, links: bool = False) -> bytes:
    """Return the program that starts a script of such a job, and copies its files.

    Args:
        on: How the job uses the tier; its request says where results go.
        links: Links lead to its large files.
    """
    assert on.request is not None
    assert on.request.stage_out is not None
    whole = on.request.stage_in
    return copies_program(
        on.tier.directory_text(on.request),
        source=whole or on.source,
        results=on.request.stage_out,
        names=(".",) if whole else on.inputs,
        variable=on.tier.directory_variable(on.request),
        stays=on.is_hybrid,
        links=links,
    )


def kept_notes(on: OnTier) -> tuple[str, ...]:
    """Return what is to be said of files that stay on a persistent burst buffer after the job."""
    if on.request is None or on.own or not on.request.persistent:
        return ()
    there = f"${on.tier.directory_variable(on.request)}/{on.request.place}"
    return (f"files stay in {there} after the job: remove that when you do not need them",)


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
        options=options or {},
        drop_burst_buffer=bool(script.burst_buffer)
        and (on.request is None or (on.own and not on.keeps_lines)),
        job=replace(resources, burst_buffer_nodes=None, burst_buffer_files=None),
        directory=on.variable or on.hybrid_variable,
        place=on.place,
        folders=on.folders,
        stays=on.is_hybrid,
        moved=(moved or {}) if (on.variable or within) and not on.is_hybrid else {},
        within=within,
        exports=exports or {},
        notes=notes,
    )
    return rewrite(script, changes)
