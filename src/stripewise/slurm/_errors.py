# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What Slurm's commands refuse, in one line with the remedy."""

from __future__ import annotations

import re

from stripewise.errors import StudyError, UsageError
from stripewise.text import printable


class SlurmMissingError(UsageError):
    """Slurm's commands are not on this host."""


class SlurmError(StudyError):
    """A command of Slurm failed."""


class SubmissionError(SlurmError):
    """Slurm refuses a job."""


class SlurmAwayError(SlurmError):
    """The controller does not answer at present."""


_AWAY = re.compile(
    r"Unable to contact slurm controller|Socket timed out|Connection refused|"
    r"Slurm backup controller in standby|slurmctld is not responding|"
    r"Unable to contact Slurm|Zero Bytes were transmitted|Connection timed out|"
    r"Communication connection failure|Resource temporarily unavailable|"
    r"Slurm temporarily unable to accept job|Transport endpoint is not connected|"
    r"Munge encode failed|Protocol authentication error",
    re.IGNORECASE,
)
"""Source: slurm_errno.c of Slurm 22.05, and seen while slurmctld was restarted."""

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
        "see the directives of the burst buffer; scontrol show burst says what there is",
    ),
    (
        r"accounting/QOS policy|QOS\w*Limit|Assoc\w*Limit|submit limit",
        "it is beyond what your account or QOS may have at a time (number of jobs, nodes, time); "
        "ask for less, or wait until other jobs of yours have ended",
    ),
    (
        r"not permitted to use|Access/permission denied|NotAllowed",
        "name a partition, an account and a QOS that you may use (-p, -A, --qos)",
    ),
    (
        r"JobHeldAdmin|JobHoldMaxRequeue|launch failed",
        "an administrator holds it, or Slurm could not start it: ask the support of your site, "
        "then go on with --resume",
    ),
    (
        r"BadConstraints|Invalid feature|Invalid generic resource|Memory specification",
        "ask for nodes that there are (--constraint, --gres, --mem); scontrol show nodes lists "
        "them",
    ),
    (r"Invalid license", "name licenses with -L that there are; scontrol show lic lists them"),
    (r"[Rr]eservation", "name a reservation of yours, or take --reservation out of the script"),
    (
        r"[Nn]ode count|node configuration is not available|More processors requested",
        "ask for nodes that the partition has; scontrol show partition says which",
    ),
)


def is_away(text: str) -> bool:
    """Whether a command's message says that the controller cannot be reached now."""
    return bool(_AWAY.search(text))


def one_line(text: str) -> str:
    """Return what a command said as one line that is safe to show."""
    lines = [_SPEAKER.sub("", line.strip()) for line in text.splitlines()]
    said = printable("; ".join(dict.fromkeys(filter(None, lines))))
    return said if len(said) <= _LONGEST else f"{said[:200]} ... {said[-200:]}"


def refused(text: str) -> SubmissionError:
    """Return the error that says what sbatch said, and what helps."""
    remedy = remedy_of(text) or "see whether sbatch --test-only says the same of the script"
    said = one_line(text) or "sbatch failed without a word"
    return SubmissionError(f"Slurm refuses the job: {said}; {remedy}")


def remedy_of(text: str) -> str:
    """Return what helps against a refusal or against a reason to wait; "" if it is not known."""
    return next((remedy for pattern, remedy in _REMEDIES if re.search(pattern, text)), "")


def starts_never(reason: str) -> bool:
    """Whether a pending job with this reason starts only if somebody changes something."""
    return bool(_NEVER.fullmatch(reason)) or reason.startswith(("launch failed", "burst_buffer/"))


def why_it_waits(reason: str) -> str:
    """Return what a reason means that may last; "" for those that pass, or explain themselves."""
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
    (r"Licenses", "others have the licenses; see scontrol show lic"),
    (
        r"(?:Assoc|QOS|Max)\w+",
        "a limit of your account or QOS, of jobs, nodes or time at once; it starts when others "
        "have ended",
    ),
)


def is_limit_of_jobs(text: str) -> bool:
    """Whether sbatch refuses a job since its user has as many jobs as may be."""
    return bool(_LIMIT_OF_JOBS.search(text))


_NEVER = re.compile(
    r"(?:Assoc|QOS)(?:Grp\w*(?<!Run)Minutes(?:Limit)?|GrpWallLimit|Max\w+Per(?:Job|Node)(?:Limit)?)|"
    r"QOSMin\w+|QOSNotAllowed|InvalidQOS|AccountNotAllowed|InvalidAccount|BadConstraints|"
    r"DependencyNeverSatisfied|JobHeldAdmin|JobHoldMaxRequeue|ReservationDeleted|"
    r"Partition(?:Inactive|NodeLimit|TimeLimit)"
)
"""Source: documented, "JOB REASON CODES" of squeue(1); names as libslurm 22.05 has them."""

_LIMIT_OF_JOBS = re.compile(r"SubmitJob|job submit limit")
"""Source: slurm_errno.c of Slurm 22.05, and the reasons that sbatch prints before its text."""
