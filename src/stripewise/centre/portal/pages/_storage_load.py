# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the page of the load of a file system: rates, servers, targets, events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stripewise.centre.database.queries import (
    PERIODS,
    Curve,
    FileSystemLoad,
    JobFilter,
    LoadPeriod,
    TargetLoad,
    events_within,
    view_load,
)
from stripewise.centre.portal.pages._base import PageRequest, address
from stripewise.centre.portal.pages._storage import (
    StoragePage,
    age_text,
    curve_text,
    gaps_text,
    pages_of,
    path_of,
    width_text,
)
from stripewise.core.errors import UsageError
from stripewise.present import plural, printable
from stripewise.present.blocks import (
    Block,
    Chart,
    Column,
    Content,
    Line,
    Link,
    Links,
    Span,
    Table,
    moment,
    written,
)

TARGETS_SHOWN = 100
_TARGETS = (
    Column("target", "Target"),
    Column("server", "Server"),
    Column("read_bytes_per_second", "Read", "rate"),
    Column("write_bytes_per_second", "Written", "rate"),
    Column("share", "Share of all bytes", "share"),
    Column("factor", "Relative to the median", "factor"),
    Column("verdict", "Compared with the others"),
    Column("operation_seconds", "Mean time", "seconds"),
    Column("is_failed", "Failed", "flag"),
    Column("newest_at", "Newest sample (UTC)", "moment"),
)
_METADATA = (
    Column("target", "Target"),
    Column("server", "Server"),
    Column("metadata_operations_per_second", "Operations", "operations"),
    Column("operation_seconds", "Mean time", "seconds"),
    Column("is_failed", "Failed", "flag"),
    Column("newest_at", "Newest sample (UTC)", "moment"),
)
_SPACE = (
    Column("target", "Target"),
    Column("server", "Server"),
    Column("used_bytes", "Used", "bytes"),
    Column("total_bytes", "Capacity", "bytes"),
    Column("used_share", "Share", "share"),
)
_NOTE = (
    "Rates are means over this time. “Relative to the median” is the bytes of a target "
    "divided by the median of all targets; its load counts as far from the others beyond "
    "3.5 robust standard deviations and a factor of 1.5. “Mean time” is that of a read or "
    "write at the server; newer versions of Lustre include the network, and a write ends "
    "before it is on the disks."
)
_EVENTS = (
    Column("at", "Begin (UTC)", "moment"),
    Column("until", "End (UTC)", "moment"),
    Column("kind", "Kind"),
    Column("text", "What happened"),
)


class StorageLoad(StoragePage):
    """Load of one file system over a chosen time."""

    path = "/storage/{name}"

    def build_for(self, request: PageRequest, name: str, key: int) -> Content:
        """Show the load."""
        period = period_of(request)
        load = view_load(request.connection, key, period, request.now)
        events = events_within(request.connection, key, period.since, period.until)
        spans = _spans(events, period)
        return Content(
            f"Load of {name}",
            _lead(name, load, period, request.now),
            [
                periods(path_of(name), period, request.now, PERIODS),
                *_charts(load, spans),
                *_server_charts(load, spans),
                *_tables(name, load, period, request),
                Table("events", "Events in this time", _EVENTS,
                      [dict(row._mapping) for row in events if row.kind != "advice"],
                      note="Events are shaded in the charts; one without an end has not ended.",
                      empty="No event is known in this time."),
                pages_of(name),
            ],
        )  # fmt: skip


def period_of(request: PageRequest, default: str = "day") -> LoadPeriod:
    """Return the period that the parameters of a URL define.

    Raises:
        UsageError: They cannot be used.
    """
    until = JobFilter.parse({"until": request.words.get("until", "")}).until
    return LoadPeriod.of(request.words.get("period", "") or default, until, request.now)


def periods(path: str, period: LoadPeriod, now: float, names: Iterable[str]) -> Links:
    """Return links to other periods, and to the time before and after."""
    until = period.until if period.is_past else None
    items = [
        Link(name.capitalize(), address(path, {"period": name, "until": until}),
             "shown now" if name == period.name else "")
        for name in names
    ]  # fmt: skip
    length = period.until - period.since
    before = {"period": period.name, "until": period.since}
    items.append(Link(f"The {period.name} before", address(path, before)))
    if period.is_past:
        later = period.until + length
        after = {"period": period.name, "until": later if later < now else None}
        items.append(Link(f"The {period.name} after", address(path, after)))
    title = f"{moment(period.since)} to {moment(period.until)} (UTC)"
    return Links("periods", title, items, is_row=True)


def _lead(name: str, load: FileSystemLoad, period: LoadPeriod, now: float) -> str:
    shown = printable(name)
    if load.newest_at is None:
        return f"Nothing is known about the load of {shown}: no samples have been delivered."
    said = []
    for words, curve in (("read", load.read), ("written", load.write)):
        if curve.values:
            mean = sum(curve.values.values()) / len(curve.values)
            said.append(f"{written(mean, 'rate')} was {words}")
    when = f"{'this' if period.is_past else 'the last'} {period.name}"
    text = f"Over {when}, {' and '.join(said)} on average." if said else (
        f"Nothing is known about the load of {shown} over {when}."
    )  # fmt: skip
    far = [one for one in load.targets if one.is_outlier]
    if far:
        verb = "differs" if len(far) == 1 else "differ"
        text += f" {plural(len(far), 'target')} {verb} from the others: {_far_text(far)}."
    if not period.is_past and now - load.newest_at > 900:
        text += f" The newest sample is {age_text(now - load.newest_at)} old."
    return text


def _far_text(far: Sequence[TargetLoad]) -> str:
    said = [f"{printable(one.target)} ({written(one.factor, 'factor')})" for one in far[:3]]
    return ", ".join(said) + (", ..." if len(far) > 3 else "")


def _spans(events: Sequence[Any], period: LoadPeriod) -> list[Span]:
    """Return events as spans; a momentary event is wide enough to be seen."""
    least = (period.until - period.since) / 200
    return [
        Span(f"{row.kind}: {row.text}", max(row.at, period.since),
             min(max(row.until or period.until, row.at + least), period.until))
        for row in events
        if row.kind != "advice"
    ]  # fmt: skip


def _charts(load: FileSystemLoad, spans: Sequence[Span]) -> list[Block]:
    at, step = list(load.moments), width_text(load.width_seconds)
    known = [one for one in (load.read, load.write) if one.values]
    kinds = [Line(name, name, curve.at(at)) for name, curve in load.kinds.items() if curve.values]
    whole = [Line("metadata_operations", "all", load.metadata.at(at))]
    left = plural(load.other_kinds, "kind")
    others = f" Not drawn: {left} with fewer operations." if load.other_kinds else ""
    return [
        Chart(
            "rates",
            "Read and written",
            at if known else (),
            [Line("read_bytes", "read", load.read.at(at)),
             Line("write_bytes", "written", load.write.at(at))] if known else (),
            "rate",
            spans=spans,
            description=f"Means over {step}. {curve_text('Read', load.read, 'rate')} "
            f"{curve_text('Written', load.write, 'rate')}",
            note=gaps_text(load.read, load.write),
        ),
        Chart(
            "metadata",
            "Metadata operations",
            at if load.metadata.values else (),
            [*whole, *kinds] if load.metadata.values else (),
            "operations",
            spans=spans,
            description=f"Means over {step}. {curve_text('All', load.metadata, 'operations')}",
            note=(gaps_text(load.metadata) + others).strip(),
        ),
    ]  # fmt: skip


def _server_charts(load: FileSystemLoad, spans: Sequence[Span]) -> list[Block]:
    at = list(load.server_moments)
    step = width_text(load.server_width_seconds)
    left = plural(load.other_servers, "server")
    others = f"Not drawn: {left} with less load. " if load.other_servers else ""
    found: list[Block] = []
    drawn: tuple[tuple[str, str, Mapping[str, Curve], str], ...] = (
        ("servers", "Bytes read and written by each server", load.servers, "rate"),
        ("server_load", "How busy each server is", load.loads, "share"),
    )
    for name, title, curves, kind in drawn:
        known = {server: curve for server, curve in curves.items() if curve.values}
        if known:
            words = [curve_text(printable(server), one, kind) for server, one in known.items()]
            found.append(
                Chart(name, title, at, [Line(one, one, known[one].at(at)) for one in known], kind,
                      spans=spans, description=f"Means over {step}. {' '.join(words)}",
                      note=others + gaps_text(*known.values()))
            )  # fmt: skip
    return found


def _tables(
    name: str, load: FileSystemLoad, period: LoadPeriod, request: PageRequest
) -> Iterator[Table]:
    """Yield tables of the targets: of their bytes, their operations, their space."""
    first = _place(request.words.get("after", ""))
    words = {"period": period.name, "until": request.words.get("until", ""),
             "after": first + TARGETS_SHOWN}  # fmt: skip
    of_data = [one for one in load.targets if one.factor is not None or one.metadata is None]
    of_metadata = [one for one in load.targets if one.metadata is not None]
    with_space = [one for one in load.targets if one.used is not None]
    for block, title, columns, targets, note in (
        ("targets", "Targets", _TARGETS, of_data, _NOTE),
        ("metadata_targets", "Metadata targets", _METADATA, of_metadata, ""),
        ("target_space", "Space of targets", _SPACE, with_space, "The newest known values."),
    ):
        if targets[first:] or block == "targets":
            yield Table(
                block,
                title,
                columns,
                [_row(one) for one in targets[first : first + TARGETS_SHOWN]],
                note=note,
                empty="No target is known.",
                next=f"{address(path_of(name), words)}#{block}"
                if first + TARGETS_SHOWN < len(targets)
                else "",
                total=plural(len(targets), "target"),
            )


def _place(text: str) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdecimal() and len(text) < 7):
        raise UsageError("after: this is not a place in this list; begin at its first page")
    return int(text)


def _row(one: TargetLoad) -> dict[str, Any]:
    known = one.used is not None and one.total
    return {
        "target": one.target,
        "server": one.server or None,
        "read_bytes_per_second": one.read,
        "write_bytes_per_second": one.write,
        "share": one.share,
        "factor": one.factor,
        "verdict": _verdict(one),
        "metadata_operations_per_second": one.metadata,
        "used_bytes": one.used,
        "total_bytes": one.total,
        "used_share": (one.used or 0.0) / one.total if known and one.total else None,
        "operation_seconds": one.operation_seconds,
        "is_failed": one.is_failed,
        "newest_at": one.newest_at,
    }


def _verdict(one: TargetLoad) -> str | None:
    if one.factor is None:
        return None
    if not one.is_outlier:
        return "like the others"
    return "far more than the others" if one.factor > 1 else "far less than the others"
