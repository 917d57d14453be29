# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines commands with a short --help, and a --help-all that has every option under a heading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
_EVERYTHING = "stripewise.help_all"
_HYPHEN = "\N{NON-BREAKING HYPHEN}"


class Formatter(click.HelpFormatter):
    """Formatter that wraps lines only at spaces, so that no name is split at its hyphens."""

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(text.replace("-", _HYPHEN))

    def write_dl(self, rows: Iterable[tuple[str, str]], *args: Any, **kwargs: Any) -> None:
        """Write a list of names and their descriptions."""
        whole = [(name, text.replace("-", _HYPHEN)) for name, text in rows]
        super().write_dl(whole, *args, **kwargs)

    def getvalue(self) -> str:
        """Return the text with plain hyphens restored."""
        return super().getvalue().replace(_HYPHEN, "-")


class Context(click.Context):
    """A context whose help our formatter writes."""

    formatter_class = Formatter


class Option(click.Option):
    """An option that is listed under a heading in --help-all.

    Attributes:
        group: Heading in --help-all.
        rare: Whether it is left out of --help.
    """

    def __init__(
        self, *args: Any, group: str = "Options", rare: bool = False, **attributes: Any
    ) -> None:
        super().__init__(*args, **attributes)
        self.group, self.rare = group, rare


def show_everything(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Print the help with every option, and exit."""
    del param
    if value and not ctx.resilient_parsing:
        click.echo(help_all(ctx.command, ctx), color=ctx.color)
        ctx.exit()


def help_all(command: click.Command, ctx: click.Context) -> str:
    """Return the help of a command with every option."""
    ctx.meta[_EVERYTHING] = True
    return command.get_help(ctx)


class Command(click.Command):
    """A command whose --help shows the options that most users need."""

    context_class = Context

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, with --help-all before --help."""
        found = super().get_params(ctx)
        if self.get_help_option(ctx) is None:
            return found
        if not hasattr(self, "_help_all"):
            has_rare = any(isinstance(one, Option) and one.rare for one in self.params)
            self._help_all = Option(
                ["--help-all"], is_flag=True, is_eager=True, expose_value=False,
                hidden=not has_rare, callback=show_everything,
                help="Show all options, in groups, and exit.",
            )  # fmt: skip
        return [*found[:-1], self._help_all, found[-1]]

    def is_shown(self, ctx: click.Context, param: click.Parameter) -> bool:
        """Return whether --help shows an option."""
        del ctx
        return not (isinstance(param, Option) and param.rare)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options that most users need, or all of them under their headings."""
        everything = ctx.meta.get(_EVERYTHING, False)
        found: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None or isinstance(param, click.Argument):
                continue
            if everything or self.is_shown(ctx, param):
                heading = param.group if everything and isinstance(param, Option) else "Options"
                found.setdefault(heading, []).append(record)
        if "Options" in found:
            found["Options"] = found.pop("Options")
        for heading, rows in found.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


class Group(Command, click.Group):
    """A group of commands, whose first sentences are not truncated in help."""

    command_class = Command
    group_class = type

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, in the order in which they are defined."""
        members = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, one.get_short_help_str(1000)) for name, one in members if one is not None]
            )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order in which the commands are defined."""
        del ctx
        return list(self.commands)


option = partial(click.option, cls=Option)


def command(
    name: str | None = None, *, cls: type[Command] = Command, **attributes: Any
) -> Callable[[Callable[..., Any]], Command]:
    """Return the decorator that turns a function into our kind of command."""
    return click.command(name, cls=cls, **attributes)


def group(
    name: str | None = None, *, cls: type[Group] = Group, **attributes: Any
) -> Callable[[Callable[..., Any]], Group]:
    """Return the decorator that turns a function into our kind of group."""
    return click.group(name, cls=cls, **attributes)


def has_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return the decorator that adds options to a command in order."""

    def add(function: F) -> F:
        for one in reversed(options):
            function = one(function)
        return function

    return add


def add_all(owner: click.Group, members: Sequence[click.Command]) -> None:
    """Add commands to a group in order."""
    for one in members:
        owner.add_command(one)


def examples(*lines: str) -> str:
    r"""Return the text for `epilog=`: a section of examples that is not re-wrapped."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
