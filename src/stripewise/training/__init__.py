# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Trainings: our kernels over a designed set of configurations, for models of performance."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.training._evidence import Evidence as Evidence
    from stripewise.training._evidence import find_evidence as find_evidence
    from stripewise.training._evidence import read_evidence as read_evidence
    from stripewise.training._kernels import kernel_words as kernel_words
    from stripewise.training._kernels import sized as sized
    from stripewise.training._lessons import keep_lessons as keep_lessons
    from stripewise.training._lessons import lessons_of as lessons_of
    from stripewise.training._models import Fits as Fits
    from stripewise.training._models import fit_models as fit_models
    from stripewise.training._options import PATTERNS as PATTERNS
    from stripewise.training._options import REPEATS as REPEATS
    from stripewise.training._options import SMALL_BYTES as SMALL_BYTES
    from stripewise.training._options import TrainingOptions as TrainingOptions
    from stripewise.training._options import Way as Way
    from stripewise.training._plan import Cell as Cell
    from stripewise.training._plan import Plan as Plan
    from stripewise.training._programs import kernel_program as kernel_program
    from stripewise.training._sizes import total_seconds as total_seconds
    from stripewise.training._train import Trained as Trained
    from stripewise.training._train import TrainingObserver as TrainingObserver
    from stripewise.training._train import spent_seconds as spent_seconds
    from stripewise.training._train import train as train
else:
    __getattr__, __all__ = lazy_exports(__name__)
