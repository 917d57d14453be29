# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what studies cost and whether they are right, for simulated programs with noise.

    python benchmarks/price_of_studies.py               # table
    python benchmarks/price_of_studies.py --seeds 200
    python benchmarks/price_of_studies.py --before-storage   # requests to the storage never change

Each row is a program in which one tunable of seven makes the I/O faster by the given factor (1 if
none does), and whose runs vary by the given coefficient of variation; "heavy" adds runs that
stall, one in ten.  Studies are real (8 trials, `auto`), their runs are simulated.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from stripewise.core import Measurement, ObservedFile, StudyResult
from stripewise.run.launch import Outcome
from stripewise.study.plan import Observer, StudyOptions
from stripewise.study.procedure import run_study
from stripewise.study.workspace import RunLocation

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.strategy_suite import romio_facts
from support.study_fakes import (
    FakeLauncher,
    Noise,
    fake_tools,
    heavy_tailed,
    lognormal,
    look,
)

FACTS = replace(romio_facts(), independent_bytes=0, collective_bytes=1 << 26)
TUNABLE, VALUE = "mpiio.romio_cb_write", "disable"
FACTORS = (1.0, 1.15, 1.3, 2.0, 5.0)
NOISES: dict[str, Noise] = {
    "0.05": lognormal(0.05),
    "0.15": lognormal(0.15),
    "0.3": lognormal(0.3),
    "0.5": lognormal(0.5),
    "heavy": heavy_tailed(0.1),
}


def look_of_the_same(run_id: str, place: RunLocation, outcome: Outcome) -> Measurement:
    """Return a run's measurement with requests to the storage that are equal in all runs."""
    seen = ObservedFile("out.dat", writers=2, system_writes=8, system_write_bytes=1 << 26)
    return replace(look(run_id, place, outcome), files=(seen,))


def study(factor: float, noise: Noise, seed: int, before_storage: bool) -> StudyResult:
    """Return the result of one study."""
    launcher = FakeLauncher(
        lambda settings: 4.0 / factor if settings.get(TUNABLE) == VALUE else 4.0,
        noise,
        seed=seed,
        other_seconds=0.5,
    )
    seen = look_of_the_same if before_storage else look
    tools = fake_tools(launcher, facts=FACTS, look=seen)
    folder = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=folder) as place:
        options = StudyOptions(
            command=("prog",), directory=Path(place, "s"), origin=Path(place), trials=8, seed=seed
        )
        return run_study(options, Observer(), lambda _options, _ledger: tools)


def rows(seeds: int, before_storage: bool) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| gain | CV | improved | right setting | runs, median | most | price, median |"
    yield "|--:|--:|--:|--:|--:|--:|--:|"
    for factor in FACTORS:
        for name, noise in NOISES.items():
            found = [study(factor, noise, seed, before_storage) for seed in range(seeds)]
            better = [result for result in found if result.improved]
            right = [r for r in better if r.winner and r.winner.settings.get(TUNABLE) == VALUE]
            runs = [len(result.runs) for result in found]
            price = median(result.price.ratio for result in found)
            yield (
                f"| {factor:g}x | {name} | {len(better) / seeds:.0%} | {len(right) / seeds:.0%} "
                f"| {median(runs):.0f} | {max(runs)} | {price:.0f} |"
            )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=100, help="studies of each row")
    parser.add_argument("--before-storage", action="store_true", help="gains do not reach it")
    given = parser.parse_args()
    os.fsync = lambda descriptor: None  # simulated runs need no durable journal
    for line in rows(given.seeds, given.before_storage):
        print(line, flush=True)


if __name__ == "__main__":
    main()
