# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What can be downloaded of a job: its profiles, and settings for the next run."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from stripewise.fleet.queries import (
    JobView,
    NextRun,
    Sight,
    find_job,
    full_profile,
    next_run,
    pairs_of,
    view_job,
)
from stripewise.text import printable
from stripewise.web.content import Block, Download, Link, Links
from stripewise.web.pages import _job_words
from stripewise.web.pages._base import Asked, Page
from stripewise.web.pages._job_findings import proof_words

Row = Mapping[str, Any]


def downloads(view: JobView, settings: NextRun | None) -> Block:
    """Return links to what there is to download, and to the list of jobs."""
    begin = f"/jobs/{view.row['id']}"
    items = []
    if settings is not None:
        basis = _basis(settings)
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


def _basis(settings: NextRun) -> str:
    if settings.proof is not None:
        return "proved by pairs of runs"
    return "advised by findings, not proved yet"


class JobProfile(Page):
    """The whole profile of one source, as `stripewise profile --json` prints it."""

    path = "/jobs/{job:int}/profile/{source:int}"
    section = "My jobs"

    def build(self, asked: Asked) -> Download | None:
        """Give it."""
        job, source = int(asked.path["job"]), int(asked.path["source"])
        profile = full_profile(asked.connection, asked.viewer, job, source)
        row = find_job(asked.connection, asked.viewer, job)
        if profile is None or row is None:
            return None
        is_staff = asked.viewer.sight(row) is Sight.STAFF
        return Download(
            f"profile-{job}-{source}.json",
            json.dumps(profile, indent=2, ensure_ascii=True, allow_nan=False) + "\n",
            "application/json",
            f"profile {source} of job {job}" if is_staff else "",
        )


class _Settings(Page):
    """Settings for the next run of a job's program."""

    section = "My jobs"
    suffix: str
    media_type: str

    def build(self, asked: Asked) -> Download | None:
        """Give them; None: there is nothing to set."""
        view = view_job(asked.connection, asked.viewer, int(asked.path["job"]))
        if view is None:
            return None
        found = next_run(view, pairs_of(asked.connection, asked.viewer, view.row))
        text = "" if found is None else self.text(found)
        if found is None or not text:
            return None
        key = view.row["id"]
        return Download(
            f"settings-{view.row['raw_id']}.{self.suffix}",
            "".join(f"# {printable(line)}\n" for line in _head(view.row, found)) + text,
            self.media_type,
            f"settings of job {key}" if view.sight is Sight.STAFF else "",
        )

    @abstractmethod
    def text(self, found: NextRun) -> str:
        """Return the settings in this form; "" if it cannot say them."""


class JobSettingsToml(_Settings):
    """For `stripewise run --config`."""

    path = "/jobs/{job:int}/settings.toml"
    suffix = "toml"
    media_type = "application/toml"

    def text(self, found: NextRun) -> str:
        """Return TOML."""
        return found.recipe.toml


class JobSettingsShell(_Settings):
    """Lines of a job script that need no Stripewise.

    The file is plain text by name and type: browsers hold back files of a shell as dangerous.
    """

    path = "/jobs/{job:int}/settings.sh"
    suffix = "txt"
    media_type = "text/plain"

    def text(self, found: NextRun) -> str:
        """Return lines of a shell."""
        return found.recipe.shell.rstrip("\n") + "\n" if found.recipe.shell else ""


def _head(row: Row, found: NextRun) -> list[str]:
    """Say for what the settings are, and what they rest on."""
    program = f" of {row['program']}" if row["program"] else ""
    lines = [f"I/O settings for the next run{program}, after job {_job_words.job_id(row)}."]
    if found.proof is not None:
        lines.append(proof_words(found.proof))
    else:
        lines.append(f"Advised by findings, not proved yet: {', '.join(found.findings)}.")
    return lines
