# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The workloads of the benchmark kernels, from the options that `stripewise kernel` takes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import prod
from typing import Any

from stripewise.errors import UsageError
from stripewise.model import BlockRule, Distribution, Pattern, PatternKind
from stripewise.simulation._grid import process_grid
from stripewise.simulation._notation import divided, in_one_file, parse_notation
from stripewise.simulation._workload import Workload

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
    """A pattern of the kernel.  Source: native/kernels/patterns/NAME.c."""

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
        words: Name and options as the kernel takes them: "vorpal --local 60,100,300 --steps 20";
            --local, --size, --distribution, --grid, --type, --steps, --mode, --op, --namelist,
            --halo, --open-once.
        nodes: Of the job.
        ranks_per_node: Of each node.
        collective: Where no --mode is given.

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
    """One block of each rank, as `native/kernels/share.c` divides an array."""
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
    """Cells on diagonals: q is the smallest number whose square the ranks divide."""
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
