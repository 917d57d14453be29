# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Repeats the experiments of pattern_experiments.py with real programs on emulated storage.

    python benchmarks/emulated_experiments.py                  # an hour
    python benchmarks/emulated_experiments.py hopper

Kernels of VPIC, VORPAL and GCRM, with as many bytes per rank as in the publication, train models
and knowledge for an emulated Hopper and Edison with `stripewise knowledge train`.  Then each
program of benchmarks/cases/set-aside is run once with `stripewise run --auto`, which sets nothing,
and the settings for its next run are queried.  Its defaults, these settings and the best of its
recorded surface are then run in rounds, in random order.

Trainings are stored in benchmarks/results/experiments and continue after an interruption.  Nothing
else may run on the machine meanwhile.  IOR must be on PATH, built with MPICH and HDF5.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from record_surfaces import CASES, LUSTRE, SURFACES, environment, launcher, program
from surfaces import Landscape

from stripewise.core import OwnedDirectory, Value
from stripewise.storage.emulation import EmulationOptions
from stripewise.study.plan import StudyOptions, speedup_of
from stripewise.study.procedure import SingleRuns
from stripewise.study.training import Surface

FOLDER = "set-aside"
RESULTS = Path(__file__).resolve().parent / "results" / "experiments"
MACHINES, PROGRAMS = ("hopper", "edison"), ("ior", "vorpal-like", "flash-io")
TRAINING = (
    *("--ranks", "4,8", "--ranks-per-node", "1", "--size", "2MiB", "--budget", "20m"),
    *(w for k in ("vpic", "vorpal", "gcrm") for w in ("--patterns", f"{k} --backend hdf5")),
)
STRIPEWISE = (sys.executable, "-c", "from stripewise.cli import main; main()")
WAYS = ("default", "adopted", "best")
COLUMNS = (
    "program", "storage", "default", "adopted", "best of the surface",
    "adopted of the best [95 %]",
    "gain [95 %]", "promised", "found", "adopted settings", "best settings",
)  # fmt: skip


def main() -> int:
    """Train, query settings, run in rounds, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help=f"of {', '.join(MACHINES)}")
    parser.add_argument("--programs", nargs="*", default=PROGRAMS, metavar="PROGRAM")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="run nothing, print what is known")
    given = parser.parse_args()
    kept = RESULTS / "rows.json"
    done = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    os.environ.update(environment(LUSTRE))
    for machine in () if given.show else given.machines or MACHINES:
        train(machine)
        for name in given.programs:
            done[f"{machine}-{name}"] = experiment(machine, name, given.rounds, given.seed)
            kept.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
            print(_line(row(f"{machine}-{name}", done[f"{machine}-{name}"])), flush=True)
    lines = [COLUMNS, ["---"] * len(COLUMNS), *(row(name, done[name]) for name in done)]
    print("\n".join(map(_line, lines)))
    return 0


def train(machine: str) -> None:
    """Train with the three kernels through the user's command, with models in a separate place."""
    home = RESULTS / machine
    home.mkdir(parents=True, exist_ok=True)
    words = (
        "knowledge",
        "train",
        "--on",
        f"{machine}@1/8",
        *TRAINING,
        "--mpiexec",
        launcher(LUSTRE),
    )
    subprocess.run([*STRIPEWISE, *words, "-o", "training"], cwd=home, env=_known(home), check=True)


def experiment(machine: str, name: str, rounds: int, seed: int) -> dict[str, Any]:
    """Query settings as a user does, and compare them with default and best."""
    case = tomllib.loads((CASES / FOLDER / f"{machine}-{name}.toml").read_text(encoding="utf-8"))
    scene = Landscape(Surface.load(SURFACES / FOLDER / f"{machine}-{name}.jsonl"))
    command = (launcher(LUSTRE), "-n", str(case["ranks"]), *program(case))
    with tempfile.TemporaryDirectory() as place:
        auto = (*STRIPEWISE, "run", "--auto", "--on", case["on"])
        how: dict[str, Any] = {"cwd": place, "env": _known(RESULTS / machine), "check": True}
        subprocess.run([*STRIPEWISE, "knowledge", "forget", "--runs"], **how)
        subprocess.run([*auto, "--", *command], **how, stdout=subprocess.DEVNULL)
        asked = subprocess.run(
            [*auto, "--dry-run", "--json", "--", *command], **how, stdout=subprocess.PIPE
        )
        answer = json.loads(asked.stdout)["auto"]
        settings = {"adopted": answer["settings"], "best": dict(scene.best.settings)}
        times = in_rounds(command, case["on"], Path(place), settings, rounds, seed)
    return {**settings, "answer": answer, "times": times}


def in_rounds(
    command: tuple[str, ...],
    on: str,
    place: Path,
    settings: Mapping[str, Mapping[str, Value]],
    rounds: int,
    seed: int,
) -> list[dict[str, float]]:
    """Return I/O seconds of each variant in each round, in random order within a round."""
    home = OwnedDirectory.take(place / "rounds.stripewise", "study")
    runs = SingleRuns(home, StudyOptions(command, home.path, place, storage=EmulationOptions(on)))
    runs.first()
    order, found = random.Random(seed), []
    for _ in range(rounds):
        each = {way: runs.one(settings.get(way, {})) for way in order.sample(WAYS, len(WAYS))}
        if all(run.ok for run in each.values()):
            found.append({way: run.io_seconds for way, run in each.items()})
    home.discard()
    return found


def _known(home: Path) -> dict[str, str]:
    """Return variables with which only the knowledge trained for this machine is used."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("STRIPEWISE_")}
    return {**kept, "XDG_DATA_HOME": str(home), "XDG_CONFIG_HOME": str(home)}


def row(name: str, found: Mapping[str, Any]) -> list[str]:
    """Return a row of the table."""
    machine, _, title = name.partition("-")
    times, answer = found["times"], found["answer"]
    promised = answer["expected_ratio"]
    return [
        title,
        f"{machine}@1/8",
        *(f"{median(one[way] for one in times):.2f} s" for way in WAYS),
        _ratio(times, "best", "adopted"),
        _ratio(times, "default", "adopted"),
        f"{promised:.1f}x" if promised else "-",
        answer["level"] + (f", {answer['source']}" if answer["level"] == "pattern" else ""),
        _settings(found["adopted"]),
        _settings(found["best"]),
    ]


def _ratio(times: Sequence[Mapping[str, float]], over: str, under: str) -> str:
    """Return the ratio of the times of two variants, from the rounds."""
    ratio = speedup_of([(one[over], one[under]) for one in times])
    return f"{ratio.median:.2f} [{ratio.low:.2f}–{ratio.high:.2f}]"


def _settings(settings: Mapping[str, Value]) -> str:
    words = [f"`{name.partition('.')[2]}={value}`" for name, value in settings.items()]
    return " ".join(words) or "default"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
