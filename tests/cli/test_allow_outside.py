# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shell lines reach files of the user only where --allow-outside says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.job_cluster import HEAD, JobCluster, build_writer, prepared

LAUNCH = "srun -n 1 ./writer out.dat input.txt"


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_writer(tmp_path_factory.mktemp("writer"))


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """A directory of the user's outside of the job's."""
    directory = tmp_path / "precious"
    (directory / "old").mkdir(parents=True)
    (directory / "old" / "data").write_text("precious")
    (directory / "model.log").write_text("precious")
    return directory


def content(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): path.read_text()
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_what_shell_lines_do_outside_is_listed_and_asked_for(
    cluster: JobCluster, user: Path
) -> None:
    before = content(user)
    cluster.write(f"{HEAD}rm -rf {user}/old\n{LAUNCH} > {user}/model.log\ncp -f out.dat {user}/\n")
    said = cluster.tune("run.sh", "--dry-run")
    assert said.code == 0, said
    for text in (
        "outside         line 3 (`rm -rf ",
        f" removes {user}/old\n",
        f" writes {user}/model.log",
        f" writes {user}/\n",
        f"--allow-outside {user}; tune refuses to begin without it",
    ):
        assert text in said.out, said
    found = cluster.tune("run.sh", "--dry-run", "--json", "--allow-outside", str(user)).json
    assert [(one["line"], one["verb"], one["allowed"]) for one in found["outside"]] == [
        (3, "removes", True), (4, "writes", True), (5, "writes", True),
    ]  # fmt: skip
    assert found["allow"] == ""
    for more in ((), ("--allow-outside", f"{user}/old")):
        error = cluster.tune("run.sh", *more).error("line 4", "line 5", f"--allow-outside {user}")
        assert ("line 3" in error) is (f"{user}/old" not in more)
    assert cluster.submitted == 0
    assert not [name for name in cluster.names if name.endswith(".stripewise")]
    assert content(user) == before


def test_names_of_other_hosts_are_taken_as_they_are_said(cluster: JobCluster) -> None:
    cluster.write(
        f"{HEAD}{LAUNCH}\nscp out.dat me@archive:/data/run/\nrsync out.dat rsync://h/mod\n"
    )
    said = cluster.tune("run.sh", "--dry-run").out
    remedy = "--allow-outside me@archive:/data/run/ --allow-outside rsync://h/mod"
    assert f"{remedy}; tune refuses to begin without it" in said
    found = cluster.tune("run.sh", "--dry-run", "--json", *remedy.split()).json
    assert [one["allowed"] for one in found["outside"]] == [True, True]
    assert found["allow"] == ""


@pytest.mark.parametrize(
    "line",
    [
        "pushd ../precious\n" + LAUNCH,
        "builtin cd {user}\n" + LAUNCH,
        "source ./setup.sh\n" + LAUNCH,
        "env -C {user} " + LAUNCH,
        "cd ..; cd precious\n" + LAUNCH,
    ],
)
def test_a_program_that_comes_to_work_elsewhere_is_refused(
    cluster: JobCluster, user: Path, line: str
) -> None:
    cluster.write(f"cd {user}\n", "setup.sh")
    cluster.write(HEAD + line.format(user=user) + "\n")
    for more in ((), ("--dry-run",), ("--allow-outside", str(user))):
        said = cluster.tune("run.sh", *more)
        said.error("the program works in", "precious", "your own files")
    assert cluster.submitted == 0


def test_temporary_files_and_devices_are_not_asked_for(cluster: JobCluster) -> None:
    new = f"/tmp/no-such-{os.getpid()}"
    cluster.write(
        f"{HEAD}D=$(mktemp -d)\necho > $D/x > /dev/null 2> {new}.log\nmkdir {new}.d\n"
        f"cp input.txt $TMPDIR/; rm -r {new}.d/x\n{LAUNCH}\n"
    )
    found = cluster.tune("run.sh", "--dry-run", "--json").json
    assert (found["outside"], found["warnings"]) == ([], [])


def test_what_is_not_known_and_what_is_not_guarded_is_said(cluster: JobCluster) -> None:
    cluster.write(f"{HEAD}rm -rf $NO_SUCH_VARIABLE/old\nenv -i date\n{LAUNCH}\n")
    unknown, unguarded = cluster.tune("run.sh", "--dry-run", "--json").json["warnings"]
    assert "`rm -rf $NO_SUCH_VARIABLE/old` (line 3) leads is known only during a run" in unknown
    assert "`env -i date` (line 4): env clears the environment" in unguarded


def test_commands_that_are_shell_scripts_are_asked_for_too(
    cluster: JobCluster, user: Path
) -> None:
    before = content(user)
    script = cluster.write(f"#!/bin/sh\nrm -rf {user}/old\n", "plain.sh")
    for words in (
        ("./plain.sh",),
        (str(script),),
        ("sh", "plain.sh"),
        ("bash", "-c", f"echo x > {user}/model.log"),
        ("mpiexec", "-n", "1", "sh", "-c", f"rm {user}/model.log"),
    ):
        cluster.tune("--", *words).error(f"{user}/", f"--allow-outside {user}")
    assert content(user) == before
    assert not [name for name in cluster.names if name.endswith(".stripewise")]


def test_what_only_a_run_shows_is_refused_and_told(
    cluster: JobCluster, writer: Path, user: Path
) -> None:
    """The launch line's shell cannot write its log: no program starts."""
    before = content(user)
    prepared(cluster, writer)
    cluster.write(f"{HEAD}P=$(echo {user}; true)\n{LAUNCH} > $P/model.log\n")
    said = cluster.tune("run.sh", "--tier", "none", "--trials", "1")
    said.error("Stripewise refused to change", f"{user}/model.log", "--allow-outside")
    assert content(user) == before


@pytest.mark.parametrize("after", ["", "true\n"])
def test_a_program_that_is_not_there_is_the_cause(cluster: JobCluster, after: str) -> None:
    """Whatever the script ends with: nothing drops the library of a program that never began."""
    cluster.write(f"{HEAD}srun -n 1 ./nosuch out.dat\n{after}")
    error = cluster.tune("run.sh", "--tier", "none", "--trials", "1").error("nosuch")
    assert "./nosuch: No such file or directory" in error
    assert "LD_PRELOAD" not in error


SCRATCH = """\
WORK={user}/scratch/$SLURM_JOB_ID
mkdir -p $WORK
cp -r ./writer input.txt $WORK
cd $WORK
srun -n 1 ./writer out.dat input.txt
cp out.dat $SLURM_SUBMIT_DIR
"""


def test_a_directory_of_each_job_may_be_allowed(cluster: JobCluster, user: Path) -> None:
    cluster.write(HEAD + SCRATCH.format(user=user))
    scratch = f"{user}/scratch"
    said = cluster.tune("run.sh", "--dry-run")
    said.error(f"works in {scratch}/$SLURM_JOB_ID", f"--allow-outside {scratch}, otherwise")
    cluster.tune("run.sh", "--allow-outside", f"{user}/old").error(f"--allow-outside {scratch}")
    for more, count in (((), 1), (("--job-per-run",), 0)):
        words = ("--dry-run", "--json", "--allow-outside", scratch, *more)
        found = cluster.tune("run.sh", *words).json
        assert {one["allowed"] for one in found["outside"]} == {True}
        shared = [text for text in found["warnings"] if "all runs of an allocation share" in text]
        assert len(shared) == count
    known = HEAD + SCRATCH.format(user=user).replace("$SLURM_JOB_ID", "all")
    cluster.write(known)
    cluster.tune("run.sh", "--allow-outside", scratch).error(f"works in {scratch}/all", "your own")
    cluster.write(HEAD + SCRATCH.format(user="/tmp/no-such"))
    assert cluster.tune("run.sh", "--dry-run", "--json").json["outside"] == []
    assert cluster.submitted == 0


def test_a_study_of_a_program_in_a_directory_of_its_job(
    cluster: JobCluster, writer: Path, user: Path
) -> None:
    before = content(user)
    prepared(cluster, writer)
    (user / "scratch").mkdir()
    cluster.write(HEAD + SCRATCH.format(user=user) + "rm -r $WORK\n")
    words = ("--tier", "none", "--trials", "1", "--allow-outside", f"{user}/scratch")
    said = cluster.tune("run.sh", *words)
    assert said.code == 0, said
    assert f"the program writes {user}/scratch/" in said.out + said.err, said
    assert "files there are neither new nor verified" in said.out + said.err
    assert content(user) == before
