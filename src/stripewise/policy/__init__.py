# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the site and the user allow."""

from stripewise.policy._load import SITE_POLICY, load_policy, parse_policy, user_policy_path
from stripewise.policy._policy import Policy

__all__ = ["SITE_POLICY", "Policy", "load_policy", "parse_policy", "user_policy_path"]
