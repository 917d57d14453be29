# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Carries out one order: environment, copies to the burst buffer, supervisor, steps and result.

The agent imports this file without the package, so it uses only the standard library.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time

TYPE_CHECKING = False  # typing is slow to import
if TYPE_CHECKING:
    from typing import Any

    from stripewise.run.launch.agent._agent import Agent

if __package__:
    from stripewise.run.launch.agent import _agent_files as files
    from stripewise.run.launch.agent import _processes, _staging
    from stripewise.run.launch.agent import _supervise as supervise
else:  # run as a script, without the package and site-packages
    import _agent_files as files  # type: ignore[import-not-found,no-redef]
    import _processes  # type: ignore[import-not-found,no-redef]
    import _staging  # type: ignore[import-not-found,no-redef]
    import _supervise as supervise  # type: ignore[import-not-found,no-redef]

GRACE_SECONDS = 5.0
"""Grace period for srun, which ends its tasks on all nodes when it receives SIGTERM."""
LOOK_SECONDS = 0.5
STALE_SECONDS = 10.0
"""First interval, doubled each time, after which the agent checks whether stale steps block a
run."""
STAGE_VARIABLE = "STRIPEWISE_STAGE"
"""Environment variable of a staged run with its private directory on the burst buffer."""
_NAMED = re.compile(r"%\{(\w+)\}")
_END_SECONDS = GRACE_SECONDS + _processes.KILL_DEADLINE_SECONDS + 5.0


class Cancelled(Exception):
    """The order was cancelled, or the job ends."""


class OrderRun:
    """An order that is being carried out.

    Attributes:
        held_by: An ended step whose processors Slurm never releases; empty if there is none.
    """

    def __init__(self, agent: Agent, number: int, order: dict[str, Any]) -> None:
        self.agent, self.number, self.order = agent, number, order
        self.record = str(order["record_directory"])
        self.directory = str(order["directory"])
        self.stage = ""
        self.result: dict[str, Any] = {}
        self.times: dict[str, float] = {}
        self.held_by = ""

    def carry_out(self) -> str:
        """Run the command and store its result; return why it could not be stored, or ""."""
        started = time.time()
        try:
            self.tick()
            before = self._stage_in()
            self._supervise()
            if before is not None and not self.result.get("reason"):
                self._stage_out(before)
        except Cancelled as reason:
            self._record_not_run(started, reason=str(reason))
        except OSError as problem:
            self._record_not_run(started, error=self._record_error(problem))
        finally:
            self._remove_stage()
        if self.agent.superseded:
            return ""
        return self._store()

    def tick(self) -> None:
        """Write the heartbeat, and read the tuner's requests.

        Raises:
            Cancelled: The order was cancelled, or the job ends.
        """
        self.agent.tell()
        self.agent.look()
        if self.agent.why_ended:
            raise Cancelled(self.agent.why_ended)
        if self.held_by:
            raise Cancelled(f"step {self.held_by}")
        if self.agent.superseded or self.agent.is_cancelled(self.number):
            raise Cancelled("cancelled")

    def _record_not_run(self, started: float, **why: str) -> None:
        self.result = self.result or supervise.result_of(self.order["run_id"], started=started)
        if why.get("error") and self.result["exit_code"] is not None:
            self.result["exit_code"] = None  # it ran, but its output is not there
        self.result.update(why)

    def _record_error(self, problem: OSError) -> str:
        """Append an error to the run's standard error, which determines its cause; return it."""
        where = f" ({problem.filename})" if problem.filename else ""
        text = f"{problem.strerror or problem}{where}"
        try:
            with open(os.path.join(self.record, "stderr"), "a", encoding="utf-8") as stream:
                stream.write(f"{text}\n")
        except OSError:
            pass
        return text

    # -- the burst buffer --------------------------------------------------------------------

    def _stage_in(self) -> _staging.Manifest | None:
        wanted = self.order.get("stage")
        if not wanted:
            return None
        top = _staging.top_of(wanted, os.environ)
        if not os.path.isdir(top):
            name = wanted.get("directory") or f"${wanted['variable']}"
            raise OSError(f"the job has no burst buffer: {name} names no directory ({top!r})")
        if wanted.get("may_be_local"):
            _staging.check_shared(top, int(os.environ.get("SLURM_JOB_NUM_NODES") or 1))
        begun = time.monotonic()
        path = os.path.join(top, _staging.stage_name(str(self.order["run_id"])))
        shutil.rmtree(path, ignore_errors=True)  # from the same run before a requeue
        os.mkdir(path, 0o700)
        self.stage = path
        globs = None if wanted["mode"] == "all" else list(wanted["globs"])
        _staging.stage_in(self.directory, path, globs, self.tick)
        if wanted.get("content"):
            _staging.check_content(top)
            _staging.stage_in(top, path, None, self.tick)
        for source, place in wanted.get("copies", ()):
            _staging.copy_to(str(source), path, str(place), self.tick)
        before = _staging.manifest_of(path)
        self.times["stage_in_seconds"] = time.monotonic() - begun
        return before

    def _stage_out(self, before: _staging.Manifest) -> None:
        begun = time.monotonic()
        if self._mode == "links":  # their missing targets were already handled
            before = {
                name: mark
                for name, mark in before.items()
                if os.path.lexists(os.path.join(self.stage, name))
            }
        _staging.stage_out(self.stage, self.directory, before, self.tick)
        self.times["stage_out_seconds"] = time.monotonic() - begun

    def _remove_stage(self) -> None:
        if self.stage:
            shutil.rmtree(self.stage, ignore_errors=True)

    def _place(self) -> str:
        """Return the directory in which the command works."""
        return self.stage if self._mode == "all" else self.directory

    def _files_source(self) -> str:
        """Return the directory from which the run's files were copied, or the run's directory."""
        return self.stage if self._mode in ("all", "beside") else self.directory

    @property
    def _mode(self) -> str:
        """Mode in which the run uses the burst buffer; empty if it does not."""
        return str(self.order["stage"]["mode"]) if self.stage else ""

    # -- the command -------------------------------------------------------------------------

    def environment(self) -> dict[str, str]:
        """Return the environment of the job on this node, with the changes in the order."""
        order, environment = self.order, dict(os.environ)
        for name in order.get("unset", ()):
            environment.pop(name, None)
        environment.update(order.get("set", {}))
        environment.update(
            PWD=self._place(),
            SLURM_SUBMIT_DIR=self._place(),
            **{_processes.RUN_ID_VARIABLE: str(order["run_id"])},
        )
        environment.pop(STAGE_VARIABLE, None)
        if self.stage:
            environment[STAGE_VARIABLE] = self.stage
            if variable := order["stage"]["variable"]:
                environment[str(variable)] = self.stage
        for name, text in order.get("expand", {}).items():
            expanded = _NAMED.sub(lambda match: environment.get(match[1], ""), text)
            environment[name] = expanded
        return environment

    def _job(self) -> dict[str, Any]:
        """Return the job description for the supervisor."""
        order = self.order
        return {
            "run_id": order["run_id"],
            "program": order["program"],
            "command": order["command"],
            "directory": self._place(),
            "record_directory": self.record,
            "environment": self.environment(),
            "timeout_seconds": order.get("timeout_seconds"),
            "umask": order["umask"],
            "result": files.RAN,
            "grace_seconds": GRACE_SECONDS,
        }

    def _supervise(self) -> None:
        """Run the command under a supervisor, which ends it if this process dies."""
        with open(os.path.join(self.record, "supervisor.log"), "wb") as log:
            supervisor = supervise.start(self._job(), log)
        assert supervisor.stdin is not None
        with supervisor.stdin:
            self._watch(supervisor)
        self._take_result()

    def _watch(self, supervisor: subprocess.Popen[bytes]) -> None:
        """Wait for the supervisor, and notify it when the run must end."""
        deadline = None
        begun, stale_seconds, stale = time.monotonic(), STALE_SECONDS, set[str]()
        while supervisor.poll() is None:
            self.agent.pause(LOOK_SECONDS)
            if time.monotonic() - begun > stale_seconds:
                stale_seconds *= 2
                before, stale = stale, end_stale_steps()
                self.held_by = min(before & stale, default="")
            try:
                self.tick()
            except Cancelled:
                if deadline is None:
                    deadline = time.monotonic() + _END_SECONDS
                    supervisor.terminate()
                elif time.monotonic() > deadline:
                    supervisor.kill()

    def _take_result(self) -> None:
        """Read the result of the supervisor; if there is none, end remaining processes.

        Raises:
            OSError: There is no result.
        """
        self.result = files.read(os.path.join(self.record, files.RAN)) or {}
        if not self.result or self.result["reason"]:
            end_steps()
        if not self.result:
            _processes.end_strays([str(self.order["run_id"])])
            raise OSError("the supervisor of the run was killed, or could not store its result")
        self.result["reason"] = self._why_stopped()
        if self.held_by and self.result["reason"]:
            self.agent.is_lost = True
            what = f"the step {self.held_by}, which has ended"
            self.result["reason"] = f"Slurm keeps processors for {what}"
        elif self.result["exit_code"] not in (0, None) and not self.result["reason"]:
            self._look_for_job()

    def _why_stopped(self) -> str:
        """Return TIMEOUT if the run exceeded its own limit, or what else stopped it, or "".

        A signal may arrive while a run that exceeded its limit is being ended; or it may reach the
        program first, which then ends by itself.  A run without its own limit that used the whole
        time of an allocation exceeded that.
        """
        agent, reason = self.agent, str(self.result["reason"])
        stopped = reason or self.result["exit_code"] != 0
        if reason == supervise.TIMEOUT or not (agent.why_ended and stopped):
            return reason
        had_all = agent.at_limit and not agent.served
        own_limit = self.order.get("timeout_seconds")
        return supervise.TIMEOUT if had_all and own_limit is None else agent.why_ended

    def _look_for_job(self) -> None:
        """Check whether a run failed because Slurm lost this job.

        In that case every other run would fail too, so the agent ends.
        """
        if self.agent.job_id and lost_its_job(os.path.join(self.record, "stderr")):
            self.agent.is_lost = True
            self.result["reason"] = f"Slurm does not know its job {self.agent.job_id} any more"

    # -- the result --------------------------------------------------------------------------

    def _store(self) -> str:
        """Write the result over that of the supervisor, whose space is reserved."""
        self.result.update(self.times, directory=self._files_source(), job_id=self.agent.job_id)
        return store(self.record, self.result)


def store(record: str, result: dict[str, Any]) -> str:
    """Write result.json atomically; return why it cannot be written, or ""."""
    ran, final = os.path.join(record, files.RAN), os.path.join(record, "result.json")
    try:
        files.overwrite(ran, result)
        os.rename(ran, final)
    except (OSError, ValueError) as problem:
        return f"its result could not be stored in {record}: {problem}"
    return ""


def record_interrupted(order: dict[str, Any], reason: str) -> None:
    """Record a run whose end is unknown, unless there is a record."""
    record = str(order["record_directory"])
    if not os.path.exists(os.path.join(record, "result.json")):
        result = supervise.result_of(order["run_id"], started=time.time(), reason=reason)
        store(record, result)
    wanted = order.get("stage")
    if wanted and (top := _staging.top_of(wanted, os.environ)):
        path = os.path.join(top, _staging.stage_name(str(order["run_id"])))
        shutil.rmtree(path, ignore_errors=True)


def unseen(order: dict[str, Any]) -> str:
    """Return the files of an order that are missing on this node, in words; empty if none are."""
    node = f"the compute node {os.uname().nodename} does not see"
    for name in ("record_directory", "directory"):
        if not os.path.isdir(str(order[name])):
            return f"{node} {order[name]}"
    for path in order.get("libraries", ()):
        if not os.path.isfile(str(path)):
            return f"{node} the runtime library {path}"
    return ""


# Output and remaining tasks of srun: tasks run under Slurm's daemon, not below the command.

_NO_JOB = re.compile(
    r"^srun: .*(?:Expired or invalid job|Invalid job id specified|"
    r"Job/step already completing or completed)",
    re.MULTILINE,
)
"""Observed: Slurm 22.05, whose controller was killed before it had stored the job."""
_TAIL_BYTES = 8192
_STEP_AND_SRUN = re.compile(r"^StepId=(\d+\.\d+) .*SrunHost:Pid=([^:\s]+):(\d+)", re.MULTILINE)
_COMMAND_SECONDS = 20.0
_ALL_SECONDS = 30.0


def parse_listpids(text: str) -> set[int]:
    """Return the steps that `scontrol listpids` lists, except that of the batch script."""
    fields = (line.split() for line in text.splitlines()[1:])
    return {int(words[2]) for words in fields if len(words) > 2 and words[2].isdecimal()}


def parse_orphans(text: str, host: str) -> list[str]:
    """Return the steps in `scontrol --oneliner show step` whose srun on this host has ended.

    Args:
        text: A line for each step, with StepId=5.0 and, at its end, SrunHost:Pid=HOST:NUMBER.
        host: Name of this host, since it is unknown whether srun is alive on other hosts.
    """
    found = []
    for step, name, number in _STEP_AND_SRUN.findall(text):
        is_here = name.partition(".")[0] == host.partition(".")[0]
        if is_here and not os.path.exists(f"/proc/{number}"):
            found.append(step)
    return found


def end_stale_steps() -> set[str]:
    """End steps of earlier runs that the controller believes to be running without their srun.

    A killed controller forgets the ends of steps that it had not stored.  These steps keep their
    processors, so that srun waits for them until the job ends.  Nothing is queried while a step of
    the job has tasks on this node.

    Returns:
        The steps.  A step that is still listed much later is kept forever: a user cannot end a
        step that no node knows any more (observed: Slurm 22.05).
    """
    job = os.environ.get("SLURM_JOB_ID", "")
    if not job or _steps(job):
        return set()
    listed = _run("scontrol", "--oneliner", "show", "step", job)
    found = parse_orphans(listed, socket.gethostname())
    for step in found:
        _run("scancel", step)
    return set(found)


def lost_its_job(stderr: str) -> bool:
    """Return whether srun reported in a file that the job for its tasks no longer exists."""
    try:
        with open(stderr, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _TAIL_BYTES))
            output = stream.read()
    except OSError:
        return False
    return _NO_JOB.search(output.decode("utf-8", "replace")) is not None


def end_steps() -> None:
    """End the steps of this job that still have tasks on this node.

    `scontrol listpids` queries the daemon of this node; the controller is involved only if a step
    remains after a run was stopped.
    """
    job = os.environ.get("SLURM_JOB_ID", "")
    deadline = time.monotonic() + _ALL_SECONDS
    signalled: set[int] = set()
    while job and (left := _steps(job)) and time.monotonic() < deadline:
        for step in left - signalled:
            _run("scancel", "--signal=KILL", f"{job}.{step}")
        signalled |= left
        time.sleep(0.2)


def _steps(job: str) -> set[int]:
    node = os.environ.get("SLURMD_NODENAME", "")
    return parse_listpids(_run("scontrol", "listpids", job, *([node] if node else [])))


def _run(*words: str) -> str:
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace")
