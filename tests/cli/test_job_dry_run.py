# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise tune run.sh --dry-run`: what it shows, and what it warns of."""

from __future__ import annotations

from support.job_cluster import BURST, HEAD, LAUNCH, OWN, PERSISTENT, SCRIPT


def test_a_dry_run_submits_nothing(cluster) -> None:
    said = cluster.tune("run.sh", "--budget", "40node-hours", "--dry-run")
    assert said.code == 0, said
    for text in (
        "run.sh, launch line 1: srun -n 1 ./writer out.dat input.txt",
        "datawarp in pool wlm_pool; numbers of nodes to try: 1, 2, 4",
        "1 compute node, many runs in each allocation, time limit 120 min",
        "runs            14 or more, as many as fit into the budget",
        "at most 40 node-hours, the budget; a run takes at most 0.167 node-hours",
        "nothing was submitted",
    ):
        assert text in said.out
    assert cluster.submitted == 0
    assert cluster.names == {"run.sh", "input.txt"}


def test_a_dry_run_as_json(cluster) -> None:
    found = cluster.tune("--dry-run", "run.sh", "--budget=2nh", "--trials", "5", "--json").json
    assert found["bb_nodes"] == [1, 2, 4]
    assert (found["budget"], found["node_hours"]) == (2, 2)
    assert found["least_runs"] < found["most_runs"] == 14 + 3 * 5 + 4 * 18
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
    words = ("run.sh", "--dry-run", *words)
    cluster.tune(*words).error("--place '$TMPDIR'")
    for place in ("$BB", "/run/sbb/me"):
        said = cluster.tune(*words, "--place", place)
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


def test_the_time_limit_of_a_run_is_slurms(cluster) -> None:
    """Whole minutes; 0 and UNLIMITED: the partition's; without one: the partition's default."""
    cluster.set(partition="PartitionName=work Default=YES MaxTime=02:00:00 DefaultTime=00:30:00 "
                "State=UP TotalNodes=4")  # fmt: skip
    for option, seconds in ((" --time=0:30", 60), (" --time=10:01", 660), (" --time=0", 7200),
                            (" --time=UNLIMITED", 7200), ("", 1800)):  # fmt: skip
        cluster.write(SCRIPT.replace("--time=10", "--ntasks=1" + option))
        said = cluster.tune("run.sh", "--dry-run", "--json", "--tier", "none").json
        assert said["run_seconds"] == seconds, option


def test_a_budget_without_room_for_a_study_is_refused_before_anything(cluster) -> None:
    words = ("run.sh", "--budget", "0.0001node-hours")
    for more in ((), ("--dry-run",)):
        said = cluster.tune(*words, *more)
        said.error("0.0001 node-hours are 0.36 s of one node", "at least 14 runs", "nothing was")
    assert cluster.submitted == 0
    assert cluster.names == {"run.sh", "input.txt"}
