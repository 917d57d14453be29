# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the contract of a collector, and how unusable files and numbers are reported."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from stripewise.centre.monitor._host import TEXT_BYTES, Host, HostError
from stripewise.centre.monitor._records import Metric, Reading, TargetJobs


@dataclass(frozen=True)
class Problem:
    """Something that was left out of a round, in one sentence; the rest of the round counts.

    Attributes:
        text: Which file or parameter, what is wrong.
        reason: As of `Round.reason` if the round is not complete without it; "": it is.
    """

    text: str
    reason: str = ""


class CollectorSettings(BaseModel):
    """Settings that every collector has; a member may add its own.

    Attributes:
        interval_seconds: From one round to the next; 0: as the agent has it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    interval_seconds: float = Field(default=0.0, ge=0.0, le=3600.0)


class Collector(ABC):
    """One kind of counters.

    One object lives as long as the agent and is used by one thread at a time; it may remember what
    it needs from round to round.

    Attributes:
        name: Short, and the name of its table in the configuration: "lustre-server".
        summary: What it reads, for a list.
        metrics: All that it can report.
        settings_class: Form of its table in the configuration.
        is_repeated: Its rounds follow one another, and somebody looks at growth: sums over parts
            that come and go begin at zero.
        settled_seconds: How often all that jobs did is asked for (`TargetJobs.is_settled`);
            0: in each round.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    metrics: ClassVar[tuple[Metric, ...]]
    settings_class: ClassVar[type[CollectorSettings]] = CollectorSettings

    def __init__(self, settings: CollectorSettings) -> None:
        """Take its settings, an instance of `settings_class`."""
        self.settings = settings
        self.is_repeated = False
        self.settled_seconds = 0.0

    @abstractmethod
    def missing(self, host: Host) -> str:
        """Return why there is nothing to read on a host, with the remedy; "": there is."""

    @abstractmethod
    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        """Read everything once.

        What can be read is given although something else cannot: that is a `Problem`.

        Raises:
            HostError: Nothing more can be read in this round.
        """


# What collectors have in common: files and commands that may fail, problems in bounds.

_MOST_PROBLEMS = 20


def damages(where: str, sentences: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem for each sentence; of many, the first and how many more there are."""
    for sentence in sentences[:_MOST_PROBLEMS]:
        yield Problem(f"{where}: {sentence}", "malformed")
    if (more := len(sentences) - _MOST_PROBLEMS) > 0:
        yield Problem(f"{where}: {more} more of this kind", "malformed")


def partial_output(
    host: Host, words: Sequence[str], timeout_seconds: float, given: bytes = b""
) -> tuple[str, HostError | None]:
    """Return what a command printed, and the error if it failed after that.

    Raises:
        HostError: It printed nothing, or is too large.
    """
    found = bytearray()
    failure = None
    try:
        for piece in host.pieces(words, timeout_seconds, given):
            found += piece
            if len(found) > TEXT_BYTES:
                raise HostError("malformed", f"{words[0]}: more than {TEXT_BYTES >> 20} MiB")
    except HostError as error:
        if not found or error.reason == "malformed":
            raise
        failure = error
    return found.decode("utf-8", "replace"), failure


def _absolute(path: str) -> str:
    if path and (not path.startswith("/") or not path.isprintable()):
        raise ValueError("give the whole path of a command, such as /usr/bin/beegfs")
    return path


Command = Annotated[str, AfterValidator(_absolute)]
"""Whole path of a command, without arguments."""
Seconds = Annotated[float, Field(gt=0.0, le=600.0)]


# Lines and numbers in texts of counters, and names that are there twice.

_MOST = (1 << 64) - 1
_DIGITS = 20

_Record = TypeVar("_Record")


def whole(word: str) -> int:
    """Return a counter: ASCII digits alone, none before it that is zero, at most 2^64 - 1.

    Raises:
        ValueError: It is none.
    """
    found = number(word)
    if found is None:
        raise ValueError(f"{shown(word)} is no counter")
    return found


def number(word: str) -> int | None:
    """Return a counter as `whole` does; None: it is none."""
    is_digits = word.isascii() and word.isdigit() and len(word) <= _DIGITS
    if not is_digits or int(word) > _MOST or (word[0] == "0" and word != "0"):
        return None
    return int(word)


def wholes(text: str) -> list[int]:
    """Return counters that are parted by one blank each, as the kernel prints them.

    Raises:
        ValueError: They are not: a blank too many may be a digit that is lost.
    """
    return [whole(word) for word in text.split(" ")]


def whole_lines(text: str) -> tuple[list[str], list[str]]:
    """Split a text into lines; a last one without its end is torn: its number may lack digits.

    Returns:
        Lines that are whole, and a sentence if one was left out.
    """
    *lines, torn = text.split("\n")
    return lines, [f"the text ends within a line, {shown(torn.strip())}"] if torn.strip() else []


def usual(counts: Iterable[int]) -> int:
    """Return the number that more than half of them are; -1: none is.

    A text whose lines are all written alike tells so which of them lost or gained a column.
    """
    found = Counter(counts)
    most = max(found, key=lambda count: found[count], default=-1)
    return most if 2 * found[most] > found.total() else -1


def fraction(word: str) -> float:
    """Return a number of digits and at most one point.

    Raises:
        ValueError: It is none.
    """
    if not word.isascii() or not word.replace(".", "", 1).isdigit() or len(word) > _DIGITS:
        raise ValueError(f"{shown(word)} is no number")
    return float(word)


def shown(word: str) -> str:
    """Show a word of a text in a message: short, and without characters that act."""
    return ascii(word if len(word) <= 24 else f"{word[:21]}...")


def once(
    records: Iterable[_Record], name: Callable[[_Record], str]
) -> tuple[list[_Record], list[str]]:
    """Leave out what is there more than once: nobody can tell which is right.

    Returns:
        The records, and a sentence for each name that was left out.
    """
    kept = list(records)
    several = [one for one, count in Counter(map(name, kept)).items() if count > 1]
    wrong = frozenset(several)
    return (
        [record for record in kept if name(record) not in wrong],
        [f"{shown(one)} is there more than once and is left out" for one in several],
    )
