# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise tune run.sh`: scripts and clusters that are refused before anything is made."""

from __future__ import annotations

import os

import pytest

from stripewise.cli._scripts import is_job_script
from stripewise.core.errors import RuntimeMissingError
from stripewise.run.runtime import find_runtime
from support.job_cluster import BURST, HEAD, LAUNCH, OWN, PERSISTENT, SCRIPT, refused


def _need_runtime() -> None:
    try:
        find_runtime()
    except RuntimeMissingError:
        pytest.skip("the runtime library is not built")


# ---- the script -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + "echo nothing\n", ("run.sh", "no launch line", "srun")),
        (HEAD + LAUNCH * 3, ("run.sh", "3 launch lines", "--step N")),
        (HEAD + LAUNCH + "sbatch again.sh\n", ("run.sh", "submits jobs itself", "tune the")),
        (HEAD + LAUNCH + "\0", ("run.sh", "NUL", "not a script")),
        (HEAD + "#SBATCH --partition=nope\n" + LAUNCH, ("'nope'", "there are work")),
        (HEAD + "#SBATCH --comment='open\n" + LAUNCH, ("run.sh",)),
        (HEAD + "#SBATCH -D /usr\n" + LAUNCH, ("works in /usr", "(cd /usr)")),
        (HEAD + "#SBATCH --input=in.txt\n" + LAUNCH, ("--input=in.txt", "< FILE")),
        (HEAD + "#SBATCH --nodes=5\n" + LAUNCH, ("5 nodes", "work has 4", "ask for fewer")),
        (HEAD + OWN + "#DW stage_in type=directory source=/no/such destination=$DW_JOB_STRIPED/\n"
         + LAUNCH, ("/no/such", "no such directory")),
        (HEAD + OWN + "#DW stage_in type=file source=/a destination=$DW_JOB_STRIPED/a\n"
         + LAUNCH, ("stage_in", "/a", "absolute path")),
        (HEAD + OWN + "#DW stage_in type=list source=/etc/passwd destination=$DW_JOB_STRIPED/a\n"
         + LAUNCH, ("type=list", "type=file, type=directory")),
        (HEAD + OWN + "#DW stage_in type=file source=/etc/passwd destination=$OTHER/a\n"
         + LAUNCH, ("$OTHER", "$DW_JOB_STRIPED")),
        (HEAD + OWN + "#DW stage_in type=file source=/etc/passwd destination=$DW_JOB_STRIPED/../a"
         + "\n" + LAUNCH, ("copies what a study cannot",)),
        (HEAD + OWN + "#DW persistentdw name=mine\n" + LAUNCH, ("mine`", "second burst buffer")),
        (HEAD + "#DW persistentdw name=hers\n" + LAUNCH, ("'hers'", "there are none")),
        (HEAD + "#BB create_persistent name=mine capacity=1GiB\n" + LAUNCH,
         ("run.sh, line 3", "create_persistent name=mine", "job of its own")),
        (HEAD + "#DW persistentdw name=mine\n#BB destroy_persistent name=mine\n" + LAUNCH,
         ("run.sh, line 4", "destroy_persistent", "take it out")),
        (HEAD + OWN.replace("2GiB", "1TiB") + LAUNCH, ("pool wlm_pool", "has 8", "fewer")),
        (HEAD + OWN.replace("2GiB", "lots") + LAUNCH, ("lots",)),
        ("#!/usr/bin/python3\n#SBATCH --nodes=1\n", ("python", "shell script")),
    ],
)  # fmt: skip
def test_scripts_that_cannot_be_tuned(cluster, text, words) -> None:
    cluster.write(text)
    refused(cluster, cluster.tune("run.sh"), *words)
    refused(cluster, cluster.tune("run.sh", "--dry-run"), *words)


def test_the_tuned_script_is_not_tuned_again(cluster) -> None:
    done = cluster.run("settings", "script", "run.sh", "--bb-nodes", "1", "-o", "again.sh")
    assert done.code == 0, done
    refused(
        cluster, cluster.tune("again.sh"), "earlier study", "settings script --revert again.sh"
    )


@pytest.mark.parametrize("name", ["missing.sh", ".", "data.bin", "nul.sh"])
def test_no_script_at_all(cluster, name) -> None:
    (cluster.work / "data.bin").write_bytes(b"\x7fELF\0\0")
    cluster.write("#!/bin/bash\n\0\n", "nul.sh").chmod(0o600)
    refused(cluster, cluster.tune(name, "--budget", "2nh"))
    cluster.tune("--dry-run", name).error("--dry-run requires a job script")


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_a_script_that_cannot_be_read(cluster) -> None:
    cluster.script.chmod(0)
    refused(cluster, cluster.tune("run.sh"))


def test_what_is_a_job_script(tmp_path) -> None:
    path = tmp_path / "run.sh"
    for text, is_one in (
        (SCRIPT, True),
        ("#!/bin/sh\n#DW jobdw type=scratch capacity=1GiB\nsrun ./a\n", True),
        ("#!/bin/sh\nsrun ./a\n", False),
        ("\ufeff#!/bin/sh\n#SBATCH -n 1\nsrun ./a\n", True),
        ("\n#!/bin/sh\n#SBATCH -n 1\nsrun ./a\n", True),
        ("#SBATCH -n 1\nsrun ./a\n", True),  # reading it says that the first line is missing
        ("#!/bin/sh\necho '#SBATCH'\n", False),
        ("#!/bin/sh\ncat > x <<E\n#SBATCH -n 1\nE\n", False),
        ("", False),
    ):
        path.write_text(text)
        assert is_job_script(str(path)) is is_one, text
    assert not is_job_script(str(tmp_path))
    assert not is_job_script(str(tmp_path / "none"))
    assert not is_job_script("x" * 5000)
    assert not is_job_script("a\0b")


# ---- the cluster ----------------------------------------------------------------------------


def test_no_slurm_here(cluster, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(cluster.work))
    refused(cluster, cluster.tune("run.sh"), "no sbatch on PATH", "login node")


def test_the_controller_is_away(cluster) -> None:
    cluster.set(away=True)
    refused(cluster, cluster.tune("run.sh"), "Unable to contact", "wait")


DOWN = "PartitionName=work Default=YES MaxTime=1-00:00:00 State=DOWN TotalNodes=4"


@pytest.mark.extended(keep=16)
@pytest.mark.parametrize(
    ("words", "settings", "says"),
    [
        (("--pool", "nope"), {}, ("'nope'", "wlm_pool, small")),
        (("--pool", "a b"), {}, ("'a b'", "letters")),
        (("--tier", "nope"), {}, ("--tier nope", "datawarp")),
        (("--tier", "lua", "--place", "$BB"), {}, ("lua",)),
        (("--tier", "rabbit"), {}, ("rabbit", "--granularity and --free-nodes")),
        (("--tier", "datawarp"), {"burst": ""}, ("datawarp", "--granularity", "--tier none")),
        (("--tier", "directory"), {}, ("--tier directory", "--place '$TMPDIR'")),
        (("--tier", "directory", "--place", "x/$A"), {}, ("absolute path", "$TMPDIR")),
        (("--tier", "directory", "--place", "$A", "--stage-out", "a"), {}, ("absolute path",)),
        (
            ("--tier", "directory", "--place", "$A", "--stage-in", "/no", "--stage-out", "/r"),
            {},
            ("no such directory",),
        ),
        (("--persistent", "hers"), {"burst": BURST + PERSISTENT}, ("'hers'", "there are mine")),
        (("--persistent", "hers"), {}, ("'hers'", "there are none")),
        (
            ("--persistent", "my-own"),
            {"burst": ""},
            ("my-own", "none has none", "--tier datawarp"),
        ),
        (
            ("--persistent", "x", "--tier", "directory", "--place", "$BB"),
            {},
            ("directory has none",),
        ),
        (
            ("--persistent", "mine", "--bb-nodes", "2"),
            {"burst": BURST + PERSISTENT},
            ("--bb-nodes", "has its nodes already"),
        ),
        (("--bb-nodes", "9"), {}, ("9 nodes", "has 8", "fewer")),
        (("--bb-nodes", "5"), {}, ("5 nodes", "4 of 8 are free", "2 drained")),
        (("--bb-nodes", "0"), {}, ("--bb-nodes", "at least 1")),
        (("--bb-nodes", "x"), {}, ("--bb-nodes",)),
        (("--bb-nodes", "2"), {"burst": ""}, ("--bb-nodes", "no burst buffer")),
        (("--bb-capacity", "100GiB"), {}, ("50 nodes", "has 8")),
        (("--bb-capacity", "10GiB"), {}, ("5 nodes", "4 of 8 are free")),
        ((), {"burst": BURST.replace("FreeSpace=8", "FreeSpace=0")}, ("0 of 8", "6 drained")),
        ((), {"partition": DOWN}, ("partition work starts no jobs",)),
        (("--allocation-time", "2d"), {}, ("--allocation-time",)),
        (("--allocation-time", "30h"), {}, ("--allocation-time", "work", "1440 minutes")),
        (
            ("--stage-in", "/no/such", "--stage-out", "/r"),
            {},
            ("/no/such", "no such directory"),
        ),
        (("--stage-in", "/usr"), {}, ("--stage-in /usr", "where results go")),
        (("--stage-out", "results"), {}, ("results", "absolute path")),
        (("--template", "nope", "--tier", "lua", "--place", "$BB"), {}, ("--template nope",)),
        (("--resources",), {}, ("--resources", "--ranks")),
        (("--case", "a", "--case", "b"), {}, ("--case",)),
        (("--on", "archer2-hdd@1/64"), {}, ("--on",)),
        (("--step", "2"), {}, ("no launch line 2",)),
        (("--in-flight", "0"), {}, ("--in-flight",)),
        (("--replay", "some.trace"), {}, ("--replay", "job script")),
    ],
)
def test_what_cannot_be_had(cluster, words, settings, says) -> None:
    if words == ("--resources",):
        cluster.write(HEAD + "srun ./writer out.dat\n")
    if "--in-flight" in words:
        _need_runtime()
    cluster.set(**settings)
    refused(cluster, cluster.tune("run.sh", *words), *says)


@pytest.mark.parametrize("words", [("--resources",), ("--ranks", "2"), ("--threads", "2")])
def test_ranks_of_a_heterogeneous_job_are_refused_before_the_baseline(cluster, words) -> None:
    cluster.write(SCRIPT.replace("srun -n 1", "#SBATCH hetjob\n#SBATCH --nodes=3\nsrun -n 4"))
    for more in ((), ("--dry-run",)):
        said = cluster.tune("run.sh", "--tier", "none", *words, *more)
        refused(cluster, said, "cannot be set in a heterogeneous job")


@pytest.mark.parametrize(
    ("words", "minutes"),
    [
        ((), 120),
        (("--budget", "1nh"), 30),
        (("--budget", "0.1nh"), 12),  # at least one run and the margin
        (("--budget", "1nh", "--allocation-time", "50m"), 50),
        (("--budget", "100nh"), 120),
    ],
)
def test_allocations_are_not_asked_for_longer_than_the_budget(cluster, words, minutes) -> None:
    cluster.write(SCRIPT.replace("--nodes=1", "--nodes=2"))
    said = cluster.tune("run.sh", "--dry-run", "--json", "--tier", "none", *words).json
    assert said["allocation_seconds"] == 60 * minutes


@pytest.mark.parametrize(
    ("options", "nodes", "warns"),
    [
        ("#SBATCH --nodes=2-4", 2, False),
        ("#SBATCH -n 64 --ntasks-per-node=16", 4, False),
        ("#SBATCH -n 64", 1, True),
        ("#SBATCH -n 1", 1, False),
        ("#SBATCH -N 1\n#SBATCH hetjob\n#SBATCH -N 8", 9, False),
        ("#SBATCH -N 1\n#SBATCH hetjob\n#SBATCH -n 8 --ntasks-per-node=4", 3, False),
    ],
)
def test_node_hours_are_those_of_all_nodes(cluster, options, nodes, warns) -> None:
    cluster.write(SCRIPT.replace("#SBATCH --nodes=1", options).replace("srun -n 1", "srun"))
    said = cluster.tune("run.sh", "--dry-run", "--json", "--tier", "none").json
    assert said["nodes"] == nodes
    assert any("how many nodes" in text for text in said["warnings"]) is warns


def test_variables_of_sbatch_count_more_than_the_script(cluster, monkeypatch) -> None:
    cluster.write(SCRIPT.replace("--time=10", "--time=10 --account=a --output=o --partition=x"))
    for name, value in {"ACCOUNT": "b", "TIMELIMIT": "5", "OUTPUT": "p"}.items():
        monkeypatch.setenv(f"SBATCH_{name}", value)
    monkeypatch.setenv("SBATCH_PARTITION", "work")
    said = cluster.tune("run.sh", "--dry-run", "--json").json
    assert said["run_seconds"] == 300
    takes = [text for text in said["warnings"] if text.startswith("sbatch takes --")]
    assert [text.split()[2] for text in takes] == ["--time", "--account", "--partition"]
    assert "SBATCH_ACCOUNT in your environment, not from run.sh" in takes[1]
    monkeypatch.setenv("SBATCH_PARTITION", "nope")
    refused(cluster, cluster.tune("run.sh"), "'nope'")


def test_the_cluster_that_the_script_names_is_asked(cluster) -> None:
    cluster.set(cluster="c2")
    cluster.write(SCRIPT.replace("--time=10", "--time=10 --clusters=c2"))
    assert cluster.tune("run.sh", "--dry-run").code == 0
    cluster.write(SCRIPT.replace("--time=10", "--time=10 -M c1,c2"))
    refused(cluster, cluster.tune("run.sh"), "several clusters", "name one")


def test_a_script_that_names_the_directory_in_which_it_is_tuned(cluster) -> None:
    cluster.write(SCRIPT.replace("--time=10", f"--time=10 --chdir={cluster.work}/../work"))
    assert cluster.tune("run.sh", "--dry-run").code == 0


def test_a_partition_that_is_up_among_others(cluster) -> None:
    cluster.write(SCRIPT.replace("--time=10", "--time=10 --partition=old,work"))
    other = "PartitionName=old MaxTime=01:00:00 State=DOWN TotalNodes=1\n"
    up = "PartitionName=work Default=YES MaxTime=1-00:00:00 State=UP TotalNodes=4"
    cluster.set(partition=other + up)
    assert cluster.tune("run.sh", "--dry-run").code == 0


def test_names_that_directives_cannot_hold(cluster, monkeypatch) -> None:
    """No directive names a file of the user."""
    place = cluster.work / "a b $(touch canary)"
    place.mkdir()
    (place / "run.sh").write_text(SCRIPT)
    (place / "c d").touch()
    monkeypatch.chdir(place)
    said = cluster.tune("run.sh", "--dry-run")
    assert said.code == 0, said
    assert "warning" not in said.out
    assert sorted(os.listdir(place)) == ["c d", "run.sh"]


HET = HEAD + "#SBATCH hetjob\n#SBATCH --nodes=1\n" + LAUNCH
TWO = HEAD.replace("--nodes=1", "--nodes=2") + LAUNCH


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        (HET, ("--tier", "datawarp"), ("heterogeneous", "--tier none", "--tier directory")),
        (HET, ("--bb-nodes", "2"), ("heterogeneous", "one of its parts")),
        (HEAD + OWN + HET.removeprefix(HEAD), (), ("heterogeneous", "one of its parts")),
        (TWO, ("--access", "private"), ("takes 2 nodes", "access_mode=private")),
        (TWO, ("--tier", "directory", "--place", "/dev/shm"), ("takes 2 nodes", "/dev/shm")),
        (HEAD + "[[ ! -e rst ]] && echo cold\n" + LAUNCH, ("--stage-out", "/r"),
         ("run.sh, line 3", "the same directory")),
    ],
)  # fmt: skip
def test_jobs_whose_files_cannot_be_staged(cluster, text, words, says) -> None:
    cluster.write(text)
    refused(cluster, cluster.tune("run.sh", *words), *says)
    refused(cluster, cluster.tune("run.sh", *words, "--dry-run"), *says)


def test_a_heterogeneous_job_is_tuned_without_a_burst_buffer(cluster) -> None:
    cluster.write(HET)
    said = cluster.tune("run.sh", "--dry-run", "--json").json
    assert said["tier"] == "none"
    assert any("no burst buffer is tried" in text for text in said["warnings"])
    words = ("--tier", "directory", "--place", "/flash/$USER")
    assert cluster.tune("run.sh", "--dry-run", "--json", *words).json["tier"] == "directory"


@pytest.mark.parametrize("name", ["a b.sh", "q'\"$(touch canary).sh", "n\new.sh", "caf\udce9.sh"])
def test_hostile_names_of_scripts(cluster, name) -> None:
    cluster.write(SCRIPT.replace("srun", "echo"), name)
    refused(cluster, cluster.tune(name), "no launch line")
    cluster.write(SCRIPT, name)
    refused(cluster, cluster.tune("--", name), "is a job script")
    said = cluster.tune(name, "--dry-run")
    assert said.code == 0, said
    assert len(said.out.splitlines()) == 7
    assert cluster.tune(name, "--dry-run", "--json").json["dry_run"] is True


@pytest.mark.parametrize("words", [("run.sh",), ("run.sh", "--dry-run"), ("--", "./writer")])
def test_a_directory_with_a_colon_is_refused_at_once(cluster, monkeypatch, words) -> None:
    names = cluster.names
    said = cluster.tune("--study-dir", "a:b", *words)
    said.error("the study's directory a:b has a colon", "without a colon with --study-dir")
    assert cluster.names == names
    place = cluster.work / "x:y"
    place.mkdir()
    (place / "run.sh").write_text(SCRIPT)
    monkeypatch.chdir(place)
    cluster.tune(*words).error(f"directory {place}/", ".stripewise has a colon", "--study-dir")
    assert os.listdir(place) == ["run.sh"]
    assert cluster.fake.calls == []


def test_a_launcher_that_is_not_certain_is_refused_with_a_remedy(cluster) -> None:
    cluster.write(SCRIPT.replace("srun", "RUN=(srun)\n${RUN[@]}", 1))
    line = refused(cluster, cluster.tune("run.sh", "--dry-run"), "${RUN[@]} holds a launcher")
    assert "write the launcher, its options and one program out in this line" in line


def test_a_script_with_line_ends_of_dos_is_refused(cluster) -> None:
    cluster.write(SCRIPT.replace("\n", "\r\n"))
    refused(cluster, cluster.tune("run.sh", "--dry-run"), "dos2unix run.sh")
