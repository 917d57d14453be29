# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Patterns, file systems and files of a job; the list of all files of a source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.fleet.queries import (
    JobView,
    Listing,
    Sight,
    find_job,
    list_files,
    list_sources,
)
from stripewise.model import Amount, total
from stripewise.web._urls import address
from stripewise.web.content import Block, Column, Content, Table
from stripewise.web.pages import _job_words
from stripewise.web.pages._base import Asked, Page
from stripewise.web.pages._job_words import number_word

Row = Mapping[str, Any]
_FIRST = 20
_MOST_PATTERNS = 50
_COLUMNS = (
    Column("path", "File"),
    Column("interface", "Interface"),
    Column("elapsed_seconds", "Time, slowest rank", "seconds"),
    Column("read_bytes", "Read", "bytes"),
    Column("write_bytes", "Written", "bytes"),
    Column("read_calls", "Reads", "count"),
    Column("write_calls", "Writes", "count"),
    Column("meta_operations", "Metadata operations", "count"),
    Column("rank_count", "Ranks", "count"),
    Column("stripe_count", "Stripes", "count"),
    Column("stripe_bytes", "Stripe size", "bytes"),
)


class JobFiles(Page):
    """All files of one source of a job, in pages."""

    path = "/jobs/{job:int}/files"
    section = "My jobs"

    def build(self, asked: Asked) -> Content | None:
        """List them."""
        key = int(asked.path["job"])
        row = find_job(asked.connection, asked.viewer, key)
        if row is None:
            return None
        sources = list_sources(asked.connection, asked.viewer, key)
        source = _chosen(asked.words.get("source", ""), sources)
        if source is None:
            return None
        listing = list_files(
            asked.connection, asked.viewer, key, source["id"], after=asked.words.get("after", "")
        )
        if listing is None:
            return None
        of_source = {"source": source["id"]}
        following = address(f"/jobs/{key}/files", {**of_source, "after": listing.next})
        table = _table(listing, "Files", following if listing.next else "")
        name = f"Files of job {_job_words.job_id(row)}"
        what = " ".join(filter(None, (source["kind"], source["name"])))
        lead = f"Files that the program used, those with most time first, as told by {what}."
        if not asked.viewer.reads_names(row):
            lead += f" {_job_words.HIDDEN}"
        is_staff = asked.viewer.sight(row) is Sight.STAFF
        return Content(name, lead, [table], f"files of job {key}" if is_staff else "")


def patterns(view: JobView) -> list[Block]:
    """Return the patterns of all classes of files."""
    if not view.counted:
        return []
    rows = [
        {
            **one,
            "direction": "write" if one["is_write"] else "read",
            "jobs_url": address(
                "/jobs",
                {"pattern": one["form"], "direction": "write" if one["is_write"] else "read"},
            ),
        }
        for source in view.counted
        for one in source.patterns
    ]
    rows.sort(key=lambda one: (-(one["lost_seconds"] or 0.0), -(one["moved_bytes"] or 0)))
    columns = [
        Column("form", "Pattern", "code", link="jobs_url"),
        Column("notation", "With sizes", "code"),
        Column("direction", "Direction"),
        Column("moved_bytes", "Moved", "bytes"),
        Column("element_bytes", "Element", "bytes"),
        Column("lost_seconds", "Lost", "seconds"),
    ]
    if view.shows_names:
        columns[:0] = [Column("file_class", "Files", "code"), Column("dataset", "Dataset", "code")]
    table = Table(
        "patterns",
        "Access patterns",
        columns,
        rows[:_MOST_PATTERNS],
        note="A pattern leads to all your jobs that have it. Lost: what findings about these "
        "files expect to gain.",
        empty="No access pattern is known: it needs single calls, as `stripewise trace` or "
        "Darshan's DXT record them.",
        total=f"{_MOST_PATTERNS} of {len(rows)} patterns" if len(rows) > _MOST_PATTERNS else "",
    )
    return [table]


def file_systems(view: JobView) -> list[Block]:
    """Return what was moved on each file system."""
    found: dict[str, list[Row]] = defaultdict(list)
    for source in view.counted:
        for one in source.io:
            found[one["file_system"]].append(one)
    if not found:
        return []
    rows = [{"file_system": name, **_summed(parts)} for name, parts in found.items()]
    rows.sort(key=lambda one: -((one["read_bytes"] or 0) + (one["write_bytes"] or 0)))
    columns = [
        Column("file_system", "File system"),
        Column("read_bytes", "Read", "bytes"),
        Column("write_bytes", "Written", "bytes"),
        Column("cumulated_seconds", "Time of all ranks", "seconds"),
        Column("meta_operations", "Metadata operations", "count"),
        Column("file_count", "Files", "count"),
    ]
    note = "Time of all ranks is a sum over ranks: it can be longer than the run."
    return [Table("file_systems", "I/O by file system", columns, rows, note=note)]


def _summed(parts: Sequence[Row]) -> dict[str, Any]:
    """Add up what runs did on a file system; what one does not tell makes a sum the least."""
    sums = {
        name: total(Amount.of(one[name], one["missing"].get(name, "")) for one in parts)
        for name in ("read_bytes", "write_bytes", "cumulated_seconds", "meta_operations",
                     "file_count")
    }  # fmt: skip
    missing = {name: amount.why for name, amount in sums.items() if amount.why}
    return {**{name: amount.value for name, amount in sums.items()}, "missing": missing}


def files(asked: Asked, view: JobView) -> list[Block]:
    """Return the first files of the source with most I/O time, and where the others are."""
    if not view.counted:
        return []
    main = max(view.counted, key=lambda one: one.about["io_seconds"] or 0.0).about
    key = view.row["id"]
    listing = list_files(asked.connection, asked.viewer, key, main["id"], limit=_FIRST)
    if listing is None:
        return []
    words = {"source": main["id"], "after": listing.next}
    of_all = address(f"/jobs/{key}/files", words) if listing.next else ""
    several = f" of {main['program']}" if len(view.counted) > 1 and main["program"] else ""
    return [_table(listing, f"Files{several} with most time", of_all)]


def _table(listing: Listing, title: str, following: str) -> Table:
    columns: Sequence[Column] = _COLUMNS
    if listing.rows and listing.rows[0]["path"] is None:
        columns = _COLUMNS[1:]
    return Table(
        "files", title, columns, listing.rows, empty="No file was touched.", next=following
    )


def _chosen(word: str, sources: list[Row]) -> Row | None:
    """Return the source that a query names; without a name the one with most I/O time."""
    if not word:
        return max(sources, key=lambda one: one["io_seconds"] or 0.0, default=None)
    key = number_word("source", word)
    return next((one for one in sources if one["id"] == key), None)
