# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the content of a study's report: conclusion and blocks, which renderers draw."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from stripewise.core import JobStudy, StudyResult, Trial, TrialState, VerificationStatus
from stripewise.evidence.facts import class_phrase
from stripewise.present import (
    amount_words,
    command_line,
    count_text,
    number_text,
    plural,
    printable,
    seconds_text,
    size_text,
)
from stripewise.present.blocks import (
    Block,
    Column,
    Content,
    Drawings,
    Notice,
    Points,
    Section,
    Table,
)
from stripewise.present.renderers import as_page
from stripewise.settings.tunables import format_settings
from stripewise.study.report._charts import (
    Effects,
    effects_chart,
    evidence_chart,
    timeline_chart,
    tunable_effects,
)
from stripewise.study.report._digest import (
    case_results,
    describe_verification,
    digest,
    is_verified,
)
from stripewise.study.report._job_page import job_section
from stripewise.study.report._progress import ROLE_WORDS
from stripewise.study.report._settings import file_settings, recipes
from stripewise.study.report._summary import case_io, summary
from stripewise.study.report._verdict import (
    conclusion,
    facts_phrase,
    faster,
    headline,
    outcome_word,
    part_ratios,
    rejections,
    speedup_text,
)

MOST_ROWS = 500
_MOST_FILES_OPEN = 10


def render_html(result: StudyResult, job: JobStudy | None = None) -> str:
    """Return the report of a study as one page, with the rungs of a job script's study.

    The same result gives the same page.  File names and text from a program's messages are data:
    they are escaped, and control characters are made visible.
    """
    return as_page(study_content(result, job))


def study_content(result: StudyResult, job: JobStudy | None = None) -> Content:
    """Return the report of a study, with the rungs of a job script's study."""
    name = result.directory.rstrip("/").rpartition("/")[2].removesuffix(".stripewise")
    return Content(
        headline(result),
        conclusion(result),
        [*_verdict(result), *([job_section(job)] if job else []), *_details(result)],
        subject=f"Stripewise report · {printable(name or 'program')}",
        tone="good" if result.improved else "calm",
        command=command_line(result.command),
        badges=_badges(result),
    )


def _badges(result: StudyResult) -> list[tuple[str, str]]:
    verified, text = is_verified(result), describe_verification(result.verification)
    if verified is True:
        return [("ok", f"✓ Verified: {text}")]
    if verified is False:
        return [("bad", "✗ Not verified: a configuration changed the output")]
    unverifiable = result.verification.status is VerificationStatus.NOT_VERIFIABLE
    return [("warn", f"! {text}")] if unverifiable else []


def _verdict(result: StudyResult) -> Iterator[Block]:
    """Yield important notices and the summary that the terminal also shows."""
    if rejected := rejections(result):
        yield Notice("rejected", "Rejected: the output changed", rejected, "bad")
    if result.warnings:
        yield Notice("warnings", "Warnings", result.warnings, "warn")
    yield summary(result)


def _details(result: StudyResult) -> Iterator[Block]:
    """Yield the parts of the report below its summary."""
    if result.is_ensemble:
        yield _cases(result)
    if ways := recipes(result):
        yield Section("apply", "How to apply the settings", ways)
    yield Section("evidence", "Evidence", list(_evidence(result)))
    if timeline := timeline_chart(result):
        note = (
            "All runs in the order in which they were made. A trend in the baseline runs "
            "(circles) comes from the machine, not from the settings."
        )
        yield Drawings("runs", "Every run", [timeline], note)
    if effects := tunable_effects(result):
        yield Section("effects", "Effect of each tunable", list(_effects(effects)))
    if files := list(_files(result)):
        title = "Settings: requested, applied, reported, observed"
        yield Section("settings", title, files)
    if result.trials:
        yield Section("trials", "Trials", list(_trials(result)))
    if decisions := list(_decisions(result)):
        yield Section("decisions", "Decisions", decisions)
    yield Section("verification", "Verification", list(_verification(result)))
    yield Section("provenance", "Provenance", list(_provenance(result)))


def _plain(name: str, text: str, title: str = "") -> Notice:
    """Return a sentence without a frame."""
    return Notice(name, title, [text], "plain")


def _pairs(name: str, caption: str, heads: tuple[str, str], items: Mapping[str, Any]) -> Table:
    """Return a table of keys and values."""
    columns = (Column("key", heads[0]), Column("value", heads[1]))
    rows = [{"key": key, "value": value} for key, value in items.items()]
    return Table(name, "", columns, rows, total=caption)


def _cases(result: StudyResult) -> Table:
    columns = (
        Column("case", "Case", small="command"),
        Column("outcome", "Outcome"),
        Column("io", "I/O time"),
        Column("speedup", "I/O, fresh pairs", small="resolution"),
        Column("whole", "Whole program", "factor"),
        Column("weight", "Weight", "number"),
        Column("verified", "Output"),
        Column("tunables", "Tunables that act on it"),
    )
    views = case_results(result)
    note = (
        "One configuration for all cases. The overall speed-up is the weighted geometric mean of"
        " the cases' ratios, round by round; each case has its own interval. No case may get"
        " slower."
    )
    rows = [_case(view) for view in views]
    return Table("cases", "Case by case", columns, rows, note, total=plural(len(views), "case"))


def _case(view: StudyResult) -> dict[str, Any]:
    case, outcome = view.cases[0], outcome_word(view)
    acts_all = sorted(view.searched) == sorted(case.tunables)
    return {
        "case": case.name,
        "command": command_line(case.command),
        "outcome": outcome or None,
        "io": case_io(view),
        "speedup": faster(case.speedup) if case.speedup else None,
        "resolution": case.resolution,
        "whole": case.elapsed_speedup.median if case.elapsed_speedup else None,
        "weight": case.weight,
        "verified": describe_verification(case.verification) if view.winner else None,
        "tunables": "all of them" if acts_all else ", ".join(case.tunables) or "none",
        "look": "failed" if outcome == "SLOWER" else "",
    }


def _evidence(result: StudyResult) -> Iterator[Block]:
    drawn = False
    for number, view in enumerate(case_results(result)):
        if figure := evidence_chart(view):
            drawn = True
            yield Drawings(f"evidence-{number}", _case_name(view), [figure])
    if not drawn:
        yield _plain("evidence-none", "No run could be used as a measurement.")
    elif (speedup := result.speedup) is None:
        yield _plain("evidence-read", "Every baseline run; there were no paired runs.")
    else:
        method = f" ({speedup.method})" if speedup.method else ""
        yield _plain(
            "evidence-read",
            f"Baseline and {'best' if result.improved else 'candidate'} were run in "
            "alternation, in random order; these fresh pairs played no part in choosing the "
            "candidate. The lower row shows the speed-up in each pair, its median, and the "
            f"{100 * speedup.confidence:.0f} % interval{method}.",
        )
    if result.improved:
        unsynced = result.provenance.get("synced") == "no"
        how = (
            "not synced: it may still be in memory when the clock stops"
            if unsynced
            else "synced: it is on the storage when the clock stops"
        )
        yield _plain("evidence-sync", f"Data whose bandwidth is given is {how}.")


def _case_name(view: StudyResult) -> str:
    """Return the name of the case that a view shows; empty in a study of one command."""
    return view.cases[0].name if view.cases else ""


def _effects(effects: Effects) -> Iterator[Block]:
    if figure := effects_chart(effects):
        note = (
            "Each mark is a trial; the bar is the median. A trial changes several tunables "
            "at once, so a panel shows the speed-ups seen with a value, not the effect of "
            "that value alone."
        )
        yield Drawings("effects-chart", "", [figure], note)
    columns = (
        Column("tunable", "Tunable"),
        Column("value", "Value"),
        Column("speedup", "Speed-up of the I/O (median)", "factor"),
        Column("trials", "Trials", "count"),
        Column("failed", "Failed", "count"),
        Column("runs", "Runs", "count"),
    )
    rows = [
        {
            "tunable": tunable,
            "value": f"{effect.value}{' (best)' if effect.winning else ''}",
            "speedup": effect.median if math.isfinite(effect.median) else None,
            "trials": effect.n_trials,
            "failed": effect.n_failed,
            "runs": effect.n_runs,
            "look": "best" if effect.winning else "",
        }
        for tunable, values in effects.items()
        for effect in values
    ]
    total = "Trials by the value of each tunable"
    table = Table("effects-table", "", columns, rows, total=total)
    yield Section("effects-folded", "As a table", [table], is_folded=True)


def _files(result: StudyResult) -> Iterator[Block]:
    """Yield the settings of each case's files, preceded by what readers should know of them."""
    for number, view in enumerate(case_results(result)):
        blocks = file_settings(view, f"file-{number}")
        if blocks and not number:
            yield _plain(
                "settings-read",
                "A hint that MPI reports does not prove that it acts: Open MPI repeats any "
                "hint, valid or not. What counts is what was observed: which ranks wrote, "
                "in which sizes, and how well aligned.",
            )
        if blocks and (name := _case_name(view)):
            yield Section(f"files-{number}", name, blocks)
        else:
            yield from blocks


_STATES = {state: state.value for state in TrialState} | {
    TrialState.COMPLETE: "measured",
    TrialState.HOPELESS: "stopped early",
}


def _trials(result: StudyResult) -> Iterator[Block]:
    columns = (
        Column("number", "No.", "id"),
        Column("settings", "Settings"),
        Column("state", "Outcome", small="message"),
        Column("io", "I/O time", "figure"),
        Column("speedup", "Speed-up of the I/O", "figure"),
        Column("whole", "Speed-up of the whole program", "figure"),
        Column("runs", "Runs", "count"),
    )
    best = result.winner.number if result.improved and result.winner else None
    shown = result.trials[:MOST_ROWS]
    total = _first(len(result.trials), "Every configuration that was tried")
    rows = [_trial(trial, trial.number == best) for trial in shown]
    yield Table("trials-table", "", columns, rows, total=total)
    details = [
        {"trial": trial.number, "what": _WHAT.get(what, what), "text": text}
        for trial in shown
        for what, text in trial.details.items()
    ]
    if details:
        heads = (
            Column("trial", "Trial", "id"),
            Column("what", "What"),
            Column("text", "Observed"),
        )
        table = Table("trials-did", "", heads, details, total="What was observed")
        yield Section("trials-folded", "What each trial did", [table], is_folded=True)


def _first(number: int, caption: str) -> str:
    """Return the caption of a table that may not show all of its rows."""
    return f"{caption}: the first {MOST_ROWS} of {number}" if number > MOST_ROWS else caption


def _trial(trial: Trial, is_best: bool) -> dict[str, Any]:
    figures = digest(trial.measurements)
    known = figures.n_runs and not trial.case_ratios
    return {
        "number": trial.number,
        "settings": format_settings(trial.settings) or "defaults",
        "state": f"{_STATES[trial.state]}{' (best)' if is_best else ''}",
        "message": "; ".join(filter(None, (trial.message, part_ratios(trial)))),
        "io": amount_words(figures, "io_seconds") if known else None,
        "speedup": speedup_text(trial.io_ratio),
        "whole": speedup_text(trial.elapsed_ratio),
        "runs": len(trial.measurements),
        "look": "best" if is_best else _LOOKS.get(trial.state, ""),
    }


_LOOKS = {TrialState.FAILED: "failed", TrialState.LOST: "failed", TrialState.REJECTED: "failed"}


def _decisions(result: StudyResult) -> Iterator[Block]:
    if result.decisions:
        columns = (Column("at", "When", "instant"), Column("text", "Decision"))
        rows = [{"at": one.at_unix_seconds, "text": one.text} for one in result.decisions]
        yield Table("decisions-list", "", columns, rows, total="In their order")
    if result.stopped_because:
        yield _plain("decisions-end", f"The search ended because {result.stopped_because}.")
    if result.left_out:
        heads = ("Tunable", "Reason")
        table = _pairs("left-out", "Tunables that were not tried", heads, result.left_out)
        title = f"{plural(len(result.left_out), 'tunable')} not tried"
        yield Section("left-out-folded", title, [table], is_folded=True)


def _verification(result: StudyResult) -> Iterator[Block]:
    found = result.verification
    text = describe_verification(found)
    yield _plain("verification-result", f"{text[:1].upper()}{text[1:]}.")
    if number := len(found.compared):
        title = _first(number, f"{plural(number, 'file')} compared and found equal")
        points = Points.of("compared-files", "", found.compared[:MOST_ROWS])
        yield Section("compared", title, [points], is_folded=number > _MOST_FILES_OPEN)
    if found.not_verifiable:
        caption = "Not verifiable: two baseline runs already differ"
        yield _pairs("not-verifiable", caption, ("File", "Reason"), found.not_verifiable)
    differences = {"Differences": found.differences}
    for trial, one in result.rejected.items():
        differences[f"Differences under trial {trial}"] = one.differences
    for place, (caption, files) in enumerate(differences.items()):
        if files:
            yield _pairs(f"differences-{place}", caption, ("File", "What differs"), files)


def _provenance(result: StudyResult) -> Iterator[Block]:
    yield _plain("program-facts", facts_phrase(result.facts))
    if result.facts.file_classes:
        texts = map(class_phrase, result.facts.file_classes)
        title = "Classes of files that behave differently"
        yield Points.of("file-classes", title, texts)
    if result.provenance:
        caption = "Environment of the study"
        yield _pairs("provenance-facts", caption, ("What", "Value"), result.provenance)
    if facts := _facts(result):
        yield _pairs("first-run", "What the first run showed", ("Fact", "Value"), facts)
    if result.runs:
        title = f"All {plural(len(result.runs), 'run')}"
        yield Section("all-runs", title, [_runs(result)], is_folded=True)
    yield _plain("directory", f"Study directory: `{result.directory}`")


def _facts(result: StudyResult) -> dict[str, str]:
    """Return the facts that are informative, in words and without the layout of version texts."""
    return {
        _fact_title(name): _fact(name, value)
        for name, value in asdict(result.facts).items()
        if name not in ("patterns", "file_classes") and value not in ("", (), 0, False, None, {})
    }


_WHAT = {"observed": "observed with the settings", "observed without": "observed without them"}
"""Names of details of a trial to words; others are tunables."""
_TERMS = {"io": "I/O", "mpi": "MPI", "mpiio": "MPI-IO", "posix": "POSIX", "hdf5": "HDF5"} | {
    "seconds": "time", "n": "number of", "cpus": "CPUs", "pnetcdf": "PnetCDF", "adios2": "ADIOS2",
}  # fmt: skip
"""Parts of names of facts to words of the field."""


def _fact_title(name: str) -> str:
    if name == "in_reach":
        return "library is in the program"
    return " ".join(_TERMS.get(word, word) for word in name.split("_"))


def _fact(name: str, value: object) -> str:
    if value is True:
        return "yes"
    if isinstance(value, int | float) and name.endswith("_bytes"):
        return size_text(value)
    if isinstance(value, float) and name.endswith("_seconds"):
        return seconds_text(value)
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, int):
        return count_text(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return " ".join(str(value).split())


def _runs(result: StudyResult) -> Table:
    columns = (
        Column("role", "Role"),
        Column("trial", "Trial", "id"),
        Column("pair", "Pair", "id"),
        Column("status", "Ended", small="message"),
        Column("io", "I/O time", "figure"),
        Column("whole", "Run time", "seconds"),
        Column("started", "Started", "instant"),
        Column("identity", "Run ID", "code"),
    )
    rows = []
    for run in result.runs[:MOST_ROWS]:
        made = run.measurement
        role = ROLE_WORDS[run.role].format(trial=run.trial_number, pair=run.pair_number)
        rows.append({
            "role": f"{run.case}: {role}" if run.case else role,
            "trial": run.trial_number,
            "pair": run.pair_number,
            "status": made.status.value,
            "message": made.message,
            "io": amount_words(made, "io_seconds") if made.ok else None,
            "whole": made.elapsed_seconds,
            "started": made.started_unix_seconds,
            "identity": made.run_id,
            "look": "" if made.ok else "failed",
        })  # fmt: skip
    return Table("runs-table", "", columns, rows, total=_first(len(result.runs), "Runs"))
