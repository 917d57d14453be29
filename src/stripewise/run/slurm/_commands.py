# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs Slurm's commands with limits on time and rate, and explains their refusals."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from stripewise.core.errors import StudyError, UsageError
from stripewise.present import printable
from stripewise.run._ask import CommandResult, ask

# Refusals of Slurm's commands, in one line with the remedy.


class SlurmMissingError(UsageError):
    """Slurm's commands do not exist on this host."""


class SlurmError(StudyError):
    """A command of Slurm failed."""


class SubmissionError(SlurmError):
    """Slurm refuses a job."""


class SlurmAwayError(SlurmError):
    """The controller does not answer at the moment."""


_AWAY = re.compile(
    r"Unable to contact slurm controller|Socket timed out|Connection refused|"
    r"Slurm backup controller in standby|slurmctld is not responding|"
    r"Unable to contact Slurm|Zero Bytes were transmitted|Connection timed out|"
    r"Communication connection failure|Resource temporarily unavailable|"
    r"Slurm temporarily unable to accept job|Transport endpoint is not connected|"
    r"Munge encode failed|Protocol authentication error",
    re.IGNORECASE,
)
"""Source: slurm_errno.c of Slurm 22.05, and observed while slurmctld was restarted."""

_LONGEST = 500
_SPEAKER = re.compile(r"^(?:sbatch|squeue|sacct|scontrol|scancel|error): (?:error: )?")
_REMEDIES = (
    (
        r"Invalid account or account/partition|Invalid account",
        "name an account of yours with -A (sacctmgr show assoc user=$USER lists them) and a "
        "partition that it may use with -p",
    ),
    (r"[Ii]nvalid partition", "name a partition with -p; sinfo -s lists them"),
    (r"Invalid qos", "name a QOS of yours with --qos (sacctmgr show assoc user=$USER lists them)"),
    (
        r"(?:Assoc|QOS)Grp(?:\w*(?<!Run)Minutes|WallLimit)|GrpTRESMins|"
        r"allocation.*(?:exhausted|exceeded)",
        "the account's time is used up, or would be by this job; take a smaller --budget or "
        "--allocation-time, another account, or ask for more time",
    ),
    (
        r"Requested time limit|TimeLimit|MaxWallDuration",
        "ask for less time with --allocation-time, or in the script with -t; scontrol show "
        "partition and sacctmgr show qos say the limits",
    ),
    (
        r"(?i:burst.?buffer)|#DW|#BB",
        "check the directives of the burst buffer; scontrol show burst lists what exists",
    ),
    (
        r"accounting/QOS policy|QOS\w*Limit|Assoc\w*Limit|submit limit",
        "it is more than your account or QOS may have at a time (number of jobs, nodes, time); "
        "ask for less, or wait until other jobs of yours have ended",
    ),
    (
        r"not permitted to use|Access/permission denied|NotAllowed",
        "name a partition, an account and a QOS that you may use (-p, -A, --qos)",
    ),
    (
        r"JobHeldAdmin|JobHoldMaxRequeue|launch failed",
        "an administrator holds it, or Slurm could not start it: ask the support of your site, "
        "then continue with --resume",
    ),
    (
        r"BadConstraints|Invalid feature|Invalid generic resource|Memory specification",
        "request nodes that exist (--constraint, --gres, --mem); scontrol show nodes lists them",
    ),
    (r"Invalid license", "name licenses that exist with -L; scontrol show lic lists them"),
    (r"[Rr]eservation", "name a reservation of yours, or take --reservation out of the script"),
    (
        r"[Nn]ode count|node configuration is not available|More processors requested",
        "request nodes that the partition has; scontrol show partition lists them",
    ),
)


def is_unreachable(text: str) -> bool:
    """Return whether a command's message says that the controller cannot be reached."""
    return bool(_AWAY.search(text))


def one_line(text: str) -> str:
    """Return a command's message as one line that is safe to display."""
    lines = [_SPEAKER.sub("", line.strip()) for line in text.splitlines()]
    message = printable("; ".join(dict.fromkeys(filter(None, lines))))
    return message if len(message) <= _LONGEST else f"{message[:200]} ... {message[-200:]}"


def refused(text: str) -> SubmissionError:
    """Return the error for a refusal of sbatch, with the remedy."""
    remedy = remedy_of(text) or "check whether sbatch --test-only reports the same for the script"
    message = one_line(text) or "sbatch failed without a word"
    return SubmissionError(f"Slurm refuses the job: {message}; {remedy}")


def remedy_of(text: str) -> str:
    """Return the remedy for a refusal or a reason to wait; empty if unknown."""
    return next((remedy for pattern, remedy in _REMEDIES if re.search(pattern, text)), "")


def starts_never(reason: str) -> bool:
    """Return whether a pending job with a reason cannot start without intervention."""
    return bool(_NEVER.fullmatch(reason)) or reason.startswith(("launch failed", "burst_buffer/"))


def why_it_waits(reason: str) -> str:
    """Return the meaning of a lasting reason; empty for transient or self-explanatory ones."""
    return next((text for pattern, text in _WAITS if re.match(pattern, reason)), "")


_WAITS = (
    (
        r"PartitionConfig",
        "the partition has no such nodes now; sinfo -N -l shows what it has",
    ),
    (
        r"ReqNodeNotAvail|NodeDown",
        "nodes are down, drained or reserved; see sinfo -R and scontrol show reservation",
    ),
    (r"PartitionDown", "the partition starts no jobs now"),
    (r"JobHeldUser", "it was held; scontrol release lets it start"),
    (r"Licenses", "other jobs use the licenses; see scontrol show lic"),
    (
        r"(?:Assoc|QOS|Max)\w+",
        "your account or QOS has reached a limit (jobs, nodes or time at once); the job starts "
        "when others have ended",
    ),
)


def is_limit_of_jobs(text: str) -> bool:
    """Return whether sbatch refuses a job because its user has reached a limit on jobs."""
    return bool(_LIMIT_OF_JOBS.search(text))


_NEVER = re.compile(
    r"(?:Assoc|QOS)(?:Grp\w*(?<!Run)Minutes(?:Limit)?|GrpWallLimit|Max\w+Per(?:Job|Node)(?:Limit)?)|"
    r"QOSMin\w+|QOSNotAllowed|InvalidQOS|AccountNotAllowed|InvalidAccount|BadConstraints|"
    r"DependencyNeverSatisfied|JobHeldAdmin|JobHoldMaxRequeue|ReservationDeleted|"
    r"Partition(?:Inactive|NodeLimit|TimeLimit)"
)
"""Source: documented, "JOB REASON CODES" of squeue(1); names as in libslurm 22.05."""

_LIMIT_OF_JOBS = re.compile(r"SubmitJob|job submit limit")
"""Source: slurm_errno.c of Slurm 22.05, and the reasons that sbatch prints before its text."""


# Running Slurm's commands, with argument lists, a time limit and a clean environment.

_ACTIONS = ("sbatch", "scancel")
_WITHOUT = (
    "this host has no Slurm; start Stripewise on a login node (module load slurm may be needed), "
    "or use --launcher local"
)
_NO_CLUSTER = ("establish a configuration source", "unable to status file")
"""Messages of Slurm's commands without a slurm.conf: the first observed, the second assumed."""


class Commands:
    """Runs the commands, which the limiter counts.

    Attributes:
        limiter: Limiter of all requests; None for no limit.
        timeout_seconds: Time after which a command is stopped.
    """

    def __init__(
        self,
        limiter: RateLimiter | None,
        environment: Mapping[str, str] | None,
        timeout_seconds: float,
        remedy: str = _WITHOUT,
    ) -> None:
        """Set the parameters of the commands.

        Args:
            limiter: Limiter of all requests; None for no limit.
            environment: Environment of the commands; None for that of this process at the time.
            timeout_seconds: Time after which a command is stopped.
            remedy: What to do if the commands are not on PATH.
        """
        self.limiter = limiter
        self.timeout_seconds = timeout_seconds
        self._environment, self._remedy = environment, remedy

    def environment(self, command: str) -> dict[str, str]:
        """Return the environment for a command, without variables that change its output."""
        return for_command(command, os.environ if self._environment is None else self._environment)

    def find(self, command: str) -> str:
        """Return the path of a command.

        Raises:
            SlurmMissingError: The command is not on PATH.
        """
        found = shutil.which(command, path=self.environment(command).get("PATH"))
        if found is None:
            raise SlurmMissingError(f"there is no {command} on PATH: {self._remedy}")
        return found

    def answer(
        self,
        command: str,
        arguments: Sequence[str],
        directory: Path | None = None,
        output: IO[bytes] | None = None,
    ) -> CommandResult:
        """Run a command, and return its output and exit code.

        Args:
            command: Name of the command.
            arguments: Words after it.
            directory: Directory in which it runs.
            output: File for its standard output of any length.

        Raises:
            SlurmMissingError: The command does not exist.
            SlurmError: The command cannot be run.
        """
        located = self.find(command)
        if self.limiter is not None:
            self.limiter.take(action=command in _ACTIONS)
        answer = ask(
            [located, *arguments],
            timeout_seconds=self.timeout_seconds,
            environment=self.environment(command),
            directory=directory,
            umask=0o077,  # jobs inherit it from sbatch
            output=output,
        )
        if answer.exit_code is None and not answer.is_late:
            raise SlurmError(f"{located} {answer.problem}")
        return answer

    def run(self, command: str, arguments: Sequence[str], directory: Path | None = None) -> str:
        """Run a command and return its output.

        Raises:
            SlurmMissingError: The command does not exist, or knows no cluster.
            SlurmAwayError: The controller did not answer; the request may have reached it.
            SlurmError: The command failed for another reason.
        """
        answer = self.answer(command, arguments, directory)
        if answer.ok:
            return answer.text
        if answer.exit_code is None:
            raise SlurmAwayError(
                f"{command} did not end within {self.timeout_seconds:g} s; the controller is busy "
                "or not running: wait, then continue with --resume"
            )
        output = answer.error if answer.error.strip() else answer.text
        if any(words in output for words in _NO_CLUSTER):
            raise SlurmMissingError(
                f"{command} finds no configuration of a cluster on this host: start Stripewise on "
                "a login node, set SLURM_CONF, or use --launcher local"
            )
        if is_unreachable(output):
            raise SlurmAwayError(
                f"{command}: {one_line(output)}; wait for the controller, then continue with "
                "--resume"
            )
        raise CommandFailed(command, output, answer.exit_code)


class CommandFailed(SlurmError):
    """A command ended with an exit code other than zero.

    Attributes:
        output: Complete output of the command.
    """

    def __init__(self, command: str, output: str, code: int) -> None:
        super().__init__(f"{command} failed: {one_line(output) or f'exit code {code}'}")
        self.output = output


# Limits on requests to the controller, which serves all users of the machine.

POLL_SECONDS = 10.0
"""Interval between two queries of the queue.  Assumed; sites request at most one per 10 to 60
s."""
STATUS_PER_MINUTE = 6
ACTIONS_PER_MINUTE = 30
_MINUTE = 60.0


class RateLimiter:
    """Counts all requests and keeps them below the limits.

    In any minute there are at most `status_per_minute` queries (squeue, sacct, scontrol) and at
    most `actions_per_minute` submissions and cancellations.

    Attributes:
        n_requests: Number of all requests so far.
    """

    def __init__(
        self,
        *,
        poll_seconds: float = POLL_SECONDS,
        status_per_minute: int = STATUS_PER_MINUTE,
        actions_per_minute: int = ACTIONS_PER_MINUTE,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Set the limits.

        Args:
            poll_seconds: Minimum interval between two queries of the queue.
            status_per_minute: Maximum number of queries in any minute.
            actions_per_minute: Maximum number of submissions and cancellations in any minute.
            clock: Function that returns monotonic seconds.
            sleep: Function that waits.
        """
        self.poll_seconds = poll_seconds
        self.n_requests = 0
        self._most = {False: status_per_minute, True: actions_per_minute}
        self._times: dict[bool, deque[float]] = {False: deque(), True: deque()}
        self._clock, self._sleep = clock, sleep

    def ready(self, *, action: bool = False) -> bool:
        """Return whether a query (or an action) is possible now without waiting."""
        times = self._times[action]
        if not action and times and self._clock() - times[-1] < self.poll_seconds:
            return False
        return self._wait_seconds(action) <= 0

    def take(self, *, action: bool = False) -> None:
        """Record a request before it is made, after waiting as long as the limit requires."""
        while (wait := self._wait_seconds(action)) > 0:
            self._sleep(wait)
        self._times[action].append(self._clock())
        self.n_requests += 1

    def _wait_seconds(self, action: bool) -> float:
        times, now = self._times[action], self._clock()
        while times and now >= times[0] + _MINUTE:  # as the wait is computed: both round alike
            times.popleft()
        return 0.0 if len(times) < self._most[action] else times[0] + _MINUTE - now


SHARED = RateLimiter()
"""Limiter that all studies and cases of this process share."""


# Variables of the user that Slurm's commands read.
#
# Source: "INPUT ENVIRONMENT VARIABLES" of sbatch(1), squeue(1), sacct(1), scontrol(1) (Slurm
# 22.05): a variable overrides an option in the script, and is overridden by one on the command
# line.

_PREFIX = "SBATCH_"
_OTHER_NAMES = {"timelimit": "time", "mem-per-node": "mem", "req-switch": "switches"}
_KEPT = frozenset(
    {"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS", "SLURM_JWT", "SLURM_MPI_TYPE"}
)
_CHANGES_OUTPUT = ("SQUEUE_", "SACCT_", "SCANCEL_", "SCONTROL_")
_NOT_FOR_AGENTS = frozenset(
    {
        "SBATCH_ARRAY_INX", "SBATCH_INPUT", "SBATCH_WAIT", "SLURM_EXIT_ERROR",
        "SLURM_TIME_FORMAT", "SLURM_UMASK",
    }
)  # fmt: skip
"""Variables with which sbatch would start several agents, wait for their end, or expose their
output."""
_OUTER_JOB = "SLURM_JOB_ID"


def options_of_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the options of sbatch that variables set: long name to value."""
    found = {}
    for name, value in environment.items():
        if name.startswith(_PREFIX) and name not in _NOT_FOR_AGENTS:
            option = name.removeprefix(_PREFIX).lower().replace("_", "-")
            found[_OTHER_NAMES.get(option, option)] = value
    return found


def variable_of_option(option: str) -> str:
    """Return the variable that sets an option of sbatch."""
    name = next((name for name, other in _OTHER_NAMES.items() if other == option), option)
    return _PREFIX + name.upper().replace("-", "_")


def for_command(command: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command of Slurm.

    A job inherits the environment of sbatch, including variables of srun (SLURM_CPU_BIND,
    SLURM_NETWORK ...), unless these describe a job in which the tuner itself runs.  Other commands
    get no variables that change their output.
    """
    is_submission = command == "sbatch"
    drop: tuple[str, ...] = () if is_submission else _CHANGES_OUTPUT
    if not is_submission or _OUTER_JOB in given:
        drop = (*drop, "SLURM_")
    return {
        name: text
        for name, text in given.items()
        if name not in _NOT_FOR_AGENTS and (name in _KEPT or not name.startswith(drop))
    }
