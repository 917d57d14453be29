# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause

from collections import Counter

import pytest

from stripewise.core.errors import UsageError
from stripewise.evidence.patterns import PatternKind, generate
from stripewise.storage.simulation import KERNELS, workload_from_kernel
from stripewise.storage.stacks import Layout, Setup, find_stack


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_move_all_elements_once(name):
    local = {"vpic": "64", "blocks": "64", "gcrm": "1,3,64"}.get(name, "4,6,8")
    local = "2,2,2,2" if name.startswith("flash") else local
    work = workload_from_kernel(f"{name} --local {local}", 2, 2)
    ends = 0
    for pattern in work.patterns[name == "wrf" :]:
        moved = generate(pattern)
        elements = (moved.count * moved.block).prod(axis=1).sum()
        assert pattern.file_offset == ends
        ends += int(elements) * pattern.element_bytes
    assert work.bytes == ends + (4 * 12288 if name == "wrf" else 0)


def test_every_rank_first_reads_the_namelist():
    namelist = workload_from_kernel("wrf", 2, 2).patterns[0]
    assert (namelist.file, namelist.kind) == ("namelist", PatternKind.REPLICATED)
    assert not namelist.writing
    assert all(p.file == "data" for p in workload_from_kernel("wrf --namelist 0", 2, 2).patterns)


def test_sizes_are_the_published_ones():
    assert workload_from_kernel("vpic", 1, 4).bytes == 4 * 8 * (32 << 20)
    assert workload_from_kernel("vorpal --steps 20", 1, 4).bytes == 4 * 20 * 60 * 100 * 300 * 8
    (btio,) = workload_from_kernel(["btio", "--size", "64,64,64"], 1, 4).patterns
    assert btio.kind == PatternKind.MULTIPARTITION
    assert (btio.grid, btio.extents) == ((2, 2, 2, 1), (64, 64, 64, 5))


def test_options_are_the_kernels():
    words = "gcrm --distribution *,BLOCK,* --local 1,4,8 --mode independent --op read --type float"
    (pattern,) = workload_from_kernel(words, 1, 3).patterns
    assert (pattern.grid, pattern.writing, pattern.collective) == ((1, 3, 1), False, 0.0)
    assert pattern.element_bytes == 4


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("vpik", "no kernel is called 'vpik'"),
        ("vpic --verify", "'--verify' is not known"),
        ("vpic --local 0", "--local '0': give 1 whole number"),
        ("vorpal --local 1,2", "--local '1,2': give 3 whole numbers"),
        ("vorpal --grid 2,2,2", "a grid of 8 processes is not one of 4 ranks"),
        ("vorpal --size 8,8,8 --local 2,2,2", "not both"),
        ("vorpal --distribution A,B,C", "--distribution 'A,B,C'"),
        ("btio --grid 2,2,1", "takes no --grid"),
        ("vpic --type char", "give one of int64, double, float"),
        ("vpic --local", "--local has no value"),
    ],
)
def test_bad_options_are_one_line(words, says):
    with pytest.raises(UsageError) as error:
        workload_from_kernel(words, 2, 2)
    assert says in str(error.value)


def opened(stack, words):
    """Times that each metadata operation is done, and the phases that these take."""
    work = workload_from_kernel(words, 4, 1)
    found, waits = Counter(), 0
    for phase in find_stack(stack).phases(work, Setup(Layout(1, 1 << 20, 4))):
        for name, number in phase.metadata.items():
            found[name] += round(number * phase.repeats)
            waits += round(phase.repeats)
    return found, waits


@pytest.mark.parametrize(
    ("stack", "once", "more"),
    [
        ("romio", {"stat": 3, "create": 1, "open": 4}, {"stat": 1, "open": 4}),
        ("romio-lustre", {"stat": 4, "create": 1, "open": 4}, {"stat": 1, "open": 4}),
        ("ompio", {"create": 5, "remove": 4, "open": 3, "stat": 8},
         {"create": 4, "remove": 4, "open": 4, "stat": 8}),
        ("posix-process", {"create": 4}, {"open": 4}),
        ("posix-shared", {"create": 1, "open": 3}, {"open": 4}),
    ],
)  # fmt: skip
def test_kernels_open_their_file_in_each_step(stack, once, more):
    kept, waits = opened(stack, "vorpal --local 8,8,8 --steps 3 --open-once")
    each, more_waits = opened(stack, "vorpal --local 8,8,8 --steps 3")
    assert kept == once
    assert each - kept == Counter({name: 2 * number for name, number in more.items()})
    assert more_waits > waits
