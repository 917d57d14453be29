# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What our programs in C say is one line, whatever names are in it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from native_hosts import NATIVE

from stripewise.present import printable

SAYS = """
#include "stripewise/say.h"
int main(int count, char **words)
{
    for (int i = 1; i < count; i++)
        sw_say("it is %s", words[i]);
    return 0;
}
"""
NAMES = (
    *("plain", "ä ünïcödé €", "a\nb", "a\rb", "\x1b[2J", "\x7f", "a\x85b", "a\u2028b\u2029"),
    *("\u202egpj", "\u2066x\u2069", "\u200b", "日本語", "\u00c2", "end\u00e2", ""),
)


def test_a_line_is_shown_as_elsewhere(tmp_path: Path) -> None:
    source, program = tmp_path / "says.c", tmp_path / "says"
    source.write_text(SAYS)
    subprocess.run(
        ["cc", "-Wall", "-Wextra", "-Werror", f"-I{NATIVE / 'include'}", source, "-o", program],
        check=True,
    )
    said = subprocess.run([program, *NAMES], check=True, capture_output=True).stderr.decode()
    assert said.split("\n") == [*(f"it is {printable(name)}" for name in NAMES), ""]
    cut = os.fsencode("\udce2\udc80")  # half of a character stays what it is
    said_bytes = subprocess.run([program, cut, b"x" * 20000], check=True, capture_output=True)
    first, second, _ = said_bytes.stderr.split(b"\n")
    assert first == b"it is " + cut
    assert len(second) == 8191
