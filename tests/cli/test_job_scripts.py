# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise tune run.sh`: what is refused before anything is made, and what a dry run shows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stripewise.cli._job_script import NodeHours, is_job_script
from stripewise.errors import RuntimeMissingError
from stripewise.runtime import find_runtime
from support.job_cluster import BURST, PERSISTENT, SCRIPT, JobCluster, Said, job_cluster

HEAD = "#!/bin/bash\n#SBATCH --nodes=1 --time=10\n"
OWN = "#DW jobdw type=scratch access_mode=striped capacity=2GiB\n"
LAUNCH = "srun -n 1 ./writer out.dat\n"


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobCluster]:
    with job_cluster(tmp_path, monkeypatch) as made:
        yield made


def _need_runtime() -> None:
    try:
        find_runtime()
    except RuntimeMissingError:
        pytest.skip("the runtime library is not built")


def refused(cluster: JobCluster, said: Said, *words: str) -> str:
    """Return the error; nothing was made or submitted."""
    line = said.error(*words)
    assert not [name for name in cluster.names if name.endswith(".stripewise")]
    assert not (cluster.work / "run.tuned.sh").exists()
    assert cluster.submitted == 0
    assert "canary" not in cluster.names
    return line


# ---- the script -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + "echo nothing\n", ("run.sh", "no launch line", "srun")),
        (HEAD + LAUNCH * 3, ("run.sh", "3 launch lines", "--step N")),
        (HEAD + LAUNCH + "sbatch again.sh\n", ("run.sh", "submits jobs itself", "tune the")),
        (HEAD + LAUNCH + "\0", ("run.sh", "NUL", "no script")),
        (HEAD + "#SBATCH --partition=nope\n" + LAUNCH, ("'nope'", "there are work")),
        (HEAD + "#SBATCH --comment='open\n" + LAUNCH, ("run.sh",)),
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
    done = cluster.run("convert", "run.sh", "--bb-nodes", "1", "-o", "again.sh")
    assert done.code == 0, done
    refused(cluster, cluster.tune("again.sh"), "earlier study", "convert --revert again.sh")


@pytest.mark.parametrize("name", ["missing.sh", ".", "data.bin", "nul.sh"])
def test_no_script_at_all(cluster, name) -> None:
    (cluster.work / "data.bin").write_bytes(b"\x7fELF\0\0")
    cluster.write("#!/bin/bash\n\0\n", "nul.sh").chmod(0o600)
    refused(cluster, cluster.tune(name, "--budget", "2nh"))
    cluster.tune("--dry-run", name).error("--dry-run goes with a job script")


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
        ("#SBATCH -n 1\nsrun ./a\n", False),
        ("#!/bin/sh\necho '#SBATCH'\n", False),
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
            ("--tier", "directory", "--place", "$A", "--stage-in", "/no"),
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
        (("--stage-in", "/no/such"), {}, ("/no/such", "no such directory")),
        (("--stage-in", "input"), {}, ("input", "absolute path")),
        (("--stage-out", "/a b"), {}, ("/a b", "white space")),
        (("--access", "private"), {}, ("type=scratch access_mode=striped",)),
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


def test_a_partition_that_is_up_among_others(cluster) -> None:
    cluster.write(SCRIPT.replace("--time=10", "--time=10 --partition=old,work"))
    other = "PartitionName=old MaxTime=01:00:00 State=DOWN TotalNodes=1\n"
    up = "PartitionName=work Default=YES MaxTime=1-00:00:00 State=UP TotalNodes=4"
    cluster.set(partition=other + up)
    assert cluster.tune("run.sh", "--dry-run").code == 0


def test_names_that_directives_cannot_hold(cluster, monkeypatch) -> None:
    place = cluster.work / "a b $(touch canary)"
    place.mkdir()
    (place / "run.sh").write_text(SCRIPT)
    monkeypatch.chdir(place)
    cluster.tune("run.sh").error("cannot be staged", "--stage-out", "use a link")
    assert cluster.tune("run.sh", "--tier", "none", "--dry-run").code == 0
    assert os.listdir(place) == ["run.sh"]


def test_names_beside_the_script_that_directives_cannot_hold(cluster) -> None:
    (cluster.work / "a b").touch()
    words = ("run.sh", "--dry-run")
    said = cluster.tune(*words).out
    assert "no script for the burst buffer can be written in the end: " in said
    assert "a b' cannot be staged: directives cannot quote white space" in said
    assert "name a directory without them with --stage-in (for results: --stage-out)" in said
    (cluster.work / "in").mkdir()
    more = ("--stage-in", f"{cluster.work}/in")
    assert "cannot be staged" not in cluster.tune(*words, *more).out
    cluster.write(SCRIPT, "c d.sh")
    words = ("c d.sh", "--dry-run", *more)
    assert "c d.results' cannot be staged" in cluster.tune(*words).out
    assert "cannot be staged" not in cluster.tune(*words, "--stage-out", f"{cluster.work}/out").out


@pytest.mark.parametrize("name", ["a b.sh", "q'\"$(touch canary).sh", "n\new.sh", "caf\udce9.sh"])
def test_hostile_names_of_scripts(cluster, name) -> None:
    cluster.write(SCRIPT.replace("srun", "echo"), name)
    refused(cluster, cluster.tune(name), "no launch line")
    cluster.write(SCRIPT, name)
    refused(cluster, cluster.tune("--", name), "is a job script")
    said = cluster.tune(name, "--dry-run")
    assert said.code == 0, said
    assert len(said.out.splitlines()) == 7 + said.out.count("cannot be staged")
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


# ---- the command line -----------------------------------------------------------------------


@pytest.mark.parametrize("text", ["0", "0nh", "-1", "1e3", "nan", "inf", "9" * 400, "40h", ""])
def test_budgets_that_are_none(cluster, text) -> None:
    refused(cluster, cluster.tune("run.sh", f"--budget={text}"), "40node-hours")


@pytest.mark.parametrize(
    ("text", "hours"),
    [("40node-hours", 40), ("40 node-hours", 40), ("1 nodehour", 1), ("2.5nh", 2.5), ("3", 3)],
)
def test_budgets(text, hours) -> None:
    assert NodeHours().convert(text, None, None) == hours


def test_words_behind_the_script(cluster) -> None:
    said = cluster.tune("run.sh", "extra", "words")
    refused(cluster, said, "'extra'", "tune run.sh -- extra")
    refused(cluster, cluster.tune("run.sh", "--dry-run", "extra"), "'extra'")
    refused(cluster, cluster.tune("run.sh", "--nonsense"), "--nonsense")
    done = cluster.tune("run.sh", "--dry-run", "--", "extra", "--words")
    assert done.code == 0, done


@pytest.mark.parametrize(
    "words",
    [("--step", "1"), ("--budget", "1"), ("--bb-nodes", "2"), ("--bb-capacity", "1GiB"),
     ("--tier", "none"), ("--job-per-run",), ("--allocation-time", "1h"), ("--dry-run",)],
)  # fmt: skip
def test_options_of_job_scripts_without_one(cluster, words) -> None:
    line = cluster.tune(*words, "--", "./writer", "out.dat").error("goes with a job script")
    assert words[0] in line
    assert cluster.fake.calls == []


@pytest.mark.parametrize("before", [(), ("--budget", "1nh"), ("--dry-run",), ("--trials", "2")])
def test_a_script_behind_the_dashes_is_refused(cluster, before) -> None:
    said = cluster.tune(*before, "--", "./run.sh")
    refused(cluster, said, "./run.sh is a job script", "give stripewise tune ./run.sh to tune")
    said = cluster.tune(*before, "--", "run.sh", "a b")
    refused(cluster, said, "stripewise tune run.sh -- 'a b'", "tune -- bash run.sh 'a b'")
    assert cluster.fake.calls == []


def test_a_script_behind_the_dashes_that_is_insisted_on(cluster) -> None:
    """The shell is a program as any other: what is refused is not the script."""
    cluster.tune("--budget", "1nh", "--", "bash", "run.sh").error("--budget goes with a job")
    (cluster.work / "plain.sh").write_text("#!/bin/bash\n./writer out.dat\n")
    cluster.tune("--budget", "1nh", "--", "./plain.sh").error("--budget goes with a job")
    assert cluster.fake.calls == []


def test_a_dry_run_submits_nothing(cluster) -> None:
    said = cluster.tune("run.sh", "--budget", "40node-hours", "--dry-run")
    assert said.code == 0, said
    for text in (
        "run.sh, launch line 1: srun -n 1 ./writer out.dat input.txt",
        "datawarp in pool wlm_pool; numbers of nodes to try: 1, 2, 4",
        "1 compute node, many runs in each allocation, time limit 120 min",
        "if each run took its limit (0.167 node-hours)",
        "40 node-hours",
        "nothing was submitted",
    ):
        assert text in said.out
    assert cluster.submitted == 0
    assert cluster.names == {"run.sh", "input.txt"}


def test_a_dry_run_as_json(cluster) -> None:
    found = cluster.tune("--dry-run", "run.sh", "--budget=2nh", "--trials", "5", "--json").json
    assert found["bb_nodes"] == [1, 2, 4]
    assert (found["budget"], found["node_hours"]) == (2, 2)
    assert found["least_runs"] < found["most_runs"]
    assert found["allocation_seconds"] == 7200
    assert found["warnings"] == []


def test_a_dry_run_says_how_many_rungs_the_trials_reach(cluster) -> None:
    cluster.write(SCRIPT.replace("-n 1", "-n 64"))
    words = ("run.sh", "--dry-run", "--strategy", "expbb")
    said = cluster.tune(*words, "--trials", "6").out
    assert "rungs           6 trials are likely to reach 1 to 2 of 3 rungs" in said
    found = cluster.tune(*words, "--json", "--trials", "8").json
    assert [one["nodes"] for one in found["rungs"]] == [1, 2, 4]
    assert found["rungs"][1]["most_trials"] > 15 > found["rungs"][1]["fewest_trials"]
    assert "40 trials are likely to reach all 3 rungs" in cluster.tune(*words).out
    assert "the budget holds is not known" in cluster.tune(*words, "--budget", "9").out
    assert cluster.tune(*words, "--json", "--runs", "20").json["trials"] == 4
    for more in (("--tier", "none"), ("--strategy", "random")):
        assert " rungs " not in cluster.tune(*words, *more).out


def test_what_a_dry_run_warns_of(cluster) -> None:
    text = SCRIPT.replace("--time=10", "--array=1-9")
    cluster.write(text)
    cluster.set(partition="PartitionName=work Default=YES State=UP TotalNodes=4")
    said = cluster.tune("run.sh", "--dry-run")
    assert "array of jobs: the first element is tuned" in said.out
    assert "no time limit: give it one" in said.out
    assert "cost            not known" in said.out


def test_a_dry_run_warns_of_cpus_that_srun_does_not_pass_on(cluster) -> None:
    cluster.write(SCRIPT.replace("--time=10", "--time=10 --cpus-per-task=4"))
    said = cluster.tune("run.sh", "--dry-run")
    assert "line 5: tasks of srun do not get the 4 CPUs each" in said.out
    assert "or export SRUN_CPUS_PER_TASK=4 before it; it is measured as it is" in said.out


def test_pools_that_slurm_does_not_tell_of(cluster) -> None:
    cluster.set(burst="")
    words = ("--tier", "datawarp", "--granularity", "368GiB", "--free-nodes", "268")
    found = cluster.tune("run.sh", "--dry-run", "--json", *words, "--bb-capacity", "1.4TiB").json
    assert found["bb_nodes"] == [4, 8, 16, 32, 64, 128, 256]
    assert cluster.tune("run.sh", "--dry-run").out.count("none here") == 1


def test_the_partition_bounds_the_allocation(cluster) -> None:
    cluster.set(partition="PartitionName=work Default=YES MaxTime=30:00 State=UP TotalNodes=4")
    found = cluster.tune("run.sh", "--dry-run", "--json").json
    assert found["allocation_seconds"] == 1800
    found = cluster.tune("run.sh", "--dry-run", "--json", "--job-per-run").json
    assert found["allocation_seconds"] == 720, "600 s for the run, and 95 s for Slurm's signal"
    assert found["warnings"] == []


def test_an_allocation_is_long_enough_for_a_run(cluster) -> None:
    words = ("run.sh", "--dry-run", "--json", "--allocation-time")
    found = cluster.tune(*words, "1min", "--timeout", "20s").json
    assert found["allocation_seconds"] == 120
    (text,) = found["warnings"]
    assert "--allocation-time: 60 s are too short for a run of 20 s" in text
    assert "120 s are asked for" in text
    assert cluster.tune(*words, "2min", "--timeout", "20s").json["warnings"] == []
    assert cluster.tune(*words, "1min").json["allocation_seconds"] == 720


def test_a_partition_may_be_too_short_for_a_run(cluster) -> None:
    line = "PartitionName=work Default=YES MaxTime={} State=UP TotalNodes=4"
    cluster.set(partition=line.format("10:00"))
    found = cluster.tune("run.sh", "--dry-run", "--json").json
    assert found["allocation_seconds"] == 600
    (text,) = found["warnings"]
    assert "a run may take 600 s, and the partition allows 600 s" in text
    assert "stopped after 505 s" in text
    cluster.set(partition=line.format("1:00"))
    cluster.tune("run.sh", "--dry-run").error("work allows 60 s", "choose another partition")


def test_own_directives_decide_on_the_ladder(cluster) -> None:
    cluster.write(HEAD + OWN.replace("2GiB", "4GiB") + LAUNCH)
    found = cluster.tune("run.sh", "--dry-run", "--json").json
    assert found["bb_nodes"] == [4]
    cluster.tune("run.sh", "--tier", "rabbit", "--dry-run").error("directives for datawarp")
    cluster.tune("run.sh", "--stage-in", "/tmp").error("stages by itself")


def test_persistent_burst_buffers_have_their_nodes(cluster) -> None:
    cluster.set(burst=BURST + PERSISTENT)
    words = ("run.sh", "--dry-run", "--json")
    found = cluster.tune(*words, "--persistent", "mine").json
    assert (found["tier"], found["pool"], found["bb_nodes"]) == ("datawarp", "", [3])
    assert found["warnings"] == []
    cluster.write(HEAD + "#DW persistentdw name=mine\n" + LAUNCH)
    assert cluster.tune(*words).json["bb_nodes"] == []
    cluster.tune(*words, "--persistent", "mine").error("lines for a burst buffer of its own")
    cluster.tune(*words, "--bb-capacity", "1GiB").error("has its nodes already")
    cluster.tune(*words, "--stage-in", "/no/such").error("/no/such", "no such directory")
    cluster.tune(*words, "--stage-in", "/tmp", "--stage-out", "/tmp").error("stages by itself")
    assert cluster.tune(*words, "--stage-in", "/tmp").code == 0
    assert cluster.tune(*words, "--tier", "rabbit").code == 0, "its line could be either's"


def test_the_sites_own_lines(cluster) -> None:
    (cluster.work / "site").write_text("#BB_LUA capacity={capacity} in={stage_in}\n")
    words = ("--tier", "lua", "--template", "site", "--granularity", "1GiB", "--free-nodes", "4")
    words = ("run.sh", "--dry-run", *words, "--stage-in", str(cluster.work))
    cluster.tune(*words).error("--place '$TMPDIR'")
    cluster.tune(*words, "--place", "$BB").error("{stage_out}")
    (cluster.work / "site").write_text("#BB_LUA {capacity} in={stage_in} out={stage_out}\n")
    said = cluster.tune(*words, "--place", "$BB")
    assert "lua; numbers of nodes to try: 1, 2, 4" in said.out, said
    (cluster.work / "site").write_text("#BB_LUA {nonsense} {stage_in} {stage_out}\n")
    cluster.tune(*words, "--place", "$BB").error("{nonsense}")
    (cluster.work / "site").write_bytes(b"\xff")
    cluster.tune(*words, "--place", "$BB").error("--template site", "UTF-8")


def test_a_directory_of_the_nodes(cluster) -> None:
    cluster.set(burst="")
    found = cluster.tune(
        "run.sh", "--dry-run", "--json", "--tier", "directory", "--place", "$TMPDIR"
    ).json
    assert (found["tier"], found["pool"], found["bb_nodes"]) == ("directory", "", [1])


def test_a_script_in_another_directory(cluster) -> None:
    (cluster.work / "jobs").mkdir()
    cluster.write(SCRIPT, "jobs/run.sh")
    assert cluster.tune("jobs/run.sh", "--dry-run").code == 0
    assert cluster.tune(str(cluster.work / "jobs" / "run.sh"), "--dry-run").code == 0
