# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Job scripts that go to a directory: runs stay in their copies, and on the burst buffer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stripewise.run.jobs import revert
from support.job_cluster import JobCluster, job_cluster

HEAD = "#!/bin/bash\n#SBATCH --nodes=1 --time=10\n"
LAUNCH = "srun -n 1 ./writer out.dat\n"
NODES = ("--bb-nodes", "2", "--print")


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobCluster]:
    with job_cluster(tmp_path, monkeypatch) as made:
        yield made


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + "cd {other}\n" + LAUNCH, ("line 3: cd", "(cd {other})")),
        (HEAD + "D={other}\ncd $D || exit\n" + LAUNCH, ("line 4: cd", "(cd {other})")),
        (HEAD + "cd /no/such/place\n" + LAUNCH, ("/no/such/place", '(cd "$SLURM_SUBMIT_DIR")')),
        (HEAD + "cd\n" + LAUNCH, ("line 3: cd", "your own files")),
        (HEAD + "#SBATCH --chdir={other}\n" + LAUNCH, ("--chdir={other}", "(cd {other})")),
        (HEAD + "#SBATCH -D ..\n" + LAUNCH, ("--chdir=..",)),
        (HEAD + "srun -n 1 -D {other} ./writer out.dat\n", ("-D {other}", "take it out")),
        (HEAD + "srun --chdir={other} -n1 ./writer out.dat\n", ("--chdir {other}",)),
        (HEAD + "mpirun -wdir {other} -n 1 ./writer out.dat\n", ("-wdir {other}",)),
    ],
)  # fmt: skip
def test_a_program_that_works_elsewhere_is_refused(cluster, tmp_path, text, words) -> None:
    other = tmp_path / "other"
    other.mkdir()
    cluster.write(text.format(other=other))
    for more in ((), ("--dry-run",)):
        said = cluster.tune("run.sh", *more)
        said.error("run.sh", *[word.format(other=other) for word in words])
    assert cluster.submitted == 0
    assert not [name for name in cluster.names if name.endswith(".stripewise")]


def test_what_lies_above_the_directory_is_refused(cluster, tmp_path) -> None:
    (tmp_path / "results").mkdir()
    for line in ("mv out.dat ../results/", "cp ../results/x .", "srun ../results/a"):
        cluster.write(f"{HEAD}{LAUNCH}{line}\n" if "srun" not in line else f"{HEAD}{line}\n")
        for more in ((), ("--dry-run",), ("--allow-outside", f"{tmp_path}/results")):
            cluster.tune("run.sh", *more).error(": ../results", "outside of the job's directory")
    assert cluster.submitted == 0


@pytest.mark.parametrize("text", ["cd {link}", "W={link}/sub; cd $W", "cd {link}; cp ./a sub/b"])
def test_a_link_to_the_directory_is_no_other_one(cluster, tmp_path, text) -> None:
    (tmp_path / "link").symlink_to(cluster.work)
    (cluster.work / "sub").mkdir()
    cluster.write(f"{HEAD}{text.format(link=tmp_path / 'link')}\n{LAUNCH}")
    found = cluster.tune("run.sh", "--dry-run", "--json").json
    assert (found["outside"], found["warnings"]) == ([], [])


@pytest.mark.parametrize(
    "move",
    ["cd {here}", "cd $SLURM_SUBMIT_DIR", "cd {other}\nmake\ncd {here}", "cd {other}; cd -"],
)
def test_a_program_that_works_here_is_not(cluster, tmp_path, move) -> None:
    text = move.format(here=cluster.work, other=tmp_path)
    cluster.write(f"{HEAD}#SBATCH --chdir={cluster.work}\n{text}\n{LAUNCH}")
    found = cluster.tune("run.sh", "--dry-run", "--json").json
    assert [text for text in found["warnings"] if "leads to another directory" in text] == (
        [f"run.sh: `cd {tmp_path}` (line 4) leads to another directory: what the script changes "
         "there is refused in runs, unless --allow-outside names it"]
        if "other" in move
        else []
    )  # fmt: skip


def test_a_place_that_is_not_known(cluster) -> None:
    own = 'DIR=$(cd "$(dirname "$0")"; pwd)\n'
    cluster.write(HEAD + own + "cd $(mktemp -d)\ncd $1\n" + LAUNCH)
    (text,) = cluster.tune("run.sh", "--dry-run", "--json").json["warnings"]
    assert ": `cd $(mktemp -d)` (line 4), `cd $1` (line 5) may lead to another directory" in text


def test_own_directories_of_the_burst_buffer_are_known(cluster) -> None:
    own = "#DW jobdw type=scratch access_mode=striped capacity=2GiB\ncd $DW_JOB_STRIPED/run\n"
    cluster.write(HEAD + own + LAUNCH)
    assert cluster.tune("run.sh", "--dry-run", "--json").json["warnings"] == []


def test_a_converted_script_stays_on_the_burst_buffer(cluster) -> None:
    text = f"{HEAD}cd {cluster.work}/run\nsrun ./a\n"
    cluster.write(text)
    said = cluster.run("settings", "script", "run.sh", *NODES)
    assert '\ncd "${SLURM_SUBMIT_DIR:?}"/run\n' in said.out
    assert revert(said.out.encode()) == text.encode()
    assert "leave" not in said.err


def test_what_leaves_the_burst_buffer_is_said(cluster) -> None:
    cluster.write(f"{HEAD}cd /somewhere\ncd $1\nsrun ./a\n")
    said = cluster.run("settings", "script", "run.sh", *NODES, "--stage-out", "/results")
    assert "line 3: `cd /somewhere` leaves the burst buffer" in said.err
    assert "line 4: `cd $1` may leave the burst buffer" in said.err
