# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the configuration of an IOR test from its options, as each generation of IOR prints them.

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
    MOST_MOVED_BYTES,
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
    """A row of the summary of all tests; 0 and empty values are unknown.

    Attributes:
        operation: "write" or "read".
        low / mean / high: Rates in MiB per second.
        repetitions: Repetitions of the test.
        test: Number of the test; -1 if unknown.
        ranks / ranks_per_node: Number of ranks of the job, and per node.
        block_bytes / transfer_bytes / segments: Sizes and segments of each rank.
        own: Whether there is a file per process; None if unknown.
        shift: Whether other ranks read.
        api: "POSIX", ...
        moved_bytes: Bytes moved by all ranks.
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
    """Configuration of a test.

    Attributes:
        backend: Backend as in a case.
        nodes / ranks: Number of nodes and ranks of the job.
        block_bytes / transfer_bytes / segments: Sizes and segments of each rank.
        own: Whether there is a file per process.
        collective: Whether calls are collective.
        sync: Whether the time includes fsync; None if unknown.
        cache: "shift", "direct" or "none".
        stonewall_seconds: Stonewall time; 0 if off.
        wear_out: Whether after the stonewall all ranks do as much as the fastest.
        repetitions: Number of repetitions; 0 if unknown.
        path: Path of the file.
        dry_run: Whether nothing was moved.
        settings: Settings of striping.
        notes: Remarks on unknown values.
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
        """Bytes that all ranks move if nothing stops them."""
        return self.ranks * self.block_bytes * self.segments


class _Options:
    """Access to an option in each place where IOR may have printed it."""

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
        """Return whether an option is on, by parameters or command line; None if unknown."""
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
    """Return the configuration of a test.

    Args:
        name: Name of the file and test, for messages.
        options: Options that IOR printed before the test.
        parameters: Longer list, of JSON and of verbose text.
        command: Command line of IOR.
        summary: Row of the test in the summary of all tests.
        block_kib: Block size in a row of results, as printed.

    Raises:
        UsageError: A required option is missing, or contradicts another.
    """
    given = _Options(name, options, parameters, command, summary)
    api = given.first("api") or (summary.api if summary else "")
    found = _API.match(api)
    if found is None:
        raise given.missing(f"api = {shown(api)!r}")
    backend = _BACKENDS.get(found[0].upper(), found[0].lower())
    nodes, ranks = _ranks(given)
    block, transfer = _sizes(given, block_kib)
    segments = _segments(given, ranks * block)
    own, collective, notes = _access(given, backend)
    sync = given.flag("fsync", "e", "Y")
    if sync is None:
        notes.append("it does not say whether the time includes fsync: no is assumed")
    return Setup(
        backend, nodes, ranks, block, transfer, segments, own, collective,
        sync, _cache(given, ranks), _stonewall(given), _wear_out(given),
        whole(given.first("repetitions"), MOST_REPEATS) or (summary.repetitions if summary else 0),
        given.first("test filename", "testFileName"), _is_dry(given), _striping(given),
        tuple(notes),
    )  # fmt: skip


def _ranks(given: _Options) -> tuple[int, int]:
    if clients := given.first("clients"):
        match = _CLIENTS.search(clients)
        if match is None:
            raise given.missing(f"clients = {shown(clients)!r}")
        ranks = ranks_in(given.name, "clients", match[1])
        each = ranks_in(given.name, "clients per node", match[2])
        return -(-ranks // each), ranks
    if tasks := given.first("tasks"):
        ranks = ranks_in(given.name, "tasks", tasks)
        each = ranks_in(given.name, "clients per node", given.first("clients per node") or "1")
        known = given.first("nodes")
        nodes = ranks_in(given.name, "nodes", known) if known else -(-ranks // each)
        if nodes > ranks or each > ranks:
            raise given.missing(f"{ranks} tasks, {each} on a node, on {nodes} nodes")
        return nodes, ranks
    if given.summary and given.summary.ranks and given.summary.ranks_per_node:
        return -(-given.summary.ranks // given.summary.ranks_per_node), given.summary.ranks
    raise given.missing("no tasks")


def _sizes(given: _Options, block_kib: str) -> tuple[int, int]:
    """Return block and transfer size, from the place that has them exactly."""
    summary = given.summary
    block = _size(given, "blocksize", "blockSize", "b", summary.block_bytes if summary else 0)
    if (kib := number(block_kib)) is not None and block_kib:
        slack = max(0.01 * block, half_digit(block_kib) * 1024)
        if abs(kib * 1024 - block) > slack:
            raise given.missing(
                f"a block of {block} B, and rows of blocks of {shown(block_kib)} KiB"
            )
    transfer = _size(given, "xfersize", "transferSize", "t",
                     summary.transfer_bytes if summary else 0)  # fmt: skip
    if transfer > block:
        raise given.missing(f"transfers of {transfer} B in blocks of {block} B")
    return block, transfer


def _size(given: _Options, key: str, parameter: str, letter: str, summed: int) -> int:
    printed = given.options.get(key, "")
    rough = size(printed) if printed else None
    if printed and rough is None:
        raise given.missing(f"{key} = {shown(printed)!r}")
    exact = whole(given.parameters.get(parameter, "")) or summed
    if not exact and (word := given.words.get(letter, "")):
        exact = option_size(word) or 0
    if rough is None:
        if not exact:
            raise given.missing(f"no {key}")
        return exact
    value, is_exact = rough
    if exact and abs(exact - value) > (0 if is_exact else max(0.006 * value, 1)):
        raise given.missing(f"{key} = {shown(printed)}, and {exact} B elsewhere")
    return exact or value


def _segments(given: _Options, all_blocks: int) -> int:
    number_of = 0
    if printed := given.first("segments"):
        number_of = whole(printed, MOST_BYTES) or 0
        if not number_of:
            raise given.missing(f"segments = {shown(printed)!r}")
    elif given.summary and given.summary.segments:
        number_of = given.summary.segments
    elif match := _SEGMENTS.search(given.first("pattern")):
        number_of = int(match[1])
    elif "s" in given.words:
        number_of = option_size(given.words["s"]) or 0
    aggregate = size(given.first("aggregate filesize"))
    if aggregate is not None:
        number_of = number_of or max(round(aggregate[0] / all_blocks), 1)
        if abs(number_of * all_blocks - aggregate[0]) > 0.006 * aggregate[0] + 1:
            raise given.missing(f"{number_of} segments of {all_blocks} B are not {aggregate[0]} B")
    if number_of * all_blocks > MOST_MOVED_BYTES:
        raise given.missing(f"{number_of} segments of {all_blocks} B")
    return number_of or 1


def _access(given: _Options, backend: str) -> tuple[bool, bool, list[str]]:
    """Return whether each rank has its own file, whether calls are collective, and notes."""
    notes: list[str] = []
    text = given.first("access").replace("-", " ")
    own = given.summary.own if given.summary and given.summary.own is not None else None
    if text.startswith(("file per process", "single shared file")):
        own = text.startswith("file")
    elif text or own is None:
        raise given.missing(f"access = {shown(given.first('access'))!r}")
    kind = given.first("type")
    if kind:
        if kind not in ("collective", "independent"):
            raise given.missing(f"type = {shown(kind)!r}")
        return own, kind == "collective", notes
    on = given.flag("collective", "c")
    collective = "collective" in text or bool(on)
    if on is None and backend != "posix" and "independent" not in text and not collective:
        notes.append("it does not say whether calls are collective: no is assumed")
    return own, collective, notes


def _cache(given: _Options, ranks: int) -> str:
    if given.flag("useO_DIRECT", "posix.odirect", "B"):
        return "direct"
    order = given.first("ordering inter file")
    shifted = "constant task" in order or "random task" in order
    shifted = shifted or bool(given.flag("reorderTasks", "C"))
    shifted = shifted or bool(given.flag("reorderTasksRandom", "Z"))
    shifted = shifted or bool(given.summary and given.summary.shift)
    return "shift" if shifted and ranks > 1 else "none"


def _stonewall(given: _Options) -> float:
    text = given.first("stonewallingTime", "Using stonewalling").partition(" ")[0]
    text = text or given.parameters.get("deadlineForStonewall", "") or given.words.get("D", "")
    value = number(text) if text else None
    return value if value is not None and 0 < value < 1e9 else 0.0


def _wear_out(given: _Options) -> bool:
    value = given.first("stoneWallingWearOut") or given.parameters.get("stoneWallingWearOut", "")
    return value not in _PARTS


def _is_dry(given: _Options) -> bool:
    value = given.first("dryRun") or given.parameters.get("dryRun", "")
    return value not in _PARTS or "dryRun" in given.words


def _striping(given: _Options) -> dict[str, Value]:
    found: dict[str, Value] = {}
    count = given.words.get("posix.lustre.stripecount", "")
    if count == "-1" or whole(count, 1_000_000):
        found["mpiio.striping_factor"] = int(count)
    unit = option_size(given.words.get("posix.lustre.stripesize", ""))
    if unit:
        found["mpiio.striping_unit"] = unit
    return found
