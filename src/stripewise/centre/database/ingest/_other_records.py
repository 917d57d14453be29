# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recognises records of jobs that cannot be read, to say what they are and what can be.

Source: sacct(1), squeue(1) and scontrol(1) of Slurm 22.05; the administrator guide of OpenPBS
(accounting log) and qstat(1B); bjobs(1) and lsb.acct(5) of LSF 10.1; qacct(1) of Grid Engine 8.1;
condor_history(1) of HTCondor 23.
"""

from __future__ import annotations

import re

_ONLY_SLURM = "only records of Slurm are read, from sacct or its REST interface"
_FROM_SACCT = "it lacks what is needed of jobs that have ended: write the output of sacct instead"
_OTHERS = (
    (rb"\s*JOBID\s+PARTITION\s+NAME\s", "it is the output of squeue", _FROM_SACCT),
    (rb"JobId=\d+ (?:Array|Het|Job)\w+=", "it is the output of scontrol show job", _FROM_SACCT),
    (
        rb"\s*(?i:jobid(?:raw)?)(?:[^\w|\r\n]+[A-Za-z/]+)+[^\w|\r\n]*\r?$",
        "it is the output of sacct, but its columns are not separated by |",
        "write it with --parsable2",
    ),
    (
        rb"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;\w;[^;\n]*;",
        "it is an accounting log of PBS",
        _ONLY_SLURM,
    ),
    (rb"Job Id: ?\S+\r?\n\s+Job_Name = ", "it is the output of qstat -f of PBS", _ONLY_SLURM),
    (rb'\s*\{[^{}]*"pbs_version"', "it is the output of qstat of PBS", _ONLY_SLURM),
    (rb'\s*\{\s*"COMMAND"\s*:\s*"b\w+"', "it is the output of bjobs of LSF", _ONLY_SLURM),
    (rb'"JOB_\w+" "\d+[.\d]*" \d+ ', "it is an accounting file of LSF", _ONLY_SLURM),
    (rb"={20,}\r?\nqname\s", "it is the output of qacct of Grid Engine", _ONLY_SLURM),
    (
        rb"(?:\w+ = .*\n){0,200}?ClusterId = \d+\r?$",
        "it is a list of jobs of HTCondor",
        _ONLY_SLURM,
    ),
)
_PATTERNS = tuple(
    (re.compile(pattern, re.MULTILINE), f"{what}; {remedy}") for pattern, what, remedy in _OTHERS
)


def why_not_read(head: bytes) -> str:
    """Return why records of jobs cannot be read; empty if the file does not begin as any.

    Args:
        head: First bytes of the file.
    """
    return next((why for pattern, why in _PATTERNS if pattern.match(head)), "")
