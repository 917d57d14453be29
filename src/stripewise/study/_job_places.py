# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where the files of a job script's trials lay, and what is remembered for which place.

What was found on a burst buffer says nothing about the parallel file system, nor about another
number of its nodes: each place is a storage of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

from stripewise.knowledge import Machine, tier_machine
from stripewise.model import StudyResult, Trial, TrialState, Value

NODES, FILES = "job.burst_buffer_nodes", "job.burst_buffer_files"


@dataclass(frozen=True)
class JobPlaces:
    """The places of a job script's study: the parallel file system, and each number of nodes.

    Attributes:
        tier: Kind of the burst buffer.
        details: What else tells one burst buffer from another: pool, access, directory or name.
        own_nodes: Of the script as it is; 0: it lies on the parallel file system.
    """

    tier: str
    details: tuple[str, ...] = ()
    own_nodes: int = 0

    def machine(self, machine: Machine, nodes: int) -> Machine:
        """Return a machine with the storage of a place."""
        return tier_machine(machine, self.tier, nodes, self.details) if nodes else machine

    def nodes(self, settings: Mapping[str, Value]) -> int:
        """Return the burst-buffer nodes under some settings; 0: the parallel file system."""
        nodes = settings.get(NODES, self.own_nodes)
        return nodes if isinstance(nodes, int) else 0

    def remembered(self, result: StudyResult) -> tuple[StudyResult, int] | None:
        """Return what a study found on its winner's place, as if it had searched there alone.

        Ratios are those to the place with nothing else set; a speed-up is one that pairs showed
        against that.

        Returns:
            The result and the nodes of the place; None where nothing can be said of it: nothing
            was run there unchanged, or the files lay on two places (hybrid).
        """
        settings = result.winner.settings if result.winner is not None else {}
        nodes = self.nodes(settings)
        if FILES in settings:
            return None
        there = tuple(
            trial
            for trial in result.trials
            if FILES not in trial.settings and self.nodes(trial.settings) == nodes
        )
        if nodes == self.own_nodes:
            return replace(result, trials=there), nodes
        plain = next((t for t in there if _is_plain(t)), None)
        return None if plain is None else (_against(result, there, plain), nodes)


def _is_plain(trial: Trial) -> bool:
    """Whether nothing but the place was chosen, and it ran."""
    is_done = trial.state in (TrialState.COMPLETE, TrialState.HOPELESS)
    return set(trial.settings) == {NODES} and is_done and 0 < trial.io_ratio < inf


def _against(result: StudyResult, there: tuple[Trial, ...], plain: Trial) -> StudyResult:
    """Return a result whose baseline is the plain trial of a place."""
    winner = result.winner if result.winner and not _is_plain(result.winner) else None
    pairs = next((r for r in result.references if dict(r.settings) == dict(plain.settings)), None)
    return replace(
        result,
        trials=tuple(_to_plain(trial, plain) for trial in there if trial is not plain),
        winner=_to_plain(winner, plain) if winner and pairs else None,
        improved=bool(winner and pairs and result.improved and pairs.speedup.low > 1),
        speedup=pairs.speedup if winner and pairs else None,
        elapsed_speedup=pairs.elapsed_speedup if winner and pairs else None,
    )


def _to_plain(trial: Trial, plain: Trial) -> Trial:
    return replace(
        trial,
        settings={name: value for name, value in trial.settings.items() if name != NODES},
        io_ratio=trial.io_ratio / plain.io_ratio,
        elapsed_ratio=trial.elapsed_ratio / plain.elapsed_ratio,
        class_ratios={},
    )
