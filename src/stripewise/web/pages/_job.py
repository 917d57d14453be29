# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The page of one job."""

from __future__ import annotations

from stripewise.fleet.queries import (
    JobView,
    Sight,
    asked_of,
    facts_of_runs,
    list_runs,
    loads_beside,
    next_run,
    pairs_of,
    served_of,
    view_job,
)
from stripewise.web.content import Block, Content
from stripewise.web.pages import (
    _job_facts,
    _job_files,
    _job_findings,
    _job_history,
    _job_links,
    _job_load,
    _job_served,
    _job_settings,
    _job_timeline,
    _job_witnesses,
    _job_words,
)
from stripewise.web.pages._base import Asked, Page


class Job(Page):
    """One job with all that is known of its I/O."""

    path = "/jobs/{job:int}"
    section = "My jobs"

    def build(self, asked: Asked) -> Content | None:
        """Show it."""
        view = view_job(asked.connection, asked.viewer, int(asked.path["job"]))
        if view is None:
            return None
        pairs = pairs_of(asked.connection, asked.viewer, view.row)
        runs = list_runs(asked.connection, asked.viewer, view.row)
        facts = facts_of_runs(asked.connection, asked.viewer, runs)
        served = served_of(asked.connection, view)
        sizes = asked_of(asked.connection, view) if served else {}
        blocks: list[Block] = [
            _job_facts.figures(view),
            *_job_words.missing(view, is_served=bool(served)),
            *_job_words.hidden(view),
            *_job_findings.findings(view, pairs),
            _job_links.downloads(view, next_run(view, pairs)),
            *_job_findings.seconds(view),
            *_job_files.patterns(view),
            *_job_timeline.timeline(view),
            *_job_served.served(view, served, sizes),
            *_job_load.loads(view, loads_beside(asked.connection, view), is_served=bool(served)),
            *_job_history.history(view.row, runs, facts),
            *_job_files.file_systems(view),
            *_job_files.files(asked, view),
            *_job_settings.settings(view),
            *_job_witnesses.witnesses(view),
            _job_facts.sources(view),
            _job_facts.about(view.row, asked.now),
        ]
        lead = _job_words.lead(view, is_served=bool(served))
        return Content(_job_words.title(view.row), lead, blocks, audited(view))


def audited(view: JobView) -> str:
    """Return what is noted in the audit of a look at a job; "" for one's own."""
    return f"job {view.row['id']}" if view.sight is Sight.STAFF else ""
