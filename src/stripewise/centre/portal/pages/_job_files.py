# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows what a job did to its files by its profiles and by the servers, and whether both agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.centre.database.queries import (
    AccessReason,
    CallSizes,
    JobView,
    Listing,
    Served,
    Statement,
    find_job,
    list_files,
    list_sources,
    statements,
)
from stripewise.centre.portal.pages import _jobs
from stripewise.centre.portal.pages._base import Page, PageRequest, address
from stripewise.centre.portal.pages._jobs import number_word
from stripewise.evidence.report import NO_PATTERNS, files_table, size_bars, summed
from stripewise.present import count_text, printable
from stripewise.present.blocks import (
    Bars,
    Block,
    Column,
    Compared,
    Comparison,
    Content,
    Notice,
    Table,
    written,
)

Row = Mapping[str, Any]
_FIRST = 20
_MOST_PATTERNS = 50


class JobFiles(Page):
    """All files of one source of a job, in pages."""

    path = "/jobs/{job:int}/files"
    section = "My jobs"

    def build(self, request: PageRequest) -> Content | None:
        """Return one page of the list."""
        key = int(request.path["job"])
        row = find_job(request.connection, request.viewer, key)
        if row is None:
            return None
        sources = list_sources(request.connection, request.viewer, key)
        source = _chosen(request.words.get("source", ""), sources)
        if source is None:
            return None
        listing = list_files(
            request.connection,
            request.viewer,
            key,
            source["id"],
            after=request.words.get("after", ""),
        )
        if listing is None:
            return None
        of_source = {"source": source["id"]}
        following = address(f"/jobs/{key}/files", {**of_source, "after": listing.next})
        table = _files(listing, "Files", following if listing.next else "")
        name = f"Files of job {_jobs.job_id(row)}"
        what = " ".join(filter(None, (source["kind"], source["name"])))
        lead = (
            "Files that the program used, those with the most I/O time first, according to "
            f"{what}."
        )
        if not request.viewer.reads_names(row):
            lead += f" {_jobs.HIDDEN}"
        is_staff = request.viewer.access_reason(row) is AccessReason.STAFF
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
        note=(
            "A pattern links to all your jobs that have it. Lost: the expected gain of "
            "findings about these files."
        ),
        empty=NO_PATTERNS,
        total=f"{_MOST_PATTERNS} of {len(rows)} patterns" if len(rows) > _MOST_PATTERNS else "",
    )
    return [table]


def file_systems(view: JobView) -> list[Block]:
    """Return the bytes moved on each file system."""
    found: dict[str, list[Row]] = defaultdict(list)
    for source in view.counted:
        for one in source.io:
            found[one["file_system"]].append(one)
    if not found:
        return []
    names = ("read_bytes", "write_bytes", "cumulated_seconds", "meta_operations", "file_count")
    rows = [{"file_system": name, **summed(parts, names)} for name, parts in found.items()]
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


def files(request: PageRequest, view: JobView) -> list[Block]:
    """Return the first files of the source with most I/O time, and a link to the others."""
    if not view.counted:
        return []
    main = max(view.counted, key=lambda one: one.about["io_seconds"] or 0.0).about
    key = view.row["id"]
    listing = list_files(request.connection, request.viewer, key, main["id"], limit=_FIRST)
    if listing is None:
        return []
    words = {"source": main["id"], "after": listing.next}
    of_all = address(f"/jobs/{key}/files", words) if listing.next else ""
    several = f" of {main['program']}" if len(view.counted) > 1 and main["program"] else ""
    return [_files(listing, f"Files{several} with the most I/O time", of_all)]


def _files(listing: Listing, title: str, following: str) -> Table:
    """Return a table of files, without a column of paths if these are hidden."""
    return files_table(listing.rows, title, next=following)


def _chosen(word: str, sources: list[Row]) -> Row | None:
    """Return the source that a query names, or the one with most I/O time if it names none."""
    if not word:
        return max(sources, key=lambda one: one["io_seconds"] or 0.0, default=None)
    key = number_word("source", word)
    return next((one for one in sources if one["id"] == key), None)


# The requests of a job that the servers counted, beside the calls of its programs.

_TITLES = {"read": "Read", "write": "Written", "metadata": "Metadata"}
_DONE = {"read": ("read", "reads"), "write": ("wrote", "writes")}
_MOST_STORAGES = 3
_JOINED = 2.0
"""Factor from which the sizes of requests and calls differ (chosen)."""
_SAME = 2.0
"""Factor of bytes beyond which calls and requests did not move the same data (chosen)."""
_SMALL_BYTES = 256 << 10
"""Mean size below which requests are small: a quarter of Lustre's usual one (chosen)."""
_MANY_REQUESTS = 10_000
_MANY_A_SECOND = 100.0
"""Metadata operations of a job per second that are worth attention (chosen)."""
COMMAND = "stripewise run -- srun ./program"
_SERVED_COLUMNS = (
    Column("kind", "Kind"),
    Column("operations", "Requests or operations", "count"),
    Column("moved_bytes", "Bytes", "bytes"),
    Column("request_bytes", "Mean request", "bytes"),
    Column("operation_seconds", "Mean time", "seconds"),
    Column("first_at", "First (UTC)", "moment"),
    Column("last_at", "Last (UTC)", "moment"),
)
_NOTE = (
    "From the servers' own counters of jobs, which need no profile and no preloaded "
    "library. The time is that of a request at the servers, without waiting in their "
    "queues. Newer versions of Lustre include the network, and a write ends before it is on "
    "the disks."
)


def served(view: JobView, found: Sequence[Served], calls: Mapping[str, CallSizes]) -> list[Block]:
    """Return what servers counted for a job, by file system; [] if they counted nothing."""
    names = list(dict.fromkeys(one.file_system for one in found))
    several = len(names) > 1
    blocks: list[Block] = []
    for number, name in enumerate(names[:_MOST_STORAGES], 1):
        rows = [one for one in found if one.file_system == name]
        ending = f"_{number}" if several else ""
        blocks += _storage_blocks(name, rows, {} if several else calls, ending)
    if found and several and calls:
        blocks += _call_bars(calls)
    return blocks + _profile_advice(view, found)


def _storage_blocks(
    name: str, rows: Sequence[Served], calls: Mapping[str, CallSizes], ending: str
) -> list[Block]:
    title = f"Your requests as the servers of {printable(name)} saw them"
    said = [words for one in rows for words in (_conclusion(one, calls.get(one.kind)),) if words]
    blocks: list[Block] = [Notice(f"served_words{ending}", title, said)] if said else []
    blocks.append(
        Table(f"served{ending}", "Requests by kind" if said else title, _SERVED_COLUMNS,
              [_row(one) for one in rows], note=_NOTE)
    )  # fmt: skip
    for one in rows:
        blocks += _sizes(one, ending) if one.kind != "metadata" else _operations(one, ending)
        if one.kind in calls:
            blocks += _call_bars({one.kind: calls[one.kind]})
    return blocks


def _row(one: Served) -> dict[str, Any]:
    return {
        "kind": _TITLES.get(one.kind, one.kind),
        "operations": one.operations,
        "moved_bytes": one.moved_bytes,
        "request_bytes": one.request_bytes,
        "operation_seconds": one.operation_seconds,
        "first_at": one.first_at,
        "last_at": one.last_at,
    }


def _conclusion(one: Served, calls: CallSizes | None) -> str:
    """Return a sentence on what became of the program's calls, or "" if nothing is known."""
    size = one.request_bytes
    if one.kind not in _DONE or not size:
        return ""
    verb, noun = _DONE[one.kind]
    at_servers = f"requests of {written(size, 'bytes')} on average"
    if calls is None or not calls.call_bytes:
        return f"The servers received {'read' if one.kind == 'read' else 'write'} {at_servers}."
    own = written(calls.call_bytes, "bytes")
    begin = f"Programs {verb} in pieces of {own} on average; the servers received "
    if not _is_same(one.moved_bytes or 0, calls.moved_bytes):
        moved = written(one.moved_bytes, "bytes")
        return (
            f"{begin}{at_servers}. The sizes cannot be compared: the programs' {noun} "
            f"moved {written(calls.moved_bytes, 'bytes')}, the servers {moved}."
        )
    if size >= _JOINED * calls.call_bytes:
        return f"{begin}{at_servers}: a library or the client merged them."
    if size * _JOINED <= calls.call_bytes:
        return f"{begin}{at_servers}: a library or the client split them."
    return f"{begin}{at_servers}: nothing merged them."


def _is_same(one: int, other: int) -> bool:
    return bool(one and other) and max(one, other) <= _SAME * min(one, other)


def _sizes(one: Served, ending: str) -> list[Block]:
    if not one.sizes:
        return []
    known = sum(one.sizes.values())
    note = "Each size is the upper end of its class."
    if one.operations is not None and known < one.operations:
        note += (
            f" The sizes of {count_text(known)} of {count_text(one.operations)} requests are "
            "known."
        )
    title = f"Sizes of requests at the servers: {_TITLES[one.kind].lower()}"
    labels = [f"up to {written(size, 'bytes')}" for size in one.sizes]
    name = f"served_{one.kind}_sizes{ending}"
    return [Bars(name, title, labels, list(one.sizes.values()), "requests", note)]


def _call_bars(calls: Mapping[str, CallSizes]) -> list[Block]:
    note = "From the profile, over all files and file systems."
    return [
        size_bars(f"asked_{kind}_sizes", f"Sizes of the programs' calls: {_TITLES[kind].lower()}",
                  one.counts, note)
        for kind, one in calls.items()
        if any(one.counts)
    ]  # fmt: skip


def _operations(one: Served, ending: str) -> list[Block]:
    if not one.parts:
        return []
    most = sorted(one.parts.items(), key=lambda item: (-item[1], item[0]))
    labels, counts = [name for name, _ in most], [count for _, count in most]
    title = "Metadata operations at the servers"
    return [Bars(f"served_operations{ending}", title, labels, counts, "operations")]


def _profile_advice(view: JobView, found: Sequence[Served]) -> list[Block]:
    """Return whether a profile of the next run would be useful, for a job without one."""
    if not found or view.sources:
        return []
    reasons = [words for one in found for words in (_reason_for_profile(view, one),) if words]
    if reasons:
        text = (
            f"A profile of the next run is worthwhile: {', and '.join(reasons)}. It shows "
            f"which calls cause them: `{COMMAND}`."
        )
        return [Notice("served_next", "Is a profile worthwhile?", [text], "warn")]
    if any(one.operations is None for one in found):
        return []
    text = (
        "The servers counted neither many small requests nor many metadata operations: a "
        "profile would hardly show a possible gain."
    )
    return [Notice("served_next", "Is a profile worthwhile?", [text], "good")]


def _reason_for_profile(view: JobView, one: Served) -> str:
    """Return why a profile is useful, or "" if these counters give no reason."""
    if one.operations is None:
        return ""
    if one.kind == "metadata":
        seconds = view.row["run_seconds"] or one.last_at - one.first_at
        rate = one.operations / max(seconds, 1.0)
        if rate < _MANY_A_SECOND:
            return ""
        return f"this job made {written(rate, 'operations')} metadata operations"
    size = one.request_bytes
    if size is None or size >= _SMALL_BYTES or one.operations < _MANY_REQUESTS:
        return ""
    what = _DONE[one.kind][1] if one.kind in _DONE else one.kind
    return (
        f"its {count_text(one.operations)} {what} reached the servers as small requests, "
        f"{written(size, 'bytes')} on average"
    )


# Three sources for what a job moved, side by side.

_HEADS = {
    "profile": "Profile of the program", "server": "Counters of the servers", "slurm": "Slurm",
}  # fmt: skip


def witnesses(view: JobView) -> list[Block]:
    """Return what profile, servers and Slurm report, and why they may differ; [] if none does."""
    is_partial = any(one.about["is_partial"] for one in view.sources)
    found = statements(view.row, is_partial=is_partial)
    if not any(one.known for one in found):
        return []
    rows = [
        Compared(f"{one.direction}_bytes", title, [one.amounts[name] for name in _HEADS], "bytes",
                 _verdict(one))
        for one, title in zip(found, ("Read", "Written"), strict=True)
    ]  # fmt: skip
    table = Comparison(
        "witnesses",
        "Three sources compared",
        tuple(_HEADS.values()),
        rows,
        "The program's own calls, what reached the servers, and what Slurm counted of its "
        "processes are three different quantities; they agree within 10 % where nothing "
        "between them caches or changes requests. Numbers of operations are not compared: "
        "the servers count requests, which clients make by joining and splitting the "
        "program's calls.",
    )
    reasons = list(dict.fromkeys(reason for one in found for reason in one.reasons))
    if not reasons:
        return [table]
    return [table, Notice("witnesses_words", "Why they may differ", reasons)]


def _verdict(one: Statement) -> str:
    if one.agree is None:
        return "nothing to compare with"
    return "they agree" if one.agree else "they differ"
