# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fits models to measurements, and stores the best settings as lessons."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import stripewise
from stripewise.core import to_json
from stripewise.learning.adoption import make_tables, save_table
from stripewise.learning.knowledge import (
    Effect,
    Lesson,
    Machine,
    Store,
    Tried,
    describe_case,
    describe_machine,
    own_store,
)
from stripewise.learning.performance import (
    Ground,
    Model,
    Training,
    TrainingSample,
    Way,
    fit,
    save_model,
)
from stripewise.settings import load_policy
from stripewise.study.training._evidence import TrainingEvidence


@dataclass(frozen=True)
class Fits:
    """Result of a training.

    Attributes:
        models: Models, one for each storage, stack and class of patterns.
        paths: Files of the models.
        evidence: Evidence to which they were fitted.
        refused: Why other files were not used, one line each.
        unfitted: Grounds with too few samples for a model.
        tables: Files of the tables for series of files, one for each ground and MPI.
    """

    models: tuple[Model, ...]
    paths: tuple[Path, ...]
    evidence: tuple[TrainingEvidence, ...]
    refused: tuple[str, ...] = ()
    unfitted: tuple[Ground, ...] = ()
    tables: tuple[Path, ...] = ()


def fit_models(
    evidence: Sequence[TrainingEvidence], refused: Sequence[str] = (), into: Path | None = None
) -> Fits:
    """Fit and write models.

    Args:
        evidence: Evidence of any storage and stack; each is fitted separately.
        refused: Why other files were not used; passed on to the result.
        into: Directory of models; None for the user's own.

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


def by_ground(evidence: Sequence[TrainingEvidence]) -> list[Training]:
    """Return the samples of each storage and stack, from all files.

    Two names of the same description count as the same storage.
    """
    found: dict[Ground, list[TrainingEvidence]] = {}
    for one in evidence:
        same = next((known for known in found if not known.why_not(one.ground)), one.ground)
        found.setdefault(same, []).append(one)
    return [_training(ground, parts) for ground, parts in found.items()]


def _training(ground: Ground, parts: Sequence[TrainingEvidence]) -> Training:
    ways = Counter({way: sum(len(p.samples) for p in parts if p.way is way) for way in Way})
    return Training(
        ground,
        tuple(sample for part in parts for sample in part.samples),
        sum(part.runs for part in parts),
        sum(part.run_seconds for part in parts),
        ways.most_common(1)[0][0],
    )


# Pairs of a pattern and its best settings from a training's measurements, like a study's lesson.

STRATEGY = "training"
SIMPLER = 1.02
"""Factor by which a configuration may be slower than the best to be preferred for having fewer
settings (assumed: less than runs differ).
"""
_BEST, _OTHERS = 40, 80
"""Number of best configurations stored as tried, and of others chosen evenly from the rest, which
show where an optimistic model is wrong.
"""


def keep_lessons(evidence: Iterable[TrainingEvidence], store: Store | None = None) -> int:
    """Store the best settings of each pattern as lessons; return how many are new.

    The lesson of a surface that has grown replaces its earlier one.

    Args:
        evidence: Evidence of surfaces; studies have stored their own lessons.
        store: Store of the user; None for the usual one.

    Raises:
        StorageError: The store cannot be written.
    """
    found = list(lessons_of(evidence))
    if not found:
        return 0
    store = store or own_store()
    programs = {lesson.case.fingerprint.program for lesson in found}
    earlier = (one for program in programs for one in store.lessons(program=program, most=None))
    runs = {one.study_id: one.n_runs for one in earlier}
    grown = [one.study_id for one in found if runs.get(one.study_id, one.n_runs) < one.n_runs]
    store.forget(grown)
    return store.add(found)


def lessons_of(evidence: Iterable[TrainingEvidence]) -> Iterator[Lesson]:
    """Yield the lesson of each surface; a surface without the default has none."""
    for one in evidence:
        lesson = _lesson(one) if one.program else None
        if lesson is not None:
            yield lesson


def _lesson(evidence: TrainingEvidence) -> Lesson | None:
    default = next((one for one in evidence.samples if not one.settings), None)
    if default is None or not default.facts.patterns:
        return None
    best = _best(evidence.samples)
    effect = _effect(default, best)
    usual = median(default.seconds)
    ranked = sorted(evidence.samples, key=lambda one: median(one.seconds))
    return Lesson(
        study_id=_identity(evidence, default),
        recorded_unix_seconds=time.time(),
        case=describe_case(_machine(evidence), default.facts, program=evidence.program),
        improved=bool(best.settings) and effect.low is not None and effect.low > 1,
        candidate=dict(best.settings),
        effect=effect if best.settings else None,
        resolution=f"{evidence.way.value}: best of {len(evidence.samples)} configurations",
        tried=tuple(
            Tried(
                dict(one.settings), io_ratio=median(one.seconds) / usual, n_runs=len(one.seconds)
            )
            for one in _worth_keeping(ranked)
        ),
        n_runs=evidence.runs,
        strategy=STRATEGY,
        stripewise=stripewise.__version__,
    )


def _worth_keeping(ranked: Sequence[TrainingSample]) -> list[TrainingSample]:
    """Return the best configurations, and some of all the others."""
    others = ranked[_BEST:]
    step = max(-(-len(others) // _OTHERS), 1)
    return [*ranked[:_BEST], *others[::step]]


def _best(samples: Iterable[TrainingSample]) -> TrainingSample:
    """Return the simplest of the configurations that are about as fast as the fastest."""
    known = list(samples)
    least = min(median(one.seconds) for one in known)
    good = [one for one in known if median(one.seconds) <= SIMPLER * least]
    return min(good, key=lambda one: (len(one.settings), median(one.seconds)))


def _effect(default: TrainingSample, best: TrainingSample) -> Effect:
    """Return the ratio of the medians, bounded by that of the extremes: no run is an outlier."""
    return Effect(
        median(default.seconds) / median(best.seconds),
        min(default.seconds) / max(best.seconds),
        max(default.seconds) / min(best.seconds),
        min(len(default.seconds), len(best.seconds)),
    )


def _machine(evidence: TrainingEvidence) -> Machine:
    """Return this host with the storage that was measured."""
    here = describe_machine(Path.cwd())
    if evidence.way is Way.REAL:
        return replace(here, described=evidence.ground.storage if evidence.ground.digest else "")
    filesystem = evidence.samples[0].facts.filesystem
    return replace(
        here, filesystem=filesystem, device="", storage=evidence.ground.digest,
        emulated=evidence.storage, described="",
    )  # fmt: skip


def _identity(evidence: TrainingEvidence, default: TrainingSample) -> str:
    """Return an identity that stays the same while a surface grows, so that it is stored once.

    No two surfaces begin with runs of equal length, except simulated ones, which do not grow.
    """
    whole = [evidence.program, evidence.storage, *map(str, evidence.ground.__dict__.values())]
    if evidence.way is Way.SIMULATED:
        whole += [to_json(one) for one in evidence.samples]
    else:
        whole += [to_json(default.facts), repr(default.seconds[0])]
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:32]
