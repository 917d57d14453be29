# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows what costs time in a job and what to do, with its profile and settings to download."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stripewise.centre.database.queries import (
    AccessReason,
    JobView,
    NextRun,
    Source,
    find_job,
    full_profile,
    may_apply_to,
    next_run,
    pairs_of_job,
    view_job,
)
from stripewise.centre.portal.pages import _jobs
from stripewise.centre.portal.pages._base import Page, PageRequest
from stripewise.centre.portal.pages._jobs import finding_words
from stripewise.evidence.report import advices
from stripewise.evidence.report import facts as facts_of
from stripewise.present import printable
from stripewise.present.blocks import (
    Advice,
    Block,
    Column,
    Download,
    Findings,
    Link,
    Links,
    Part,
    Split,
    Table,
    written,
)

Row = Mapping[str, Any]
_MOST = 20
_LEAST_REST = 0.01
"""Minimum share of the I/O time for calls shown by name: less may be rounding (chosen)."""


def facts(view: JobView) -> list[Block]:
    """Return what each run of the job did, as far as the viewer may see names of files."""
    documents = [one.document for one in view.counted if one.document is not None]
    if len(documents) == 1:
        return list(facts_of(documents[0]))
    return [
        replace(block, name=f"{block.name}_{place}", title=f"{block.title}: run {place}")
        for place, document in enumerate(documents, 1)
        for block in facts_of(document)[:1]
    ]


def findings(view: JobView, pairs: Sequence[Row]) -> list[Block]:
    """Return the findings of all runs of the job, most costly first."""
    if not view.counted:
        return []
    proof = proof_of(view.row, pairs)
    items = [
        advice
        for source in view.counted
        for advice in (
            [_general(found, proof) for found in source.findings]
            if source.document is None
            else advices(source.document, proof)
        )
    ]
    items.sort(key=lambda one: -(one.cost_seconds or 0.0))
    return [Findings("findings", "What costs time, and what to do", items[:_MOST])]


def seconds(view: JobView) -> list[Block]:
    """Return the I/O seconds by reason: by kind of call, and by finding."""
    row = view.row
    titles = {"read": "reading", "write": "writing", "meta": "metadata"}
    known = [name for name in titles if row[f"{name}_seconds"] is not None]
    parts = [Part(name, titles[name], row[f"{name}_seconds"], name) for name in known]
    found: list[Block] = []
    if parts:
        note = (
            "Each is the time of its slowest rank, which may differ, so the three may not "
            "add up to the I/O time."
        )
        unknown = [title for name, title in titles.items() if name not in known]
        if unknown:
            note += f" The time of {' and '.join(unknown)} is not known."
        whole = row["io_seconds"] or 0.0
        rest = whole - sum(part.value for part in parts)
        if rest > _LEAST_REST * whole and not unknown:
            parts.append(Part("names", "calls by name, such as stat", rest, "rest"))
            note += (
                " Calls by name, on files that were not opened, take at least the rest of "
                "the I/O time."
            )
        found.append(Split("io_by_call", "I/O time by kind of call", parts, note=note))
    rows = [one for source in view.counted for one in _by_finding(source, row["io_seconds"])]
    if rows:
        found.append(_by_reason(rows))
    return found


def proof_of(job: Row, pairs: Sequence[Row]) -> str:
    """Return in words what pairs of runs of the job's program proved, or "" if there are none."""
    pair = next((one for one in pairs if may_apply_to(one, job)), None)
    return "" if pair is None else proof_words(pair)


def proof_words(pair: Row) -> str:
    """Return in words what a study proved: its speed-up with interval and number of pairs."""
    speedup = written(pair["speedup"], "factor")
    interval = ""
    if pair["low"] is not None and pair["high"] is not None:
        interval = (
            f" ({written(pair['low'], 'factor')} to {written(pair['high'], 'factor')}, 95 %)"
        )
    number = pair["pair_count"]
    saved = ""
    if pair["saved_seconds"] is not None:
        saved = f"; they saved {written(pair['saved_seconds'], 'seconds')} of I/O in a run"
    return (
        f"Tuned settings made the I/O of this program {speedup} as fast{interval} in {number} "
        f"pair{'s'[: number != 1]} of runs, {written(pair['made_at'], 'day')}{saved}."
    )


def _general(found: Row, proof: str) -> Advice:
    """Return a finding in words that name no file."""
    words = finding_words(found["code"])
    return Advice(
        found["code"],
        found["severity"],
        words.title,
        cost_seconds=found["cost_seconds"],
        least_seconds=found["least_seconds"],
        most_seconds=found["most_seconds"],
        remedy=words.remedy,
        proof=proof if words.tunes else "",
    )


def _by_finding(source: Source, io_seconds: float | None) -> list[dict[str, Any]]:
    stakes = [None] * len(source.findings)
    if source.document is not None:
        stakes = [one["stake_seconds"] for one in source.document["findings"]]
    return [
        {
            "code": one["code"],
            "title": finding_words(one["code"]).title,
            "stake_seconds": stake,
            "stake_share": stake / io_seconds if stake is not None and io_seconds else None,
            "cost_seconds": one["cost_seconds"],
            "file_count": one["file_count"],
        }
        for one, stake in zip(source.findings, stakes, strict=True)
    ]


def _by_reason(rows: Sequence[Row]) -> Table:
    return Table(
        "io_by_finding",
        "I/O time by finding",
        [
            Column("title", "Finding"),
            Column("code", "Code", "code"),
            Column("stake_seconds", "Time in the calls concerned", "seconds"),
            Column("stake_share", "Share of the I/O time", "share"),
            Column("cost_seconds", "Avoidable", "seconds"),
            Column("file_count", "Files", "count"),
        ],
        sorted(rows, key=lambda one: -(one["cost_seconds"] or 0.0)),
        note="Several findings may concern the same calls, so these times must not be added up.",
    )


# Downloads for a job: its profiles, and settings for the next run.


def downloads(view: JobView, settings: NextRun | None) -> Block:
    """Return links to the available downloads, and to the list of jobs."""
    begin = f"/jobs/{view.row['id']}"
    items = []
    if settings is not None:
        basis = _basis_of_settings(settings)
        title, note = "Settings for the next run", f"for `stripewise run --config`; {basis}"
        items.append(Link(f"{title} (TOML)", f"{begin}/settings.toml", note, True))
        if settings.recipe.shell:
            note = f"need no Stripewise; {basis}"
            title = f"{title} (lines of a job script)"
            items.append(Link(title, f"{begin}/settings.sh", note, True))
    if view.shows_names:
        items += [
            Link(f"Whole profile of {one.about['program'] or one.about['kind']} (JSON)",
                 f"{begin}/profile/{one.about['id']}",
                 "as `stripewise profile --json` prints it", True)
            for one in view.sources
        ]  # fmt: skip
    items.append(Link("All jobs", "/jobs"))
    return Links("downloads", "Next", items)


def _basis_of_settings(settings: NextRun) -> str:
    if settings.proof is not None:
        return "proved by pairs of runs"
    return "advised by findings, not proved yet"


class JobProfile(Page):
    """The whole profile of one source, as `stripewise profile --json` prints it."""

    path = "/jobs/{job:int}/profile/{source:int}"
    section = "My jobs"

    def build(self, request: PageRequest) -> Download | None:
        """Return the file, or None if there is no such profile for this viewer."""
        job, source = int(request.path["job"]), int(request.path["source"])
        profile = full_profile(request.connection, request.viewer, job, source)
        row = find_job(request.connection, request.viewer, job)
        if profile is None or row is None:
            return None
        is_staff = request.viewer.access_reason(row) is AccessReason.STAFF
        return Download(
            f"profile-{job}-{source}.json",
            json.dumps(profile, indent=2, ensure_ascii=True, allow_nan=False) + "\n",
            "application/json",
            f"profile {source} of job {job}" if is_staff else "",
        )


class _Settings(Page):
    """Base of the pages with settings for the next run of a job's program."""

    section = "My jobs"
    suffix: str
    media_type: str

    def build(self, request: PageRequest) -> Download | None:
        """Return the file, or None if there is nothing to set."""
        view = view_job(request.connection, request.viewer, int(request.path["job"]))
        if view is None:
            return None
        found = next_run(view, pairs_of_job(request.connection, request.viewer, view.row))
        text = "" if found is None else self.text(found)
        if found is None or not text:
            return None
        key = view.row["id"]
        return Download(
            f"settings-{view.row['raw_id']}.{self.suffix}",
            "".join(f"# {printable(line)}\n" for line in _head(view.row, found)) + text,
            self.media_type,
            f"settings of job {key}" if view.access_reason is AccessReason.STAFF else "",
        )

    @abstractmethod
    def text(self, found: NextRun) -> str:
        """Return the settings in this format, or "" if it cannot express them."""


class JobSettingsToml(_Settings):
    """Settings for `stripewise run --config`."""

    path = "/jobs/{job:int}/settings.toml"
    suffix = "toml"
    media_type = "application/toml"

    def text(self, found: NextRun) -> str:
        """Return the settings as TOML."""
        return found.recipe.toml


class JobSettingsShell(_Settings):
    """Settings as lines of a job script that work without Stripewise.

    The file is plain text by name and type, because browsers block shell files as dangerous.
    """

    path = "/jobs/{job:int}/settings.sh"
    suffix = "txt"
    media_type = "text/plain"

    def text(self, found: NextRun) -> str:
        """Return the settings as shell lines."""
        return found.recipe.shell.rstrip("\n") + "\n" if found.recipe.shell else ""


def _head(row: Row, found: NextRun) -> list[str]:
    """Return what the settings are for, and what they are based on."""
    program = f" of {row['program']}" if row["program"] else ""
    lines = [f"I/O settings for the next run{program}, after job {_jobs.job_id(row)}."]
    if found.proof is not None:
        lines.append(proof_words(found.proof))
    else:
        lines.append(f"Advised by findings, not proved yet: {', '.join(found.findings)}.")
    return lines
