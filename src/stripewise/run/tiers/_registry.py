# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds a storage tier by its name or by a job script; holds the two that need no lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stripewise.core.errors import UsageError
from stripewise.present import printable
from stripewise.run.tiers._base import Pool, Tier, TierRequest, check_persistent
from stripewise.run.tiers._dw import DataWarpTier, RabbitTier
from stripewise.run.tiers._lua import LuaTier

# The null member: no tier, the job works on the parallel file system.


class NoTier(Tier):
    """No tier: the least that a member is."""

    name = "none"
    summary = "no tier: the parallel file system"
    sized = False

    def directives(self, request: TierRequest, pool: Pool | None) -> tuple[str, ...]:
        """Return no lines."""
        return ()

    def directory_variable(self, request: TierRequest) -> str:
        """Return ""."""
        return ""

    def check(self, request: TierRequest, pools: Sequence[Pool]) -> Pool | None:
        """Accept everything but a persistent one: nothing is asked for."""
        check_persistent(self, request)
        return None


# A directory that every job finds: NVMe of its nodes, or a flash pool.

_WORD = "[A-Za-z_][A-Za-z0-9_]*"
_VARIABLE = re.compile(rf"\$(?:({_WORD})|\{{({_WORD})\}})")


class DirectoryTier(Tier):
    """Storage that needs no lines of a batch system; the job copies its files by itself."""

    name = "directory"
    summary = "a directory that exists in the job: $TMPDIR, /local/$SLURM_JOB_ID, a flash pool"
    sized = False
    copies_itself = True

    def directives(self, request: TierRequest, pool: Pool | None) -> tuple[str, ...]:
        """Return no lines of its own."""
        return request.kept

    def directory_variable(self, request: TierRequest) -> str:
        """Return the variable that is the whole directory, as in $TMPDIR; otherwise ""."""
        return variable_of(request.directory)

    def directory_text(self, request: TierRequest) -> str:
        """Return the directory with its variables, and the place in it."""
        return "/".join(part for part in (request.directory.rstrip("/"), request.place) if part)

    def check(self, request: TierRequest, pools: Sequence[Pool]) -> Pool | None:
        """Check that it is a path that a job can find.

        Raises:
            UsageError: It is none.
        """
        check_persistent(self, request)
        text = request.directory
        if not text or text[0] not in "/$" or not text.isprintable():
            raise UsageError(
                f"{printable(text)!r}: the directory of a tier is an absolute path or begins "
                "with an environment variable of the job (/local/$SLURM_JOB_ID, $TMPDIR)"
            )
        return None


def variable_of(text: str) -> str:
    """Return the name of the variable that a text is, $NAME or ${NAME}; "" if it is more."""
    match = _VARIABLE.fullmatch(text)
    return (match[1] or match[2]) if match else ""


# Tiers by name, and by what a job script says.

_TIERS: dict[str, Tier] = {
    tier.name: tier
    for tier in (RabbitTier(), DataWarpTier(), LuaTier(), DirectoryTier(), NoTier())
}


def tier_names() -> tuple[str, ...]:
    """Return the names of all tiers."""
    return tuple(_TIERS)


def find_tier(name: str) -> Tier:
    """Return a tier.

    Raises:
        UsageError: There is none of this name.
    """
    if name not in _TIERS:
        raise UsageError(f"there is no tier {name!r}; there are {', '.join(_TIERS)}")
    return _TIERS[name]


def register_tier(tier: Tier) -> None:
    """Add a tier from outside of this package."""
    _TIERS[tier.name] = tier


def tier_of_words(words: Sequence[Sequence[str]], wanted: str = "") -> tuple[Tier, TierRequest]:
    """Return the tier that a script's directives are for, with the request; `none` without any.

    Rabbit's lines are DataWarp's with other types; a persistent one that has DataWarp's staging
    or no staging is taken for DataWarp's, unless Rabbit's is wanted.

    Args:
        words: Of each directive; the first is the marker.
        wanted: Name of the tier that the user says; "" or another: what the lines say.

    Raises:
        UsageError: A directive has a value that is none.
    """
    rabbit = wanted == RabbitTier.name or any(
        "copy_in" in line[1:2] or "copy_out" in line[1:2] for line in words
    )
    for tier in _TIERS.values():
        request = tier.read(words)
        if request is None:
            continue
        if tier.name == RabbitTier.name and request.persistent and not rabbit:
            continue
        return tier, request
    return _TIERS[NoTier.name], TierRequest()
