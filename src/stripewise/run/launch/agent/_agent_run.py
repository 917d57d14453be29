# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One order in an allocation: environment, copies to the burst buffer, supervisor, result.

The agent imports this file on its own: standard library only.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time

TYPE_CHECKING = False  # typing is slow to import
if TYPE_CHECKING:
    from typing import Any

    from stripewise.run.launch.agent._agent import Agent

if __package__:
    from stripewise.run.launch.agent import _agent_files as files
    from stripewise.run.launch.agent import _agent_steps as steps
    from stripewise.run.launch.agent import _processes, _staging
    from stripewise.run.launch.agent import _supervise as supervise
else:  # on its own: no package, no site-packages
    import _agent_files as files  # type: ignore[import-not-found,no-redef]
    import _agent_steps as steps  # type: ignore[import-not-found,no-redef]
    import _processes  # type: ignore[import-not-found,no-redef]
    import _staging  # type: ignore[import-not-found,no-redef]
    import _supervise as supervise  # type: ignore[import-not-found,no-redef]

GRACE_SECONDS = 5.0
"""srun ends its tasks on all nodes when it gets SIGTERM; that takes a moment."""
LOOK_SECONDS = 0.5
STALE_SECONDS = 10.0
"""After so long, and each time twice as long, it is seen whether stale steps hold a run up."""
STAGE_VARIABLE = "STRIPEWISE_STAGE"
"""In the environment of a staged run: its private directory on the burst buffer."""
_NAMED = re.compile(r"%\{(\w+)\}")
_END_SECONDS = GRACE_SECONDS + _processes.KILL_DEADLINE_SECONDS + 5.0


class Cancelled(Exception):
    """The order is not wanted any more, or the job ends."""


class Run:
    """An order that is carried out.

    Attributes:
        held_by: A step that has ended and whose processors Slurm keeps for good; "" if none.
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
        """Run the command and store its result; "" or why that could not be stored."""
        started = time.time()
        try:
            self.tick()
            before = self._stage_in()
            self._supervise()
            if before is not None and not self.result.get("reason"):
                self._stage_out(before)
        except Cancelled as reason:
            self._not_run(started, reason=str(reason))
        except OSError as problem:
            self._not_run(started, error=self._said(problem))
        finally:
            self._remove_stage()
        if self.agent.superseded:
            return ""
        return self._store()

    def tick(self) -> None:
        """Let the heart beat, and hear the tuner.

        Raises:
            Cancelled: The order is not wanted any more, or the job ends.
        """
        self.agent.tell()
        self.agent.look()
        if self.agent.why_ended:
            raise Cancelled(self.agent.why_ended)
        if self.held_by:
            raise Cancelled(f"step {self.held_by}")
        if self.agent.superseded or self.agent.is_cancelled(self.number):
            raise Cancelled("cancelled")

    def _not_run(self, started: float, **why: str) -> None:
        self.result = self.result or supervise.result_of(self.order["run_id"], started=started)
        if why.get("error") and self.result["exit_code"] is not None:
            self.result["exit_code"] = None  # it ran, but what it wrote is not there
        self.result.update(why)

    def _said(self, problem: OSError) -> str:
        """Put an error also where the end of a run is judged from."""
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
        shutil.rmtree(path, ignore_errors=True)  # of the same run before a requeue
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
        if self._mode == "links":  # what they led to and is gone was seen to
            before = {name: mark for name, mark in before.items() if self._is_there(name)}
        _staging.stage_out(self.stage, self.directory, before, self.tick)
        self.times["stage_out_seconds"] = time.monotonic() - begun

    def _is_there(self, name: str) -> bool:
        return os.path.lexists(os.path.join(self.stage, name))

    def _remove_stage(self) -> None:
        if self.stage:
            shutil.rmtree(self.stage, ignore_errors=True)

    def _place(self) -> str:
        """Where the command works."""
        return self.stage if self._mode == "all" else self.directory

    def _files_were_in(self) -> str:
        """From where files were brought to the run's directory; that itself if from nowhere."""
        return self.stage if self._mode in ("all", "beside") else self.directory

    @property
    def _mode(self) -> str:
        """How the run uses the burst buffer; "" if not."""
        return str(self.order["stage"]["mode"]) if self.stage else ""

    # -- the command -------------------------------------------------------------------------

    def environment(self) -> dict[str, str]:
        """That of the job on this node, with the changes of the order."""
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
        """What the supervisor is told."""
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
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_supervise.py")
        with open(os.path.join(self.record, "supervisor.log"), "wb") as log:
            supervisor = subprocess.Popen(
                [sys.executable or "python3", "-I", "-S", "-X", "utf8", script],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd="/",
                env={**os.environ, _processes.SUPERVISOR_VARIABLE: str(self.order["run_id"])},
            )
        assert supervisor.stdin is not None
        with supervisor.stdin as pipe:
            pipe.write(json.dumps(self._job()).encode("ascii") + b"\n")
            pipe.flush()
            self._watch(supervisor)
        self._take_result()

    def _watch(self, supervisor: subprocess.Popen[bytes]) -> None:
        """Wait for the supervisor; tell it when the run is to end."""
        deadline = None
        begun, stale_seconds, stale = time.monotonic(), STALE_SECONDS, set[str]()
        while supervisor.poll() is None:
            self.agent.pause(LOOK_SECONDS)
            if time.monotonic() - begun > stale_seconds:
                stale_seconds *= 2
                before, stale = stale, steps.end_stale_steps()
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
        """Read what the supervisor stored; end what is left if it could not.

        Raises:
            OSError: It could not.
        """
        self.result = files.read(os.path.join(self.record, files.RAN)) or {}
        if not self.result or self.result["reason"]:
            steps.end_steps()
        if not self.result:
            self._end_strays()
            raise OSError("the supervisor of the run was killed, or could not store its result")
        self.result["reason"] = self._why_stopped()
        if self.held_by and self.result["reason"]:
            self.agent.is_lost = True
            what = f"the step {self.held_by}, which has ended"
            self.result["reason"] = f"Slurm keeps processors for {what}"
        elif self.result["exit_code"] not in (0, None) and not self.result["reason"]:
            self._look_for_job()

    def _why_stopped(self) -> str:
        """Return TIMEOUT if the run exceeded its own limit, or what else stopped it; "": nothing.

        A signal may come while a run that exceeded its limit is being ended; or it may reach the
        program first, which then ends by itself.  A run without a limit of its own that had all
        the time of an allocation exceeded that.
        """
        agent, reason = self.agent, str(self.result["reason"])
        stopped = reason or self.result["exit_code"] != 0
        if reason == supervise.TIMEOUT or not (agent.why_ended and stopped):
            return reason
        had_all = agent.at_limit and not agent.served
        own_limit = self.order.get("timeout_seconds")
        return supervise.TIMEOUT if had_all and own_limit is None else agent.why_ended

    def _look_for_job(self) -> None:
        """Tell a run that failed because Slurm has lost this job from one that failed by itself.

        Every other run would fail here as well: the agent ends.
        """
        if self.agent.job_id and steps.lost_its_job(os.path.join(self.record, "stderr")):
            self.agent.is_lost = True
            self.result["reason"] = f"Slurm does not know its job {self.agent.job_id} any more"

    def _end_strays(self) -> None:
        run_ids = [str(self.order["run_id"])]
        _processes.end_all(
            lambda: _processes.strays(run_ids, _processes.process_table()), grace_seconds=0.0
        )

    # -- the result --------------------------------------------------------------------------

    def _store(self) -> str:
        """Write the result, over that of the supervisor, whose room is reserved."""
        self.result.update(self.times, directory=self._files_were_in(), job_id=self.agent.job_id)
        return store(self.record, self.result)


def store(record: str, result: dict[str, Any]) -> str:
    """Write result.json, whole or not at all; "" or why it cannot be written."""
    ran, final = os.path.join(record, files.RAN), os.path.join(record, "result.json")
    try:
        files.overwrite(ran, result)
        os.rename(ran, final)
    except (OSError, ValueError) as problem:
        return f"its result could not be stored in {record}: {problem}"
    return ""


def record_interrupted(order: dict[str, Any], reason: str) -> None:
    """Record a run that nobody knows the end of; what was recorded stays."""
    record = str(order["record_directory"])
    if not os.path.exists(os.path.join(record, "result.json")):
        result = supervise.result_of(order["run_id"], started=time.time(), reason=reason)
        store(record, result)
    wanted = order.get("stage")
    if wanted and (top := _staging.top_of(wanted, os.environ)):
        path = os.path.join(top, _staging.stage_name(str(order["run_id"])))
        shutil.rmtree(path, ignore_errors=True)


def unseen(order: dict[str, Any]) -> str:
    """Return what of an order is not on this node, in words; "" if all is."""
    node = f"the compute node {os.uname().nodename} does not see"
    for name in ("record_directory", "directory"):
        if not os.path.isdir(str(order[name])):
            return f"{node} {order[name]}"
    for path in order.get("libraries", ()):
        if not os.path.isfile(str(path)):
            return f"{node} the runtime library {path}"
    return ""
