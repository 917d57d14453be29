# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A directory that every job finds: NVMe of its nodes, or a flash pool."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stripewise.core.errors import UsageError
from stripewise.present import printable
from stripewise.run.tiers._base import Pool, Tier, TierRequest, check_persistent

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
