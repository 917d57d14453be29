# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The runs of one trial, each beside a run of the baseline.

Pairing: the first run of a candidate is always next to a run of the baseline.  A baseline run
that was just made serves the candidate after it as well as the one before it (candidate,
baseline, candidate: three runs for two trials); otherwise a new pair is made, in random order.
No ratio spans more than one run, so that drift of the storage cancels.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp, inf, log
from random import Random
from statistics import median

from stripewise.model import Measurement, RunRole
from stripewise.strategies import Proposal
from stripewise.study import _codec as codec
from stripewise.study._baseline import Baseline
from stripewise.study._context import Context
from stripewise.study._contract import failure_text, trial_timeout
from stripewise.study._slot import RunSlot

_TINY_SECONDS = 1e-9


class TrialRuns:
    """The runs of one trial and of the baseline beside them."""

    def __init__(
        self, context: Context, baseline: Baseline, number: int, proposal: Proposal
    ) -> None:
        """Take the parts; run nothing yet."""
        self._context = context
        self._baseline = baseline
        self.number = number
        self.proposal = proposal
        self.candidates: list[Measurement] = []
        self.beside: list[Measurement] = []

    @property
    def ok(self) -> bool:
        """Whether every run of the candidate counts."""
        return bool(self.candidates) and all(run.ok for run in self.candidates)

    @property
    def failure(self) -> str:
        """Why the first bad run of the candidate does not count."""
        bad = next(run for run in self.candidates if not run.ok)
        return failure_text(bad, self.proposal.settings)

    @property
    def io_ratio(self) -> float:
        """I/O time over that of the baseline beside it; inf after a failure."""
        return self._ratio([(c.io_seconds, b.io_seconds) for c, b in self._pairs()])

    @property
    def elapsed_ratio(self) -> float:
        """The same of the whole time."""
        return self._ratio([(c.elapsed_seconds, b.elapsed_seconds) for c, b in self._pairs()])

    def affordable(self, number: int) -> bool:
        """Whether a further round is within the budget, or was begun already."""
        if self._context.ledger.recall(f"order/{self.number}/{number}") is not None:
            return True
        ledger, seconds = self._context.ledger, self._baseline.run_seconds
        return self._context.budget.allows(ledger, 2, seconds, final=False)

    def round(self, number: int) -> None:
        """Run the candidate once, with a baseline run before or after it."""
        order = self._context.ledger.remember(
            f"order/{self.number}/{number}", lambda: self._order(number)
        )
        if order["reused"]:
            beside = self._context.ledger.measurement(order["reused"])
            assert beside is not None
            candidate = self._run_candidate(number)
        elif order["baseline_first"]:
            beside = self._run_baseline(number)
            candidate = self._run_candidate(number)
        else:
            candidate = self._run_candidate(number)
            beside = self._run_baseline(number) if candidate.ok else candidate
        self.candidates.append(candidate)
        self.beside.append(beside)

    def verification_slot(self) -> RunSlot:
        """Return a run of the unchanged program whose output this trial's is compared with."""
        return replace(
            self._slot(1, "baseline"), name=f"verify/{self.number}/baseline/1", keep_output=True
        )

    def release(self) -> None:
        """Remove what the runs made."""
        for run in self.candidates:
            self._context.executor.release(run)

    def _order(self, number: int) -> codec.Json:
        last = self._context.ledger.last_slot
        usable = last.partition("/again")[0].rpartition("/")[0].endswith("baseline")
        measured = self._context.ledger.measurement(last)
        if usable and measured is not None and measured.ok:
            return {"reused": last, "baseline_first": True}
        draw = Random(f"{self._context.options.seed}:order:{self.number}:{number}")
        return {"reused": "", "baseline_first": draw.random() < 0.5}

    def _run_candidate(self, number: int) -> Measurement:
        return self._context.executor.run(self._slot(number, "candidate"))

    def _run_baseline(self, number: int) -> Measurement:
        return self._context.baseline(self._slot(number, "baseline"))

    def _slot(self, number: int, who: str) -> RunSlot:
        candidate = who == "candidate"
        return RunSlot(
            f"trial/{self.number}/{who}/{number}",
            RunRole.TRIAL if candidate else RunRole.BASELINE,
            settings=self.proposal.settings if candidate else {},
            trial_number=self.number,
            timeout_seconds=trial_timeout(self._baseline, self.proposal.settings)
            if candidate
            else self._baseline.timeout_seconds,
            sync=self._context.options.sync,
            keep_output=candidate and number == 1,
        )

    def _pairs(self) -> list[tuple[Measurement, Measurement]]:
        return list(zip(self.candidates, self.beside, strict=True))

    def _ratio(self, pairs: list[tuple[float, float]]) -> float:
        if not self.ok:
            return inf
        logs = [log(max(c, _TINY_SECONDS) / max(b, _TINY_SECONDS)) for c, b in pairs]
        return exp(median(logs))
