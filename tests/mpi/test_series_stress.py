# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""1,000 runs of a program that opens files at random on random communicators: none hangs.

Some ranks have no library, no room for their records, or record single calls.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest
from runtime_harness import FAMILIES, core, environment, launch, plugins, program
from series_harness import RULES

from stripewise.run.runtime import SeriesMapping, SeriesOutcome
from stripewise.settings.formats import series_text
from support.amounts import share_of

pytestmark = [pytest.mark.long, pytest.mark.mpi, pytest.mark.timeout(2500)]

RUNS = 1000
BATCHES = 5
HANG_SECONDS = 90
WITHOUT = '[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ] && unset LD_PRELOAD; exec "$0" "$@"'
KINDS = {
    "plain": {},
    "capture": {"STRIPEWISE_CAPTURE": "fold"},
    "room": {"STRIPEWISE_MAX_BYTES": "20000"},
    "nothing recorded": {"STRIPEWISE_DIRECTORY": ""},
    "without": {},
}


def run_once(stack: str, seed: int, directory: Path) -> tuple[str, SeriesOutcome]:
    """Run with a seed; what came of it, "" if all is well."""
    random = Random(seed)
    kind = random.choices(list(KINDS), (10, 2, 1, 1, 1))[0]
    n_ranks = random.randint(2, 4 if stack == "openmpi" else 2)
    built = program(stack, "series_stress.c")
    before = ["sh", "-c", WITHOUT] if kind == "without" else []
    with SeriesMapping.begin([str(built)]) as mapping:
        variables = environment(stack) | {
            "LD_PRELOAD": str(core()),
            "STRIPEWISE_DIRECTORY": str(directory),
            "STRIPEWISE_PLUGIN_PATH": str(plugins(stack)),
            "STRIPEWISE_CONFIGURATION": "stripewise-flat 1\n" + series_text(RULES),
            **mapping.variables,
            **KINDS[kind],
        }
        words = [*launch(stack, n_ranks), *before, str(built), str(seed)]
        try:
            done = subprocess.run(
                words,
                cwd=directory,
                env=variables,
                capture_output=True,
                text=True,
                timeout=HANG_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return f"seed {seed} ({kind}, {n_ranks} ranks) hangs", mapping.read()
        said = "" if done.returncode == 0 else f"seed {seed} ({kind}): {done.stderr}"
        return said, mapping.read()


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("stack", FAMILIES)
def test_none_of_many_hangs(stack: str, batch: int, tmp_path: Path) -> None:
    count = share_of(RUNS // len(FAMILIES) // BATCHES, 3)
    talked = adopted = 0
    for number in range(count):
        seed = FAMILIES.index(stack) + len(FAMILIES) * (batch + BATCHES * number)
        directory = tmp_path / str(seed)
        directory.mkdir()
        problem, outcome = run_once(stack, seed, directory)
        assert not problem
        talked += outcome.opens
        adopted += outcome.adopted
        shutil.rmtree(directory)
    assert talked > 0
    if count > 20:
        assert adopted > 0
