# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes workloads from HPF notation and from the options of the benchmark kernels."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from math import isqrt, prod
from typing import Any, TypeVar

from stripewise.core.errors import UsageError
from stripewise.evidence.patterns import BlockRule, Distribution, Pattern, PatternKind
from stripewise.storage.stacks import Workload

_T = TypeVar("_T")
_TOKEN = re.compile(r"\s*([A-Za-z]+|[0-9]+|.)", re.DOTALL)
_EXAMPLE = "<3D,(BLOCK,BLOCK,BLOCK),(256,256,256)>"
MOST_ELEMENTS, MOST_BYTES = 1 << 53, 1 << 60


def workload_from_notation(
    notation: str,
    nodes: int,
    ranks_per_node: int,
    *,
    element_bytes: int = 8,
    steps: int = 1,
    datasets: int = 1,
    collective: bool = True,
    writing: bool = True,
) -> Workload:
    """Return the workload of a pattern in HPF notation.

    Args:
        notation: "<3D,(BLOCK,BLOCK,BLOCK),(256,256,256)>": dimensions, how each is divided (BLOCK,
            CYCLIC, CYCLIC(k) or *), and the elements of one process in each.
        nodes: Number of nodes of the job.
        ranks_per_node: Ranks per node, each with such a block; the grid is that of
            MPI_Dims_create.
        element_bytes: Size of one element.
        steps: How often each dataset is written, each time elsewhere in the file.
        datasets: Number of arrays in the file, one after another.
        collective: Whether the calls are collective.
        writing: Whether data is written; otherwise it is read.

    Raises:
        UsageError: The notation is invalid, or a number is impossible.
    """
    distributions, block = parse_notation(notation)
    pattern = arranged(distributions, block, nodes * ranks_per_node, element_bytes)
    pattern = replace(pattern, writing=writing, collective=float(collective), steps=steps)
    return in_one_file([pattern] * datasets, nodes, ranks_per_node)


def arranged(
    distributions: Sequence[Distribution], block: Sequence[int], ranks: int, element_bytes: int
) -> Pattern:
    """Return the pattern in which each of some ranks has a block of the same size."""
    grid = process_grid(ranks, [one.kind != "*" for one in distributions])
    extents = tuple(size * parts for size, parts in zip(block, grid, strict=True))
    if prod(extents) * element_bytes > MOST_BYTES:
        raise UsageError(
            f"{ranks:,} blocks of {' x '.join(map(str, block))} elements are more than 1 EiB: "
            "give smaller blocks"
        )
    return divided(distributions, extents, grid, ranks, element_bytes)


def divided(
    distributions: Sequence[Distribution],
    extents: tuple[int, ...],
    grid: tuple[int, ...],
    ranks: int,
    element_bytes: int,
) -> Pattern:
    """Return the pattern in which an array is divided between the processes of a grid."""
    places = prod(grid)
    kind = PatternKind.DISTRIBUTED if places > 1 else PatternKind.REPLICATED
    block = tuple(-(-size // parts) for size, parts in zip(extents, grid, strict=True))
    return Pattern(
        file="data",
        dataset="data",
        writing=True,
        kind=PatternKind.SINGLE if ranks == 1 else kind,
        distributions=tuple(distributions),
        block=block,
        grid=grid,
        extents=extents,
        element_bytes=element_bytes,
        n_ranks=ranks,
        active_ranks=ranks,
        rank_strides=tuple(prod(grid[d + 1 :]) for d in range(len(grid))),
        uneven=any(size % parts for size, parts in zip(extents, grid, strict=True)),
        source="view",
        collective=1.0,
    )


def in_one_file(patterns: Sequence[Pattern], nodes: int, ranks_per_node: int) -> Workload:
    """Return a workload of consecutive datasets in one file."""
    placed, offset = [], 0
    for number, one in enumerate(patterns):
        name = f"{one.dataset}{number + 1}" if len(patterns) > 1 else one.dataset
        placed.append(replace(one, dataset=name, file_offset=offset))
        offset += prod(one.extents) * one.element_bytes * one.steps
    if offset > MOST_BYTES:
        raise UsageError(
            "the ranks move more than 1 EiB in all: give fewer steps or smaller blocks"
        )
    return Workload(tuple(placed), nodes, ranks_per_node)


def parse_notation(notation: str) -> tuple[tuple[Distribution, ...], tuple[int, ...]]:
    """Return the distribution of each dimension, and the elements of one process in it.

    Raises:
        UsageError: The notation is invalid; the message contains the place of the error.
    """
    return _Reader(notation).pattern()


class _Reader:
    """Parser of a notation, word by word."""

    def __init__(self, text: str) -> None:
        self._text = text
        stripped = text.rstrip()
        self._words = [(m[1], m.start(1)) for m in _TOKEN.finditer(stripped)]
        self._at = 0

    def pattern(self) -> tuple[tuple[Distribution, ...], tuple[int, ...]]:
        angle = self._accept("<")
        n_dims = self._number("the number of dimensions (3D)")
        self._expect("D")
        self._expect(",")
        kinds = self._several(self._distribution, n_dims, "distribution")
        self._expect(",")
        sizes = self._several(lambda: self._number("a number of elements"), n_dims, "size")
        if angle:
            self._expect(">")
        if self._at < len(self._words):
            raise self._error("the end")
        return tuple(kinds), tuple(sizes)

    def _several(self, one: Callable[[], _T], number: int, noun: str) -> list[_T]:
        parentheses = self._accept("(")
        found = [one()]
        while len(found) < number:
            if self._word() != ",":
                raise self._error(f"{number} {noun}s, one for each dimension")
            self._at += 1
            found.append(one())
        if parentheses:
            self._expect(")")
        return found

    def _distribution(self) -> Distribution:
        for kind in ("BLOCK", "*", "CYCLIC"):
            if self._accept(kind):
                if kind != "CYCLIC":
                    return Distribution(kind)
                width = 1
                if self._accept("("):
                    width = self._number("the k of CYCLIC(k)")
                    self._expect(")")
                return Distribution(kind, width)
        raise self._error("BLOCK, CYCLIC, CYCLIC(k) or *")

    def _number(self, meaning: str) -> int:
        word = self._word()
        if not word.isdecimal() or not 0 < int(word) < MOST_ELEMENTS:
            raise self._error(meaning)
        self._at += 1
        return int(word)

    def _word(self) -> str:
        return self._words[self._at][0] if self._at < len(self._words) else ""

    def _accept(self, word: str) -> bool:
        if self._word().upper() != word:
            return False
        self._at += 1
        return True

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            raise self._error(f"{word!r}")

    def _error(self, expected: str) -> UsageError:
        found = f"{self._word()!r}" if self._word() else "the end"
        place = self._words[self._at][1] if self._at < len(self._words) else len(self._text)
        return UsageError(
            f"pattern {self._text!r}, character {place + 1}: expected {expected}, found "
            f"{found}; write it as {_EXAMPLE}"
        )


# Arrangement of processes in a grid, as by MPI_Dims_create.


def process_grid(ranks: int, is_cut: Sequence[bool]) -> tuple[int, ...]:
    """Return the parts of each dimension: as equal as possible, larger first, 1 if not cut.

    Source: MPI 4.0, 8.5.2 (MPI_Dims_create): "as close to each other as possible", not increasing.

    Args:
        ranks: Number of ranks to arrange.
        is_cut: For each dimension, whether it is divided.
    """
    numbers = iter(_balanced(ranks, sum(is_cut), ranks) or ())
    return tuple(next(numbers) if cut else 1 for cut in is_cut)


@lru_cache(maxsize=4096)
def _balanced(number: int, n_factors: int, most: int) -> tuple[int, ...] | None:
    """Return factors of at most `most`, in descending order, the first as small as possible."""
    if n_factors == 0:
        return ()
    if n_factors == 1:
        return (number,) if number <= most else None
    for factor in _divisors(number):
        if factor**n_factors >= number and factor <= most:
            rest = _balanced(number // factor, n_factors - 1, factor)
            if rest is not None:
                return (factor, *rest)
    return None


@lru_cache(maxsize=1024)
def _divisors(number: int) -> tuple[int, ...]:
    low = [n for n in range(1, isqrt(number) + 1) if number % n == 0]
    return tuple(sorted({*low, *(number // n for n in low)}))


# Workloads of the benchmark kernels, from the options of `stripewise bench kernel`.

_BYTES = {"int64": 8, "double": 8, "float": 4}
_OPTIONS = (
    "local",
    "size",
    "distribution",
    "grid",
    "type",
    "steps",
    "mode",
    "op",
    "namelist",
    "halo",
)
_OPEN_ONCE = "--open-once"


@dataclass(frozen=True)
class _Kernel:
    """A pattern of the kernel. Source: native/kernels/patterns.c."""

    distribution: str
    local: tuple[int, ...]
    type: str
    variables: tuple[str, ...]
    components: int = 0
    namelist: int = 0
    plane: tuple[str, ...] = ()
    plane_dims: tuple[int, ...] = (1, 2)
    halo: int = 0


def _several(noun: str, number: int) -> tuple[str, ...]:
    return tuple(f"{noun}{n + 1:02}" for n in range(number))


KERNELS: Mapping[str, _Kernel] = {
    "blocks": _Kernel("BLOCK", (131072,), "int64", ("block",)),
    "array3d": _Kernel("BLOCK,BLOCK,BLOCK", (64, 64, 64), "int64", ("array",), halo=1),
    "flash": _Kernel("BLOCK,*,*,*", (80, 8, 8, 8), "int64", _several("unknown", 24), halo=4),
    "flash-io": _Kernel(
        "BLOCK,*,*,*", (80, 8, 8, 8), "double", _several("unknown", 24),
        plane=_several("tree", 10), plane_dims=(0,), halo=4,
    ),
    "btio": _Kernel(
        "BLOCK,BLOCK,BLOCK", (32, 32, 32), "int64", ("solution",), components=5, halo=2,
    ),
    "vpic": _Kernel("BLOCK", (8388608,), "float", ("x", "y", "z", "px", "py", "pz", "id1", "id2")),
    "vorpal": _Kernel("BLOCK,BLOCK,BLOCK", (60, 100, 300), "double", ("field",)),
    "gcrm": _Kernel("*,*,BLOCK", (1, 26, 327680), "double", ("variable",)),
    "wrf": _Kernel(
        "*,BLOCK,BLOCK", (50, 64, 64), "float", _several("volume", 16),
        namelist=12288, plane=_several("plane", 28), halo=5,
    ),
}  # fmt: skip
"""The kernels by name."""


def workload_from_kernel(
    words: str | Sequence[str], nodes: int, ranks_per_node: int, *, collective: bool = True
) -> Workload:
    """Return what the ranks of a benchmark kernel move.

    Args:
        words: Name and options of the kernel: "vorpal --local 60,100,300 --steps 20"; --local,
            --size, --distribution, --grid, --type, --steps, --mode, --op, --namelist, --halo,
            --open-once.
        nodes: Number of nodes of the job.
        ranks_per_node: Number of ranks on each node.
        collective: Whether calls are collective if no --mode is given.

    Raises:
        UsageError: There is no such kernel or option, or a value is impossible.
    """
    given = shlex.split(words) if isinstance(words, str) else list(words)
    name, options = _options([word for word in given if word != _OPEN_ONCE])
    kernel, ranks = KERNELS[name], nodes * ranks_per_node
    sizes = options.get("size") or options.get("local") or ",".join(map(str, kernel.local))
    if "size" in options and "local" in options:
        raise UsageError(f"kernel {name}: give --local or --size, not both")
    numbers = _numbers("local" if "size" not in options else "size", sizes, len(kernel.local))
    width = _one_of("type", options.get("type", kernel.type), _BYTES)
    make = _cells if kernel.components else _blocks
    pattern = make(kernel, numbers, options, ranks, width)
    pattern = replace(
        pattern,
        steps=_numbers("steps", options.get("steps", "1"), 1)[0],
        writing=bool(_one_of("op", options.get("op", "write"), {"write": True, "read": False})),
        collective=float(
            _one_of("mode", options["mode"], {"collective": True, "independent": False})
            if "mode" in options
            else collective
        ),
    )
    work = in_one_file(_variables(kernel, pattern), nodes, ranks_per_node)
    halo = _numbers("halo", options.get("halo", str(kernel.halo)), 1, least=0)[0]
    row = prod(pattern.extents[-2:]) if kernel.components else pattern.extents[-1]
    run = row * pattern.element_bytes if halo else 0
    file, steps = work.patterns[0].file, 1 if _OPEN_ONCE in given else pattern.steps
    opened = tuple((file, way, steps) for way in (True, False)) if steps > 1 else ()
    work = replace(work, memory_run=run, opened=opened)
    size = _numbers("namelist", options.get("namelist", str(kernel.namelist)), 1, least=0)[0]
    if not size:
        return work
    one = divided([Distribution("*")], (size,), (1,), ranks, 1)
    namelist = replace(one, file="namelist", dataset="", writing=False, collective=0.0)
    return replace(work, patterns=(namelist, *work.patterns))


def _variables(kernel: _Kernel, pattern: Pattern) -> list[Pattern]:
    every = [replace(pattern, dataset=name) for name in kernel.variables]
    if kernel.plane:
        flat: dict[str, Any] = {
            field: tuple(getattr(pattern, field)[d] for d in kernel.plane_dims)
            for field in ("distributions", "block", "grid", "extents", "rank_strides")
        }
        every += [replace(pattern, dataset=name, **flat) for name in kernel.plane]
    return every


def _blocks(
    kernel: _Kernel, numbers: Sequence[int], options: Mapping[str, str], ranks: int, width: int
) -> Pattern:
    """Return one block of each rank, as `native/kernels/share.c` divides an array."""
    words = options.get("distribution", kernel.distribution)
    ones = ",".join("1" * len(numbers))
    try:
        parts, _ = parse_notation(f"{len(numbers)}D,({words}),({ones})")
    except UsageError as error:
        raise UsageError(
            f"--distribution {words!r}: give BLOCK, CYCLIC, CYCLIC(k) or * for each of "
            f"{len(numbers)} dimensions"
        ) from error
    grid = process_grid(ranks, [one.kind != "*" for one in parts])
    if "grid" in options:
        grid = _numbers("grid", options["grid"], len(parts))
    if prod(grid) != ranks:
        raise UsageError(f"a grid of {prod(grid):,} processes is not one of {ranks:,} ranks")
    local = "size" not in options
    extents = tuple(n * p if local else n for n, p in zip(numbers, grid, strict=True))
    even = [
        replace(one, rule=BlockRule.EVEN) if one.kind == "BLOCK" and size % parts_ else one
        for one, size, parts_ in zip(parts, extents, grid, strict=True)
    ]
    return divided(even, extents, grid, ranks, width)


def _cells(
    kernel: _Kernel, numbers: Sequence[int], options: Mapping[str, str], ranks: int, width: int
) -> Pattern:
    """Return cells on diagonals: q is the smallest number whose square the ranks divide."""
    refused = options.keys() & {"distribution", "grid"}
    if refused:
        raise UsageError(f"kernel btio divides its cells by itself: it takes no --{min(refused)}")
    q = next(q for q in count(1) if q * q % ranks == 0)
    extents = tuple(n if "size" in options else n * q for n in numbers)
    rules = [BlockRule.EVEN if n % q else "" for n in extents]
    parts = (*(Distribution("BLOCK", rule=rule) for rule in rules), Distribution("*"))
    pattern = divided(parts, (*extents, kernel.components), (q, q, q, 1), ranks, width)
    if ranks == 1:
        return pattern
    return replace(pattern, kind=PatternKind.MULTIPARTITION, rank_order="other", rank_strides=())


def _options(words: list[str]) -> tuple[str, dict[str, str]]:
    if not words or words[0] not in KERNELS:
        raise UsageError(
            f"no kernel is called {words[0] if words else ''!r}: use one of {', '.join(KERNELS)}"
        )
    name, rest, options = words[0], words[1:], {}
    for number in range(0, len(rest), 2):
        option = rest[number].removeprefix("--")
        if option not in _OPTIONS or not rest[number].startswith("--"):
            raise UsageError(
                f"kernel {name}: {rest[number]!r} is not known to a simulation; it takes "
                + ", ".join((*(f"--{one}" for one in _OPTIONS), _OPEN_ONCE))
            )
        if number + 1 == len(rest):
            raise UsageError(f"kernel {name}: --{option} has no value")
        options[option] = rest[number + 1]
    return name, options


def _numbers(option: str, text: str, number: int, *, least: int = 1) -> tuple[int, ...]:
    words = text.split(",")
    if len(words) != number or not all(w.isdecimal() and int(w) >= least for w in words):
        noun = "whole number" if number == 1 else "whole numbers with commas"
        raise UsageError(f"--{option} {text!r}: give {number} {noun}, each at least {least}")
    return tuple(map(int, words))


def _one_of(option: str, word: str, known: Mapping[str, int]) -> int:
    if word not in known:
        raise UsageError(f"--{option} {word!r}: give one of {', '.join(known)}")
    return known[word]
