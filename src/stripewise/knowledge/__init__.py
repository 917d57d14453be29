# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What earlier studies found, kept for those that follow."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.knowledge._codec import lesson_to_json
    from stripewise.knowledge._describe import describe_case
    from stripewise.knowledge._exchange import export_lines, import_lines
    from stripewise.knowledge._learn import learn
    from stripewise.knowledge._locate import own_path, own_store, site_paths, site_stores
    from stripewise.knowledge._machine import describe_machine
    from stripewise.knowledge._memory import Memory
    from stripewise.knowledge._phrases import effect_phrase
    from stripewise.knowledge._recall import Avoided, Recollection, recall
    from stripewise.knowledge._records import (
        Case,
        Effect,
        Fingerprint,
        Lesson,
        Machine,
        Stack,
        Tried,
        TriedState,
    )
    from stripewise.knowledge._similarity import NEAR, SAME, Likeness, compare
    from stripewise.knowledge._store import Store
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "NEAR",
    "SAME",
    "Avoided",
    "Case",
    "Effect",
    "Fingerprint",
    "Lesson",
    "Likeness",
    "Machine",
    "Memory",
    "Recollection",
    "Stack",
    "Store",
    "Tried",
    "TriedState",
    "compare",
    "describe_case",
    "describe_machine",
    "effect_phrase",
    "export_lines",
    "import_lines",
    "learn",
    "lesson_to_json",
    "own_path",
    "own_store",
    "recall",
    "site_paths",
    "site_stores",
]
