# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the site and the user allow."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.policy._load import SITE_POLICY, load_policy, parse_policy, user_policy_path
    from stripewise.policy._policy import Policy
else:
    __getattr__ = lazy_exports(__name__)

__all__ = ["SITE_POLICY", "Policy", "load_policy", "parse_policy", "user_policy_path"]
