# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Generate the pages of the reference that come from the program itself.

python docs/generate.py           write docs/reference/{cli,tunables}.md
python docs/generate.py --check   exit 1 if they are out of date
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from stripewise.cli import main as root
from stripewise.tunables import Layer, Tunable, all_tunables

REFERENCE = Path(__file__).parent / "reference"
WIDTH = 92


def cli_markdown() -> str:
    """Return the page of all commands: the text of each `--help`."""
    lines = [
        "# Commands",
        "",
        "Generated from the program; `stripewise COMMAND --help` prints the same.",
    ]
    for path, text in helps(root, ("stripewise",)):
        lines += ["", f"{'#' * min(len(path) + 1, 3)} `{' '.join(path)}`", ""]
        lines += ["```text", text.rstrip(), "```"]
    return "\n".join(lines) + "\n"


def helps(
    command: click.Command, path: tuple[str, ...], parent: click.Context | None = None
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each command's path and help text, groups before their members."""
    context = click.Context(
        command,
        info_name=path[-1],
        parent=parent,
        terminal_width=WIDTH,
        **{k: v for k, v in command.context_settings.items() if k == "help_option_names"},
    )
    yield path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            if member is not None and not member.hidden:
                yield from helps(member, (*path, name), context)


def tunables_markdown() -> str:
    """Return the page of all tunables: a table for each layer."""
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
        lines += [row(knob) for knob in all_tunables() if knob.layer is layer]
    return "\n".join(lines) + "\n"


def row(knob: Tunable) -> str:
    """Return a tunable's row of its table."""
    cells = (
        f"`{knob.key}`",
        knob.domain.words,
        knob.domain.default,
        knob.safety.value,
        knob.acts_at.value,
        ", ".join(knob.stacks),
        knob.summary,
        knob.source,
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |"


def pages() -> dict[Path, str]:
    """Return every generated page."""
    return {
        REFERENCE / "cli.md": cli_markdown(),
        REFERENCE / "tunables.md": tunables_markdown(),
    }


def main() -> int:
    """Write the pages, or compare them."""
    check = "--check" in sys.argv[1:]
    stale = 0
    for path, text in pages().items():
        if check and (not path.exists() or path.read_text("utf-8") != text):
            print(f"{path} is out of date: run python docs/generate.py", file=sys.stderr)
            stale = 1
        elif not check:
            path.write_text(text, "utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main())
