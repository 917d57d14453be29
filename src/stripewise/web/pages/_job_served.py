# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The requests of a job as the servers saw them, beside the calls of its programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.diagnosis import size_labels
from stripewise.fleet.queries import AskedSizes, JobView, Served
from stripewise.text import printable
from stripewise.web._words import written
from stripewise.web.content import Bars, Block, Column, Notice, Table

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
_COLUMNS = (
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
    """Return what servers saw of a job, by file system; [] if they told nothing."""
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
    told = [words for one in rows for words in (_conclusion(one, asked.get(one.kind)),) if words]
    blocks: list[Block] = [Notice(f"served_words{ending}", title, told)] if told else []
    blocks.append(
        Table(f"served{ending}", "Requests by kind" if told else title, _COLUMNS,
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
            f"{begin}{at_servers}. The sizes say nothing of each other: the programs' {calls} "
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
    found: list[Block] = []
    for kind, one in asked.items():
        used = [place for place, count in enumerate(one.counts) if count]
        if used:
            shown = slice(used[0], used[-1] + 1)
            found.append(
                Bars(f"asked_{kind}_sizes",
                     f"Sizes of the programs' calls: {_TITLES[kind].lower()}",
                     size_labels()[shown], one.counts[shown], "calls",
                     "By the profile, over all files and file systems.")
            )  # fmt: skip
    return found


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
            f"A profile of the next run pays: {', and '.join(reasons)}. It shows which calls make "
            f"them: `{COMMAND}`."
        )
        return [Notice("served_next", "Is a profile worth it?", [text], "warn")]
    if any(one.operations is None for one in found):
        return []
    text = (
        "The servers counted neither many small requests nor many metadata operations: a profile "
        "would hardly show what to gain there."
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
