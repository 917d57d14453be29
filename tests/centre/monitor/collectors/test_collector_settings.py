# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tables of collectors: what is wrong is said in words, without patterns for programmers."""

from __future__ import annotations

from typing import Any

import pytest

from stripewise.centre.monitor.collectors import create_collector
from stripewise.core.errors import ConfigurationError

BAD: dict[str, tuple[str, dict[str, Any], str]] = {
    "arguments": (
        "lustre-server",
        {"lctl": "sudo lctl"},
        "[collectors.lustre-server] lctl = 'sudo lctl': give the command's name or path, without "
        "arguments or spaces, such as /usr/sbin/lctl",
    ),
    "an option": ("lustre-client", {"lctl": "-n"}, "lctl = '-n': give the command's name or path"),
    "nothing": ("lustre-client", {"lctl": ""}, "lctl = '': give the command's name or path"),
    "an end of line": ("lustre-client", {"lctl": "lctl\n"}, "': give the command's name or path"),
    "a long command": ("lustre-client", {"lctl": "x" * 4097}, ": give the command's name or path"),
    "a name of a mount": (
        "nfs",
        {"names": {"/home": "our home"}},
        "names./home = 'our home': write at most 64 letters, digits, dots",
    ),
    "a name of BeeGFS": (
        "beegfs",
        {"file_systems": {"a b": ""}},
        "= 'a b': write at most 64 letters, digits, dots",
    ),
    "two that do not fit": (
        "lustre-server",
        {"job_interval_seconds": 5, "interval_seconds": 60},
        "[collectors.lustre-server] job_interval_seconds 5 is shorter than interval_seconds 60: "
        "make it at least as long",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_said_in_words(case: str) -> None:
    name, table, words = BAD[case]
    with pytest.raises(ConfigurationError) as caught:
        create_collector(name, table)
    said = str(caught.value)
    assert words in said
    assert "pattern" not in said
    assert "\n" not in said


@pytest.mark.parametrize("command", ["lctl", "/usr/sbin/lctl", "./lctl", "x" * 4096])
def test_a_command_of_one_word_is_taken(command: str) -> None:
    assert create_collector("lustre-server", {"lctl": command}).settings.lctl == command  # type: ignore[attr-defined]
