# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The runs of one trial on one case, each beside a run of the baseline.

Pairing: the first run of a candidate is always next to a run of the baseline.  A baseline run
that was just made serves the candidate after it as well as the one before it (candidate,
baseline, candidate: three runs for two trials), so that half of the candidates come before their
baseline and half after it.  No ratio spans more than one run: drift of the storage cancels.
"""

from __future__ import annotations

from functools import partial
from math import exp, inf, log
from statistics import median
from typing import Any

from stripewise.formats import matches
from stripewise.model import Measurement, RunRole, total
from stripewise.strategies import Proposal
from stripewise.study._context import Baseline
from stripewise.study._effective import same_requests
from stripewise.study._slot import RunSlot, Steps, failure_text

TINY_SECONDS = 1e-9
_CHOOSE_THE_STORAGE = ("job.burst_buffer_nodes", "job.burst_buffer_files")


def io_seconds(run: Measurement) -> float:
    """Return the I/O time of a run, never 0."""
    return max(run.io_seconds, TINY_SECONDS)


def elapsed_seconds(run: Measurement) -> float:
    """Return the whole time of a run, never 0."""
    return max(run.elapsed_seconds, TINY_SECONDS)


class CaseRuns:
    """The runs of one trial on one case, and of the baseline beside them."""

    def __init__(self, baseline: Baseline, number: int, proposal: Proposal) -> None:
        self.baseline = baseline
        self.context = baseline.context
        self.candidates: list[Measurement] = []
        self.beside: list[Measurement] = []
        self._number = number
        self._proposal = proposal

    @property
    def rounds(self) -> int:
        """How often the candidate has run."""
        return len(self.candidates)

    @property
    def ok(self) -> bool:
        """Whether every run of the candidate counts."""
        return all(run.ok for run in self.candidates)

    @property
    def failure(self) -> str:
        """Why the first bad run of the candidate does not count; "" if there is none."""
        if self.ok:
            return ""
        bad = next(run for run in self.candidates if not run.ok)
        return self.context.said(failure_text(bad, self._proposal.settings))

    @property
    def is_lost(self) -> bool:
        """Whether what ended the candidate's runs says nothing about its settings."""
        return any(run.cause.is_outside for run in self.candidates)

    @property
    def io_ratios(self) -> list[float]:
        """I/O time over that of the baseline beside it, of each round."""
        return [io_seconds(c) / io_seconds(b) for c, b in self._pairs()]

    @property
    def io_ratio(self) -> float:
        """Median of these; inf after a failure."""
        return self._middle(self.io_ratios)

    @property
    def elapsed_ratio(self) -> float:
        """The same of the whole time."""
        return self._middle([elapsed_seconds(c) / elapsed_seconds(b) for c, b in self._pairs()])

    @property
    def class_ratios(self) -> dict[str, float]:
        """The same of the I/O time on each class of files, by its glob; empty after a failure."""
        found: dict[str, float] = {}
        for match in (one.match for one in self.context.facts.file_classes if one.match):
            times = [(_seconds_on(c, match), _seconds_on(b, match)) for c, b in self._pairs()]
            if self.ok and times and all(min(pair) > TINY_SECONDS for pair in times):
                found[match] = self._middle([after / before for after, before in times])
        return found

    @property
    def asks_the_same(self) -> bool:
        """Whether the storage was asked for the same as by the baseline, in every round.

        On another storage, or on more of it, the same requests are not the same.
        """
        if any(name in self._proposal.settings for name in _CHOOSE_THE_STORAGE):
            return False
        return bool(self.candidates) and all(same_requests(c, b) for c, b in self._pairs())

    @property
    def begun(self) -> bool:
        """Whether the next round was begun before a restart."""
        return self.context.recall(f"order/{self._number}/{self.rounds + 1}") is not None

    def round(self, place: int) -> Steps[None]:
        """Run the candidate once more, with a baseline run before or after it.

        Args:
            place: Where; the baseline run that was made last there can serve.
        """
        halves, number = self.context.ledger.halves, str(self.rounds + 1)
        first, second = halves.whole(number, partial(self._slots, place))
        if first.role is RunRole.BASELINE:
            self._release_torn(second)
            beside = yield from self.context.baseline(first)
            candidate = yield from self.context.attempts(second)
        else:
            self._release_torn(first)
            candidate = yield from self.context.attempts(first)
            beside = (yield from self.context.baseline(second)) if candidate.ok else candidate
        self.candidates.append(candidate)
        self.beside.append(beside)

    def verification_slot(self, role: RunRole) -> RunSlot:
        """Return a run of baseline or candidate that is made for its output alone."""
        what, settings = (
            ("baseline", None)
            if role is RunRole.BASELINE
            else ("candidate", self._proposal.settings)
        )
        name = f"verify/{self._number}/{what}/1"
        return self._slot(name, role, settings=settings, keep_output=True)

    def release(self) -> None:
        """Remove what the runs made."""
        for run in self.candidates:
            self.context.executor.release(run)

    def _slots(self, place: int, number: str) -> tuple[RunSlot, RunSlot]:
        """Return candidate and baseline of a round in the order in which they run.

        The baseline run that was just made there serves; otherwise one follows the candidate.
        """
        candidate = self._slot(
            f"trial/{self._number}/candidate/{number}",
            RunRole.TRIAL,
            settings=self._proposal.settings,
            keep_output=self.rounds == 0,
        )
        if reused := self._reused(number, place):
            return RunSlot(reused, RunRole.BASELINE), candidate
        return candidate, self._slot(f"trial/{self._number}/baseline/{number}", RunRole.BASELINE)

    def _release_torn(self, candidate: RunSlot) -> None:
        """Remove what the candidate made where a restart came between it and its baseline."""
        first, _, attempts = candidate.name.partition("/anew/")
        for attempt in range(int(attempts or 0)):
            name = f"{first}/anew/{attempt}" if attempt else first
            torn = self.context.ledger.measurement(name)
            if torn is not None:
                self.context.executor.release(torn)

    def _reused(self, number: str, place: int) -> str:
        """Return the name of the baseline run that was just made there; "" if none was."""

        def draw() -> dict[str, Any]:
            ledger = self.context.ledger
            slot, last = ledger.last_slot(place), ledger.last_entry(place)
            mine = last.role is RunRole.BASELINE and last.case == self.context.name
            reused = slot if mine else ""
            return {"reused": reused, "baseline_first": bool(reused)}

        order = self.context.remember(f"order/{self._number}/{number}", draw)
        return str(order["reused"])

    def _slot(self, name: str, role: RunRole, **more: Any) -> RunSlot:
        return self.baseline.slot(name, role, trial_number=self._number, **more)

    def _pairs(self) -> list[tuple[Measurement, Measurement]]:
        return list(zip(self.candidates, self.beside, strict=True))

    def _middle(self, ratios: list[float]) -> float:
        if not self.candidates or not self.ok:
            return inf
        return exp(median(map(log, ratios)))


def _seconds_on(run: Measurement, match: str) -> float:
    """Return the I/O time of a run on the files of a glob, summed over these; 0: not known."""
    seconds = total(file.amount("io_seconds") for file in run.files if matches(match, file.path))
    return seconds.least if seconds.is_exact else 0.0
