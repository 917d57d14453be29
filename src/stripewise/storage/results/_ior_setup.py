# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads what a test of IOR was to do from its options, as each generation of IOR prints them.

Source: hpc/ior 4.1 (ior-output.c, parse_options.c); IOR 2.10.3 and 3.0 (ShowSetup).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from stripewise.core import Value
from stripewise.core.errors import UsageError
from stripewise.storage.results._lines import (
    MOST_BYTES,
    half_digit,
    number,
    option_size,
    options_of,
    ranks_in,
    shown,
    size,
    whole,
)

WITH_VALUE = "aAbdDfGiIjJlMNoOQstTUX"
MOST_REPEATS = 10_000_000
_BACKENDS = {"POSIX": "posix", "MPIIO": "mpiio", "HDF5": "hdf5", "NCMPI": "pnetcdf"}
_API = re.compile(r"[A-Za-z][A-Za-z0-9]{0,31}", re.ASCII)
_CLIENTS = re.compile(r"(\d{1,10}) \((\d{1,10}) per node\)", re.ASCII)
_SEGMENTS = re.compile(r"\((\d{1,15}) segments?\)", re.ASCII)
_PARTS = ("", "0", "(null)")


@dataclass(frozen=True)
class Summary:
    """A row of the summary of all tests; 0 and "" are not told.

    Attributes:
        operation: "write" or "read".
        low / mean / high: MiB a second.
        repetitions: Of the test.
        test: Its number; -1: not told.
        ranks / ranks_per_node: Of the job.
        block_bytes / transfer_bytes / segments: Of each rank.
        own: A file per process; None: not told.
        shift: Other ranks read.
        api: "POSIX", ...
        moved_bytes: By all ranks.
    """

    operation: str
    low: float
    mean: float
    high: float
    repetitions: int = 0
    test: int = -1
    ranks: int = 0
    ranks_per_node: int = 0
    block_bytes: int = 0
    transfer_bytes: int = 0
    segments: int = 0
    own: bool | None = None
    shift: bool = False
    api: str = ""
    moved_bytes: int = 0


@dataclass(frozen=True)
class Setup:
    """What a test was told to do.

    Attributes:
        backend: As a case has it.
        nodes / ranks: Of the job.
        block_bytes / transfer_bytes / segments: Of each rank.
        own: A file per process.
        collective: Calls.
        sync: fsync within the time; None: not told.
        cache: "shift", "direct" or "none".
        stonewall_seconds: 0: off.
        wear_out: After the stonewall all ranks do as much as the fastest.
        repetitions: 0: not told.
        path: Of the file.
        dry_run: Nothing was moved.
        settings: Of striping.
        notes: What was not told.
    """

    backend: str
    nodes: int
    ranks: int
    block_bytes: int
    transfer_bytes: int
    segments: int
    own: bool
    collective: bool
    sync: bool | None
    cache: str
    stonewall_seconds: float
    wear_out: bool
    repetitions: int
    path: str
    dry_run: bool
    settings: Mapping[str, Value] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def expected_bytes(self) -> int:
        """That all ranks move if nothing stops them."""
        return self.ranks * self.block_bytes * self.segments


class _Options:
    """The same option from each place where IOR may have said it."""

    def __init__(
        self,
        name: str,
        options: Mapping[str, str],
        parameters: Mapping[str, str],
        command: str,
        summary: Summary | None,
    ) -> None:
        self.name = name
        self.options = options
        self.parameters = parameters
        self.words = options_of(command, WITH_VALUE)
        self.has_script = "f" in self.words
        if self.has_script:
            self.words = {}
        self.summary = summary

    def missing(self, what: str) -> UsageError:
        return UsageError(
            f"{self.name}: IOR's options cannot be read ({what}): give the whole output"
        )

    def first(self, *keys: str) -> str:
        return next((self.options[key] for key in keys if self.options.get(key)), "")

    def flag(self, parameter: str, *words: str) -> bool | None:
        """Whether something is on: by the parameters, or the command line; None: not told."""
        if parameter in self.parameters:
            return self.parameters[parameter] not in _PARTS
        if any(word in self.words for word in words):
            return True
        return None if self.has_script or not self.words else False


def setup_of(
    name: str,
    options: Mapping[str, str],
    parameters: Mapping[str, str],
    command: str,
    summary: Summary | None,
    block_kib: str = "",
) -> Setup:
    """Return what a test was told to do.

    Args:
        name: Of the file and test, for messages.
        options: That IOR printed before the test.
        parameters: The longer list, of JSON and of verbose text.
        command: The command line.
        summary: The test's row in the summary of all tests.
        block_kib: Of a row of results, as printed.

    Raises:
        UsageError: Something that is needed is not there, or contradicts itself.
    """
    told = _Options(name, options, parameters, command, summary)
    api = told.first("api") or (summary.api if summary else "")
    found = _API.match(api)
    if found is None:
        raise told.missing(f"api = {shown(api)!r}")
    backend = _BACKENDS.get(found[0].upper(), found[0].lower())
    nodes, ranks = _ranks(told)
    block, transfer = _sizes(told, block_kib)
    segments = _segments(told, ranks * block)
    own, collective, notes = _access(told, backend)
    sync = told.flag("fsync", "e", "Y")
    if sync is None:
        notes.append("it does not say whether the time includes fsync: no is assumed")
    return Setup(
        backend, nodes, ranks, block, transfer, segments, own, collective,
        sync, _cache(told, ranks), _stonewall(told), _wear_out(told),
        whole(told.first("repetitions"), MOST_REPEATS) or (summary.repetitions if summary else 0),
        told.first("test filename", "testFileName"), _is_dry(told), _striping(told), tuple(notes),
    )  # fmt: skip


def _ranks(told: _Options) -> tuple[int, int]:
    if clients := told.first("clients"):
        match = _CLIENTS.search(clients)
        if match is None:
            raise told.missing(f"clients = {shown(clients)!r}")
        ranks = ranks_in(told.name, "clients", match[1])
        each = ranks_in(told.name, "clients per node", match[2])
        return -(-ranks // each), ranks
    if tasks := told.first("tasks"):
        ranks = ranks_in(told.name, "tasks", tasks)
        each = ranks_in(told.name, "clients per node", told.first("clients per node") or "1")
        known = told.first("nodes")
        nodes = ranks_in(told.name, "nodes", known) if known else -(-ranks // each)
        if nodes > ranks or each > ranks:
            raise told.missing(f"{ranks} tasks, {each} on a node, on {nodes} nodes")
        return nodes, ranks
    if told.summary and told.summary.ranks and told.summary.ranks_per_node:
        return -(-told.summary.ranks // told.summary.ranks_per_node), told.summary.ranks
    raise told.missing("no tasks")


def _sizes(told: _Options, block_kib: str) -> tuple[int, int]:
    """Return block and transfer, from the place that has them exactly."""
    summary = told.summary
    block = _size(told, "blocksize", "blockSize", "b", summary.block_bytes if summary else 0)
    if (kib := number(block_kib)) is not None and block_kib:
        slack = max(0.01 * block, half_digit(block_kib) * 1024)
        if abs(kib * 1024 - block) > slack:
            raise told.missing(
                f"a block of {block} B, and rows of blocks of {shown(block_kib)} KiB"
            )
    transfer = _size(told, "xfersize", "transferSize", "t",
                     summary.transfer_bytes if summary else 0)  # fmt: skip
    if transfer > block:
        raise told.missing(f"transfers of {transfer} B in blocks of {block} B")
    return block, transfer


def _size(told: _Options, key: str, parameter: str, letter: str, summed: int) -> int:
    printed = told.options.get(key, "")
    rough = size(printed) if printed else None
    if printed and rough is None:
        raise told.missing(f"{key} = {shown(printed)!r}")
    exact = whole(told.parameters.get(parameter, "")) or summed
    if not exact and (word := told.words.get(letter, "")):
        exact = option_size(word) or 0
    if rough is None:
        if not exact:
            raise told.missing(f"no {key}")
        return exact
    value, is_exact = rough
    if exact and abs(exact - value) > (0 if is_exact else max(0.006 * value, 1)):
        raise told.missing(f"{key} = {shown(printed)}, and {exact} B elsewhere")
    return exact or value


def _segments(told: _Options, all_blocks: int) -> int:
    number_of = 0
    if printed := told.first("segments"):
        number_of = whole(printed, MOST_BYTES) or 0
        if not number_of:
            raise told.missing(f"segments = {shown(printed)!r}")
    elif told.summary and told.summary.segments:
        number_of = told.summary.segments
    elif match := _SEGMENTS.search(told.first("pattern")):
        number_of = int(match[1])
    elif "s" in told.words:
        number_of = option_size(told.words["s"]) or 0
    aggregate = size(told.first("aggregate filesize"))
    if aggregate is not None:
        number_of = number_of or max(round(aggregate[0] / all_blocks), 1)
        if abs(number_of * all_blocks - aggregate[0]) > 0.006 * aggregate[0] + 1:
            raise told.missing(f"{number_of} segments of {all_blocks} B are not {aggregate[0]} B")
    if number_of * all_blocks > MOST_BYTES:
        raise told.missing(f"{number_of} segments of {all_blocks} B")
    return number_of or 1


def _access(told: _Options, backend: str) -> tuple[bool, bool, list[str]]:
    """Return whether each rank has a file of its own, and whether calls are collective."""
    notes: list[str] = []
    text = told.first("access").replace("-", " ")
    own = told.summary.own if told.summary and told.summary.own is not None else None
    if text.startswith(("file per process", "single shared file")):
        own = text.startswith("file")
    elif text or own is None:
        raise told.missing(f"access = {shown(told.first('access'))!r}")
    kind = told.first("type")
    if kind:
        if kind not in ("collective", "independent"):
            raise told.missing(f"type = {shown(kind)!r}")
        return own, kind == "collective", notes
    said = told.flag("collective", "c")
    collective = "collective" in text or bool(said)
    if said is None and backend != "posix" and "independent" not in text and not collective:
        notes.append("it does not say whether calls are collective: no is assumed")
    return own, collective, notes


def _cache(told: _Options, ranks: int) -> str:
    if told.flag("useO_DIRECT", "posix.odirect", "B"):
        return "direct"
    order = told.first("ordering inter file")
    shifted = "constant task" in order or "random task" in order
    shifted = shifted or bool(told.flag("reorderTasks", "C"))
    shifted = shifted or bool(told.flag("reorderTasksRandom", "Z"))
    shifted = shifted or bool(told.summary and told.summary.shift)
    return "shift" if shifted and ranks > 1 else "none"


def _stonewall(told: _Options) -> float:
    text = told.first("stonewallingTime", "Using stonewalling").partition(" ")[0]
    text = text or told.parameters.get("deadlineForStonewall", "") or told.words.get("D", "")
    value = number(text) if text else None
    return value if value is not None and 0 < value < 1e9 else 0.0


def _wear_out(told: _Options) -> bool:
    said = told.first("stoneWallingWearOut") or told.parameters.get("stoneWallingWearOut", "")
    return said not in _PARTS


def _is_dry(told: _Options) -> bool:
    said = told.first("dryRun") or told.parameters.get("dryRun", "")
    return said not in _PARTS or "dryRun" in told.words


def _striping(told: _Options) -> dict[str, Value]:
    found: dict[str, Value] = {}
    count = told.words.get("posix.lustre.stripecount", "")
    if count == "-1" or whole(count, 1_000_000):
        found["mpiio.striping_factor"] = int(count)
    unit = option_size(told.words.get("posix.lustre.stripesize", ""))
    if unit:
        found["mpiio.striping_unit"] = unit
    return found
