# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The tunables as a page of documentation."""

from __future__ import annotations

from stripewise.tunables._base import Layer, Tunable
from stripewise.tunables._registry import all_tunables


def describe_values(knob: Tunable) -> str:
    """Return what a tunable's value can be, for people."""
    if knob.choices:
        return ", ".join(knob.choices)
    return {"ints": "list of integers", "int": "integer", "bool": "true, false"}.get(
        knob.kind, knob.kind
    )


def reference_markdown() -> str:
    """Return docs/reference/tunables.md."""
    lines = [
        "# Tunables",
        "",
        "Generated from the definitions; `stripewise tunables` prints the same.",
        "",
        "Classes: *safe* cannot change what is written; *layout* gives the same content in other",
        "bytes of the file; *contract* is right only if the program meets a condition, and is",
        "tried only on request. A tunable that can act on a program is searched only if there is",
        "a value worth trying.",
    ]
    for layer in Layer:
        lines += ["", f"## {layer.settings} (`{layer}`)", ""]
        lines += [
            "| tunable | values | default | class | acts at | stacks | what it does | source |"
        ]
        lines += ["|---|---|---|---|---|---|---|---|"]
        lines += [_row(knob) for knob in all_tunables() if knob.layer is layer]
    return "\n".join(lines) + "\n"


def _row(knob: Tunable) -> str:
    cells = (
        f"`{knob.key}`",
        describe_values(knob),
        knob.default,
        knob.safety.value,
        knob.acts_at.value,
        ", ".join(knob.stacks),
        knob.summary,
        knob.source,
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |"
