# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rules that say what costs time; docs/reference/findings.md has one section for each."""

from stripewise.diagnosis.findings._base import Run
from stripewise.diagnosis.findings._judge import judge
from stripewise.diagnosis.findings._registry import RULES

__all__ = ["RULES", "Run", "judge"]
