# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of a collector, and shared helpers: damage, numbers, sums, names."""

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
    """Something that was left out of a round, in one sentence; the rest of the round is valid.

    Attributes:
        text: The file or parameter, and what is wrong.
        reason: See `Round.reason`; "" if the round is complete without it.
    """

    text: str
    reason: str = ""


class CollectorSettings(BaseModel):
    """Settings that every collector has; a subclass may add its own.

    Attributes:
        interval_seconds: Time from one round to the next; 0 for that of the agent.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    interval_seconds: float = Field(default=0.0, ge=0.0, le=3600.0)


class Collector(ABC):
    """Collector of one kind of counters.

    An object exists as long as the agent and is used by one thread at a time; it may keep state
    from round to round.

    Attributes:
        name: Short name, which is also that of its table in the configuration: "lustre-server".
        summary: Description for a list.
        metrics: All metrics that it can report.
        settings_class: Model of its table in the configuration.
        settings: Its settings; a subclass with a model of its own declares it with that type.
        is_repeated: Whether rounds follow each other and growth matters; then sums over parts that
            come and go begin at zero.
        settled_seconds: How often everything that jobs did is required (`TargetJobs.is_settled`);
            0 for each round.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    metrics: ClassVar[tuple[Metric, ...]]
    settings_class: ClassVar[type[CollectorSettings]] = CollectorSettings
    settings: CollectorSettings

    def __init__(self, settings: CollectorSettings) -> None:
        """Store its settings, an instance of `settings_class`."""
        self.settings = settings
        self.is_repeated = False
        self.settled_seconds = 0.0

    @abstractmethod
    def missing(self, host: Host) -> str:
        """Return why there is nothing to read on a host, with the remedy; "" if there is."""

    @abstractmethod
    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        """Read everything once.

        Everything readable is yielded even if something else cannot be read: that is a `Problem`.

        Raises:
            HostError: Nothing more can be read in this round.
        """


# Shared helpers of collectors: files and commands that may fail, and bounded lists of problems.

_MOST_PROBLEMS = 20


def damages(where: str, sentences: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem for each sentence, or for the first ones and the number of the others."""
    for sentence in sentences[:_MOST_PROBLEMS]:
        yield Problem(f"{where}: {sentence}", "malformed")
    if (more := len(sentences) - _MOST_PROBLEMS) > 0:
        yield Problem(f"{where}: {more} more of this kind", "malformed")


def partial_output(
    host: Host, words: Sequence[str], timeout_seconds: float, given: bytes = b""
) -> tuple[str, HostError | None]:
    """Return what a command printed, and the error if it failed after that.

    Raises:
        HostError: It printed nothing, or too much.
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
"""Absolute path of a command, without arguments."""
Seconds = Annotated[float, Field(gt=0.0, le=600.0)]


# Lines and numbers in texts of counters, and duplicate names.

_MOST = (1 << 64) - 1
_DIGITS = 20

_Record = TypeVar("_Record")


def whole(word: str) -> int:
    """Return a counter: only ASCII digits, no leading zeros, at most 2^64 - 1.

    Raises:
        ValueError: It is not such a number.
    """
    found = number(word)
    if found is None:
        raise ValueError(f"{shown(word)} is not a counter")
    return found


def number(word: str) -> int | None:
    """Return a counter as `whole` does, or None if it is not one."""
    is_digits = word.isascii() and word.isdigit() and len(word) <= _DIGITS
    if not is_digits or int(word) > _MOST or (word[0] == "0" and word != "0"):
        return None
    return int(word)


def wholes(text: str) -> list[int]:
    """Return counters that are separated by one blank each, as the kernel prints them.

    Raises:
        ValueError: They are not: an extra blank may stand for a lost digit.
    """
    return [whole(word) for word in text.split(" ")]


def whole_lines(text: str) -> tuple[list[str], list[str]]:
    """Split a text into lines, dropping a last line without its end, which may lack digits.

    Returns:
        The complete lines, and a sentence if one was dropped.
    """
    *lines, torn = text.split("\n")
    return lines, [f"the text ends within a line, {shown(torn.strip())}"] if torn.strip() else []


def usual(counts: Iterable[int]) -> int:
    """Return the value that more than half of the numbers have, or -1 if there is none.

    In a text whose lines all have the same format, it shows which lines lost or gained a column.
    """
    found = Counter(counts)
    most = max(found, key=lambda count: found[count], default=-1)
    return most if 2 * found[most] > found.total() else -1


def fraction(word: str) -> float:
    """Return a number that consists of digits and at most one decimal point.

    Raises:
        ValueError: It is not such a number.
    """
    if not word.isascii() or not word.replace(".", "", 1).isdigit() or len(word) > _DIGITS:
        raise ValueError(f"{shown(word)} is not a number")
    return float(word)


def shown(word: str) -> str:
    """Return a word of a text for a message: short, and without control characters."""
    return ascii(word if len(word) <= 24 else f"{word[:21]}...")


def once(
    records: Iterable[_Record], name: Callable[[_Record], str]
) -> tuple[list[_Record], list[str]]:
    """Drop records whose name occurs more than once, as nobody can tell which is right.

    Returns:
        The other records, and a sentence for each name that was dropped.
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
    """Counters by key, summed over parts, such as those of a client over the targets.

    A part that disappears takes its counters along, and one that is restarted counts from zero. A
    plain sum would then fall, which looks like a restart of everything, so the growth of each part
    is summed. What a part has counted when it is first seen is included in the sum, unless it is
    the base of its growth.

    Memory: 8 bytes for each key and part.
    """

    def __init__(self, most: int) -> None:
        """Set the maximum number of keys."""
        self.left_out = 0
        self._most = most
        self._places: dict[Key, int] = {}
        self._totals = array("Q")
        self._last: dict[Hashable, array[int]] = {}

    def add(self, part: Hashable, key: Key, value: int, *, is_base: bool = False) -> None:
        """Add the current value of a counter of a part.

        Args:
            part: The part that counts.
            key: Key of the counter.
            value: The counter's value.
            is_base: Whether only later growth counts, if this is the first value of the part.
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
        """Record that a part has no counters of these keys any more: they would begin at zero."""
        last = self._last.get(part)
        for key in keys:
            place = self._places.get(key)
            if last is not None and place is not None and place < len(last):
                last[place] = 0

    def known(self, part: Hashable) -> list[Key]:
        """Return the keys for which a part has counters."""
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
    """Texts that were already counting when they were first read.

    An agent that starts does not know what parts that are gone had counted. Sums over the present
    parts would be less than those that the agent before it reported, and a monitor would take that
    for a restart and the whole sum for growth. So the sums of an agent begin at zero. A text that
    appears later, and was not listed before, counts from zero itself.
    """

    def __init__(self) -> None:
        """Set the state before the first round."""
        self._listed: set[str] | None = None
        self._read: set[str] = set()

    def is_base(self, name: str) -> bool:
        """Return whether the present counts of a text may be older than the agent."""
        return name not in self._read and (self._listed is None or name in self._listed)

    def note(self, name: str) -> None:
        """Record that a text was read completely."""
        self._read.add(name)

    def end(self, names: Iterable[str]) -> None:
        """End a round in which these names were listed."""
        self._listed = set(names)
        self._read &= self._listed


# Short names for mount points and the like: never a path, and unique for good.

_UNFIT = re.compile(r"[^A-Za-z0-9_.@-]")
_LONGEST = 48
_GIVEN = re.compile(r"[A-Za-z0-9_.@-]{1,64}")


def _short(name: str) -> str:
    if not _GIVEN.fullmatch(name):
        raise ValueError("write at most 64 letters, digits, dots, hyphens, underscores and @")
    return name


GivenName = Annotated[str, AfterValidator(_short)]
"""A name that the configuration gives."""


class Names:
    """Names by key; a name stays with its key, and no other key gets it.

    A key whose name is taken gets a part of its checksum appended to the name, so that a series
    never continues with the counters of another key.
    """

    def __init__(self, given: Mapping[str, str], most: int) -> None:
        """Store the names that the configuration gives.

        Args:
            given: Names by key.
            most: Maximum number of names in the life of this object.
        """
        self._given = dict(given)
        self._names: dict[str, str] = {}
        self._taken = set(given.values())
        self._most = most

    def of(self, key: str, word: str) -> str | None:
        """Return the name of a key, creating one if necessary.

        Args:
            key: The key.
            word: Word from which the name is made, if there is none yet.

        Returns:
            The name, or None if there are too many.
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
