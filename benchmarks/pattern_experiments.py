# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Repeats three published experiments: settings for untuned programs from tuned patterns.

    python benchmarks/pattern_experiments.py                       # Hopper and Edison, simulated

It trains only with VPIC-IO, VORPAL-IO and GCRM-IO, like `stripewise knowledge train`.  Then it
queries settings for IOR (the pattern of VPIC-IO), blocks like VORPAL-IO's, and FLASH-IO (with its
own pattern), like `stripewise run --auto`, without any run of them: default, adopted, and the best
of all configurations.  Source of the experiments: Behzad et al., Pattern-driven Parallel I/O
Tuning, PDSW 2015, doi 10.1145/2834976.2834977.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from experiments_output import table

from stripewise.core import ProgramFacts, Value
from stripewise.learning import adoption
from stripewise.learning.knowledge import Lesson, Machine, StudiedCase, describe_case
from stripewise.learning.performance import Ground, Model, Training, fit, ground_of, load_models
from stripewise.settings import Policy
from stripewise.storage.machines import description_digest, find_storage
from stripewise.storage.simulation import (
    SimulatedProgram,
    workload_from_kernel,
    workload_from_notation,
)
from stripewise.storage.stacks import Workload
from stripewise.study.procedure import simulated_workload
from stripewise.study.training import TrainingEvidence, find_evidence, lessons_of

MACHINES, CORES, TRAINED = ("hopper", "edison"), (512, 4096), (512, 1024, 2048)
RANKS_PER_NODE = 16
KERNELS = (
    "vpic", "vorpal --steps 20", "gcrm --type float --steps 10",
    "vpic --local 1048576", "vorpal --steps 20 --local 30,50,150", "gcrm --local 1,26,40960",
)  # fmt: skip
"""Kernels at the published sizes, and at an eighth of a block."""
MIB = 1 << 20
COUNTS = (4, 8, 16, 24, 32, 48, 64, 96, 128, -1)
SIZES = tuple(n * MIB for n in (1, 2, 4, 8, 16, 32, 64, 128))
AGGREGATORS = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096)
"""Published ladder of aggregators, extended up to the number of ranks."""
Settings = Mapping[str, Value]


@dataclass(frozen=True)
class Row:
    """Result for one program on one machine.

    Attributes:
        default / optimum: Bandwidth in GB/s.
        adopted: Level, GB/s and sentence for each variant.
        configurations: Number of configurations among which the optimum is the best.
    """

    program: str
    machine: str
    cores: int
    default: float
    optimum: float
    configurations: int
    adopted: dict[str, tuple[str, float, str]]


def programs(cores: int) -> Iterator[tuple[str, Workload]]:
    """Yield the programs that were not used for training, at the published sizes."""
    nodes = cores // RANKS_PER_NODE
    block = workload_from_notation(
        f"<1D,BLOCK,{32 * MIB}>", nodes, RANKS_PER_NODE, element_bytes=1, datasets=8
    )
    yield "IOR", block
    for name, words in (
        ("VORPAL-like", "vorpal --local 64,128,256 --steps 20"),
        ("FLASH-IO", "flash-io --local 320,16,16,16 --halo 0"),
    ):
        yield name, workload_from_kernel(words, nodes, RANKS_PER_NODE)


def simulated() -> Iterator[Row]:
    """Yield the experiments in virtual time."""
    for machine in MACHINES:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            models = trained(machine, home)
            found, _ = find_evidence(home / "training")
            plain, lessons = plain_models(found), list(lessons_of(found))
            for cores in CORES:
                for name, work in programs(cores):
                    program = simulated_workload(find_storage(machine), work)
                    yield _row(name, machine, cores, program, lessons, models, plain)
                    print(f"{machine} {cores} {name}: done", file=sys.stderr, flush=True)


def trained(machine: str, home: Path) -> Sequence[Model]:
    """Train with the three kernels through the user's command."""
    os.environ["XDG_DATA_HOME"] = str(home)
    os.environ.pop("STRIPEWISE_MODELS", None)
    words = [
        *(sys.executable, "-c", "from stripewise.cli import main; main()"),
        *("knowledge", "train", "--on", machine, "--simulate", "-o", str(home / "training")),
        *("--ranks", ",".join(map(str, TRAINED)), "--ranks-per-node", str(RANKS_PER_NODE)),
        *(word for kernel in KERNELS for word in ("--patterns", kernel)),
    ]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return load_models().models


def plain_models(found: Sequence[TrainingEvidence]) -> Sequence[Model]:
    """Fit what was measured without a description of the storage: the published regression."""
    ground = Ground(found[0].ground.storage, "", found[0].ground.stack)
    samples = tuple(sample for one in found for sample in one.samples)
    return fit(Training(ground, samples, way=found[0].way))


def case_of(facts: ProgramFacts, program: str, provenance: Mapping[str, str]) -> StudiedCase:
    """Return the case of a program on a described storage."""
    digest = provenance.get("simulated digest") or provenance.get("emulated digest", "")
    name = provenance.get("simulated") or provenance.get("emulated", "")
    where = name.partition(",")[0]
    machine = Machine(filesystem=facts.filesystem, storage=digest, emulated=where)
    return describe_case(machine, facts, program=program)


def _row(
    name: str,
    machine: str,
    cores: int,
    program: SimulatedProgram,
    lessons: Sequence[Lesson],
    models: Sequence[Model],
    plain: Sequence[Model],
) -> Row:
    storage = find_storage(machine)
    seconds = program.seconds({}) or 0.0
    facts = replace(program.facts, io_seconds=seconds, elapsed_seconds=seconds)
    names = {"simulated": machine, "simulated digest": description_digest(storage)}
    space = adoption.adoptable_space(facts, Policy())
    question = adoption.Question(
        case_of(facts, name, names), facts, space,
        ground=ground_of(facts, storage=storage), ranks_per_node=RANKS_PER_NODE,
    )  # fmt: skip
    blind = replace(question, ground=Ground(machine, "", question.ground.stack))
    answers = {
        "published regression": adoption.answer(blind, lessons, plain),
        "Stripewise": adoption.answer(question, lessons, models),
        "no tuned pattern": adoption.answer(question, (), models),
    }
    size = program.workload.bytes / 1e9
    ladder = list(_ladder(cores))
    times = [program.seconds(one) for one in ladder]
    adopted = {
        way: (one.level.value, size / program.seconds(one.settings), one.sentence)
        for way, one in answers.items()
    }
    best = min(time for time in times if time)
    return Row(name, machine, cores, size / seconds, size / best, len(ladder), adopted)


def _ladder(cores: int) -> Iterator[Settings]:
    nodes = [n for n in AGGREGATORS if n <= cores]
    for count, unit, mode in itertools.product(COUNTS, SIZES, (0, 2)):
        layout: dict[str, Value] = {
            "mpiio.striping_factor": count,
            "mpiio.striping_unit": unit,
            "mpiio.cray_cb_write_lock_mode": mode,
        }
        yield from ({**layout, "mpiio.cb_nodes": writers} for writers in nodes)
        yield {**layout, "mpiio.romio_cb_write": "disable"}


def main() -> int:
    """Run the experiments, or read stored ones, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=Path, help="kept results: read, or written first")
    given = parser.parse_args()
    if given.rows and given.rows.exists():
        rows = [Row(**one) for one in json.loads(given.rows.read_text())]
    else:
        rows = list(simulated())
        if given.rows:
            given.rows.write_text(json.dumps([asdict(row) for row in rows]))
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
