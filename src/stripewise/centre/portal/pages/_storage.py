# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the page of all file systems with their state, events and the site's advice."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stripewise.centre.database.queries import (
    FORECAST_DAYS,
    Curve,
    EventFilter,
    FileSystemState,
    Space,
    advice_now,
    find_file_system,
    kinds_of_events,
    list_events,
    view_names,
    view_storage,
)
from stripewise.centre.portal.pages._base import Audience, Page, PageRequest, address, part
from stripewise.core.errors import StripewiseError
from stripewise.core.inputs import SITE_ADVICE, read_input
from stripewise.present import duration_text, plural, printable
from stripewise.present.blocks import (
    Block,
    Column,
    Content,
    Field,
    Link,
    Links,
    Notice,
    Prose,
    Search,
    Table,
    moment,
    written,
)

_LOAD = (
    Column("name", "File system", link="url"),
    Column("health", "Health"),
    Column("read_bytes_per_second", "Read now", "rate"),
    Column("greatest_read_bytes_per_second", "Busiest read", "rate"),
    Column("write_bytes_per_second", "Written now", "rate"),
    Column("greatest_write_bytes_per_second", "Busiest write", "rate"),
    Column("metadata_operations_per_second", "Metadata now", "operations"),
    Column("greatest_metadata_operations_per_second", "Busiest metadata", "operations"),
    Column("load_share", "Share of the busiest", "share"),
    Column("newest_at", "Newest sample (UTC)", "moment"),
    Column("benchmark", "Newest benchmark"),
)
_SPACE = (
    Column("name", "File system", link="url"),
    Column("used_bytes", "Used", "bytes"),
    Column("total_bytes", "Capacity", "bytes"),
    Column("used_share", "Share", "share"),
    Column("weekly_bytes", "Growth per week", "bytes"),
    Column("full", "Full on"),
    Column("used_files", "Inodes used", "count"),
    Column("total_files", "Inodes", "count"),
    Column("used_files_share", "Share", "share"),
    Column("weekly_files", "Growth per week", "count"),
    Column("full_of_files", "Full on"),
)
_NOTE = (
    "“Now” is the mean over five minutes up to the newest sample, which is at most 15 "
    "minutes "
    "old. “Busiest” is the mean of the busiest {} of the last 28 days. “Share of the "
    "busiest” is given for the rate that comes closest to its busiest value."
)


class Storage(Page):
    """Every file system: health, space, rates, age of its benchmarks."""

    path = "/storage"
    section = "Storage"
    audience = Audience.PUBLIC

    def build(self, request: PageRequest) -> Content:
        """Build the page."""
        states = view_storage(request.connection, request.now)
        coarse = any(one.read.resolution_seconds > 3600 for one in states)
        blocks: list[Block] = [*notices(states, request.now)]
        blocks += [
            Table("load", "Health and load", _LOAD,
                  [_load_row(one, request.now) for one in states],
                  note=_NOTE.format("hour, or day," if coarse else "hour"),
                  empty="No file system is known yet."),
            Table("space", "Space", _SPACE, [_space_row(one) for one in states],
                  note="Growth is the median slope of the last 28 days. The date follows from "
                  "it, with its interval at 95 %, if three weeks are known and it surely grows.",
                  empty="No file system is known yet."),
            Links("more", "More", [
                Link("Advice of the site", "/storage/advice"),
                Link("Events", "/storage/events"),
            ]),
        ]  # fmt: skip
        return Content("Storage", lead(states, request.now), blocks)


def lead(states: Sequence[FileSystemState], now: float) -> str:
    """Return the overall state of the storage, in a sentence or two."""
    if not states:
        return "No file system is known yet: no samples, events or benchmarks are stored."
    tones = [health(one, now)[0] for one in states]
    count = plural(len(states), "file system")
    said = f"{count}: "
    if all(tone == "good" for tone in tones):
        said += "no known problems."
    else:
        bad = [one.name for one, tone in zip(states, tones, strict=True) if tone in TONES[2:]]
        unknown = [one.name for one, tone in zip(states, tones, strict=True) if tone == "calm"]
        parts = [f"look at {', '.join(map(printable, bad))}"] if bad else []
        if unknown:
            parts.append(f"nothing is known about {', '.join(map(printable, unknown))}")
        said += "; ".join(parts) + "."
    soon = [one for one in states if one.space.full_at and one.space.full_at < now + 60 * 86400]
    if soon:
        first = min(soon, key=lambda one: one.space.full_at or 0.0)
        said += f" If it goes on growing as in the last weeks, {printable(first.name)} is full on "
        said += f"{full_text(first.space)}."
    return said


def notices(states: Sequence[FileSystemState], now: float) -> list[Notice]:
    """Return what is wrong with each file system, and its open events."""
    found = []
    for number, one in enumerate(states):
        tone, text = health(one, now)
        if tone in TONES[2:]:
            events = [f"{kind}: {words}" for kind, words in one.events[:3]]
            found.append(Notice(f"health_{number}", one.name, [text, *events], tone))
    return found


def _load_row(one: FileSystemState, now: float) -> dict[str, Any]:
    shares = [rate.share for rate in (one.read, one.write, one.metadata) if rate.share is not None]
    return {
        "name": one.name,
        "url": path_of(one.name),
        "health": health(one, now)[1],
        "read_bytes_per_second": one.read.now,
        "greatest_read_bytes_per_second": one.read.greatest,
        "write_bytes_per_second": one.write.now,
        "greatest_write_bytes_per_second": one.write.greatest,
        "metadata_operations_per_second": one.metadata.now,
        "greatest_metadata_operations_per_second": one.metadata.greatest,
        "load_share": max(shares, default=None),
        "newest_at": one.newest_at,
        "benchmark": benchmark_text(one, now),
    }


def benchmark_text(one: FileSystemState, now: float) -> str | None:
    """Return the age of the newest benchmark, or None if there is none."""
    if one.benchmark is None:
        return None
    at, is_emulated = one.benchmark
    return f"{age_text(now - at)} ago" + (" (emulated)" if is_emulated else "")


def _space_row(one: FileSystemState) -> dict[str, Any]:
    def part(space: Space, what: str) -> dict[str, Any]:
        used = "used" if what == "bytes" else "used_files"
        full = "full" if what == "bytes" else "full_of_files"
        return {
            f"used_{what}": space.used,
            f"total_{what}": space.total,
            f"{used}_share": space.share,
            f"weekly_{what}": space.weekly,
            full: full_text(space),
        }

    return {"name": one.name, "url": path_of(one.name), **part(one.space, "bytes"),
            **part(one.files, "files")}  # fmt: skip


class StoragePage(Page):
    """A page about one file system, whose name is in its address."""

    section = "Storage"
    audience = Audience.PUBLIC

    def build(self, request: PageRequest) -> Content | None:
        """Return the content of the page, or None if there is no such file system."""
        name = str(request.path["name"])
        key = find_file_system(request.connection, name)
        return None if key is None else self.build_for(request, name, key)

    @abstractmethod
    def build_for(self, request: PageRequest, name: str, key: int) -> Content:
        """Return the content of the page for the file system with a name and key."""


# The state of a file system in words, and addresses of its pages.

TONES = ("good", "calm", "warn", "bad")
NAMED = 5
_DAY = 86400


def age_text(seconds: float) -> str:
    """Return an age in words: "12 min", "3 days"."""
    if seconds < 2 * _DAY:
        return duration_text(max(round(seconds), 0))
    return f"{seconds / _DAY:.0f} days"


def width_text(seconds: int) -> str:
    """Return the width of an interval in words: "an hour", "2 min"."""
    return {3600: "an hour", _DAY: "a day"}.get(seconds) or duration_text(seconds)


def names_text(names: Sequence[str]) -> str:
    """Return some names, and how many more there are."""
    text = ", ".join(map(printable, names[:NAMED]))
    return f"{text} and {len(names) - NAMED} more" if len(names) > NAMED else text


def health(state: FileSystemState, now: float) -> tuple[str, str]:
    """Return the state of a file system as (tone, sentences)."""
    tone, said = _samples(state, now)
    if state.silent:
        tone = _worse(tone, "warn")
        number = plural(len(state.silent), "target")
        said.append(f"{number} sent no samples lately: {names_text(state.silent)}.")
    if state.events:
        tone = _worse(tone, "warn")
        kinds = names_text(list(dict.fromkeys(kind for kind, _ in state.events)))
        said.append(f"{plural(len(state.events), 'event')} open: {kinds}.")
    return tone, " ".join(said)


def _samples(state: FileSystemState, now: float) -> tuple[str, list[str]]:
    if state.newest_at is None:
        return "calm", ["No samples have been delivered: its health is not known."]
    if state.newest_at > now and state.is_stale:
        lead = age_text(state.newest_at - now)
        return "warn", [
            f"The newest sample is {lead} ahead of this clock: its health is not known."
        ]
    if state.is_stale:
        age = age_text(now - state.newest_at)
        return "warn", [f"The newest sample is {age} old: its health is not known."]
    if state.failed:
        have = "has" if len(state.failed) == 1 else "have"
        return "bad", [
            f"{len(state.failed)} of {plural(state.targets, 'target')} {have} failed: "
            f"{names_text(state.failed)}."
        ]
    if state.slow:
        number = f"{len(state.slow)} of {plural(state.targets, 'target')}"
        verb = "is" if len(state.slow) == 1 else "are"
        return "warn", [f"{number} {verb} slow: {_slow_text(state)}."]
    if state.failed is None:
        return "good", ["Samples arrive, but do not say whether targets have failed."]
    slow = "" if state.slow is None else ", and none is far slower than the others"
    return "good", [f"All {plural(state.targets, 'target')} serve{slow}."]


def _slow_text(state: FileSystemState) -> str:
    """Return the names of slow targets, with their times beside those of the others if known."""
    said = []
    for target in (state.slow or ())[:NAMED]:
        one = state.slow_seconds.get(target)
        times = "" if one is None else (
            f" ({written(one.seconds, 'seconds')} an operation, "
            f"others {written(one.usual_seconds, 'seconds')})"
        )  # fmt: skip
        said.append(printable(target) + times)
    left = len(state.slow or ()) - NAMED
    return ", ".join(said) + (f" and {left} more" if left > 0 else "")


def _worse(one: str, other: str) -> str:
    return max(one, other, key=TONES.index)


def full_text(space: Space) -> str:
    """Return in words when something will be full."""
    if space.used is None or space.total is None:
        return "not known: not sampled"
    if space.weekly is None:
        return "not known: less than eight days of samples"
    if space.weekly <= 0:
        return "does not grow"
    if space.days < FORECAST_DAYS:
        return f"not known: {space.days} days of samples, and a forecast needs {FORECAST_DAYS}"
    if space.full_from is None and space.full_at is None:
        return "not known, or not within ten years: its growth is not steady"
    ends = [moment(end)[:10] if end else "later" for end in (space.full_from, space.full_until)]
    middle = moment(space.full_at)[:10] if space.full_at else "not within ten years"
    return middle if len({middle, *ends}) == 1 else f"{middle} ({ends[0]} to {ends[1]})"


def curve_text(title: str, curve: Curve, kind: str) -> str:
    """Return a curve in words, for readers who do not see it."""
    if not curve.values:
        return f"{title}: nothing is known about it."
    values = curve.values
    mean = sum(values.values()) / len(values)
    top = max(values, key=lambda at: values[at])
    return (
        f"{title}: {written(mean, kind)} on average, "
        f"{written(values[top], kind)} at most ({moment(top)})."
    )


def gaps_text(*curves: Curve) -> str:
    """Return where curves have gaps because too few series reported, or "" if they have none."""
    gaps = max((curve.gaps for curve in curves), default=0)
    if not gaps:
        return ""
    return (
        f"At {plural(gaps, 'moment')} less than nine in ten targets reported: the curves have "
        "gaps there, since the sums would be too small."
    )


def path_of(name: str, page: str = "") -> str:
    """Return the path of a page about a file system."""
    return f"/storage/{part(name)}" + (f"/{page}" if page else "")


def pages_of(name: str) -> Links:
    """Return links to all pages about a file system."""
    return Links(
        "pages",
        f"More about {name}",
        [
            Link("Load of servers and targets", path_of(name)),
            Link("Patterns over days", path_of(name, "patterns")),
            Link("Who causes the load", path_of(name, "top"), "for users who are logged in"),
            Link("Benchmarks", path_of(name, "benchmarks")),
            Link("Events", address("/storage/events", {"file_system": name})),
        ],
    )


# Advice of the site, and events of its storage.

_LOG = logging.getLogger("stripewise.centre.portal")
_EVENTS = (
    Column("at", "Begin (UTC)", "moment"),
    Column("until", "End (UTC)", "moment"),
    Column("file_system", "File system", link="url"),
    Column("kind", "Kind"),
    Column("text", "What happened"),
)


class StorageAdvice(Page):
    """Advice of the site: its page of advice, and events that are advice."""

    path = "/storage/advice"
    section = "Storage"
    audience = Audience.PUBLIC

    def build(self, request: PageRequest) -> Content:
        """Build the page."""
        news = advice_now(request.connection, request.now)
        text, problem = _text(request.advice)
        blocks: list[Block] = []
        if news:
            blocks.append(Notice("news", "Now", news))
        if problem:
            blocks.append(Notice("problem", "", [problem], "warn"))
        if text:
            blocks.append(Prose("advice", "", text))
        if not news and not text and not problem:
            lead = "This site has not published any advice."
        else:
            lead = "What this site advises for fast input and output on its storage."
        return Content("Advice of the site", lead, blocks)


def _text(path: Path | None) -> tuple[str, str]:
    """Return the site's page of advice, or why it cannot be shown."""
    if path is None:
        return "", ""
    try:
        return read_input(path, SITE_ADVICE).decode("utf-8", "replace"), ""
    except (OSError, StripewiseError) as error:
        _LOG.error("%s: %s", path, error)  # the page must not mention files of the server
        return "", (
            "The page of advice cannot be read at the moment; its administrators have been "
            "notified."
        )


class StorageEvents(Page):
    """Events of the storage, newest first."""

    path = "/storage/events"
    section = "Storage"
    audience = Audience.PUBLIC

    def build(self, request: PageRequest) -> Content:
        """List the events."""
        wanted = EventFilter.parse(request.words)
        listing = list_events(request.connection, wanted, after=request.words.get("after", ""))
        words = {
            name: request.words.get(name, "") for name in ("file_system", "kind", "since", "until")
        }
        names = view_names(request.connection)
        following = address(self.path, {**words, "after": listing.next}) if listing.next else ""
        found = len(listing.rows)
        lead = (
            f"{plural(found, 'event')} {'is' if found == 1 else 'are'} shown, the newest first."
            if found
            else "No event is known."
        )
        search = Search("search", "", self.path, [
            Field("file_system", "File system", words["file_system"],
                  [(name, name) for name in names]),
            Field("kind", "Kind", words["kind"],
                  [(kind, kind) for kind in kinds_of_events(request.connection)]),
            Field("since", "From", words["since"], kind="date"),
            Field("until", "Before", words["until"], kind="date"),
        ])  # fmt: skip
        table = Table("events", "", _EVENTS, [_row(row) for row in listing.rows],
                      note="An event without an end has not ended.",
                      empty="No event matches.", next=following)  # fmt: skip
        return Content("Events", lead, [search, table])


def _row(row: Any) -> dict[str, Any]:
    name = row.file_system
    return {**row._mapping, "url": path_of(name) if name else ""}
