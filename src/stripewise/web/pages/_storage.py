# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All file systems now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stripewise.fleet.queries import FileSystemState, Space, view_storage
from stripewise.text import plural, printable
from stripewise.web.content import Block, Column, Content, Link, Links, Notice, Table
from stripewise.web.pages._base import Asked, Audience, Page
from stripewise.web.pages._storage_words import TONES, age_text, full_text, health, path_of

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
    Column("total_bytes", "Of", "bytes"),
    Column("used_share", "Share", "share"),
    Column("weekly_bytes", "Growth a week", "bytes"),
    Column("full", "Full on"),
    Column("used_files", "Inodes used", "count"),
    Column("total_files", "Of", "count"),
    Column("used_files_share", "Share", "share"),
    Column("weekly_files", "Growth a week", "count"),
    Column("full_of_files", "Full on"),
)
_NOTE = (
    "“Now” is the mean over five minutes up to the newest sample, which is at most 15 minutes "
    "old. “Busiest” is the mean of the busiest {} of the last 28 days. “Share of the busiest” is "
    "that of the rate that comes nearest to its busiest."
)


class Storage(Page):
    """Every file system: health, space, rates, age of its benchmarks."""

    path = "/storage"
    section = "Storage"
    audience = Audience.PUBLIC

    def build(self, asked: Asked) -> Content:
        """Show them."""
        states = view_storage(asked.connection, asked.now)
        coarse = any(one.read.resolution_seconds > 3600 for one in states)
        blocks: list[Block] = [*notices(states, asked.now)]
        blocks += [
            Table("load", "Health and load", _LOAD, [_load_row(one, asked.now) for one in states],
                  note=_NOTE.format("hour, or day," if coarse else "hour"),
                  empty="No file system is known yet."),
            Table("space", "Space", _SPACE, [_space_row(one) for one in states],
                  note="Growth is the median slope of the last 28 days; the date follows from it.",
                  empty="No file system is known yet."),
            Links("more", "More", [
                Link("Advice of the site", "/storage/advice"),
                Link("Events", "/storage/events"),
            ]),
        ]  # fmt: skip
        return Content("Storage", lead(states, asked.now), blocks)


def lead(states: Sequence[FileSystemState], now: float) -> str:
    """Return how the storage is as a whole, in a sentence or two."""
    if not states:
        return "No file system is known yet: no samples, events or benchmarks were taken in."
    tones = [health(one, now)[0] for one in states]
    count = plural(len(states), "file system")
    said = f"{count}: "
    if all(tone == "good" for tone in tones):
        said += "no trouble is known." if len(states) == 1 else "no trouble is known on any."
    else:
        bad = [one.name for one, tone in zip(states, tones, strict=True) if tone in TONES[2:]]
        unknown = [one.name for one, tone in zip(states, tones, strict=True) if tone == "calm"]
        parts = [f"look at {', '.join(map(printable, bad))}"] if bad else []
        if unknown:
            parts.append(f"nothing is known of {', '.join(map(printable, unknown))}")
        said += "; ".join(parts) + "."
    soon = [one for one in states if one.space.full_at and one.space.full_at < now + 60 * 86400]
    if soon:
        first = min(soon, key=lambda one: one.space.full_at or 0.0)
        said += f" At its present growth, {printable(first.name)} is full on "
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
    """Return the age of the newest benchmark; None: there is none."""
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
