# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise completion`: the script that makes a shell complete commands."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, get_completion_class

from stripewise.cli._common import examples


def complete_knob(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a tunable: `layer.key`, or the key alone."""
    from stripewise.tunables import all_tunables

    del ctx, param
    named = {knob.name: knob for knob in all_tunables()}
    if not any(name.startswith(incomplete) for name in named):
        named = {knob.key: knob for knob in all_tunables()}
    return [
        CompletionItem(name, help=knob.summary)
        for name, knob in named.items()
        if name.startswith(incomplete)
    ]


def complete_machine(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a described storage."""
    from stripewise.machines import preset_names

    del ctx, param
    return [CompletionItem(name) for name in preset_names() if name.startswith(incomplete)]


def complete_strategy(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a strategy."""
    from stripewise.strategies import strategy_names

    del ctx, param
    return [CompletionItem(name) for name in strategy_names() if name.startswith(incomplete)]


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
    assert found is not None  # the choice of shells is click's
    complete = found(root, {}, "stripewise", "_STRIPEWISE_COMPLETE")
    click.echo(complete.source_template % complete.source_vars())
