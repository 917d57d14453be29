# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The disk of a study of a job script gets full while runs go on in its allocation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from stripewise.study.plan import parse_journal
from support.job_cluster import SCRIPT, JobCluster, Said
from support.slurm_jobs import until
from support.small_disk import small_file_system

pytestmark = pytest.mark.extended

WORDS = ("run.sh", "--strategy", "random", "--trials", "2", "--bb-nodes", "2")
FILLS = """\
count=$(($(cat {here}/count 2>/dev/null || echo 0) + 1)); echo $count > {here}/count
if [ $count = 3 ]; then head -c 1G /dev/zero > {place}/big; fi
srun"""
"""The third run takes all the room, before its program begins."""


@pytest.fixture
def disk(tmp_path: Path, cluster: JobCluster) -> Iterator[Path]:
    """A file system with little more than a study keeps free."""
    with small_file_system(tmp_path / "disk", "80m") as path:
        yield path


def tune(cluster: JobCluster, disk: Path, place: str) -> Said:
    """Tune a script that fills the disk of its study."""
    filling = FILLS.format(here=cluster.work.parent, place=place)
    cluster.write(SCRIPT.replace("srun", filling))
    outside = ("--allow-outside", str(cluster.work.parent), "--allow-outside", str(disk))
    return cluster.tune(*WORDS, *outside, "--study-dir", str(disk / "study"))


def finished(disk: Path) -> dict[str, str]:
    """Return the state of each run that has ended; the journal is whole, and so are results."""
    path = disk / "study" / "journal.jsonl"
    data = path.read_bytes()
    records, whole, *_ = parse_journal(data, path)
    assert whole == len(data)
    for result in disk.rglob("result.json"):
        json.loads(result.read_text())
    ended = (one["measurement"] for one in records if one["kind"] == "run-finished")
    return {one["run_id"]: one["status"] for one in ended}


def test_a_run_that_fills_the_disk_is_made_again(cluster: JobCluster, disk: Path) -> None:
    said = tune(cluster, disk, ".")
    assert said.code == 0, said
    states = list(finished(disk).values())
    assert states.count("failed") == 1
    assert set(states) == {"ok", "failed"}


def test_a_study_whose_disk_stays_full_goes_on_when_there_is_room(
    cluster: JobCluster, disk: Path
) -> None:
    said = tune(cluster, disk, str(disk))
    said.error("free some space")
    assert said.code == 8
    before = finished(disk)
    assert len(before) >= 2
    assert set(before.values()) == {"ok"}
    until(lambda: cluster.fake.processes() == [], 60)
    (disk / "big").unlink()
    said = cluster.tune("--resume", "--study-dir", str(disk / "study"))
    assert said.code == 0, said
    assert before.items() <= finished(disk).items()
