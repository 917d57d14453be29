# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Provides models for the comparison of strategies, trained without the scored surface.

    python benchmarks/trained.py emulated/gcrm            # describe the model for a surface

They are fitted to a training in virtual time, of `vpic`, `vorpal` and `gcrm` on the storage that
the surface was emulated on, as made by `stripewise knowledge train --on STORAGE --simulate`, and
to the recorded surfaces of other programs on that storage.  Surfaces that are set aside are never
used for training.  A surface of a local disk has the models from other surfaces of that disk.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from stripewise.core.errors import UsageError
from stripewise.learning.performance import Loaded, fitted_prediction, ground_of
from stripewise.storage.machines import find_storage
from stripewise.storage.simulation import stack_of
from stripewise.study.training import (
    Surface,
    TrainingOptions,
    fit_models,
    kernel_words,
    read_evidence,
    sized,
    train,
)

HERE = Path(__file__).resolve().parent
SURFACES = HERE / "surfaces"
TRAININGS = HERE / "results" / "trainings"
SET_ASIDE = "set-aside"
KERNELS = ("vpic", "vorpal", "gcrm")
SIZES = (1 << 16, 1 << 19, 1 << 22, 1 << 25)
"""Bytes of each rank: small and large ones, because nothing is extrapolated."""
RANKS = (4, 8, 16)
CONFIGURATIONS = 120


def models_for(path: Path) -> Loaded:
    """Return the models available to a study of a surface's program."""
    surface = Surface.load(path)
    paths = [other for other in sorted(SURFACES.rglob("*.jsonl")) if _may_train(other, surface)]
    paths += _simulated(surface)
    try:
        evidence, _ = read_evidence(paths, SURFACES)
    except UsageError:
        return Loaded()
    into = TRAININGS / "models" / path.stem
    fitted = fit_models(evidence, into=into).models
    return Loaded(tuple(replace(model, points=()) for model in fitted))


def _may_train(path: Path, scored: Surface) -> bool:
    """Return whether a recorded surface is of another program on the same storage."""
    if path.parent.name == SET_ASIDE:
        return False
    other = Surface.load(path)
    same = (
        other.provenance.get(n) == scored.provenance.get(n) for n in ("emulated", "filesystem")
    )
    return all(same) and _program(other) != _program(scored)


def _program(surface: Surface) -> str:
    words = list(surface.command)
    return words[words.index("--pattern") + 1] if "--pattern" in words else words[-1]


def _simulated(surface: Surface) -> list[Path]:
    """Return the surfaces of a training in virtual time on a surface's storage; made once."""
    storage = surface.provenance.get("emulated", "")
    if not storage:
        return []
    stack = stack_of(surface.facts)
    options = TrainingOptions(
        TRAININGS / f"{storage.replace('/', '-')}-{stack}",
        machine=storage,
        kernels=tuple(sized(words, size) for words in kernel_words(KERNELS) for size in SIZES),
        ranks=RANKS,
        ranks_per_node=1,
        simulate=True,
        configurations=CONFIGURATIONS,
        stack=stack,
    )
    TRAININGS.mkdir(parents=True, exist_ok=True)
    return list(train(options).surfaces)


def main() -> int:
    """Print the model with which a study of each surface would begin."""
    for name in sys.argv[1:]:
        path = SURFACES / f"{name}.jsonl"
        surface, loaded = Surface.load(path), models_for(path)
        storage = surface.provenance.get("emulated", "")
        ground = ground_of(surface.facts, storage=find_storage(storage) if storage else None)
        print(f"{name}: {fitted_prediction(surface.facts, ground, loaded.models).why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
