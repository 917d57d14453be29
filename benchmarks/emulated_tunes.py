# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tunes kernels on emulated storage, and compares the results with the surface's optimum.

    python benchmarks/emulated_tunes.py                        # all cases; a minute each
    python benchmarks/emulated_tunes.py vpic gcrm --trials 8

The cases are those of benchmarks/cases/emulated, and their optima those of the surfaces with the
same names.  Studies search their own space, which has more tunables and values than the surface.
The winner of a study and the recorded optimum are then run in pairs, in random order.  Results
are stored in benchmarks/results, so that cases can be run one by one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from record_surfaces import CASES, SURFACES, environment, family, launcher
from surfaces import Landscape

from stripewise.core import OwnedDirectory, Value
from stripewise.storage.emulation import EmulationOptions
from stripewise.study.plan import StudyOptions, speedup_of
from stripewise.study.procedure import SingleRuns
from stripewise.study.training import Surface

RESULTS = Path(__file__).resolve().parent / "results" / "emulated-tunes.json"
FOLDER = "emulated"
STRIPEWISE = (sys.executable, "-c", "from stripewise.cli import main; main()")
COLUMNS = (
    "kernel", "default", "tuned: speed-up [95 %]", "runs", "chosen", "optimum of the surface",
    "chosen on the surface", "optimum over chosen, in pairs [95 %]",
)  # fmt: skip


def main() -> int:
    """Tune, compare, and print."""
    known = sorted(path.stem for path in (CASES / FOLDER).glob("*.toml"))
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(known)}")
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="run nothing, print what is known")
    given = parser.parse_args()
    done = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    os.environ.update(environment("lustre-mpi"))
    for name in () if given.show else given.cases or known:
        done[name] = study(name, given)
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
        print(_line(row(name, done[name])), flush=True)
    lines = [COLUMNS, ["---"] * len(COLUMNS), *(row(name, done[name]) for name in sorted(done))]
    print("\n".join(map(_line, lines)))
    return 0


def study(name: str, given: argparse.Namespace) -> dict[str, Any]:
    """Tune a case, and run the winner in pairs with the recorded optimum."""
    case = tomllib.loads((CASES / FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    kernel = f"stripewise-kernel-{family(case['mpi'])}"
    words = (launcher(case["mpi"]), "-n", str(case["ranks"]), kernel)
    command = (*words, *shlex.split(case["kernel"]))
    scene = Landscape(Surface.load(SURFACES / FOLDER / f"{name}.jsonl"))
    with tempfile.TemporaryDirectory() as place:
        options = ("--on", case["on"], "--trials", str(given.trials), "--seed", str(given.seed))
        done = subprocess.run(
            [*STRIPEWISE, "tune", *options, "--no-memory", "--json", "--", *command],
            cwd=place, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"{name}: {done.stderr or done.stdout}")
        result = json.loads(done.stdout)
        chosen = result["settings"] if result["result"] == "improved" else {}
        optimum = dict(scene.best.settings)
        pairs = compared(command, case["on"], Path(place), chosen, optimum, given)
    spot = scene.find(chosen)
    return {
        "default_seconds": result["baseline"]["io_seconds"],
        "speedup": result["speedup"],
        "runs": len(result["runs"]),
        "trials": len(result["trials"]),
        "chosen": chosen,
        "optimum": optimum,
        "regret": None if spot is None else spot.io_seconds / scene.best.io_seconds - 1,
        "pairs": pairs,
    }


def compared(
    command: tuple[str, ...],
    on: str,
    place: Path,
    chosen: Mapping[str, Value],
    optimum: Mapping[str, Value],
    given: argparse.Namespace,
) -> dict[str, Any]:
    """Return the time of the optimum relative to that of the winner, from pairs of runs."""
    home = OwnedDirectory.take(place / "pairs.stripewise", "study")
    runs = SingleRuns(home, StudyOptions(command, home.path, place, storage=EmulationOptions(on)))
    runs.first()
    order, times = random.Random(given.seed), []
    while len(times) < given.pairs:
        pair = {}
        for which in order.sample(("optimum", "chosen"), 2):
            pair[which] = runs.one(optimum if which == "optimum" else chosen)
        if all(run.ok for run in pair.values()):
            times.append((pair["optimum"].io_seconds, pair["chosen"].io_seconds))
    home.discard()
    found = speedup_of(times)
    return {"median": found.median, "low": found.low, "high": found.high, "times": times}


def row(name: str, found: Mapping[str, Any]) -> list[str]:
    """Return a row of the table."""
    regret = found["regret"]
    return [
        name,
        f"{found['default_seconds']:.2f} s",
        _interval(found["speedup"]),
        str(found["runs"]),
        _settings(found["chosen"]),
        _settings(found["optimum"]),
        "not in it" if regret is None else f"{100 * regret:+.0f} %",
        _interval(found["pairs"]),
    ]


def _interval(ratio: Mapping[str, float] | None) -> str:
    if ratio is None:
        return "no improvement"
    low, high = ratio.get("low"), ratio.get("high")
    shown = f" [{low:.2f}–{high:.2f}]" if low is not None and high is not None else ""
    return f"{ratio['median']:.2f}{shown}"


def _settings(settings: Mapping[str, Value]) -> str:
    words = [f"`{name.partition('.')[2]}={value}`" for name, value in settings.items()]
    return " ".join(words) or "default"


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
