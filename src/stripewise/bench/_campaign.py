# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A campaign as it is known afterwards: its suite, its runs, and the storage they were made on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from stripewise.bench._case import Case
from stripewise.bench._sample import CaseRun
from stripewise.bench._suite import Suite


@dataclass(frozen=True)
class Campaign:
    """All runs of a suite on one storage.

    Attributes:
        name: Of its directory, or under which it was imported.
        suite: With the cases that were asked for.
        runs: In the order in which they were made; failed ones too.
        storage: What it ran on, for people: "archer2-hdd@1/64, 4 ranks a node", "/work (lustre)".
        machine: Description that the storage was emulated or simulated from, as `--on` takes it;
            "": a real one.
        started_unix_seconds: When it began.
        ended_because: "all runs are made", "the budget of 2 h is used up"; "": it has not ended.
        about: What else is known: "launcher", "system", "versions" (name -> version),
            "memory_bytes" (of a node), "stack" (of MPI-IO), "targets", "stripewise".
    """

    name: str
    suite: Suite
    runs: tuple[CaseRun, ...]
    storage: str = ""
    machine: str = ""
    started_unix_seconds: float = 0.0
    ended_because: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_emulated(self) -> bool:
        """Whether real programs ran, on a storage that was played by a description."""
        return bool(self.machine) and self.about.get("launcher") != "simulated"

    @cached_property
    def by_case(self) -> dict[str, tuple[CaseRun, ...]]:
        """Key of a case -> its runs, by repeat."""
        found: dict[str, list[CaseRun]] = {case.key: [] for case in self.suite.cases}
        for run in sorted(self.runs, key=lambda one: one.repeat):
            found.setdefault(run.key, []).append(run)
        return {key: tuple(runs) for key, runs in found.items()}

    def of_cases(self) -> Iterator[tuple[Case, tuple[CaseRun, ...]]]:
        """Yield each case with its runs, in the order of the suite."""
        for case in self.suite.cases:
            yield case, self.by_case[case.key]
