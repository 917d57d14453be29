# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Evidence of a run -> figures and findings in plain words.  Pure."""

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
    plain,
    size_labels,
)

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
    "plain",
    "size_labels",
]
