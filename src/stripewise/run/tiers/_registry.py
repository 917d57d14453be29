# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds storage tiers by name or job script, and defines the two that need no lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stripewise.core.errors import UsageError
from stripewise.present import printable
from stripewise.run.tiers._base import StoragePool, Tier, TierRequest, check_persistent
from stripewise.run.tiers._dw import DataWarpTier, RabbitTier
from stripewise.run.tiers._lua import LuaTier

# The null tier: the job works on the parallel file system.


class NoTier(Tier):
    """The null tier, a minimal example."""

    name = "none"
    summary = "no tier: the parallel file system"
    sized = False

    def directives(self, request: TierRequest, pool: StoragePool | None) -> tuple[str, ...]:
        """Return no lines."""
        return ()

    def directory_variable(self, request: TierRequest) -> str:
        """Return ""."""
        return ""

    def check(self, request: TierRequest, pools: Sequence[StoragePool]) -> StoragePool | None:
        """Accept everything except a persistent tier, since nothing is requested."""
        check_persistent(self, request)
        return None


# A directory available to every job: NVMe of its nodes, or a flash pool.

_WORD = "[A-Za-z_][A-Za-z0-9_]*"
_VARIABLE = re.compile(rf"\$(?:({_WORD})|\{{({_WORD})\}})")


class DirectoryTier(Tier):
    """Storage without lines for the batch system, to which the job copies its files itself."""

    name = "directory"
    summary = "a directory that exists in the job: $TMPDIR, /local/$SLURM_JOB_ID, a flash pool"
    sized = False
    copies_itself = True

    def directives(self, request: TierRequest, pool: StoragePool | None) -> tuple[str, ...]:
        """Return only the kept lines of the script."""
        return request.kept

    def directory_variable(self, request: TierRequest) -> str:
        """Return the variable that makes up the whole directory, as in $TMPDIR; otherwise ""."""
        return variable_of(request.directory)

    def directory_text(self, request: TierRequest) -> str:
        """Return the directory with its variables, and the place in it."""
        return "/".join(part for part in (request.directory.rstrip("/"), request.place) if part)

    def check(self, request: TierRequest, pools: Sequence[StoragePool]) -> StoragePool | None:
        """Check that the directory is a path that a job can find.

        Raises:
            UsageError: It is not.
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
    """Return the name in a text that is only a variable, $NAME or ${NAME}; otherwise ""."""
    match = _VARIABLE.fullmatch(text)
    return (match[1] or match[2]) if match else ""


# Tiers by name, and by the lines of a job script.

_TIERS: dict[str, Tier] = {
    tier.name: tier
    for tier in (RabbitTier(), DataWarpTier(), LuaTier(), DirectoryTier(), NoTier())
}


def tier_names() -> tuple[str, ...]:
    """Return the names of all tiers."""
    return tuple(_TIERS)


def find_tier(name: str) -> Tier:
    """Return a tier by name.

    Raises:
        UsageError: There is no tier of this name.
    """
    if name not in _TIERS:
        raise UsageError(f"there is no tier {name!r}; there are {', '.join(_TIERS)}")
    return _TIERS[name]


def register_tier(tier: Tier) -> None:
    """Register a tier from outside this package."""
    _TIERS[tier.name] = tier


def tier_of_words(words: Sequence[Sequence[str]], wanted: str = "") -> tuple[Tier, TierRequest]:
    """Return the tier of a script's directives with the request; the null tier without any.

    Rabbit's lines are like DataWarp's with other types; a persistent one with DataWarp's staging
    or without staging counts as DataWarp's, unless Rabbit is requested.

    Args:
        words: Words of each directive, beginning with the marker.
        wanted: Name of the tier that the user requests; if it is empty or another, the lines
            decide.

    Raises:
        UsageError: A directive has an invalid value.
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
