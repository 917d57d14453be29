# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines blocks of words: findings, notices, lines to copy, links, forms that search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stripewise.present.blocks._block import Block, Grid, Row
from stripewise.present.blocks._figures import Part
from stripewise.present.numbers import seconds_text


@dataclass(frozen=True)
class Advice:
    """One finding with what to do.

    Attributes:
        code: Of the finding.
        severity: "high", "warn" or "info".
        title: In words.
        text: The evidence in words; "" where names of files are hidden.
        cost_seconds: What the change saves; None: no gain is claimed.
        least_seconds: Lower end of that.
        most_seconds: Upper end of that.
        remedy: What to do.
        lines: Of a job script, which need no Stripewise.
        command: That tries and measures it.
        basis: Where the cost comes from, or why none is claimed.
        proof: What pairs of runs showed; "": not proved yet; None: nothing is said of it.
        evidence: Numbers behind it, by name.
        stake_seconds: What the calls concerned take; None: not said.
        of_seconds: Of the whole run; None: not said.
        parts: Cost and stake in the run, as a bar; () for none.
        files: That are concerned.
        n_files: How many there are, with those that are not named.
    """

    code: str
    severity: str
    title: str
    text: str = ""
    cost_seconds: float | None = None
    least_seconds: float | None = None
    most_seconds: float | None = None
    remedy: str = ""
    lines: Sequence[str] = ()
    command: str = ""
    basis: str = ""
    proof: str | None = ""
    evidence: Row = field(default_factory=dict)
    stake_seconds: float | None = None
    of_seconds: float | None = None
    parts: Sequence[Part] = ()
    files: Sequence[str] = ()
    n_files: int = 0

    @property
    def severity_words(self) -> str:
        """Its severity for people."""
        return _SEVERITIES[self.severity]

    @property
    def saving(self) -> str:
        """What a change saves, in a sentence, with where that comes from."""
        concerned = ""
        if self.stake_seconds:
            concerned = f"the calls concerned take {seconds_text(self.stake_seconds)}"
        if self.cost_seconds is None:
            concerned = f"{concerned[:1].upper()}{concerned[1:]}." if concerned else ""
            return " ".join(filter(None, (self.basis or "No gain is claimed.", concerned)))
        text = saving_text(self.cost_seconds, self.least_seconds, self.most_seconds)
        of_run = f" of {seconds_text(self.of_seconds)}" if self.of_seconds else ""
        more = f"; {concerned}" if concerned else ""
        return f"{text[:1].upper()}{text[1:]}{of_run}{more}. {self.basis}".rstrip()


_SEVERITIES = {"high": "costly", "warn": "worth a look", "info": "for information"}


def saving_text(cost: float, least: float | None, most: float | None) -> str:
    """Say what a change saves: "a change saves about 25 s (20 s to 28 s)"."""
    ends = " to ".join(seconds_text(value) for value in (least, most) if value is not None)
    return f"a change saves about {seconds_text(cost)}" + (f" ({ends})" if ends else "")


@dataclass(frozen=True)
class Findings(Block):
    """What costs time, and what to do; the most costly first."""

    items: Sequence[Advice]
    empty: str = "Nothing was found that costs much time."

    def data(self) -> Any:
        """Return all fields of each finding."""
        lists = ("lines", "files")
        return [
            {name: list(value) if name in lists else value
             for name, value in vars(item).items() if name != "parts"}
            for item in self.items
        ]  # fmt: skip

    def grid(self) -> Grid | None:
        """Return a row for each finding."""
        names = ("code", "severity", "title", "cost_seconds", "least_seconds", "most_seconds",
                 "remedy", "proof")  # fmt: skip
        return names, [[getattr(item, name) for name in names] for item in self.items]


@dataclass(frozen=True)
class Point:
    """One sentence of a list.

    Attributes:
        tone: "": plain; "good" and "bad": what holds and what does not; "warn": a warning.
        lines: To copy, such as the commands that follow from it.
        language: Of these lines.
        note: What it follows from.
    """

    text: str
    tone: str = ""
    lines: Sequence[str] = ()
    language: str = "text"
    note: str = ""


@dataclass(frozen=True)
class Points(Block):
    """A list of sentences; `note` stands below it."""

    items: Sequence[Point]
    note: str = ""

    @classmethod
    def of(cls, name: str, title: str, texts: Iterable[str]) -> Points:
        """Make a list of plain sentences."""
        return cls(name, title, [Point(text) for text in texts])

    def data(self) -> Any:
        """Return the sentences."""
        return [item.text for item in self.items]


@dataclass(frozen=True)
class Notice(Block):
    """A few sentences; `tone` is "good", "calm", "warn", "bad", or "plain" without a frame."""

    text: Sequence[str]
    tone: str = "calm"

    def data(self) -> Any:
        """Return the sentences."""
        return list(self.text)


@dataclass(frozen=True)
class Lines(Block):
    """Lines to copy, such as those of a job script; `note` says what they do."""

    lines: Sequence[str]
    note: str = ""

    def data(self) -> Any:
        """Return the lines."""
        return list(self.lines)


@dataclass(frozen=True)
class Prose(Block):
    """Text in Markdown, of the site; HTML in it stands there as text."""

    text: str

    def data(self) -> Any:
        """Return the text."""
        return self.text


@dataclass(frozen=True)
class Link:
    """Something to go to, or to download."""

    title: str
    address: str
    note: str = ""
    is_download: bool = False


@dataclass(frozen=True)
class Links(Block):
    """Where to go from here; `is_row`: side by side, such as the choice of a time."""

    items: Sequence[Link]
    is_row: bool = False

    def data(self) -> Any:
        """Return addresses by title."""
        return {item.title: item.address for item in self.items}


@dataclass(frozen=True)
class Field:
    """One field of a form that searches.

    Attributes:
        choices: (value, words); () for a field to type in.
        has_any: Whether none of the choices may be chosen.
        kind: "search", "text", "date", "number".
    """

    name: str
    title: str
    value: str = ""
    choices: Sequence[tuple[str, str]] = ()
    kind: str = "text"
    has_any: bool = True


@dataclass(frozen=True)
class Search(Block):
    """A form that searches; it changes nothing.

    Attributes:
        action: Address of the page.
        more: Fields that few need, folded away; open if one of them is used.
        kept: Further words of the address, by name.
        button: What the button says.
    """

    action: str
    fields: Sequence[Field]
    more: Sequence[Field] = ()
    kept: Mapping[str, str] = field(default_factory=dict)
    button: str = "Search"

    def data(self) -> Any:
        """Return what is asked."""
        return {one.name: one.value for one in (*self.fields, *self.more) if one.value}
