# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Evidence of a run -> figures and findings in plain words.  Pure."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.diagnosis._diagnose import diagnose
    from stripewise.diagnosis._records import (
        Diagnosis,
        Figures,
        FileRow,
        Finding,
        HeatMap,
        LayerRow,
        Periodicity,
        RequestRow,
        Severity,
        VarianceRow,
        size_labels,
    )
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "Diagnosis",
    "Figures",
    "FileRow",
    "Finding",
    "HeatMap",
    "LayerRow",
    "Periodicity",
    "RequestRow",
    "Severity",
    "VarianceRow",
    "diagnose",
    "size_labels",
]
