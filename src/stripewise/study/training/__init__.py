# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Training: runs our kernels with a designed set of settings, and fits models to the times."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.study.training._configurations import plan_runs as plan_runs
    from stripewise.study.training._configurations import possible_points as possible_points
    from stripewise.study.training._configurations import recorded_tunables as recorded_tunables
    from stripewise.study.training._configurations import spread_points as spread_points
    from stripewise.study.training._evidence import TrainingEvidence as TrainingEvidence
    from stripewise.study.training._evidence import find_evidence as find_evidence
    from stripewise.study.training._evidence import read_evidence as read_evidence
    from stripewise.study.training._kernels import kernel_program as kernel_program
    from stripewise.study.training._kernels import kernel_words as kernel_words
    from stripewise.study.training._kernels import sized as sized
    from stripewise.study.training._models import Fits as Fits
    from stripewise.study.training._models import fit_models as fit_models
    from stripewise.study.training._models import keep_lessons as keep_lessons
    from stripewise.study.training._models import lessons_of as lessons_of
    from stripewise.study.training._plan import PATTERNS as PATTERNS
    from stripewise.study.training._plan import SMALL_BYTES as SMALL_BYTES
    from stripewise.study.training._plan import TrainingCell as TrainingCell
    from stripewise.study.training._plan import TrainingOptions as TrainingOptions
    from stripewise.study.training._plan import TrainingPlan as TrainingPlan
    from stripewise.study.training._recording import RecordingObserver as RecordingObserver
    from stripewise.study.training._recording import RecordingOptions as RecordingOptions
    from stripewise.study.training._recording import is_finished as is_finished
    from stripewise.study.training._recording import record_surface as record_surface
    from stripewise.study.training._report import cost_text as cost_text
    from stripewise.study.training._report import fits_json as fits_json
    from stripewise.study.training._report import fits_lines as fits_lines
    from stripewise.study.training._report import training_json as training_json
    from stripewise.study.training._report import training_lines as training_lines
    from stripewise.study.training._surface import SettingsKey as SettingsKey
    from stripewise.study.training._surface import Surface as Surface
    from stripewise.study.training._surface import SurfaceRole as SurfaceRole
    from stripewise.study.training._surface import SurfaceRun as SurfaceRun
    from stripewise.study.training._surface import SurfaceWriter as SurfaceWriter
    from stripewise.study.training._train import Trained as Trained
    from stripewise.study.training._train import TrainingObserver as TrainingObserver
    from stripewise.study.training._train import spent_seconds as spent_seconds
    from stripewise.study.training._train import train as train
else:
    __getattr__, __all__ = lazy_exports(__name__)
