# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models out of what was measured: one fit for each storage and stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stripewise.adoption import make_tables, save_table
from stripewise.performance import Ground, Model, Training, fit, save_model
from stripewise.policy import load_policy
from stripewise.training._evidence import Evidence


@dataclass(frozen=True)
class Fits:
    """What came of a training.

    Attributes:
        models: One for each storage, stack and class of patterns.
        paths: Where they are kept.
        evidence: What they were fitted to.
        refused: Why other files do not count, a line each.
        unfitted: Grounds with too few samples for a model.
        tables: Where the tables for series of files are kept, one for each ground and MPI.
    """

    models: tuple[Model, ...]
    paths: tuple[Path, ...]
    evidence: tuple[Evidence, ...]
    refused: tuple[str, ...] = ()
    unfitted: tuple[Ground, ...] = ()
    tables: tuple[Path, ...] = ()


def fit_models(
    evidence: Sequence[Evidence], refused: Sequence[str] = (), into: Path | None = None
) -> Fits:
    """Fit and keep models.

    Args:
        evidence: Of any storage and stack; each is fitted by itself.
        refused: Handed on.
        into: Directory of models; None: the user's own.

    Raises:
        StorageError: A model cannot be written.
    """
    models: list[Model] = []
    unfitted = []
    trainings = list(by_ground(evidence))
    for training in trainings:
        fitted = fit(training)
        models += fitted
        unfitted += [] if fitted else [training.ground]
    paths = tuple(save_model(model, into) for model in models)
    seen = [(one.ground, sample.facts) for one in trainings for sample in one.samples]
    tables = tuple(save_table(one, into) for one in make_tables(models, seen, load_policy()))
    return Fits(tuple(models), paths, tuple(evidence), tuple(refused), tuple(unfitted), tables)


def by_ground(evidence: Sequence[Evidence]) -> list[Training]:
    """Return the samples of each storage and stack, whatever files they come from.

    A name that stands for the same description as another is the same storage.
    """
    found: dict[Ground, list[Evidence]] = {}
    for one in evidence:
        same = next((known for known in found if not known.why_not(one.ground)), one.ground)
        found.setdefault(same, []).append(one)
    return [_training(ground, parts) for ground, parts in found.items()]


def _training(ground: Ground, parts: Sequence[Evidence]) -> Training:
    ways: dict[str, int] = {}
    for part in parts:
        ways[part.way.value] = ways.get(part.way.value, 0) + len(part.samples)
    training = Training(ground, (), way=max(ways, key=lambda way: ways[way]))
    return replace(
        training,
        samples=tuple(sample for part in parts for sample in part.samples),
        runs=sum(part.runs for part in parts),
        run_seconds=sum(part.run_seconds for part in parts),
    )
