# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How far a training is: what it will cost, then the progress of each recording."""

from __future__ import annotations

from typing import TextIO

from stripewise.cli._common import note
from stripewise.cli._surface_progress import SurfaceProgress
from stripewise.report import cost_text
from stripewise.surfaces import Surface, SurfaceRun
from stripewise.text import plural
from stripewise.training import Cell, Plan, TrainingObserver


class TrainingProgress(TrainingObserver):
    """Says how far a training is until it is closed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._inner: SurfaceProgress | None = None

    def close(self) -> None:
        """Take the bar away; safe to call twice."""
        if self._inner is not None:
            self._inner.close()
        self._inner = None

    def looking(self, cell: Cell) -> None:
        note(f"first run: {cell.title}")

    def settled(self, plan: Plan) -> None:
        note(cost_text(plan))

    def measuring(self, cell: Cell, number: int, of: int) -> None:
        self.close()
        count = plural(cell.configurations, "configuration")
        note(f"surface {number} of {of}: {cell.title}, {count} of {cell.possible}")

    def planned(self, surface: Surface, total_runs: int, done: int) -> None:
        self._inner = SurfaceProgress(self._stream)
        self._inner.planned(surface, total_runs, done)

    def recorded(self, run: SurfaceRun) -> None:
        if self._inner is not None:
            self._inner.recorded(run)

    def noted(self, text: str) -> None:
        if self._inner is not None:
            self._inner.noted(text)
        else:
            note(text)
