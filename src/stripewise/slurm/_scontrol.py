# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The output of `scontrol show job`, `show partition` and `show config`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stripewise.slurm._states import JobStatus, parse_count, parse_exit_code, parse_state, said

_KEY = re.compile(r"(?:^|\s)([A-Z][A-Za-z0-9_:/.]*)=")
_SETTING = re.compile(r"^(\S+)\s*=\s?(.*)$")


def parse_records(text: str) -> tuple[dict[str, str], ...]:
    """Return the records of `scontrol show -o`: one a line, KEY=VALUE, values may hold blanks."""
    records = []
    for line in text.splitlines():
        places = list(_KEY.finditer(line))
        ends = [place.start() for place in places[1:]] + [len(line)]
        if places:
            records.append(
                {
                    place[1]: line[place.end() : end].strip()
                    for place, end in zip(places, ends, strict=True)
                }
            )
    return tuple(records)


def parse_config(text: str) -> dict[str, str]:
    """Return the settings that `scontrol show config` lists."""
    found = (_SETTING.match(line) for line in text.splitlines())
    return {match[1]: said(match[2]) for match in found if match}


def job_status(record: Mapping[str, str]) -> JobStatus:
    """Return the status of the job that a record of `scontrol show job` is of.

    Raises:
        ValueError: It is a record of something else.
    """
    return JobStatus(
        job_id=int(record.get("JobId", "")),
        state=parse_state(record.get("JobState", "")),
        reason=said(record.get("Reason", "")),
        nodes=parse_count(record.get("NumNodes", "")),
        node_list=said(record.get("NodeList", "")),
        exit_code=parse_exit_code(record.get("ExitCode", "")),
        name=record.get("JobName", ""),
    )
