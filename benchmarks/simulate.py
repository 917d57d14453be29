# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures simulations of 10^2 to 10^6 ranks, and of 10,000 configurations of a job.

    python benchmarks/simulate.py [--repeats N] [--check]

For each pattern and stack it prints the processor milliseconds of one call without cached data
(the median of N), and the maximum memory for the fewest and the most ranks.  With --check the exit
code is 1 if a call for 100,000 ranks takes more than 20 ms, 10,000 configurations more than 10 s,
or memory grows by a byte or more per rank.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import statistics
import sys
import time
import tracemalloc
from collections.abc import Iterator

from stripewise.storage.machines import Storage, find_storage
from stripewise.storage.simulation import simulate, workload_from_kernel, workload_from_notation

RANKS_PER_NODE = 100
RANKS = (100, 10_000, 100_000, 1_000_000)
LARGE = 100_000
MOST_MILLISECONDS, MOST_SECONDS, MOST_BYTES_A_RANK = 20.0, 10.0, 1.0
PATTERNS = {
    "3-D blocks": "<3D,(BLOCK,BLOCK,BLOCK),(60,100,300)>",
    "cells in levels": "<3D,(*,*,BLOCK),(1,26,327680)>",
    "1-D blocks": "<1D,BLOCK,8388608>",
    "cyclic": "<2D,(CYCLIC(4),CYCLIC(2)),(1024,1024)>",
}
KERNELS = ("vpic", "vorpal", "gcrm", "btio")
STACKS = ("cray", "romio", "romio-lustre", "ompio", "posix-shared", "posix-process")


def timed(storage: Storage, notation: str, stack: str, ranks: int, repeats: int) -> float:
    """Return the milliseconds of one simulation, including the creation of the workload."""
    times = []
    for number in range(repeats):
        # The size differs each time, so that cached data does not help.
        steps = number + 1
        gc.collect()
        begin = time.process_time()
        work = workload_from_notation(
            notation, ranks // RANKS_PER_NODE, RANKS_PER_NODE, steps=steps
        )
        simulate(storage, work, stack, {"striping_factor": -1})
        times.append(1e3 * (time.process_time() - begin))
    return statistics.median(times)


def memory(storage: Storage, notation: str, stack: str, ranks: int) -> int:
    """Return the maximum number of bytes that a simulation uses at once."""
    tracemalloc.start()
    work = workload_from_notation(notation, ranks // RANKS_PER_NODE, RANKS_PER_NODE)
    simulate(storage, work, stack, {"striping_factor": -1})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def configurations() -> Iterator[dict[str, int]]:
    """Yield 10,000 configurations: stripes, stripe size, aggregators, buffer and lock mode."""
    mib = 1 << 20
    for count, size, multiplier, buffer, mode in itertools.product(
        range(1, 11), (1, 2, 4, 8, 16), (1, 2, 4, 8, 16), (1, 2, 4, 8, 16, 24, 32, 48, 64, 128),
        (0, 1, 2, 0),
    ):  # fmt: skip
        yield {
            "striping_factor": count,
            "striping_unit": size * mib,
            "cray_cb_nodes_multiplier": multiplier,
            "cb_buffer_size": buffer * mib,
            "cray_cb_write_lock_mode": mode,
        }


def many(storage: Storage, stack: str, kernel: str) -> tuple[int, float]:
    """Return the number of configurations of a job of 100,000 ranks, and the seconds for all."""
    work = workload_from_kernel(kernel, LARGE // RANKS_PER_NODE, RANKS_PER_NODE)
    number, begin = 0, time.process_time()
    for settings in configurations():
        simulate(storage, work, stack, settings)
        number += 1
    return number, time.process_time() - begin


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    storage, slow = find_storage("archer2-hdd"), []
    print(f"{'pattern':16}{'stack':14}" + "".join(f"{n:>13,}" for n in RANKS) + "  ranks")
    for (name, notation), stack in itertools.product(PATTERNS.items(), STACKS):
        simulate(storage, workload_from_notation(notation, 2, 2), stack)  # imports
        times = [timed(storage, notation, stack, n, options.repeats) for n in RANKS]
        peaks = [memory(storage, notation, stack, n) for n in RANKS]
        row = "".join(f"{found:>10.2f} ms" for found in times)
        print(f"{name:16}{stack:14}{row}  {peaks[0] >> 10} to {peaks[-1] >> 10} KiB")
        if times[RANKS.index(LARGE)] > MOST_MILLISECONDS:
            slow.append(f"{name}, {stack}: {times[RANKS.index(LARGE)]:.1f} ms")
        if peaks[-1] - peaks[0] > MOST_BYTES_A_RANK * RANKS[-1]:
            slow.append(f"{name}, {stack}: memory grows with the ranks")
    for stack, kernel in itertools.product(("cray", "romio"), KERNELS):
        number, seconds = many(storage, stack, kernel)
        print(f"{number:,} configurations of {LARGE:,} ranks, {kernel}, {stack}: {seconds:.2f} s")
        if seconds > MOST_SECONDS:
            slow.append(f"{kernel}, {stack}: {number:,} configurations in {seconds:.1f} s")
    for text in slow:
        print(f"too much: {text}")
    return 1 if slow and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
