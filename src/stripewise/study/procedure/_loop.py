# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a study from its lock to its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from stripewise.core import (
    NOTHING,
    OwnedDirectory,
    ProgramFacts,
    StudyResult,
    Verification,
    VerificationStatus,
    from_json,
    to_json,
    total,
)
from stripewise.core.errors import StudyError
from stripewise.evidence.facts import class_phrase
from stripewise.run.jobs import check_command
from stripewise.settings.tunables import SafetyClass, Space, get
from stripewise.study.job_scripts import with_job
from stripewise.study.plan import (
    DAMAGE,
    JOURNAL,
    VERSION,
    BudgetSpentError,
    Journal,
    Observer,
    StudyLedger,
    StudyOptions,
    check_commands,
    check_in_flight,
    check_storage,
    claim,
    described,
    extended_budgets,
    hopeless_text,
    ignored_options,
    make_budget,
    options_from_json,
    options_to_json,
    with_storage,
)
from stripewise.study.procedure._baseline import measure_baseline, warm_up
from stripewise.study.procedure._context import (
    Baseline,
    CaseContext,
    Context,
    merge_facts,
    merge_spaces,
)
from stripewise.study.procedure._final import compare_with_defaults, judge_winner
from stripewise.study.procedure._memory import (
    begin_with_memory,
    begin_with_prediction,
    keep_in_memory,
)
from stripewise.study.procedure._result import SearchResult, Verdict, make_result
from stripewise.study.procedure._search import Search, make_strategy
from stripewise.study.runs import Executor, Interrupts, Tools
from stripewise.study.strategies import find_strategy
from stripewise.study.verify import NO_FILE

MakeTools = Callable[[StudyOptions, StudyLedger], Tools]


def run_study(
    options: StudyOptions, observer: Observer | None = None, make_tools: MakeTools | None = None
) -> StudyResult:
    """Tune a program: run or resume a study and return its result.

    Everything that depends on time or chance passes through the ledger, so that the procedure is
    the same at the first start and after any number of kills.

    Args:
        options: Options of the study.
        observer: Receives the events of the study.
        make_tools: Creates the tools for runs; by default those of this machine.

    Raises:
        StudyError: The directory is in use, contains another study, or is damaged.
        ProgramError: The program cannot be started, fails, or cannot be observed.
        StorageError: There is not enough space.
        KeyboardInterrupt: A signal was received; `resume` continues from here.
    """
    _check_commands(options)
    options = with_job(with_storage(options))
    if not options.resume:
        check_commands(options)
    observer, make_tools = observer or Observer(), make_tools or _local_tools
    interrupts = Interrupts()
    with (
        claim(options) as owned,
        closing(StudyLedger(Journal(owned.path / JOURNAL))) as ledger,
        interrupts.caught(),
        _damage_as_study_error(ledger, owned.path / JOURNAL),
    ):
        if ledger.study is not None:
            options = _recorded_options(options, observer, ledger, owned)
            _check_commands(options)
        elif options.resume and not options.command:
            raise StudyError(f"{owned.path} holds no study to continue")
        context = _make_context(options, observer, make_tools, ledger, interrupts, owned.identity)
        context.executor.recover()
        observer.began(str(owned.path), len(ledger.entries))
        for text in () if ledger.entries else ledger.warnings:  # about the command or script
            observer.warned(text)
        try:
            return _with_job_outcome(context, keep_in_memory(context, _procedure(context)))
        except (KeyboardInterrupt, Exception) as error:
            context.executor.abandon_all(str(error) or type(error).__name__)
            raise
        finally:
            context.executor.close()


def _check_commands(options: StudyOptions) -> None:
    """Refuse commands that run job scripts on this host, or submit jobs.

    Raises:
        UsageError: There is such a command; the message has the script.
    """
    for case in options.all_cases if options.job is None else ():
        if case.command:
            check_command(case.command, options.origin, "tune")


def _with_job_outcome(context: Context, result: StudyResult) -> StudyResult:
    """Write the output files of a job script's study and note them in the result."""
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
    ledger: StudyLedger,
    interrupts: Interrupts,
    identity: str,
) -> Context:
    """Return the parts of the study; the beginning of a new study is recorded."""
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
    budget = make_budget(
        options, first.policy, ledger, first.nodes, lambda: first.launcher.node_seconds
    )
    keep, keep_removed = options.keep, options.keep_removed
    executor = Executor(ledger, tools, observer, interrupts, keep, keep_removed, budget=budget)
    shared = ledger, executor, observer, budget
    members = tuple(
        CaseContext(options.of_case(case), *shared, case, tools[case.name]) for case in cases
    )
    return Context(options, *shared, members)


def _recorded_options(
    given: StudyOptions, observer: Observer, ledger: StudyLedger, owned: OwnedDirectory
) -> StudyOptions:
    """Return the options of a resumed study: the recorded ones, with an extended budget if given.

    Raises:
        StudyError: The study was begun in another directory, or has another command or cases.
    """
    assert ledger.study is not None
    if ledger.study.get("identity") != owned.identity:
        raise StudyError(
            f"the journal in {owned.path} is that of another directory; start over with --force"
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
    for ignored in ignored_options(given, recorded):
        text = f"not changed by --resume: {ignored}; start over with --force for other options"
        if ledger.warn(text):
            observer.warned(text)
    return recorded


@contextmanager
def _damage_as_study_error(ledger: StudyLedger, path: Path) -> Iterator[None]:
    """Turn errors from an inconsistent journal into a study error before anything was run.

    Raises:
        StudyError: The journal is inconsistent; the message has the remedy.
    """
    try:
        yield
    except DAMAGE as error:
        if not ledger.is_replaying:
            raise
        raise StudyError(
            f"the journal {path} is inconsistent ({described(error)}); restore it from a "
            "copy, or start over with --force; if nobody changed it, this is a bug in Stripewise"
        ) from error


def _local_tools(options: StudyOptions, ledger: StudyLedger) -> Tools:
    from stripewise.study.runs import make_tools

    return make_tools(options, ledger)


def _record_storage(context: Context) -> None:
    """Record that the storage is emulated, and its name."""
    if (storage := context.tools.storage) is not None:
        context.decide(
            "storage",
            f"runs use {storage.identity} ({storage.storage.title}), emulated on this host: the "
            "results apply to that storage only",
        )


def _procedure(context: Context) -> StudyResult:
    _record_storage(context)
    try:
        context = _with_facts(context)
        context.executor.facts = context.facts
        if not context.space.dimensions:
            return _nothing_to_try(context, _why_nothing_acts(context))
        _record_where_tunables_act(context)
        context = replace(context, baselines=tuple(measure_baseline(c) for c in context.cases))
    except BudgetSpentError as spent:
        return _not_tried(context, str(spent))
    warn_if_not_verifiable(context)
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
    """Run the warm-up of every case; return the context with facts and spaces."""
    facts = with_classes(context, _warm_up_all(context))
    cases = tuple(
        replace(case, facts=own, space=case.tools.find_space(own))
        for case, own in zip(context.cases, facts, strict=True)
    )
    spaces = {case.name: case.space for case in cases}
    space = merge_spaces(spaces, {case.name: case.facts for case in cases})
    return replace(context, cases=cases, facts=merge_facts(facts), space=space)


def _why_nothing_acts(context: Context) -> str:
    """Return why none of the explicitly requested tunables can be tried."""
    requested, left_out = [get(name).name for name in context.options.only], context.space.left_out
    reasons = [f"{name}: {left_out[name]}" for name in requested if name in left_out]
    text = "no tunable acts on this program"
    return f"{text} ({'; '.join(reasons)})" if reasons else text


def _nothing_to_try(context: Context, why: str) -> StudyResult:
    context.decide("verdict", f"no improvement: {why}", quietly=True)
    context.ledger.end(why)
    _clean_up(context)
    return make_result(context, SearchResult(stopped_because=why), Verdict())


def _not_tried(context: Context, why: str) -> StudyResult:
    """Return the result of a study whose budget allows no trial."""
    context.decide("verdict", f"nothing was tried: {why}", quietly=True)
    context.ledger.end(why)
    _clean_up(context)
    return make_result(context, SearchResult(stopped_because=why), Verdict(left_open=why))


def _clean_up(context: Context) -> None:
    """Remove the kept outputs, and remains of runs that a kill left."""
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


def _record_where_tunables_act(context: Context) -> None:
    """Record which tunables have an effect on only some of the cases."""
    acting: dict[str, list[str]] = {}
    for case in context.cases:
        for dimension in case.space.dimensions:
            acting.setdefault(dimension.tunable.name, []).append(case.name)
    by_cases: dict[tuple[str, ...], list[str]] = {}
    for tunable, cases in acting.items():
        if len(cases) < len(context.cases):
            by_cases.setdefault(tuple(cases), []).append(tunable)
    for some, tunables in by_cases.items():
        text = f"acts on {', '.join(some)} only: {', '.join(tunables)}"
        context.decide(f"acts/{'/'.join(some)}", text)


# Classes of files that a study tunes separately, and the messages about them.


def with_classes(context: Context, facts: Sequence[ProgramFacts]) -> list[ProgramFacts]:
    """Return the facts of all cases with the classes to tune separately, usually none."""
    plain = [_in_no_class(shown) for shown in facts]
    if len(facts) > 1 or not facts[0].file_classes or not context.options.per_file:
        return plain
    named = [one for one in facts[0].file_classes if one.match]
    unnamed = [one for one in facts[0].file_classes if not one.match]
    for place, one in enumerate(unnamed, 1):
        context.decide(
            f"unnamed-class/{place}",
            "files that behave differently from others, but whose names do not tell them apart, "
            f"get no settings of their own: {class_phrase(one)}",
        )
    if len(named) < 2:
        return plain
    names = "; ".join(map(class_phrase, named))
    if not find_strategy(context.options.strategy).tunes_classes:
        name = context.options.strategy
        text = f"files of {len(named)} classes get the same settings from the strategy {name}"
        context.decide("file-classes", f"{text}: {names}")
        return plain
    context.decide("file-classes", f"these files may get settings of their own: {names}")
    return list(facts)


def _in_no_class(facts: ProgramFacts) -> ProgramFacts:
    patterns = tuple(replace(one, file_class=0) for one in facts.patterns)
    return replace(facts, file_classes=(), patterns=patterns)


# Outputs that can be compared, determined before anything is tried.


def warn_if_not_verifiable(context: Context) -> None:
    """Warn, with the remedy, if two baselines show that no candidate could be verified."""
    for baseline in context.baselines:
        if why := _nothing_to_compare(baseline):
            baseline.context.warn(
                f"no settings can be verified, since the output cannot be compared: {why}"
            )


def _nothing_to_compare(baseline: Baseline) -> str:
    """Return why the two kept baselines cannot be compared; empty if they can."""
    case, (first, second) = baseline.context, baseline.kept_runs
    found = from_json(
        Verification,
        case.remember(
            "comparable",
            lambda: to_json(case.tools.compare((first, second), second, True, baseline.traced)),
        ),
    )
    if found.status is not VerificationStatus.NOT_VERIFIABLE:
        return ""
    if not found.compared and set(found.not_verifiable) <= {NO_FILE}:
        return "the program leaves no file in its directory; " + (
            "see that it writes there"
            if case.options.keep_removed
            else "if it removes its output itself, give --keep-removed"
        )
    name, reason = next(iter(found.not_verifiable.items()))
    return (
        f"{name}: {reason}; let the program write the same in every run (a fixed seed, no time "
        "stamp)"
    )


def verifiable_space(context: Context) -> Space:
    """Return the space without tunables that may change the layout of an unreadable output."""
    for baseline in context.baselines:
        case, run_id = baseline.context, baseline.kept_runs[0]
        # recorded: the strategy must see the same tunables after a restart
        if why := case.remember("unreadable", partial(case.tools.unreadable, run_id)):
            return _without_layout(context, case.with_case_name(why))
    return context.space


def _without_layout(context: Context, why: str) -> Space:
    space = context.space
    safe = tuple(d for d in space.dimensions if d.tunable.safety is SafetyClass.SAFE)
    names = [d.tunable.name for d in space.dimensions if d not in safe]
    if names:
        context.warn(f"only settings that keep every byte of the output are tried: {why}")
    return Space(safe, {**space.left_out, **dict.fromkeys(names, why)})
