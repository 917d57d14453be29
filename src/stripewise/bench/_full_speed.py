# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a storage in slow motion as they are at its full speed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stripewise.bench._sample import CaseRun, Sample


def at_full_speed(run: CaseRun, slowdown: float) -> CaseRun:
    """Return a run with the times that its operations would have taken at full speed.

    The times of the run as a whole (elapsed and node-seconds) are those that passed here.

    Args:
        run: On a storage that was emulated in slow motion.
        slowdown: How many times as long everything took there.
    """
    if slowdown == 1:
        return run
    around = dict(run.circumstances)
    if "beside" in around:
        around["beside"] = {name: rate * slowdown for name, rate in around["beside"].items()}
    samples = tuple(_faster(one, slowdown) for one in run.samples)
    return replace(run, samples=samples, circumstances=around)


def _faster(sample: Sample, slowdown: float) -> Sample:
    return replace(
        sample,
        seconds=sample.seconds / slowdown,
        phases=_divided(sample.phases, slowdown),
        percentiles=_divided(sample.percentiles, slowdown),
    )


def _divided(times: Mapping[str, float], slowdown: float) -> dict[str, float]:
    return {name: seconds / slowdown for name, seconds in times.items()}
