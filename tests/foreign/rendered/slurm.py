# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records of jobs as sacct and slurmrestd write them, from the same facts.

Source: sacct(1), sections "Job accounting fields" and "Options"; the field lists of the data
parsers v0.0.37 to v0.0.42 of Slurm (array JOB), and of slurmrestd's OpenAPI pages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

Job = Mapping[str, Any]
FIELDS = (
    "JobID JobIDRaw Cluster Partition QOS Account Group User UID Submit Eligible Start End Elapsed"
    " ExitCode State NNodes NCPUS Timelimit NodeList JobName"
)
_NEVER = 2**32 - 2


def job_of(given: Job) -> Job:
    """Return all facts of a job from those that are not as usual."""
    job = {
        "id": 1001, "cluster": "alpha", "partition": "work", "qos": "normal",
        "account": "physics", "group": "users", "user": "ada", "uid": 1000, "submit": 1677664800,
        "wait": 60, "run": 600, "state": "COMPLETED", "exit": 0, "signal": 0, "nodes": 2,
        "cpus": 256, "limit": 60, "name": "run", "node_list": "n[1-2]", "steps": [],
    }  # fmt: skip
    return {**job, **given, **dict.fromkeys(given.get("never", ()))}


def _moment(seconds: int | None, form: str) -> str:
    if seconds is None:
        return "Unknown"
    if form == "epoch":
        return str(seconds)
    zone = timezone(timedelta(hours=float(form))) if form else UTC
    shown = datetime.fromtimestamp(seconds, zone)
    return shown.isoformat() if form else shown.strftime("%Y-%m-%dT%H:%M:%S")


def _span(seconds: int) -> str:
    days, rest = divmod(seconds, 86400)
    text = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{text}" if days else text


def _visible(job: Job) -> str:
    if "task" in job:
        return f"{job['array']}_{job['task']}"
    return f"{job['het']}+{job['offset']}" if "offset" in job else str(job["id"])


def _columns(job: Job, form: str) -> dict[str, str]:
    start = None if job["wait"] is None else job["submit"] + job["wait"]
    end = None if start is None or job["run"] is None else start + job["run"]
    limit = "UNLIMITED" if job["limit"] is None else _span(60 * job["limit"])
    return {
        "jobid": _visible(job), "jobidraw": str(job["id"]), "cluster": job["cluster"],
        "partition": job["partition"], "qos": job["qos"], "account": job["account"],
        "group": job["group"], "user": job["user"], "uid": str(job["uid"]),
        "submit": _moment(job["submit"], form), "eligible": _moment(job["submit"], form),
        "start": _moment(start, form), "end": _moment(end, form),
        "elapsed": _span(job["run"] or 0), "exitcode": f"{job['exit']}:{job['signal']}",
        "state": job.get("said", job["state"]), "nnodes": str(job["nodes"]),
        "ncpus": str(job["cpus"]), "timelimit": limit, "nodelist": job["node_list"],
        "jobname": job["name"], "reqmem": "64Gn", "maxrss": "", "gid": "100",
        "reqcpus": str(job["cpus"]), "reqtres": f"cpu={job['cpus']}", "comment": "",
        "alloctres": f"billing={job['cpus']},cpu={job['cpus']},mem=64G,node={job['nodes']}",
        "workdir": "/home/ada/run", "submitline": "sbatch run.sh", "reason": "None",
        "tresusageintot": "", "tresusageouttot": "",
    }  # fmt: skip


def _step(job: Job, step: Job, form: str) -> dict[str, str]:
    row = {**_columns(job, form), "jobname": step["name"], "user": "", "uid": "", "timelimit": ""}
    for key in ("jobid", "jobidraw"):
        row[key] = f"{row[key]}.{step['id']}"
    for name, key in (("tresusageintot", "read"), ("tresusageouttot", "written")):
        if key in step:
            row[name] = f"cpu=00:00:01,energy=0,fs/disk={step[key]},mem=1024K,pages=0,vmem=2048K"
    return row


def sacct_text(given: Mapping[str, Any]) -> str:
    """Return what `sacct --parsable2` prints, with variations."""
    names, mark = given.get("fields", FIELDS).split(), given.get("separator", "|")
    form = given.get("times", "")
    tail = mark if given.get("parsable") else ""
    header = mark.join(names) + tail
    lines = [header] if given.get("header", True) else []
    for at, job in enumerate(map(job_of, given["jobs"])):
        if at and given.get("again"):
            lines.append(header)
        rows = [_columns(job, form), *(_step(job, step, form) for step in job["steps"])]
        lines += [mark.join(row[name.lower()] for name in names) + tail for row in rows]
    return "\n".join([*given.get("before", []), *lines, *given.get("after", [])]) + "\n"


def sacct_columns(given: Mapping[str, Any]) -> str:
    """Return what sacct prints without --parsable: columns of a width."""
    names = given.get("fields", "JobID JobName Partition Account NCPUS State ExitCode").split()
    rows = [_columns(job, "") for job in map(job_of, given["jobs"])]
    lines = [[name for name in names], ["-" * 12 for _ in names]]
    lines += [[row[name.lower()][:12] for name in names] for row in rows]
    return "".join(" ".join(f"{text:>12}" for text in line) + " \n" for line in lines)


def slurm_json(given: Mapping[str, Any]) -> str:
    """Return the JSON of `sacct --json`, or of slurmrestd, in the form of a version."""
    version = given["version"]
    meta = {
        "plugin": {"type": "openapi/dbv0.0." + str(version), "name": "REST DB plugin"},
        "Slurm": {"version": {"major": 21, "minor": 8, "micro": 8}, "release": "21.08.8"},
    }
    if version >= 39:
        meta["plugin"] = {
            "type": "", "name": "", "data_parser": f"data_parser/v0.0.{version}",
            "accounting_storage": "accounting_storage/slurmdbd",
        }  # fmt: skip
    jobs = [_json_job(job, version) for job in map(job_of, given["jobs"])]
    document = {"jobs": jobs, "meta": meta, "errors": [], "warnings": []}
    if not given.get("first", True):
        document = {"meta": meta, "errors": [], "jobs": jobs}
    return json.dumps(document, indent=given.get("indent", 2)) + "\n"


def _number(value: int | None, version: int) -> Any:
    """Return a number as a version writes it: plain, or with `set` and `infinite` since 23.02."""
    if version < 39:
        return _NEVER + 1 if value is None else value
    return {"set": value is not None, "infinite": value is None, "number": value or 0}


def _json_job(job: Job, version: int) -> dict[str, Any]:
    start = 0 if job["wait"] is None else job["submit"] + job["wait"]
    end = start + job["run"] if start and job["run"] is not None else 0
    state = [job["state"]] if version >= 40 else job["state"]
    ok = job["state"] == "COMPLETED"
    status: Any = "SUCCESS" if ok else "ERROR"
    signal: Any = {"signal_id": job["signal"], "name": ""} if job["signal"] else None
    if version >= 40:
        status = [status]
        signal = {"id": {"set": bool(job["signal"]), "number": job["signal"]}, "name": ""}
    code: dict[str, Any] = {"status": status, "return_code": _number(job["exit"], version)}
    if signal is not None:
        code["signal"] = signal
    task, offset, limit = job.get("task"), job.get("offset"), _number(job["limit"], version)
    is_newer = version >= 39
    empty = "" if is_newer else None
    owner = {"account": job["account"], "cluster": job["cluster"], "user": job["user"]}
    times = {"eligible": job["submit"], "submission": job["submit"], "start": start, "end": end}
    return {
        "account": job["account"], "cluster": job["cluster"], "group": job["group"],
        "allocation_nodes": job["nodes"], "job_id": job["id"], "name": job["name"],
        "nodes": job["node_list"], "partition": job["partition"], "qos": job["qos"],
        "user": job["user"], "state": {"current": state, "reason": "None"},
        "association": owner,
        "array": {
            "job_id": job.get("array", 0), "task": "",
            "task_id": None if task is None and not is_newer else _number(task, version),
        },
        "het": {
            "job_id": job.get("het", 0),
            "job_offset": None if offset is None and not is_newer else _number(offset, version),
        },
        "exit_code": code, "derived_exit_code": code,
        "time": {**times, "elapsed": job["run"] or 0, "suspended": 0, "limit": limit},
        "tres": {"allocated": [
            {"type": "cpu", "name": empty, "id": 1, "count": job["cpus"]},
            {"type": "node", "name": empty, "id": 4, "count": job["nodes"]},
        ], "requested": []},
        "steps": [_json_step(step) for step in job["steps"]],
    }  # fmt: skip


def _json_step(step: Job) -> dict[str, Any]:
    def total(amount: int) -> list[dict[str, Any]]:
        return [{"type": "fs", "name": "disk", "id": 6, "count": amount}]

    found: dict[str, Any] = {"step": {"id": step["id"], "name": step["name"]}, "tres": {}}
    if "read" in step:
        found["tres"]["requested"] = {"total": total(step["read"])}
        found["tres"]["consumed"] = {"total": total(step["written"])}
    return found
