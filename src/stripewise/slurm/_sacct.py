# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The output of sacct."""

from __future__ import annotations

from stripewise.slurm._states import JobStatus, parse_count, parse_exit_code, parse_state, said

FIELDS = "JobIDRaw,State,ExitCode,NNodes,NodeList,JobName"


def parse_sacct(text: str) -> tuple[JobStatus, ...]:
    """Return the jobs that `sacct -X -P -n -o FIELDS` lists; other lines are left out."""
    found = []
    for line in text.splitlines():
        fields = line.split("|", 5)
        if len(fields) == 6 and fields[0].isdecimal():
            found.append(
                JobStatus(
                    job_id=int(fields[0]),
                    state=parse_state(fields[1]),
                    exit_code=parse_exit_code(fields[2]),
                    nodes=parse_count(fields[3]),
                    node_list=said(fields[4]),
                    name=fields[5],
                )
            )
    return tuple(found)
