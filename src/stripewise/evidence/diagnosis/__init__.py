# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Judges the figures of a run by rules that identify what costs time."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.evidence.diagnosis._diagnose import diagnose as diagnose
    from stripewise.evidence.diagnosis._diagnose import profile_to_json as profile_to_json
    from stripewise.evidence.diagnosis._judge import RULES as RULES
    from stripewise.evidence.diagnosis._tell import FACT_RULES as FACT_RULES
else:
    __getattr__, __all__ = lazy_exports(__name__)
