# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The null member: no tier, the job works on the parallel file system."""

from __future__ import annotations

from collections.abc import Sequence

from stripewise.tiers._base import Pool, Tier, TierRequest
from stripewise.tiers._checks import check_persistent


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
