# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Two cases whose programs are formulas."""

from __future__ import annotations

from stripewise.study.plan import StudyCase
from support.study_fakes import KNOB, FakeLauncher, no_noise

CASES = (StudyCase("small", ("prog", "small")), StudyCase("large", ("prog", "large")))


def gains(factor: float, seconds: float = 4.0):
    """A formula: the setting divides the I/O time by this factor."""
    return lambda settings: seconds / (factor if settings.get(KNOB) == "disable" else 1.0)


def launchers(noise=no_noise, seed=0, kind=FakeLauncher, **formulas):
    formulas = formulas or {"small": gains(2.0), "large": gains(4.0, 40.0)}
    return {
        word: kind(formula, noise, seed=1000 * seed + place)
        for place, (word, formula) in enumerate(formulas.items())
    }
