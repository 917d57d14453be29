# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the contract of a collector, and what collectors share: damage, numbers, sums, names."""

from __future__ import annotations

import re
import zlib
from abc import ABC, abstractmethod
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Generic, TypeVar

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
        settings: Its table; a member with a form of its own declares it with that type.
        is_repeated: Its rounds follow one another, and somebody looks at growth: sums over parts
            that come and go begin at zero.
        settled_seconds: How often all that jobs did is asked for (`TargetJobs.is_settled`);
            0: in each round.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    metrics: ClassVar[tuple[Metric, ...]]
    settings_class: ClassVar[type[CollectorSettings]] = CollectorSettings
    settings: CollectorSettings

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
        raise ValueError(f"{shown(word)} is not a counter")
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
        raise ValueError(f"{shown(word)} is not a number")
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


# Sums of counters over parts that come and go, and short names for mount points.

Key = TypeVar("Key", bound=Hashable)


class Sums(Generic[Key]):
    """Counters by key, summed over parts: those of a client over the targets, say.

    A part that disappears takes its counters along, and one that is started again counts from
    zero.  A plain sum would fall then, which reads as a restart of everything; so the growth of
    each part is added up.  What parts have counted when they are first seen is in the sum, unless
    it is the base of their growth.

    Memory: 8 bytes for each key and part.
    """

    def __init__(self, most: int) -> None:
        """Keep at most so many keys."""
        self.left_out = 0
        self._most = most
        self._places: dict[Key, int] = {}
        self._totals = array("Q")
        self._last: dict[Hashable, array[int]] = {}

    def add(self, part: Hashable, key: Key, value: int, *, is_base: bool = False) -> None:
        """Take the value that a counter of a part has now.

        Args:
            part: The part that counts.
            key: Which counter it is.
            value: The counter's value.
            is_base: If it is the first of this part, only what comes later is growth.
        """
        place = self._places.get(key)
        if place is None:
            if len(self._places) >= self._most:
                self.left_out += 1
                return
            place = self._places[key] = len(self._totals)
            self._totals.append(0)
        last = self._last.setdefault(part, array("Q"))
        if place >= len(last):
            last.extend([0] * (place + 1 - len(last)))
        if is_base and not last[place]:
            last[place] = value
            return
        growth = value - last[place] if value >= last[place] else value
        self._totals[place] = (self._totals[place] + growth) & (1 << 64) - 1
        last[place] = value

    def forget(self, part: Hashable, keys: Iterable[Key]) -> None:
        """Note that a part no longer has counters of these keys: they would begin at zero."""
        last = self._last.get(part)
        for key in keys:
            place = self._places.get(key)
            if last is not None and place is not None and place < len(last):
                last[place] = 0

    def known(self, part: Hashable) -> list[Key]:
        """Return the keys that a part has counters of."""
        last = self._last.get(part, array("Q"))
        return [key for key, place in self._places.items() if place < len(last) and last[place]]

    def parts(self) -> list[Hashable]:
        """Return all parts that were seen."""
        return list(self._last)

    def items(self) -> Iterator[tuple[Key, int]]:
        """Return the sums."""
        for key, place in self._places.items():
            yield key, self._totals[place]


class FirstTexts:
    """Which texts had been counting when they were first read.

    An agent that starts does not know what parts that are gone had counted: sums over what is
    there would be less than those that the agent before it told, and whoever watches them would
    read that as a restart, and all of the sum as growth.  So the sums of an agent begin at zero.
    What comes later, and was not listed before, counts from zero itself.
    """

    def __init__(self) -> None:
        """Begin before the first round."""
        self._listed: set[str] | None = None
        self._read: set[str] = set()

    def is_base(self, name: str) -> bool:
        """Return whether what a text tells now may be older than the agent."""
        return name not in self._read and (self._listed is None or name in self._listed)

    def note(self, name: str) -> None:
        """Note that a text was read wholly."""
        self._read.add(name)

    def end(self, names: Iterable[str]) -> None:
        """End a round in which these names were listed."""
        self._listed = set(names)
        self._read &= self._listed


# Short names for places such as mount points: never a path, each one's own for good.

_UNFIT = re.compile(r"[^A-Za-z0-9_.@-]")
_LONGEST = 48
_GIVEN = re.compile(r"[A-Za-z0-9_.@-]{1,64}")


def _short(name: str) -> str:
    if not _GIVEN.fullmatch(name):
        raise ValueError("write at most 64 letters, digits, dots, hyphens, underscores and @")
    return name


GivenName = Annotated[str, AfterValidator(_short)]
"""A name that is given in the configuration."""


class Names:
    """Names by key; one that was given stays its key's, and no other key gets it.

    Whoever comes later with a name that is taken gets a part of a checksum of its key behind it,
    so that a series never goes on with somebody else's counters.
    """

    def __init__(self, given: Mapping[str, str], most: int) -> None:
        """Begin with names that the configuration gives.

        Args:
            given: Names by key.
            most: How many names there may be in the life of this object.
        """
        self._given = dict(given)
        self._names: dict[str, str] = {}
        self._taken = set(given.values())
        self._most = most

    def of(self, key: str, word: str) -> str | None:
        """Return the name of a key.

        Args:
            key: The key that gets a name.
            word: From which the name is made, if there is none yet.

        Returns:
            The name; None: there are too many.
        """
        if key in self._given:
            return self._given[key]
        if key not in self._names:
            if len(self._names) >= self._most:
                return None
            self._names[key] = self._new(key, _UNFIT.sub("_", word)[:_LONGEST] or "root")
        return self._names[key]

    def _new(self, key: str, word: str) -> str:
        name, salt = word, key
        while name in self._taken:
            name = f"{word}-{zlib.crc32(salt.encode('utf-8', 'surrogatepass')):08x}"
            salt += "+"
        self._taken.add(name)
        return name
