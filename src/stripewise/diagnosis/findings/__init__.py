# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rules that say what costs time; docs/reference/findings.md has one section for each."""

from stripewise.diagnosis.findings._base import Hit, Rule, Run, Told
from stripewise.diagnosis.findings._judge import judge, merge
from stripewise.diagnosis.findings._registry import RULES

__all__ = ["RULES", "Hit", "Rule", "Run", "Told", "judge", "merge"]
