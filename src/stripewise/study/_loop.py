# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A study from its lock to its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from stripewise.errors import StudyError
from stripewise.model import Measurement, StudyResult, Verification, VerificationStatus
from stripewise.strategies import create
from stripewise.study._baseline import Baseline, measure_baseline, warm_up
from stripewise.study._budget import make_budget
from stripewise.study._context import Context
from stripewise.study._directory import JOURNAL, claim
from stripewise.study._executor import Executor
from stripewise.study._final import Verdict, judge_winner
from stripewise.study._interrupts import Interrupts
from stripewise.study._journal import Journal
from stripewise.study._ledger import Ledger
from stripewise.study._memory import begin_with_memory, keep_in_memory
from stripewise.study._observer import Observer
from stripewise.study._options import (
    StudyOptions,
    ignored_options,
    options_from_json,
    options_to_json,
)
from stripewise.study._search import Search
from stripewise.study._search_result import SearchResult
from stripewise.study._tools import Tools
from stripewise.tunables import Space

MakeTools = Callable[[StudyOptions, Ledger], Tools]


class Study:
    """One study in its directory.

    Everything that takes time or chance goes through the ledger, so `run` is the same
    straight procedure at the first start and after any number of kills.
    """

    def __init__(
        self,
        options: StudyOptions,
        observer: Observer | None = None,
        make_tools: MakeTools | None = None,
    ) -> None:
        """Take the options; nothing is touched before `run`.

        Args:
            options: What to do.
            observer: Told what happens.
            make_tools: Makes what is needed from outside; default: this machine's.
        """
        self._options = options
        self._observer = observer or Observer()
        self._make_tools = make_tools or _local_tools

    def run(self) -> StudyResult:
        """Carry the study out, or on; return its result.

        Raises:
            StudyError: The directory is in use, holds another study, or is damaged.
            ProgramError: The program cannot be started, fails, or cannot be seen.
            StorageError: No room.
            KeyboardInterrupt: A signal came; `resume` goes on from here.
        """
        interrupts = Interrupts()
        with (
            claim(self._options) as directory,
            _ledger(directory) as (ledger, note),
            interrupts.caught(),
        ):
            options = self._begin(ledger, note, directory)
            tools = self._make_tools(options, ledger)
            if ledger.study is None:
                ledger.begin(_study_record(options, tools))
            executor = Executor(ledger, tools, self._observer, interrupts, options.keep)
            budget = make_budget(options, tools.policy)
            context = Context(options, ledger, executor, tools, self._observer, budget)
            executor.recover()
            self._observer.began(str(directory), len(ledger.entries))
            return keep_in_memory(context, _procedure(context))

    def _begin(self, ledger: Ledger, note: str, directory: Path) -> StudyOptions:
        """Return the options that hold: the recorded ones when going on."""
        study = ledger.study
        if study is None:
            if self._options.resume and not self._options.command:
                raise StudyError(f"{directory} holds no study to go on with")
            return self._options
        recorded = options_from_json(study["options"], directory)
        if self._options.command and self._options.command != recorded.command:
            raise StudyError(
                f"{directory} is a study of `{' '.join(recorded.command)}`, not of this "
                "command; leave the command out, or give another --study-dir"
            )
        ledger.resumed(note)
        for asked in ignored_options(self._options, recorded):
            text = f"not changed by --resume: {asked}; begin anew with --force for other options"
            if ledger.warn(text):
                self._observer.warned(text)
        return recorded


def run_study(options: StudyOptions, observer: Observer | None = None) -> StudyResult:
    """Tune a program; see `Study.run`."""
    return Study(options, observer).run()


@contextmanager
def _ledger(directory: Path) -> Iterator[tuple[Ledger, str]]:
    journal = Journal(directory / JOURNAL)
    ledger = Ledger(journal)
    try:
        yield ledger, journal.note
    finally:
        ledger.close()


def _local_tools(options: StudyOptions, ledger: Ledger) -> Tools:
    from stripewise.study._local_tools import make_tools

    return make_tools(options, ledger)


def _study_record(options: StudyOptions, tools: Tools) -> dict[str, object]:
    return {
        "version": 1,
        "options": options_to_json(options),
        "provenance": dict(tools.provenance),
    }


def _procedure(context: Context) -> StudyResult:
    facts = warm_up(context)
    space = context.tools.find_space(facts)
    if not space.dimensions:
        text = "no improvement: no knob acts on this program"
        context.decide("verdict", text)
        context.ledger.end(text)
        empty = SearchResult(stopped_because="no knob acts on this program")
        return _result(context, space, Baseline(facts, (), (), 0.0, ""), empty, Verdict())
    baseline = measure_baseline(context, facts)
    asked = context.options
    strategy = create(asked.strategy, space, facts, asked.seed, asked.strategy_options)
    strategy = begin_with_memory(context, facts, space, strategy)
    search = Search(context, baseline, strategy).run()
    context.decide("search-end", f"the search ended: {search.stopped_because}")
    verdict = judge_winner(context, baseline, search)
    for run_id in baseline.kept_runs:
        if not context.options.keep:
            context.tools.workspace.release(run_id)
    context.ledger.end(search.stopped_because)
    if not context.options.keep:
        context.tools.workspace.sweep(())  # what a kill between end and removal of a run left
    return _result(context, space, baseline, search, verdict)


def _result(
    context: Context,
    space: Space,
    baseline: Baseline,
    search: SearchResult,
    verdict: Verdict,
) -> StudyResult:
    ledger = context.ledger
    winner = verdict.winner
    return StudyResult(
        command=context.options.command,
        directory=str(context.options.study_directory),
        runs=ledger.entries,
        trials=tuple(search.trials),
        baseline=_baseline_or_warm_up(context, baseline),
        winner=winner,
        improved=verdict.improved,
        speedup=verdict.speedup,
        elapsed_speedup=verdict.elapsed_speedup,
        pairs=tuple(verdict.pairs),
        unsynced=verdict.unsynced,
        verification=_verification(search, winner.number if winner else None),
        rejected=_rejected(search),
        stopped_because=search.stopped_because,
        resolution=baseline.resolution,
        decisions=ledger.decisions,
        warnings=ledger.warnings,
        facts=baseline.facts,
        searched={
            d.tunable.name: tuple(str(value) for value in d.values) for d in space.dimensions
        },
        left_out=space.left_out,
        provenance=_provenance(context),
    )


def _baseline_or_warm_up(context: Context, baseline: Baseline) -> tuple[Measurement, ...]:
    if baseline.measurements:
        return baseline.measurements
    warm = context.ledger.measurement("warm-up")
    return (warm,) if warm is not None else ()


def _verification(search: SearchResult, number: int | None) -> Verification:
    if number is None or number not in search.verifications:
        return Verification(VerificationStatus.NOT_DONE)
    return search.verifications[number]


def _rejected(search: SearchResult) -> Mapping[int, Verification]:
    return {
        number: verification
        for number, verification in search.verifications.items()
        if verification.status is VerificationStatus.DIFFERENT
    }


def _provenance(context: Context) -> Mapping[str, str]:
    study = context.ledger.study
    recorded: dict[str, str] = dict(study["provenance"]) if study is not None else {}
    return recorded | {
        "strategy": context.options.strategy,
        **{f"strategy {name}": v for name, v in context.options.strategy_options.items()},
        "seed": str(context.options.seed),
        "synced": "yes" if context.options.sync else "no",
        "runs": str(len(context.ledger.entries)),
    }
