# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What MPI_Type_create_darray deals out is recognised, and dealt out alike by the pattern."""

from __future__ import annotations

import math
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stripewise.evidence.patterns import find_patterns, generate
from stripewise.evidence.trace import Pieces

sys.path.insert(0, str(Path(__file__).parents[1] / "evidence/patterns"))
from owner_maps import owned, pieces, selections_of

SOURCE = Path(__file__).parent / "programs" / "darray.c"
N_REQUESTS = 150
Request = tuple[str, int, tuple[tuple[int, str, int, int], ...]]


def requests() -> list[Request]:
    """Order, bytes of an element, and (extent, kind, width, parts) per dimension."""
    draw = random.Random(20260101)
    found = []
    for _ in range(N_REQUESTS):
        dims = []
        for _ in range(draw.randint(1, 3)):
            extent, kind = draw.randint(2, 14), draw.choice("bbcn")
            parts = 1 if kind == "n" else draw.randint(1, min(4, extent))
            width = draw.choice((0, 2, 3)) if kind == "c" else 0
            dims.append((extent, kind, width, parts))
        found.append((draw.choice("CF"), draw.choice((1, 4, 8)), tuple(dims)))
    return found


def line_of(request: Request) -> str:
    order, element_bytes, dims = request
    n_ranks = math.prod(parts for *_, parts in dims)
    rest = " ".join(" ".join(map(str, dim)) for dim in dims)
    return f"{order} {n_ranks} {element_bytes} {len(dims)} {rest}\n"


def answers(family: str, place: Path) -> list[list[tuple[int, int, int]]]:
    """(rank, offset, length) in bytes, per request, by the MPI itself."""
    wrapper = shutil.which(f"mpicc.{family}")
    if wrapper is None:
        pytest.skip(f"no mpicc.{family}")
    program = place / "darray"
    warnings = ["-Wall", "-Wextra", "-Werror", "-O1"]
    subprocess.run([wrapper, *warnings, str(SOURCE), "-o", str(program)], check=True, timeout=120)
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        [str(program)], input="".join(map(line_of, requests())), capture_output=True, text=True,
        check=True, timeout=120, env={**os.environ, **as_root},
    )  # fmt: skip
    lines = done.stdout.splitlines()
    return [
        [tuple(map(int, word.replace(":", ",").split(","))) for word in line.split()]  # type: ignore[misc]
        for line in lines
    ]


def as_view(parts: list[tuple[int, int, int]], n_ranks: int, element_bytes: int) -> Pieces:
    """Fold equal pieces at one stride into records, as a view is recorded."""
    records: list[list[int]] = []
    for rank, offset, size in parts:
        last = records[-1] if records else None
        if last and (last[0], last[2]) == (rank, size):
            step = offset - last[1] - (last[3] - 1) * last[4]
            if last[3] == 1 or step == last[4]:
                last[3], last[4] = last[3] + 1, step
                continue
        records.append([rank, offset, size, 1, 0])
    rank, offset, size, repeat, step = (list(column) for column in zip(*records, strict=True))
    n = len(records)
    stride = np.zeros((n, 3), np.int64)
    stride[:, 0] = step
    return pieces(
        rank, offset, size, n_ranks, repeat=np.array(repeat), stride=stride, source="view",
        call=np.array(rank), element_bytes=element_bytes,
    )  # fmt: skip


@pytest.mark.extended(keep=1)
@pytest.mark.mpi
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_darrays(family: str, tmp_path: Path) -> None:
    found = answers(family, tmp_path)
    assert len(found) == N_REQUESTS
    for request, parts in zip(requests(), found, strict=True):
        check(request, parts)


def check(request: Request, parts: list[tuple[int, int, int]]) -> None:
    """Recognise one array from offsets, from a view and from selections."""
    order, element_bytes, dims = request
    n_ranks = math.prod(n for *_, n in dims)
    extents = tuple(dim[0] for dim in dims)
    in_bytes = np.full(math.prod(extents) * element_bytes, -1)
    for rank, offset, size in parts:
        in_bytes[offset : offset + size] = rank
    in_elements = in_bytes[::element_bytes]
    rank, offset, size = zip(*parts, strict=True)

    for access in (
        pieces(rank, offset, size, n_ranks),
        as_view(parts, n_ranks, element_bytes),
    ):
        (pattern,) = find_patterns([access])
        assert pattern.distributions, request
        expected = in_elements if pattern.element_bytes == element_bytes else in_bytes
        np.testing.assert_array_equal(owned(generate(pattern), expected.size), expected, str(dims))

    shape = extents if order == "C" else extents[::-1]
    owners = in_elements.reshape(shape)
    (pattern,) = find_patterns([selections_of(owners, n_ranks)])
    names = [name_of(*dim) for dim in (dims if order == "C" else dims[::-1])]
    assert [str(part) for part in pattern.distributions] == names
    np.testing.assert_array_equal(owned(generate(pattern), in_elements.size), in_elements)


def name_of(extent: int, kind: str, width: int, parts: int) -> str:
    """The plainest name of a dimension."""
    length = -(-extent // parts) if kind == "b" else width or 1
    if kind == "n" or parts == 1 or extent <= length:
        return "*"
    if kind == "b" or extent <= length * parts:
        return "BLOCK"
    return f"CYCLIC({length})" if length > 1 else "CYCLIC"
