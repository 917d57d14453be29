# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines blocks of text: findings, notices, lines to copy, links and search forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stripewise.present.blocks._block import Block, Grid, Row
from stripewise.present.blocks._figures import Part
from stripewise.present.numbers import seconds_text


@dataclass(frozen=True)
class Advice:
    """One finding with its remedy.

    Attributes:
        code: Code of the finding.
        severity: Severity: "high", "warn" or "info".
        title: Title in words.
        text: Evidence in words; empty if file names are hidden.
        cost_seconds: Time that the change saves; None if no gain is claimed.
        least_seconds: Lower bound of the time saved.
        most_seconds: Upper bound of the time saved.
        remedy: What to do.
        lines: Lines for a job script that work without Stripewise.
        command: Command that tries and measures the remedy.
        basis: Source of the cost, or why none is claimed.
        proof: Result of pairs of runs; empty if not yet proved; None to show nothing about it.
        evidence: Numbers behind the finding, by name.
        stake_seconds: Time that the calls concerned take; None if not shown.
        of_seconds: Time of the whole run; None if not shown.
        parts: Cost and stake as parts of the run, for a bar; () for none.
        files: Names of the files concerned.
        n_files: Total number of files concerned, including those not named.
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
        """Severity in words."""
        return _SEVERITIES[self.severity]

    @property
    def saving(self) -> str:
        """Sentence that says what the change saves, and the source of this figure."""
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
    """Return what a change saves, in words: "a change saves about 25 s (20 s to 28 s)"."""
    ends = " to ".join(seconds_text(value) for value in (least, most) if value is not None)
    return f"a change saves about {seconds_text(cost)}" + (f" ({ends})" if ends else "")


@dataclass(frozen=True)
class Findings(Block):
    """Findings with their remedies, the most costly first."""

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
        tone: Empty for a plain sentence; "good" or "bad" for a claim that is true or false; "warn"
            for a warning.
        lines: Lines to copy, such as the commands that follow from the sentence.
        language: Language of these lines.
        note: Source of the sentence.
    """

    text: str
    tone: str = ""
    lines: Sequence[str] = ()
    language: str = "text"
    note: str = ""


@dataclass(frozen=True)
class Points(Block):
    """A list of sentences, with `note` below it."""

    items: Sequence[Point]
    note: str = ""

    @classmethod
    def of(cls, name: str, title: str, texts: Iterable[str]) -> Points:
        """Create a list of plain sentences."""
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
    """Markdown text of the site, in which HTML is shown as text."""

    text: str

    def data(self) -> Any:
        """Return the text."""
        return self.text


@dataclass(frozen=True)
class Link:
    """A link to another page or to a download."""

    title: str
    address: str
    note: str = ""
    is_download: bool = False


@dataclass(frozen=True)
class Links(Block):
    """Links from this page; side by side if `is_row`, such as the choice of a period."""

    items: Sequence[Link]
    is_row: bool = False

    def data(self) -> Any:
        """Return addresses by title."""
        return {item.title: item.address for item in self.items}


@dataclass(frozen=True)
class Field:
    """One field of a search form.

    Attributes:
        choices: Choices as (value, words); () for a text field.
        has_any: Whether "any" is offered besides the choices.
        kind: Kind of the field: "search", "text", "date", "number".
    """

    name: str
    title: str
    value: str = ""
    choices: Sequence[tuple[str, str]] = ()
    kind: str = "text"
    has_any: bool = True


@dataclass(frozen=True)
class Search(Block):
    """A search form, which changes nothing.

    Attributes:
        action: Address of the page.
        more: Rarely used fields, collapsed unless one of them is in use.
        kept: Further parameters of the address, by name.
        button: Label of the button.
    """

    action: str
    fields: Sequence[Field]
    more: Sequence[Field] = ()
    kept: Mapping[str, str] = field(default_factory=dict)
    button: str = "Search"

    def data(self) -> Any:
        """Return the values of the fields."""
        return {one.name: one.value for one in (*self.fields, *self.more) if one.value}
