# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A study from its lock to its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from stripewise.errors import StudyError
from stripewise.jobs import check_command
from stripewise.launch import Launcher
from stripewise.model import NOTHING, ProgramFacts, StudyResult, total
from stripewise.owned import OwnedDirectory
from stripewise.study._baseline import measure_baseline, warm_up
from stripewise.study._budget import BudgetSpentError, make_budget
from stripewise.study._context import CaseContext, Context
from stripewise.study._directory import JOURNAL, claim
from stripewise.study._ensemble import merge_facts, merge_spaces
from stripewise.study._executor import Executor
from stripewise.study._file_classes import with_classes
from stripewise.study._final import judge_winner
from stripewise.study._interrupts import Interrupts
from stripewise.study._job_tools import with_job
from stripewise.study._journal import DAMAGE, VERSION, Journal, described
from stripewise.study._ledger import Ledger
from stripewise.study._memory import begin_with_memory, keep_in_memory
from stripewise.study._observer import Observer
from stripewise.study._options import (
    StudyOptions,
    check_in_flight,
    check_storage,
    extended_budgets,
    ignored_options,
    options_from_json,
    options_to_json,
    with_storage,
)
from stripewise.study._outside import check_commands
from stripewise.study._prediction import begin_with_prediction
from stripewise.study._references import compare_with_defaults
from stripewise.study._result import make_result
from stripewise.study._search import Search
from stripewise.study._search_result import SearchResult
from stripewise.study._statistics import hopeless_text
from stripewise.study._strategy import make_strategy
from stripewise.study._tools import Tools
from stripewise.study._verdict import Verdict
from stripewise.study._verifiable import say_what_is_not_verifiable, verifiable_space
from stripewise.tunables import get

MakeTools = Callable[[StudyOptions, Ledger], Tools]


def run_study(
    options: StudyOptions, observer: Observer | None = None, make_tools: MakeTools | None = None
) -> StudyResult:
    """Tune a program: carry a study out, or go on with one; return its result.

    Everything that takes time or chance goes through the ledger, so this is the same straight
    procedure at the first start and after any number of kills.

    Args:
        options: What to do.
        observer: Told what happens.
        make_tools: Makes what is needed from outside; default: this machine's.

    Raises:
        StudyError: The directory is in use, holds another study, or is damaged.
        ProgramError: The program cannot be started, fails, or cannot be seen.
        StorageError: No room.
        KeyboardInterrupt: A signal came; `resume` goes on from here.
    """
    _check_commands(options)
    options = with_job(with_storage(options))
    if not options.resume:
        check_commands(options)
    observer, make_tools = observer or Observer(), make_tools or _local_tools
    interrupts = Interrupts()
    with (
        claim(options) as owned,
        closing(Ledger(Journal(owned.path / JOURNAL))) as ledger,
        interrupts.caught(),
        _blamed_on_the_journal(ledger, owned.path / JOURNAL),
    ):
        if ledger.study is not None:
            options = _recorded_options(options, observer, ledger, owned)
            _check_commands(options)
        elif options.resume and not options.command:
            raise StudyError(f"{owned.path} holds no study to go on with")
        context = _make_context(options, observer, make_tools, ledger, interrupts, owned.identity)
        context.executor.recover()
        observer.began(str(owned.path), len(ledger.entries))
        for text in () if ledger.entries else ledger.warnings:  # of the command or script
            observer.warned(text)
        try:
            return _left(context, keep_in_memory(context, _procedure(context)))
        except (KeyboardInterrupt, Exception) as error:
            context.executor.abandon_all(str(error) or type(error).__name__)
            raise
        finally:
            context.executor.close()


def _check_commands(options: StudyOptions) -> None:
    """Refuse commands that run job scripts on this host, or submit jobs.

    Raises:
        UsageError: With the script.
    """
    for case in options.all_cases if options.job is None else ():
        if case.command:
            check_command(case.command, options.origin, "tune")


def _left(context: Context, result: StudyResult) -> StudyResult:
    """Write what a study of a job script leaves; note it in the result."""
    job = context.tools.leave(result)
    if job is None:
        return result
    proposals = {t.number: context.ledger.recall(f"proposal/{t.number}") for t in result.trials}
    reasons = {number: str(data["reason"]) for number, data in proposals.items() if data}
    return replace(result, job=replace(job, reasons=reasons))


def _make_context(
    options: StudyOptions,
    observer: Observer,
    make_tools: MakeTools,
    ledger: Ledger,
    interrupts: Interrupts,
    identity: str,
) -> Context:
    """Return the parts of the study; a new one is recorded as begun."""
    cases = options.all_cases
    tools = {case.name: make_tools(options.of_case(case), ledger) for case in cases}
    first = tools[cases[0].name]
    check_in_flight(options, first.launcher)
    if ledger.study is None:
        ledger.begin(
            {
                "version": VERSION,
                "identity": identity,
                "options": options_to_json(options),
                "provenance": dict(first.provenance),
            }
        )
    budget = make_budget(options, first.policy, ledger, first.nodes, _charged(first.launcher))
    keep, keep_removed = options.keep, options.keep_removed
    executor = Executor(ledger, tools, observer, interrupts, keep, keep_removed, budget=budget)
    shared = ledger, executor, observer, budget
    members = tuple(
        CaseContext(options.of_case(case), *shared, case, tools[case.name]) for case in cases
    )
    return Context(options, *shared, members)


def _charged(launcher: Launcher) -> Callable[[], float | None]:
    return lambda: launcher.node_seconds


def _recorded_options(
    given: StudyOptions, observer: Observer, ledger: Ledger, owned: OwnedDirectory
) -> StudyOptions:
    """Return the options with which a study goes on: those it was begun with, or more budget.

    Raises:
        StudyError: It was begun in another directory, or is of another command or other cases.
    """
    assert ledger.study is not None
    if ledger.study.get("identity") != owned.identity:
        raise StudyError(
            f"the journal in {owned.path} is that of another directory; begin anew with --force"
        )
    recorded = options_from_json(ledger.study["options"], owned.path)
    if (given.command or given.cases) and given.all_cases != recorded.all_cases:
        commands = " and ".join(" ".join(case.command) for case in recorded.all_cases)
        raise StudyError(
            f"{recorded.study_directory} is a study of `{commands}`, not of this "
            "command; leave the command out, or give another --study-dir"
        )
    check_storage(given, recorded)
    recorded = replace(recorded, **ledger.budgets)
    ledger.resumed()
    if more := extended_budgets(given, recorded):
        ledger.extend(more)
        observer.decided(ledger.decisions[-1].text)
        recorded = replace(recorded, **more)
    for asked in ignored_options(given, recorded):
        text = f"not changed by --resume: {asked}; begin anew with --force for other options"
        if ledger.warn(text):
            observer.warned(text)
    return recorded


@contextmanager
def _blamed_on_the_journal(ledger: Ledger, path: Path) -> Iterator[None]:
    """Refuse a journal that does not fit together, as long as nothing else was gone by.

    Raises:
        StudyError: With the remedy.
    """
    try:
        yield
    except DAMAGE as error:
        if not ledger.is_replaying:
            raise
        raise StudyError(
            f"the journal {path} does not fit together ({described(error)}); restore it from a "
            "copy, or start anew with --force; if nobody changed it, this is a fault of Stripewise"
        ) from error


def _local_tools(options: StudyOptions, ledger: Ledger) -> Tools:
    from stripewise.study._local_tools import make_tools

    return make_tools(options, ledger)


def _say_storage(context: Context) -> None:
    """Record that the storage is emulated, and which it is."""
    if (storage := context.tools.storage) is not None:
        context.decide(
            "storage",
            f"every run finds {storage.identity} ({storage.storage.title}), emulated on this "
            "host: what is found holds there",
        )


def _procedure(context: Context) -> StudyResult:
    _say_storage(context)
    try:
        context = _with_facts(context)
        context.executor.facts = context.facts
        if not context.space.dimensions:
            return _nothing_to_try(context, _why_nothing_acts(context))
        _say_where_knobs_act(context)
        context = replace(context, baselines=tuple(measure_baseline(c) for c in context.cases))
    except BudgetSpentError as spent:
        return _not_tried(context, str(spent))
    say_what_is_not_verifiable(context)
    context = replace(context, space=verifiable_space(context))
    if not context.space.dimensions:
        return _nothing_to_try(context, "no tunable is left whose outputs could be verified")
    if why := context.ledger.remember("hopeless", lambda: hopeless_text(context.spread())):
        return _nothing_to_try(context, why)
    strategy = begin_with_prediction(context, make_strategy(context))
    search = Search(context, begin_with_memory(context, strategy)).run()
    context.decide("search-end", f"the search ended: {search.stopped_because}")
    verdict = judge_winner(context, search)
    references = compare_with_defaults(context, search.trials, verdict)
    context.ledger.end(search.stopped_because)
    _clean_up(context)
    return make_result(context, search, verdict, references)


def _with_facts(context: Context) -> Context:
    """Run the warm-up of every case; add what it shows and what can be tried."""
    facts = with_classes(context, _warm_up_all(context))
    cases = tuple(
        replace(case, facts=own, space=case.tools.find_space(own))
        for case, own in zip(context.cases, facts, strict=True)
    )
    spaces = {case.name: case.space for case in cases}
    space = merge_spaces(spaces, {case.name: case.facts for case in cases})
    return replace(context, cases=cases, facts=merge_facts(facts), space=space)


def _why_nothing_acts(context: Context) -> str:
    """Say why nothing is left to try, of the tunables that were asked for one by one."""
    asked, left_out = [get(name).name for name in context.options.only], context.space.left_out
    reasons = [f"{name}: {left_out[name]}" for name in asked if name in left_out]
    text = "no tunable acts on this program"
    return f"{text} ({'; '.join(reasons)})" if reasons else text


def _nothing_to_try(context: Context, why: str) -> StudyResult:
    context.decide("verdict", f"no improvement: {why}", quietly=True)
    context.ledger.end(why)
    _clean_up(context)
    return make_result(context, SearchResult(stopped_because=why), Verdict())


def _not_tried(context: Context, why: str) -> StudyResult:
    """Return the result of a study whose budget holds no trial."""
    context.decide("verdict", f"nothing was tried: {why}", quietly=True)
    context.ledger.end(why)
    _clean_up(context)
    return make_result(context, SearchResult(stopped_because=why), Verdict(left_open=why))


def _clean_up(context: Context) -> None:
    """Remove the kept outputs, and what a kill between end and removal of a run left."""
    context.executor.abandon_all("nothing needs it")
    if context.options.keep:
        return
    for baseline in context.baselines:
        for run_id in (*baseline.kept_runs, baseline.traced):
            baseline.context.tools.workspace.release(run_id)
    context.executor.sweep()


def _warm_up_all(context: Context) -> list[ProgramFacts]:
    facts: list[ProgramFacts] = []
    written = NOTHING
    for case in context.cases:
        facts.append(warm_up(case, written))
        warm = case.measurement("warm-up")
        if warm is not None:
            written = total((written, warm.amount("write_bytes")))
    return facts


def _say_where_knobs_act(context: Context) -> None:
    """Record which tunables act on some of the cases only."""
    acting: dict[str, list[str]] = {}
    for case in context.cases:
        for dimension in case.space.dimensions:
            acting.setdefault(dimension.tunable.name, []).append(case.name)
    by_cases: dict[tuple[str, ...], list[str]] = {}
    for knob, cases in acting.items():
        if len(cases) < len(context.cases):
            by_cases.setdefault(tuple(cases), []).append(knob)
    for some, knobs in by_cases.items():
        text = f"acts on {', '.join(some)} only: {', '.join(knobs)}"
        context.decide(f"acts/{'/'.join(some)}", text)
