# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise completion`: the script that makes a shell complete commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from stripewise.cli._common import examples


@click.command(
    epilog=examples(
        'eval "$(stripewise completion bash)"            # in ~/.bashrc',
        'eval "$(stripewise completion zsh)"             # in ~/.zshrc',
        "stripewise completion fish > ~/.config/fish/completions/stripewise.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL."""
    root = click.get_current_context().find_root().command
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    complete = found(root, {}, "stripewise", "_STRIPEWISE_COMPLETE")
    click.echo(complete.source_template % complete.source_vars())
