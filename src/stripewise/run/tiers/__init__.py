# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes storage tiers: burst buffers and node-local storage that a job can request."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.run.tiers._base import StoragePool as StoragePool
    from stripewise.run.tiers._base import Tier as Tier
    from stripewise.run.tiers._base import TierRequest as TierRequest
    from stripewise.run.tiers._base import burst_size_bytes as burst_size_bytes
    from stripewise.run.tiers._base import burst_size_text as burst_size_text
    from stripewise.run.tiers._base import check_absolute as check_absolute
    from stripewise.run.tiers._base import check_directory_exists as check_directory_exists
    from stripewise.run.tiers._base import is_plain_path as is_plain_path
    from stripewise.run.tiers._lua import read_template as read_template
    from stripewise.run.tiers._registry import find_tier as find_tier
    from stripewise.run.tiers._registry import tier_names as tier_names
    from stripewise.run.tiers._registry import tier_of_words as tier_of_words
    from stripewise.run.tiers._registry import variable_of as variable_of
else:
    __getattr__, __all__ = lazy_exports(__name__)
