# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's commands without a Slurm: jobs are processes of this host.

It is called under these names; FAKE_SLURM names the directory of its state:

    settings.json   what the test wants (see `fake_slurm.FakeSlurm`)
    job-N.json      a job
    calls.log       every call: its words as JSON

`run N` is a job itself: it pends, runs the batch script, and obeys orders in `do-N`.  A job whose
batch script has a line `#DW jobdw` finds a directory of its own in $DW_JOB_STRIPED.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time

HOME = os.environ["FAKE_SLURM"]
ENDED = (
    "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY",
)  # fmt: skip

SHOWN = {
    "partition": "PartitionName=work Default=YES DefaultTime=01:00:00 MaxNodes=UNLIMITED "
    "MaxTime=1-00:00:00 State=UP TotalNodes=4",
    "burst": "",
    "config": "",
}


def path(name):
    return os.path.join(HOME, name)


def read(name, default=None):
    try:
        with open(path(name)) as stream:
            return json.load(stream)
    except (OSError, ValueError):
        return default


def write(name, data):
    with open(path(f"{name}.{os.getpid()}"), "w") as stream:
        json.dump(data, stream)
    os.rename(path(f"{name}.{os.getpid()}"), path(name))


def fail(text, code=1):
    sys.stderr.write(text + "\n")
    sys.exit(code)


def jobs():
    numbers = [re.fullmatch(r"job-(\d+)\.json", name) for name in os.listdir(HOME)]
    found = [read(match[0]) for match in numbers if match]
    return sorted((job for job in found if job), key=lambda job: job["id"])


def change(number, **what):
    write(f"job-{number}.json", {**read(f"job-{number}.json"), **what})


def srun(words, settings):
    """Be one task of a step, which has no signs of Slurm that an MPI would ask for more."""
    while words and words[0].startswith("-"):
        del words[: 1 if "=" in words[0] or len(words[0]) > 2 else 2]
    os.execvp(words[0], words)


def sbatch(words, settings):
    if settings.get("refuse"):
        fail(settings["refuse"])
    most = settings.get("most_jobs", 1000)
    if sum(job["state"] not in ENDED for job in jobs()) >= most:
        fail(
            "sbatch: error: QOSMaxSubmitJobPerUserLimit\n"
            "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy "
            "(job submit limit, user's size and/or time limits)"
        )
    options = dict(word[2:].partition("=")[::2] for word in words if word.startswith("--"))
    number = max([job["id"] for job in jobs()], default=100) + 1
    job = {
        "id": number,
        "words": words,
        "name": options["job-name"],
        "output": output_path(options["output"]),
        "script": words[-1],
        "state": "PENDING",
        "reason": settings.get("reason", "Priority"),
        "exit": 0,
        "restarts": 0,
        "directory": os.getcwd(),
    }
    write(f"job-{number}.json", job)
    subprocess.Popen(
        [sys.executable, "-S", __file__, "run", str(number)],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if settings.get("silent"):  # it was taken, but the answer is lost
        fail("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation")
    print(f"{number};{settings['cluster']}" if settings.get("cluster") else number)


def output_path(pattern):
    """Return what Slurm makes of --output, but for patterns."""
    if "\\" in pattern:
        return re.sub(r"\\(.)", r"\1", pattern)
    if "%" in pattern.replace("%%", ""):
        fail("the path of the output has a pattern")
    return pattern.replace("%%", "%")


def squeue(words, settings):
    if f"--clusters={settings.get('cluster')}" not in words and settings.get("cluster"):
        return
    for job in jobs():
        if not (job["state"] in ENDED and settings.get("forget")):
            fields = (str(job["id"]), job["state"], "1", "n1", job["name"], job["reason"])
            print("\x1e" + "\x1f".join(fields))


def sacct(words, settings):
    if not settings.get("accounting"):
        fail("Slurm accounting storage is disabled")
    wanted = words[words.index("-j") + 1].split(",")
    for job in jobs():
        if str(job["id"]) in wanted:
            print("|".join((str(job["id"]), job["state"], "1:0", "1", "n1", job["name"])))


def scontrol(words, settings):
    if words[0] == "listpids":
        return
    if words[:3] == ["--oneliner", "show", "step"]:
        return print(settings.get("steps", ""))
    if f"--clusters={settings.get('cluster')}" not in words and settings.get("cluster"):
        fail("slurm_load_jobs error: Invalid job id specified")
    if words[-1] in ("partition", "burst", "config"):
        return print(settings.get(words[-1], SHOWN[words[-1]]))
    number = int(words[-1]) if words[-1].isdigit() else 0
    job = read(f"job-{number}.json")
    if job is None or (job["state"] in ENDED and settings.get("forget") == "all"):
        fail("slurm_load_jobs error: Invalid job id specified")
    print(f"JobId={number} JobName={job['name']} JobState={job['state']} Reason=None ExitCode=1:0")


def scancel(words, settings):
    if f"--clusters={settings.get('cluster')}" not in words and settings.get("cluster"):
        return
    for word in words:
        if word.isdigit() and read(f"job-{word}.json"):
            write(f"do-{word}", {"do": "cancel"})


def run(words, settings):
    """Be a job."""
    number = int(words[0])
    start = time.monotonic() + settings.get("pending_seconds", 0.0)
    while (settings := read("settings.json", {})).get("hold") or time.monotonic() < start:
        if read(f"do-{number}"):
            return change(number, state="CANCELLED", reason="None")
        time.sleep(0.02)
    change(number, state="RUNNING", reason="None")
    job = read(f"job-{number}.json")
    environment = {
        **os.environ,
        "SLURM_JOB_ID": str(number),
        "SLURM_SUBMIT_DIR": job["directory"],
        "SLURM_RESTART_COUNT": str(job["restarts"]),
        **burst_buffer(job),
        **settings.get("environment", {}),
    }
    with open(job["output"], "ab") as output:
        batch = subprocess.Popen(
            [job["script"]], stdout=output, stderr=output, env=environment, start_new_session=True
        )
    change(number, pid=batch.pid)
    while batch.poll() is None:
        order = read(f"do-{number}")
        if order:
            os.unlink(path(f"do-{number}"))
            return obey(number, batch, order["do"])
        time.sleep(0.02)
    code = batch.returncode
    reason = "None" if code == 0 else "NonZeroExitCode"
    change(number, state="FAILED" if code else "COMPLETED", reason=reason, exit=code)


def burst_buffer(job):
    """Make the burst buffer that the directives of a batch script ask for."""
    with open(job["script"], errors="replace") as stream:
        lines = [line.split() for line in stream if line.startswith("#DW jobdw")]
    if not lines:
        return {}
    place = path(f"bb-{job['id']}")
    os.makedirs(place, mode=0o700, exist_ok=True)
    size = dict(word.partition("=")[::2] for word in lines[0])["capacity"]
    return {"DW_JOB_STRIPED": place, "FAKE_BB_CAPACITY": size}


def obey(number, batch, order):
    """End the job as Slurm does: SIGTERM, a grace, SIGKILL; a dead node gets no SIGTERM."""
    states = {"cancel": "CANCELLED", "limit": "TIMEOUT", "preempt": "PREEMPTED"}
    if order not in ("crash", "crash-requeue"):
        batch.terminate()
        try:
            batch.wait(15)
        except subprocess.TimeoutExpired:
            pass
    kill_all(batch)
    if order in ("requeue", "crash-requeue"):
        restarts = read(f"job-{number}.json")["restarts"] + 1
        change(number, state="PENDING", reason="BeginTime", restarts=restarts)
        os.execv(sys.executable, [sys.executable, "-S", __file__, "run", str(number)])
    change(number, state=states.get(order, "NODE_FAIL"), reason="None")


def kill_all(batch):
    """Kill what descends from the batch script, whatever session it is in.

    All are stopped first, as a control group is frozen: one that forks meanwhile would leave a
    process that nothing leads to any more.
    """
    sys.path.insert(0, os.environ["FAKE_SLURM_PROCESSES"])
    import _processes

    found, stopped = {batch.pid}, set()
    while found - stopped:
        for pid in found - stopped:
            _processes.send(pid, signal.SIGSTOP)
        stopped |= found
        found |= set(_processes.descendants(batch.pid, _processes.process_table()))
    for pid in found:
        _processes.send(pid, signal.SIGKILL)
    batch.wait()


def main():
    command, words = os.path.basename(sys.argv[0]), sys.argv[1:]
    if command.startswith("fake_slurm"):
        command, words = words[0], words[1:]
    settings = read("settings.json", {})
    if command not in ("run", "srun"):
        with open(path("calls.log"), "a") as stream:
            stream.write(json.dumps([time.time(), command, *words]) + "\n")
        if settings.get("away"):
            fail(f"{command}: error: Unable to contact slurm controller (connect failure)")
    globals()[command](words, settings)


main()
