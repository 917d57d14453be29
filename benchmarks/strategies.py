# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the search strategies on the recorded surfaces: runs to within 5 %, and regret.

    python benchmarks/strategies.py                             # table; JSON and picture in
                                                                # benchmarks/results
    python benchmarks/strategies.py --seeds 10 --strategies auto,random
    python benchmarks/strategies.py --part emulated             # the surfaces in that folder
    python benchmarks/strategies.py --strategies model,model:top=5,auto+trained

Each figure comes from real studies whose runs are drawn from a surface: warm-up, baselines,
repeats and pairs count.  A strategy is scored only on surfaces that were not used to design it:
`rules` and `auto` were finished before the first surface was recorded, the others are as
published.  `model`, and `auto+trained`, use models that were trained with other programs
(trained.py).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import Pool
from multiprocessing.pool import Pool as PoolType
from pathlib import Path
from statistics import mean
from typing import Any

from strategies_output import draw, table
from surfaces import NEAR, Landscape
from trained import models_for

from stripewise.core.errors import UsageError
from stripewise.learning.performance import Loaded
from stripewise.study.strategies import check_strategy_options
from stripewise.study.training import Surface

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.random_draws import expected_regret, expected_runs, quantile_runs, regret_of
from support.replay import Replay, replay_study

HERE = Path(__file__).resolve().parent
SURFACES = HERE / "surfaces"
RESULTS = HERE / "results"
STRATEGIES = (
    "auto", "auto+trained", "model", "model:top=5",
    "rules", "tpe", "genetic", "random", "exhaustive",
)  # fmt: skip
"""NAME[+trained][:OPTION=VALUE]; `model` and `+trained` use the models of trained.py."""
CHECKPOINTS = (5, 10, 20, 40, 80)
SHARE = 0.9
SEEDS = 100
RUNS = 120
PART = "strategies"


@dataclass(frozen=True)
class Score:
    """Score of one strategy on one surface.

    Attributes:
        runs_to_near: Number of runs from which on the search's choice is within 5 % of the optimum
            in 90 % of the seeds; None if it takes more than the allowed runs.
        near_at_end: Share of the seeds for which that is so at the end of the search.
        regret: Runs to the median and the 90 % quantile of the regret of the search's choice.
        study_runs / study_regret / study_near: For studies with the usual options: mean number of
            runs, median regret of the confirmed result, share of the seeds in which it is within
            5 % (if nothing is confirmed, the result is the default).
        curve: Share of the seeds in which the search's unconfirmed choice is within 5 % after 1,
            2, ... runs.
        regret_curve: Median regret of that choice after 1, 2, ... runs.
        unknown: Number of runs of configurations that were never measured.
    """

    surface: str
    strategy: str
    runs_to_near: int | None
    near_at_end: float
    regret: dict[int, tuple[float, float]]
    study_runs: float
    study_regret: float
    study_near: float
    curve: list[float]
    regret_curve: list[float]
    unknown: int


def main() -> int:
    """Replay, print, and write."""
    given = _arguments()
    surfaces = {path.stem: Surface.load(path) for path in given.surfaces}
    needed = any(map(is_trained, given.strategies))
    models = {path.stem: models_for(path) for path in given.surfaces if needed}
    scores: list[Score] = []
    with Pool(given.jobs) as pool:
        for name, surface in surfaces.items():
            for strategy in given.strategies:
                found = models[name] if is_trained(strategy) else Loaded()
                scores.append(score(name, surface, strategy, found, given, pool))
                print(f"{name} {strategy}: done", file=sys.stderr, flush=True)
    references = {name: reference(Landscape(surface)) for name, surface in surfaces.items()}
    document = {
        "seeds": given.seeds,
        "runs": given.runs,
        "surfaces": references,
        "scores": [asdict(one) for one in scores],
    }
    document = json.loads(json.dumps(document))
    print(table(document))
    given.results.mkdir(parents=True, exist_ok=True)
    (given.results / f"{given.part}.json").write_text(json.dumps(document, indent=1) + "\n")
    draw(document, given.results / f"{given.part}.svg")
    return 0


def score(
    name: str,
    surface: Surface,
    strategy: str,
    models: Loaded,
    given: argparse.Namespace,
    pool: PoolType,
) -> Score:
    """Replay a strategy with all seeds."""
    scene = Landscape(surface)
    tasks = [(surface, strategy, seed, given.runs, models) for seed in range(given.seeds)]
    replays, studies = zip(*pool.imap(_replay, tasks, chunksize=4), strict=True)
    regrets = [_regrets(replay, scene, given.runs) for replay in replays]
    curve = [mean(regret[n] <= NEAR for regret in regrets) for n in range(given.runs + 1)]
    final = [regret_of(scene, study.winner) for study in studies]
    return Score(
        surface=name,
        strategy=strategy,
        runs_to_near=_from_then_on(curve),
        near_at_end=curve[-1],
        regret={
            n: _quantiles(regret[n] for regret in regrets) for n in CHECKPOINTS if n <= given.runs
        },
        study_runs=mean(study.all_runs for study in studies),
        study_regret=_quantiles(final)[0],
        study_near=mean(regret <= NEAR for regret in final),
        curve=curve[1:],
        regret_curve=[
            _quantiles(regret[n] for regret in regrets)[0] for n in range(1, given.runs + 1)
        ],
        unknown=sum(replay.unknown for replay in replays),
    )


def reference(scene: Landscape) -> dict[str, object]:
    """Return the properties of a surface, and the result of random choice without noise."""
    return {
        "configurations": len(scene.spots),
        "near": len(scene.near()),
        "gain": scene.gain,
        "fresh_gain": scene.fresh_gain(),
        "noise": scene.noise,
        "default_seconds": scene.default.io_seconds,
        "luck_expected_runs": expected_runs(scene),
        "luck_runs_90": quantile_runs(scene, SHARE),
        "luck_regret": {n: expected_regret(scene, n) for n in CHECKPOINTS},
    }


def is_trained(strategy: str) -> bool:
    """Return whether a contender uses trained models."""
    return parsed(strategy)[0] == "model" or "+trained" in strategy


def parsed(strategy: str) -> tuple[str, dict[str, str]]:
    """Return the name of a contender's strategy, and its options."""
    words, _, option = strategy.partition(":")
    options = dict([option.split("=", 1)]) if "=" in option else {}
    return words.removesuffix("+trained"), options


def _replay(task: tuple[Surface, str, int, int, Loaded]) -> tuple[Replay, Replay]:
    surface, strategy, seed, runs, models = task
    name, options = parsed(strategy)
    how: dict[str, Any] = {"strategy_options": options, "models": models}
    return (
        replay_study(surface, name, seed, runs=runs, **how),
        replay_study(surface, name, seed, **how),
    )


def _regrets(replay: Replay, scene: Landscape, runs: int) -> list[float]:
    """Return the regret of the choice after 0, 1, ... runs."""
    return [regret_of(scene, replay.choice_after(n)) for n in range(runs + 1)]


def _from_then_on(curve: Sequence[float]) -> int | None:
    """Return the number of runs from which on the share never falls below 90 % again."""
    below = [n for n, share in enumerate(curve) if share < SHARE]
    first = below[-1] + 1 if below else 0
    return first if first < len(curve) else None


def _quantiles(values: Iterable[float]) -> tuple[float, float]:
    """Return median and 90 % quantile, both of the values that occur."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2], ordered[
        min(len(ordered) - 1, int(0.9 * len(ordered)))
    ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("surfaces", nargs="*", type=Path, help="default: benchmarks/surfaces")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--runs", type=int, default=RUNS, help="of a search, the pairs included")
    parser.add_argument("--strategies", default=",".join(STRATEGIES), metavar="A,B")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR")
    parser.add_argument("--part", default=PART, metavar="NAME", help="folder of the surfaces")
    given = parser.parse_args()
    given.strategies = given.strategies.split(",")
    for name in given.strategies:
        try:
            check_strategy_options(*parsed(name))
        except UsageError as error:
            parser.error(str(error))
    folder = SURFACES if given.part == PART else SURFACES / given.part
    given.surfaces = given.surfaces or sorted(folder.glob("*.jsonl"))
    if not given.surfaces:
        parser.error(f"no surfaces in {folder}; record them: make surfaces")
    return given


if __name__ == "__main__":
    sys.exit(main())
