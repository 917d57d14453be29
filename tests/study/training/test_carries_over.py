# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Trained in virtual time alone, and asked about what was recorded on the emulated storage."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import spearmanr

from stripewise.learning.performance import fitted_prediction
from stripewise.study.training import (
    TrainingOptions,
    find_evidence,
    fit_models,
    read_evidence,
    sized,
    train,
)

RECORDED = Path(__file__).resolve().parents[3] / "benchmarks/surfaces/emulated"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    place = tmp_path_factory.mktemp("carried")
    kernels = [sized((name,), size << 20) for name in ("vorpal", "gcrm") for size in (1, 16)]
    options = TrainingOptions(
        directory=place / "t",
        machine="archer2-hdd@1/32",
        kernels=tuple(kernels),
        ranks=(4, 8),
        ranks_per_node=1,
        simulate=True,
        stack="romio-lustre",
        configurations=40,
        repeats=1,
    )
    train(options)
    return fit_models(*find_evidence(options.directory), place / "models").models


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("name", ["btio", "vorpal", "gcrm"])
def test_recorded_configurations_are_ranked(models, name):
    """Also those of btio, whose cells on diagonals the training has not seen."""
    ((evidence,), _) = read_evidence([RECORDED / f"{name}.jsonl"], RECORDED)
    samples = evidence.samples
    found = fitted_prediction(samples[0].facts, evidence.ground, models)
    assert found.prediction is not None, found.why
    predicted = [found.prediction.seconds(sample.settings) for sample in samples]
    measured = [min(sample.seconds) for sample in samples]
    known = [(p, m) for p, m in zip(predicted, measured, strict=True) if p is not None]
    assert len(known) > 0.8 * len(samples)
    assert spearmanr(*zip(*known, strict=True)).statistic > 0.85
    assert min(m for _, m in sorted(known)[:5]) < min(measured) * 1.05
