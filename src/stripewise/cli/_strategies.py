# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise strategies`: the search strategies and their options."""

from __future__ import annotations

from typing import Any

import click

from stripewise.cli._common import echo, examples, json_option, print_json


@click.command(
    epilog=examples(
        "stripewise strategies",
        "stripewise tune --strategy genetic --strategy-option population=20 \\",
        "    --strategy-option selector=tournament -- mpiexec -n 4 ./program",
    ),
)
@json_option
def command(as_json: bool) -> None:
    """List the search strategies, the default first, and the options of each."""
    from stripewise.strategies import find_strategy, strategy_names

    members = [find_strategy(name) for name in strategy_names()]
    if as_json:
        print_json([_document(member) for member in members])
        return
    for member in members:
        problem = f"   ({member.problem()})" if member.problem() else ""
        echo(f"{member.name:<12} {member.summary}{problem}")
        for option in member.declared:
            shown = f"{option.name}={option.default}"
            choice = f" ({option.expected})" if option.choices else ""
            echo(f"{'':<14}{shown:<26} {option.summary}{choice}")


def _document(member: Any) -> dict[str, Any]:
    return {
        "name": member.name,
        "summary": member.summary,
        "problem": member.problem(),
        "options": [
            {
                "name": option.name,
                "default": option.default,
                "summary": option.summary,
                "expected": option.expected,
            }
            for option in member.declared
        ],
    }
