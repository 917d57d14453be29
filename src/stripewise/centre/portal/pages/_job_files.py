# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows what a job did to its files by its profiles and by the servers, and if both agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.centre.database.queries import (
    AskedSizes,
    JobView,
    Listing,
    Served,
    Sight,
    Statement,
    find_job,
    list_files,
    list_sources,
    statements,
)
from stripewise.centre.portal.pages import _jobs
from stripewise.centre.portal.pages._base import Asked, Page, address
from stripewise.centre.portal.pages._jobs import number_word
from stripewise.evidence.report import NO_PATTERNS, files_table, size_bars, summed
from stripewise.present import printable
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

    def build(self, asked: Asked) -> Content | None:
        """Return one page of the list."""
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
        table = _files(listing, "Files", following if listing.next else "")
        name = f"Files of job {_jobs.job_id(row)}"
        what = " ".join(filter(None, (source["kind"], source["name"])))
        lead = f"Files that the program used, those with most time first, according to {what}."
        if not asked.viewer.reads_names(row):
            lead += f" {_jobs.HIDDEN}"
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
        empty=NO_PATTERNS,
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
    return [_files(listing, f"Files{several} with most time", of_all)]


def _files(listing: Listing, title: str, following: str) -> Table:
    """Return a table of files, without a column of paths where these are hidden."""
    return files_table(listing.rows, title, next=following)


def _chosen(word: str, sources: list[Row]) -> Row | None:
    """Return the source that a query names; without a name the one with most I/O time."""
    if not word:
        return max(sources, key=lambda one: one["io_seconds"] or 0.0, default=None)
    key = number_word("source", word)
    return next((one for one in sources if one["id"] == key), None)


# The requests of a job as the servers saw them, beside the calls of its programs.

_TITLES = {"read": "Read", "write": "Written", "metadata": "Metadata"}
_DONE = {"read": ("read", "reads"), "write": ("wrote", "writes")}
_MOST_STORAGES = 3
_JOINED = 2.0
"""From this factor on, requests are of another size than calls (chosen)."""
_SAME = 2.0
"""Beyond this factor of bytes, calls and requests did not move the same data (chosen)."""
_SMALL_BYTES = 256 << 10
"""Mean size of requests below which they are small: a quarter of Lustre's usual one (chosen)."""
_MANY_REQUESTS = 10_000
_MANY_A_SECOND = 100.0
"""Metadata operations of a job each second that are worth a look (chosen)."""
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
    "By the servers' own counters of jobs: no profile and no preload is needed. The time is that "
    "of a request at the servers, without its wait in their queues. On Lustre, newer versions "
    "count the network in, and a write ends before it is on the disks."
)


def served(view: JobView, found: Sequence[Served], asked: Mapping[str, AskedSizes]) -> list[Block]:
    """Return what servers saw of a job, by file system; [] if they counted nothing."""
    names = list(dict.fromkeys(one.file_system for one in found))
    several = len(names) > 1
    blocks: list[Block] = []
    for number, name in enumerate(names[:_MOST_STORAGES], 1):
        rows = [one for one in found if one.file_system == name]
        ending = f"_{number}" if several else ""
        blocks += _of_storage(name, rows, {} if several else asked, ending)
    if found and several and asked:
        blocks += _asked_bars(asked)
    return blocks + _offer(view, found)


def _of_storage(
    name: str, rows: Sequence[Served], asked: Mapping[str, AskedSizes], ending: str
) -> list[Block]:
    title = f"Your requests as the servers of {printable(name)} saw them"
    said = [words for one in rows for words in (_conclusion(one, asked.get(one.kind)),) if words]
    blocks: list[Block] = [Notice(f"served_words{ending}", title, said)] if said else []
    blocks.append(
        Table(f"served{ending}", "Requests by kind" if said else title, _SERVED_COLUMNS,
              [_row(one) for one in rows], note=_NOTE)
    )  # fmt: skip
    for one in rows:
        blocks += _sizes(one, ending) if one.kind != "metadata" else _operations(one, ending)
        if one.kind in asked:
            blocks += _asked_bars({one.kind: asked[one.kind]})
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


def _conclusion(one: Served, asked: AskedSizes | None) -> str:
    """Say in a sentence what became of the program's calls; "": nothing can be said."""
    size = one.request_bytes
    if one.kind not in _DONE or not size:
        return ""
    verb, calls = _DONE[one.kind]
    at_servers = f"requests of {written(size, 'bytes')} on average"
    if asked is None or not asked.call_bytes:
        return (
            f"What reached the servers to {'be read' if one.kind == 'read' else 'be written'} "
            f"were {at_servers}."
        )
    own = written(asked.call_bytes, "bytes")
    begin = f"Programs {verb} in pieces of {own} on average; what reached the servers were "
    if not _is_same(one.moved_bytes or 0, asked.moved_bytes):
        moved = written(one.moved_bytes, "bytes")
        return (
            f"{begin}{at_servers}. The sizes cannot be compared: the programs' {calls} "
            f"moved {written(asked.moved_bytes, 'bytes')}, the servers {moved}."
        )
    if size >= _JOINED * asked.call_bytes:
        return f"{begin}{at_servers}: they were joined on the way, by a library or the client."
    if size * _JOINED <= asked.call_bytes:
        return f"{begin}{at_servers}: they were split on the way, by a library or the client."
    return f"{begin}{at_servers}: nothing joined them."


def _is_same(one: int, other: int) -> bool:
    return bool(one and other) and max(one, other) <= _SAME * min(one, other)


def _sizes(one: Served, ending: str) -> list[Block]:
    if not one.sizes:
        return []
    known = sum(one.sizes.values())
    note = "Each size is the upper end of its class."
    if one.operations is not None and known < one.operations:
        note += f" The sizes of {known:,} of {one.operations:,} requests are known."
    title = f"Sizes of requests at the servers: {_TITLES[one.kind].lower()}"
    labels = [f"up to {written(size, 'bytes')}" for size in one.sizes]
    name = f"served_{one.kind}_sizes{ending}"
    return [Bars(name, title, labels, list(one.sizes.values()), "requests", note)]


def _asked_bars(asked: Mapping[str, AskedSizes]) -> list[Block]:
    note = "By the profile, over all files and file systems."
    return [
        size_bars(f"asked_{kind}_sizes", f"Sizes of the programs' calls: {_TITLES[kind].lower()}",
                  one.counts, note)
        for kind, one in asked.items()
        if any(one.counts)
    ]  # fmt: skip


def _operations(one: Served, ending: str) -> list[Block]:
    if not one.parts:
        return []
    most = sorted(one.parts.items(), key=lambda item: (-item[1], item[0]))
    labels, counts = [name for name, _ in most], [count for _, count in most]
    title = "Metadata operations at the servers"
    return [Bars(f"served_operations{ending}", title, labels, counts, "operations")]


def _offer(view: JobView, found: Sequence[Served]) -> list[Block]:
    """Say whether a profile of the next run would pay, of a job without one."""
    if not found or view.sources:
        return []
    reasons = [words for one in found for words in (_worth(view, one),) if words]
    if reasons:
        text = (
            f"A profile of the next run is worthwhile: {', and '.join(reasons)}. It shows which "
            f"calls make them: `{COMMAND}`."
        )
        return [Notice("served_next", "Is a profile worth it?", [text], "warn")]
    if any(one.operations is None for one in found):
        return []
    text = (
        "The servers counted neither many small requests nor many metadata operations: a profile "
        "would show hardly anything to gain there."
    )
    return [Notice("served_next", "Is a profile worth it?", [text], "good")]


def _worth(view: JobView, one: Served) -> str:
    """Return why a profile pays; "": by these counters it does not."""
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
        f"its {one.operations:,} {what} reached the servers as small requests, "
        f"{written(size, 'bytes')} on average"
    )


# Three witnesses of what a job moved, side by side.

_HEADS = {
    "profile": "Profile of the program", "server": "Counters of the servers", "slurm": "Slurm",
}  # fmt: skip


def witnesses(view: JobView) -> list[Block]:
    """Return what profile, servers and Slurm say, and why they may differ; [] if none speaks."""
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
        "Three sources",
        tuple(_HEADS.values()),
        rows,
        "The program's own calls, what reached the servers, and what Slurm counted of its "
        "processes are three different things; they agree within a tenth where nothing lies "
        "between them. Numbers of operations are not compared: the servers count requests, which "
        "clients make by joining and splitting the program's calls.",
    )
    reasons = list(dict.fromkeys(reason for one in found for reason in one.reasons))
    if not reasons:
        return [table]
    return [table, Notice("witnesses_words", "Why they may differ", reasons)]


def _verdict(one: Statement) -> str:
    if one.agree is None:
        return "nothing to compare with"
    return "they agree" if one.agree else "they differ"
