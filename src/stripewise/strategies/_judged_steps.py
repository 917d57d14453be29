# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Points tried one after the other, each once, and judged against the best so far."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from math import inf

from stripewise.model import Proposal, Trial, Value
from stripewise.strategies._burst_buffer import NODES
from stripewise.strategies._per_class import PerClass
from stripewise.strategies._stepwise import Batch, StepwiseStrategy
from stripewise.strategies._studied_file import Score, StudiedFile, Verdict
from stripewise.tunables import PointKey, is_valid, key_of

Settings = Mapping[str, Value]
Trying = Generator[Batch, list[Trial], Score]


class JudgedSteps(StepwiseStrategy):
    """Judges by the studied file and the whole run; options `tolerance` and `small_bytes`."""

    def begin(self) -> None:
        """Nothing is known but the baseline."""
        super().begin()
        self._studied = StudiedFile(self.number("tolerance"), int(self.number("small_bytes")))
        self._best: Score | None = None
        self._least_run = inf
        self._because = ""
        self._seen: dict[PointKey, Score] = {}
        self._classes = PerClass(self.facts.file_classes)

    def _try(self, settings: Settings, reason: str) -> Trying:
        """Have a point run unless it was."""
        key = key_of(settings)
        if not settings:
            return self._unasked()
        if key not in self._seen:
            if not is_valid(settings, self.facts):
                why = "these settings cannot act together"
                return Score(dict(settings), inf, inf, failure=why)
            (trial,) = yield [Proposal(dict(settings), reason)]
            self._learn(trial)
        return self._seen[key]

    def _unasked(self) -> Score:
        """Return what the default gave, which is never asked for."""
        return self._studied.baseline(self.baseline)

    def _learn(self, trial: Trial) -> None:
        score = self._seen[key_of(trial.settings)] = self._studied.score(trial)
        if not score.is_failed:
            self._classes.learn(trial, self.noise)

    def _judge(self, score: Score) -> Verdict:
        self._studied.tolerance = self._tolerance
        if self._best is None and not score.is_failed:
            return Verdict.FASTER
        return self._studied.judge(score, self._best or self._unasked(), self._least_run)

    def _is_better(self, score: Score) -> bool:
        """Whether the studied file is faster, or the whole run shorter and the file no slower."""
        best = self._best or self._unasked()
        is_faster = self._judge(score) is Verdict.FASTER
        return is_faster or self._studied.shortens_run(score, best, self._least_run)

    def _keep(self, score: Score, because: str = "") -> None:
        self._best, self._because = score, because
        self._least_run = min(self._least_run, score.run_ratio)

    @property
    def _tolerance(self) -> float:
        return max(self.number("tolerance"), self.noise)

    @property
    def _settings(self) -> Settings:
        return self._best.settings if self._best is not None else {}

    @property
    def _nodes(self) -> int:
        nodes = self._settings.get(NODES, self.facts.burst_buffer_nodes)
        return nodes if isinstance(nodes, int) else 0
