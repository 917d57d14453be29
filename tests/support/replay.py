# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies on a recorded surface: the real procedure, with runs that are drawn, not made.

Every run that the procedure asks for counts: warm-up, baselines, repeats and the
pairs.  What is drawn for a configuration depends on the seed and on how often it was drawn,
not on the strategy, so that strategies meet the same luck.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

from stripewise.core import BASELINE_ROLES, Measurement, RunStatus, StudyResult, Trial, Value
from stripewise.core.errors import ProgramError
from stripewise.learning.performance import Loaded
from stripewise.run.launch import Handle, Outcome, RunRequest
from stripewise.settings.tunables import Dimension, Space, get
from stripewise.storage.emulation import EmulationOptions
from stripewise.study.plan import Observer, RunSlot, StudyOptions
from stripewise.study.plan._statistics import ratio_noise
from stripewise.study.procedure import run_study
from stripewise.study.procedure._final import WORTH_PAIRS
from stripewise.study.procedure._result import SearchResult
from stripewise.study.training import Surface
from support.replayed import ReplayedLauncher
from support.study_fakes import fake_tools

Settings = Mapping[str, Value]
_UNLIMITED = 10**9


@dataclass
class Replay:
    """One replayed study.

    Attributes:
        choices: (number of runs, settings): what the search held to be best from then on; {} is
            the default.  The last is what came to the pairs.  None is confirmed by pairs.
        runs: Runs of the search: all but those of the final pairs.
        all_runs: The pairs included.
        winner: What the pairs confirmed; {} if nothing.
        unknown: Configurations that the strategy asked for and that were never measured; they
            count as failed runs.
    """

    choices: list[tuple[int, Settings]] = field(default_factory=lambda: [(0, {})])
    runs: int = 0
    all_runs: int = 0
    winner: Settings = field(default_factory=dict)
    unknown: int = 0

    def choice_after(self, runs: int) -> Settings:
        """Return what the search held to be best after so many runs."""
        return next(settings for number, settings in reversed(self.choices) if number <= runs)


def surface_space(surface: Surface) -> Space:
    """Return the space that was measured, in the order in which a study has it."""
    dimensions = [Dimension(get(name), values) for name, values in surface.tunables.items()]
    return Space(tuple(sorted(dimensions, key=lambda d: d.tunable.search.effect_order)), {})


def replay_study(
    surface: Surface,
    strategy: str,
    seed: int,
    *,
    runs: int | None = None,
    strategy_options: Mapping[str, str] | None = None,
    models: Loaded | None = None,
) -> Replay:
    """Tune on a surface.

    Args:
        surface: Where runs are drawn from.
        strategy: Name.
        seed: Of the study and of the draws.
        runs: Most runs, the pairs' included, and nothing else ends the search; None: a study
            with the options that users get.
        strategy_options: Of the strategy.
        models: Trained ones that the study finds.
    """
    launcher = _TolerantReplay(surface, seed)
    space = surface_space(surface)
    tools = fake_tools(launcher, facts=surface.facts, space=lambda facts: space)
    tools = replace(tools, models=lambda: models or Loaded())
    watcher = _Watcher()
    limits: dict[str, Any] = {}
    if runs is not None:
        limits = {"runs": runs, "trials": _UNLIMITED, "patience": _UNLIMITED}
    emulated = surface.provenance.get("emulated", "")
    with tempfile.TemporaryDirectory(dir=_fast_directory()) as folder:
        options = StudyOptions(
            command=surface.command,
            directory=Path(folder, "study"),
            origin=Path(folder),
            strategy=strategy,
            strategy_options=strategy_options or {},
            seed=seed,
            unsynced=False,
            storage=EmulationOptions(emulated) if emulated else None,
            **limits,
        )
        result = run_study(options, watcher, lambda _options, _ledger: tools)
    return _ended(watcher.replay, result, launcher.unknown)


def _ended(replay: Replay, result: StudyResult, unknown: int) -> Replay:
    """Add what came to the pairs, and apart from the choices what the pairs confirmed."""
    chosen = dict(result.winner.settings) if result.winner else {}
    replay.all_runs = len(result.runs)
    replay.winner = chosen if result.improved else {}
    replay.unknown = unknown
    replay.choices.append((replay.runs, chosen))
    return replay


class _TolerantReplay(ReplayedLauncher):
    """A configuration that was not measured is a failed run, not the end of the study."""

    def __init__(self, surface: Surface, seed: int) -> None:
        super().__init__(surface, seed)
        self.unknown = 0

    def submit(self, request: RunRequest) -> Handle:
        try:
            return super().submit(request)
        except ProgramError:
            self.unknown += 1
            return Handle(self.name, request.run_id)

    def collect(self, handle: Handle) -> Outcome:
        if handle.data:
            return super().collect(handle)
        return Outcome(
            RunStatus.FAILED, 1, 0.0, self.clock_unix_seconds, io_seconds=0.0,
            message="not measured",
        )  # fmt: skip


class _Watcher(Observer):
    """Notes after each trial what the study would choose if it ended there."""

    def __init__(self) -> None:
        self.replay = Replay()
        self._trials: list[Trial] = []
        self._baselines: list[float] = []

    def run_finished(self, slot: RunSlot, measurement: Measurement) -> None:
        if not slot.role.value.startswith("pair"):
            self.replay.runs += 1
        if slot.role in BASELINE_ROLES and measurement.ok:
            self._baselines.append(measurement.io_seconds)

    def trial_finished(self, trial: Trial, most: int, best_ratio: float) -> None:
        self._trials.append(trial)
        settings = self._choice()
        if settings != self.replay.choices[-1][1]:
            self.replay.choices.append((self.replay.runs, settings))

    def _choice(self) -> Settings:
        noise = ratio_noise(self._baselines)
        finalists = SearchResult(self._trials).finalists(noise)
        best = finalists[0] if finalists else None
        ratio = best.io_ratio if best else inf
        if best is None or ratio > 1 - min(noise / 2, WORTH_PAIRS):
            return {}
        return dict(best.settings)


def _fast_directory() -> str | None:
    """Return a directory in memory, where there is one: a journal is synced at each record."""
    shared = Path("/dev/shm")
    return str(shared) if shared.is_dir() else None
