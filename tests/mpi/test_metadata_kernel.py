# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The metadata kernel counts what it does, tells how long it takes, and leaves nothing behind."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_builds import WARNINGS
from metadata_builds import METADATA, MetadataKernel, metadata_kernel

pytestmark = pytest.mark.mpi

FILES = ("create", "stat", "read-file", "rename", "list", "remove")
DIRECTORIES = ("create-directory", "stat-directory", "remove-directory")
ALL = ",".join((*DIRECTORIES, *FILES))


@pytest.fixture(params=["mpich", "openmpi"])
def kernel(request: pytest.FixtureRequest) -> MetadataKernel:
    return metadata_kernel(str(request.param))


@pytest.fixture
def mpich() -> MetadataKernel:
    return metadata_kernel("mpich")


def counts(document: dict[str, Any]) -> dict[str, int]:
    """Operation to how many there were in each repeat, which are alike."""
    found: dict[str, set[int]] = {}
    for phase in document["phases"]:
        found.setdefault(phase["operation"], set()).add(phase["operations"])
    assert all(len(numbers) == 1 for numbers in found.values())
    return {name: numbers.pop() for name, numbers in found.items()}


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    "words",
    [
        ["--sharing", "shared"],
        ["--sharing", "own", "--shift", "1", "--random", "--seed", "7"],
        ["--sharing", "own", "--depth", "2", "--width", "3", "--file-bytes", "4 KiB", "--fsync"],
        ["--depth", "3", "--width", "2", "--spread", "leaves", "--shift", "1", "--repeats", "2"],
        ["--depth", "4", "--width", "1", "--node-ranks", "1", "--file-bytes", "3"],
    ],
    ids=" ".join,
)
def test_counts_are_right_and_nothing_stays(
    kernel: MetadataKernel, words: list[str], tmp_path: Path
) -> None:
    found = kernel.told(2, "--files", "37", "--phases", ALL, *words, cwd=tmp_path)
    trees = 2 if found["sharing"] == "own" else 1
    expected = dict.fromkeys((*DIRECTORIES, *FILES), 2 * 37)
    expected["list"] = 2 * found["tree_directories"]
    if found["depth"]:
        made = trees * (found["tree_directories"] - 1)
        expected |= {"create-tree": made, "remove-tree": made}
    assert counts(found) == expected
    assert len(found["phases"]) == found["repeats"] * len(expected)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.extended(keep=1)
def test_times_are_those_of_the_operations(kernel: MetadataKernel, tmp_path: Path) -> None:
    found = kernel.told(2, "--files", "300", cwd=tmp_path)
    assert [one["operation"] for one in found["phases"]] == [
        *DIRECTORIES, "create", "stat", "read-file", "remove",
    ]  # fmt: skip
    for phase in found["phases"]:
        percentiles = list(phase["percentiles_seconds"].values())
        assert list(phase["percentiles_seconds"]) == ["50", "90", "99", "99.9", "100"]
        assert percentiles == sorted(percentiles)
        assert 0 < phase["least_seconds"] <= percentiles[0]
        assert phase["least_seconds"] <= phase["mean_seconds"] <= percentiles[-1]
        histogram = phase["histogram"]
        assert sum(histogram["operations"]) == phase["operations"]
        mean = np.average(histogram["seconds"], weights=histogram["operations"])
        assert mean == pytest.approx(phase["mean_seconds"], rel=0.01)
        # A rank makes one operation after another, from its begin to its end.
        fastest, slowest = phase["fastest"]["seconds"], phase["slowest"]["seconds"]
        assert fastest <= slowest <= phase["seconds"] + 1e-9
        busy = phase["mean_seconds"] * phase["operations"]
        assert busy == pytest.approx(fastest + slowest, rel=1e-6)
        rate = phase["operations"] / phase["seconds"]
        assert phase["operations_per_second"] == pytest.approx(rate)
        assert phase["slowest"]["host"] == found["host"]


def test_the_histogram_is_right_to_a_hundredth(tmp_path: Path, mpich: MetadataKernel) -> None:
    program = tmp_path / "histogram"
    sources = [Path(__file__).parent / "metadata_histogram.c", METADATA / "histogram.c"]
    words = [f"mpicc.{mpich.family}", *WARNINGS, f"-I{METADATA}", *map(str, sources), "-lm"]
    subprocess.run([*words, "-o", str(program)], check=True)
    random = np.random.default_rng(1)
    drawn = np.exp(random.normal(10, 3, 20_000)).astype(np.uint64)
    for values in (drawn, np.array([0, 1, 127, 128, 129, 1 << 50], np.uint64), drawn[:1]):
        done = subprocess.run(
            [program], input=" ".join(map(str, values)), text=True, capture_output=True, check=True
        )
        *percentiles, mean, total = map(float, done.stdout.split())
        exact = np.percentile(values, [0, 10, 50, 90, 99, 99.9, 100], method="inverted_cdf")
        last = [min(one, 2**43) / 1e9 for one in exact[:-1].astype(float)]
        assert percentiles[:-1] == pytest.approx(last, rel=0.01)
        assert percentiles[-1] == pytest.approx(float(values.max()) / 1e9)
        assert (mean, total) == (pytest.approx(float(values.mean()) / 1e9), len(values))


@pytest.mark.extended
def test_ranks_use_what_another_node_has_made(mpich: MetadataKernel, tmp_path: Path) -> None:
    here = mpich.told(2, "--files", "3", "--phases", "create,stat", cwd=tmp_path)
    assert (here["n_nodes"], here["shift"], here["clock_uncertainty_seconds"]) == (1, 0, 0)
    words = ["--files", "3", "--phases", "create,stat", "--node-ranks"]
    two = mpich.told(4, *words, "2", cwd=tmp_path)
    assert (two["n_nodes"], two["ranks_per_node"], two["shift"]) == (2, 2, 2)
    assert 0 < two["clock_uncertainty_seconds"] < 60
    odd = mpich.told(3, *words, "2", cwd=tmp_path)  # no shift leads every rank to another node
    assert (odd["n_nodes"], odd["shift"]) == (2, 2)


@pytest.mark.extended(keep=1)
def test_a_stonewall_is_worn_out(kernel: MetadataKernel, tmp_path: Path) -> None:
    found = kernel.told(
        2, "--files", "100000000", "--stonewall", "0.2 s", "--sharing", "own", "--shift", "1",
        "--phases", "create,stat,remove", cwd=tmp_path,
    )  # fmt: skip
    create, stat, remove = found["phases"]
    wall = create["stonewall"]
    assert (wall["worn_out"], wall["seconds"]) == (True, 0.2)
    assert create["seconds"] >= 0.19  # from the first operation on
    assert wall["least_of_a_rank"] <= wall["most_of_a_rank"]
    assert wall["operations"] <= create["operations"] == 2 * wall["most_of_a_rank"]
    assert stat["operations"] == remove["operations"] == create["operations"]
    assert stat["stonewall"] is None
    assert list(tmp_path.iterdir()) == []


def test_a_stonewall_that_nobody_meets_changes_nothing(
    mpich: MetadataKernel, tmp_path: Path
) -> None:
    found = mpich.told(2, "--files", "5", "--stonewall", "60", "--phases", "create", cwd=tmp_path)
    assert found["phases"][0]["operations"] == 10
    assert found["phases"][0]["stonewall"]["worn_out"] is False


def test_the_table_has_all_that_was_timed(mpich: MetadataKernel, tmp_path: Path) -> None:
    done = mpich.run(2, "--files", "10", "--phases", "create,stat", cwd=tmp_path)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[:3] for row in rows if row and row[0] in ("create", "stat")] == [
        ["create", "1", "20"], ["stat", "1", "20"],
    ]  # fmt: skip
    quiet = mpich.run(1, "--files", "10", "--quiet", cwd=tmp_path)
    assert (quiet.returncode, quiet.stdout) == (0, "")
    versions = mpich.run(1, "--version", cwd=tmp_path).stdout
    assert versions.startswith("stripewise-metadata ")
    assert "--stonewall SECONDS" in mpich.run(2, "--help", cwd=tmp_path).stdout
