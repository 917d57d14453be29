# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Verifies what lies in directories, as a study verifies the outputs of runs."""

from __future__ import annotations

from pathlib import Path

from stripewise.core import Verification
from stripewise.study.verify import BaselineOutputs
from stripewise.study.workspace import OutputSet


def compare(first: Path, second: Path, candidate: Path, *, layout: bool) -> Verification:
    """Verify all that lies in a directory, against that in two of baselines."""
    baselines = OutputSet.of(first), OutputSet.of(second)
    return BaselineOutputs(*baselines).verify(OutputSet.of(candidate), layout=layout)
