# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Classes of a program's files as cases of their own, so that each can learn by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log2

from stripewise.knowledge._records import Case, Effect, Fingerprint, Lesson, Tried
from stripewise.model import FileClass, PatternSummary
from stripewise.tunables import scopes, settings_on

WHOLE = ""
"""Glob of the part that is all of a program's files."""


@dataclass(frozen=True)
class Part:
    """All files of a program, or one class of them.

    Attributes:
        match: Glob of the class; "" for all files.
        case: As if the program had no other files.
    """

    match: str
    case: Case


def parts_of(case: Case) -> tuple[Part, ...]:
    """Return the case itself and, where they have a glob, each of its classes of files."""
    print_ = case.fingerprint
    classes = [
        Part(one.match, replace(case, fingerprint=_of_class(print_, one, number)))
        for number, one in enumerate(print_.file_classes, start=1)
        if one.match
    ]
    return (Part(WHOLE, case), *classes)


def as_part(lesson: Lesson, match: str) -> Lesson:
    """Return what a study says of one part of its program, without settings for other files.

    What acted on a class is known of each trial.  A winner with settings for some files says
    nothing of all files alike: then the trials alone speak.  The interval of a class's gain is
    as wide, relative to it, as that of the whole.

    Args:
        lesson: Of a study.
        match: Glob of one of its classes; "" for all files.
    """
    if match:
        tried = tuple(_on_class(trial, match) for trial in lesson.tried)
        same = [t for t in lesson.tried if dict(t.settings) == dict(lesson.candidate)]
        ratio = same[0].class_ratios.get(match) if same else None
        effect = _scaled(lesson.effect, ratio)
        candidate = settings_on(lesson.candidate, match)
        improved = lesson.improved and (effect is None or (effect.low or 0) > 1)
        return replace(lesson, candidate=candidate, effect=effect, improved=improved, tried=tried)
    plain = tuple(trial for trial in lesson.tried if not scopes(trial.settings))
    if scopes(lesson.candidate):
        return replace(lesson, candidate={}, effect=None, improved=False, tried=plain)
    return replace(lesson, tried=plain)


def _on_class(trial: Tried, match: str) -> Tried:
    ratio = trial.class_ratios.get(match, trial.io_ratio) if not trial.state.is_bad else None
    return replace(trial, settings=settings_on(trial.settings, match), io_ratio=ratio)


def _scaled(effect: Effect | None, ratio: float | None) -> Effect | None:
    if effect is None or not ratio or not effect.median:
        return effect
    factor = 1 / (ratio * effect.median)
    low, high = (None if b is None else b * factor for b in (effect.low, effect.high))
    return Effect(1 / ratio, low, high, effect.n_pairs)


def _of_class(whole: Fingerprint, files: FileClass, number: int) -> Fingerprint:
    patterns = _alone([one for one in whole.patterns if one.file_class == number])
    volume = sum(one.bytes for one in patterns)
    logarithm = log2(volume) if volume else whole.volume_log2
    call = log2(files.call_bytes) if files.call_bytes else 0.0
    through_mpi = "mpiio" in files.layers
    return replace(
        whole,
        patterns=patterns,
        file_classes=(),
        collective_share=float(through_mpi and files.collective),
        independent_share=float(through_mpi and not files.collective),
        posix_share=float(not through_mpi),
        read_share=0.5 if files.reads and files.writes else float(files.reads),
        noncontiguous=files.noncontiguous,
        bytes_per_call_log2=round(call, 3),
        calls_per_rank_log2=round(logarithm - call - log2(max(1, whole.n_ranks)), 3),
        volume_log2=round(logarithm, 3),
        shared_files=files.n_files if files.shared else 0,
        uses_hdf5="hdf5" in files.layers,
        uses_parallel_hdf5="hdf5" in files.layers and through_mpi,
        uses_pnetcdf="pnetcdf" in files.layers,
        uses_netcdf4=whole.uses_netcdf4 and "hdf5" in files.layers,
        uses_adios2="adios2" in files.layers,
    )


def _alone(patterns: list[PatternSummary]) -> tuple[PatternSummary, ...]:
    whole = sum(one.share for one in patterns) or 1.0
    return tuple(replace(one, share=round(one.share / whole, 4), file_class=0) for one in patterns)
