# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a tunable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from stripewise.errors import ConfigurationError
from stripewise.model import ProgramFacts, Value
from stripewise.tunables._domains import Domain


class SafetyClass(StrEnum):
    """What a tunable can do to the output, the most dangerous last."""

    SAFE = "safe"
    """Cannot change what is written."""
    LAYOUT = "layout"
    """Same content, other bytes in the file."""
    CONTRACT = "contract"
    """Right only if the program meets a condition; only on request."""


class Layer(StrEnum):
    """Where a tunable acts; the key of its table in the canonical TOML.

    Attributes:
        settings: What is set there, for people, in the plural.
    """

    MPIIO = "mpiio", "MPI-IO hints"
    MCA = "mca", "Open MPI parameters"
    HDF5 = "hdf5", "HDF5 properties"
    PNETCDF = "pnetcdf", "PnetCDF hints"
    ADIOS2 = "adios2", "ADIOS2 engine parameters"
    JOB = "job", "The job's resources"
    ENVIRONMENT = "environment", "Environment variables"

    settings: str

    def __new__(cls, key: str, settings: str = "") -> Layer:
        """Make a member; its value is the key alone."""
        member = str.__new__(cls, key)
        member._value_ = key
        member.settings = settings
        return member


class ActsAt(StrEnum):
    """When a tunable acts."""

    JOB = "job start"
    CREATE = "file creation"
    OPEN = "file open"
    DATASET = "dataset creation"
    TRANSFER = "data transfer"


Rungs = Callable[[ProgramFacts], tuple[Value, ...]]
Condition = Callable[[ProgramFacts], str]


class Search:
    """Where and with which values a tunable is searched.

    Attributes:
        effect_order: Position in the order of likely effect; smaller is tried earlier.
        by_name: Why it is searched only if the user names it (nothing that is counted proves
            what it needs, or shows whether it can act); "" where it is searched unasked.
        from_trials: It has no ladder: strategies choose values by what trials showed.  It is in a
            space where it is asked for, with whatever values are given, also with none.
        ladder: Returns the values worth trying for a program.
    """

    def __init__(
        self,
        effect_order: int,
        *rungs: Value,
        by: Rungs | None = None,
        by_name: str = "",
        from_trials: bool = False,
    ) -> None:
        """Try the same values on every program, or those that `by` returns."""
        self.effect_order = effect_order
        self.by_name = by_name
        self.from_trials = from_trials
        self.ladder: Rungs = by or (lambda facts: rungs)


NOT_SEARCHED = Search(100)


@dataclass(eq=False)
class Tunable:
    """One tunable: the tables of the layers hold these.

    Attributes:
        key: Name inside the layer's table, in the spelling of the layer's own documentation.
        domain: Which values it can have, and what the stack does unasked.
        summary: One line.
        layer: Table in the configuration.
        safety: Class.
        acts_at: When.
        stacks: Which stacks honour it: any of "romio", "ompio", "cray", "openmpi", "hdf5".
        source: Where default and meaning come from, and whether read, measured or assumed.
        search: How it is searched; without values it can still be set by hand.
        also: The same setting in other interfaces, as "netCDF-4: nc_set_alignment".
        applies: Conditions on the program; each returns why it is not met, or "".
        implies: Returns other settings (tunable name to value) without which a value has no
            effect, given the value and the program's facts, if there are any.
        requires: Returns the values that other tunables must have, set or by default, for this
            one to act on a program.
        name: `<layer>.<key>`, e.g. "mpiio.cb_nodes"; unique.
    """

    key: str
    domain: Domain
    summary: str
    layer: Layer
    acts_at: ActsAt
    stacks: tuple[str, ...]
    source: str
    safety: SafetyClass = SafetyClass.SAFE
    search: Search = NOT_SEARCHED
    also: str = ""
    applies: tuple[Condition, ...] = ()
    implies: Callable[[Value, ProgramFacts | None], Mapping[str, Value]] = lambda *_: {}
    requires: Callable[[ProgramFacts], Mapping[str, Value]] = lambda _: {}
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = f"{self.layer.value}.{self.key}"

    def why_not(self, facts: ProgramFacts) -> str:
        """Return the first reason why the tunable cannot act on this program; "" if it can."""
        return next((why for condition in self.applies if (why := condition(facts))), "")

    def check(self, value: Value) -> Value:
        """Return the value in its canonical type.

        Raises:
            ConfigurationError: The value is of a wrong type or out of range.
        """
        checked = self.domain.check(value)
        if checked is None:
            raise self._wrong(list(value) if isinstance(value, tuple) else value)
        return checked

    def parse(self, text: str) -> Value:
        """Read the value from text, as hint strings and XML hold it.

        Raises:
            ConfigurationError: It is not such a value.
        """
        value = self.domain.read(text)
        if value is None:
            raise self._wrong(text.strip())
        return self.check(value)

    def _wrong(self, value: object) -> ConfigurationError:
        return ConfigurationError(f"{self.name} = {value!r}: give {self.domain.expected}")
