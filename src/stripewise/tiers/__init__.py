# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Storage tiers: what a job may have between its nodes and the parallel file system."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.tiers._base import Pool as Pool
    from stripewise.tiers._base import Tier as Tier
    from stripewise.tiers._base import TierRequest as TierRequest
    from stripewise.tiers._checks import check_absolute as check_absolute
    from stripewise.tiers._checks import check_there as check_there
    from stripewise.tiers._checks import is_plain_path as is_plain_path
    from stripewise.tiers._directory import variable_of as variable_of
    from stripewise.tiers._ladder import ladder as ladder
    from stripewise.tiers._registry import find_tier as find_tier
    from stripewise.tiers._registry import register_tier as register_tier
    from stripewise.tiers._registry import tier_names as tier_names
    from stripewise.tiers._registry import tier_of_words as tier_of_words
    from stripewise.tiers._sizes import burst_size_bytes as burst_size_bytes
    from stripewise.tiers._sizes import burst_size_text as burst_size_text
else:
    __getattr__, __all__ = lazy_exports(__name__)
