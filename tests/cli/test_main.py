# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The group: lazy commands, help with examples, errors in one line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from stripewise import __version__
from stripewise.cli import _main, main
from stripewise.cli._main import COMMANDS, FORMER_COMMANDS
from stripewise.core.errors import StorageError
from stripewise.present import finite

STRIPEWISE = [sys.executable, "-c", "from stripewise.cli import main; main()"]


def leaves(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))


def failing(error: BaseException) -> click.Command:
    @click.command()
    @click.option("--json", "as_json", is_flag=True)
    def command(as_json: bool) -> None:
        raise error

    return command


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> object:
    def install(error: BaseException) -> None:
        monkeypatch.setattr(_main.LazyGroup, "get_command", lambda self, ctx, name: failing(error))

    return install


def test_version() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert result.output == f"stripewise {__version__}\n"
    assert result.exit_code == 0


def test_help_lists_every_command() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    for name, text in _main.COMMANDS.items():
        assert name in result.output
        assert text in result.output


def test_help_has_groups_with_few_commands() -> None:
    text = CliRunner().invoke(main, ["--help"]).output
    assert len(_main.COMMANDS) <= 10
    for heading in _main.GROUPS:
        assert f"\n{heading}:\n" in text
    assert "stripewise COMMAND --help-all" in text


def helps() -> Iterator[tuple[str, str, str]]:
    """Each command with its --help and its --help-all."""
    for path in [(), *leaves(main)]:
        texts = [CliRunner().invoke(main, [*path, way]).output for way in ("--help", "--help-all")]
        yield " ".join(path), *texts


def test_help_is_short_and_fits_a_terminal() -> None:
    for name, short, long in helps():
        options = [line for line in short.splitlines() if line.startswith("  -")]
        assert len(options) <= 15, name
        for line in (*short.splitlines(), *long.splitlines()):
            assert len(line) <= 80, line
            assert not re.search(r"\w-$", line), line  # no name is cut at its hyphen


def test_everything_is_in_help_all() -> None:
    for path in [(), *leaves(main)]:
        command: click.Command = main
        for name in path:
            assert isinstance(command, click.Group)
            command = command.get_command(click.Context(command), name)  # type: ignore[assignment]
        text = CliRunner().invoke(main, [*path, "--help-all"]).output
        for one in command.params:
            assert isinstance(one, click.Argument) or one.opts[0] in text, (path, one.opts)


def test_options_for_job_scripts_are_shown_with_a_script(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/bash\n#SBATCH -N 1\nsrun ./a\n")
    assert "--bb-nodes" not in CliRunner().invoke(main, ["tune", "--help"]).output
    assert "Job script:\n" in CliRunner().invoke(main, ["tune", "--help-all"]).output
    shown = CliRunner().invoke(main, ["tune", str(script), "--help"]).output
    assert "--bb-nodes" in shown
    assert "--exclude" not in shown
    assert "  --only" not in shown
    assert sum(line.startswith("  -") for line in shown.splitlines()) <= 15
    done = CliRunner().invoke(main, ["tune", "--pool", "p", "--", "true"])
    assert done.exit_code == 2
    assert "--pool requires a job script" in done.stderr
    assert done.stderr.count("\n") == 1


def test_help_of_every_command_has_examples() -> None:
    for path in [(), *leaves(main)]:
        result = CliRunner().invoke(main, [*path, "--help"])
        assert result.exit_code == 0, path
        assert "Examples:" in result.output, path
        assert "stripewise" in result.output.partition("Examples:")[2], path


def test_help_imports_no_numerics() -> None:
    code = (
        "import sys; from stripewise.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('numpy','vl_convert','h5py','rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_unknown_command() -> None:
    result = CliRunner().invoke(main, ["tun"])
    assert result.exit_code == 2
    assert result.stderr.startswith("stripewise: error: No such command 'tun'.")
    assert "'tune'" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "former", "new"),
    [
        (["config", "show", "x.toml"], "config", "settings"),
        (["trace", "info", "x.trace"], "trace info", "profile --as info"),
        (["trace", "--", "./program"], "trace", "run --trace"),
        (["db", "ingest"], "db", "centre"),
    ],
)
def test_a_former_command_names_the_new_one(words: list[str], former: str, new: str) -> None:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    said = f"stripewise: error: `stripewise {former}` is now `stripewise {new}`\n"
    assert result.stderr == said


def test_the_new_names_of_former_commands_exist() -> None:
    for former, new in FORMER_COMMANDS.items():
        assert former not in COMMANDS
        command, dashes, option = new.partition("--")
        name, *_ = f"{dashes}{option}".split() or [""]
        help_option = "--help-all" if command else "--help"
        shown = CliRunner().invoke(main, [*command.split(), help_option])
        assert f"Usage: stripewise {command}".strip() in shown.stdout, new
        assert name in shown.stdout, new


def test_unknown_option_names_the_help() -> None:
    result = CliRunner().invoke(main, ["doctor", "runtime", "--nope"])
    assert result.exit_code == 2
    assert "(see `stripewise doctor runtime --help`)" in result.stderr


def test_an_error_is_one_line_and_its_exit_code(fails) -> None:
    fails(StorageError("no room"))
    result = CliRunner().invoke(main, ["tune"])
    assert (result.exit_code, result.stderr) == (8, "stripewise: error: no room\n")
    assert result.stdout == ""


def test_json_errors_are_json_too(fails) -> None:
    fails(StorageError("no room"))
    result = CliRunner().invoke(main, ["tune", "--json"])
    assert json.loads(result.stdout) == {
        "error": {"type": "StorageError", "message": "no room", "code": 8}
    }


def test_interrupted(fails) -> None:
    fails(KeyboardInterrupt())
    assert CliRunner().invoke(main, ["tune"]).exit_code == 130


def test_an_unexpected_error_has_no_traceback(fails) -> None:
    fails(KeyError("x"))
    result = CliRunner().invoke(main, ["tune"])
    assert result.exit_code == 70
    assert result.stderr.count("\n") == 1
    assert "--debug" in result.stderr


def test_debug_shows_the_traceback() -> None:
    done = subprocess.run(
        [*STRIPEWISE, "--debug", "doctor", "runtime"],
        env={**os.environ, "STRIPEWISE_RUNTIME_DIR": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 5
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("stripewise: error: the runtime library")


def test_a_closed_pipe_is_quiet() -> None:
    command = " ".join(f"'{word}'" for word in STRIPEWISE) + " --completion bash | true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    result = CliRunner().invoke(main, ["--completion", shell])
    assert result.exit_code == 0
    assert "_STRIPEWISE_COMPLETE" in result.output


def test_completion_completes() -> None:
    environment = {
        **os.environ,
        "_STRIPEWISE_COMPLETE": "bash_complete",
        "COMP_WORDS": "stripewise do",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(STRIPEWISE, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "plain,doctor\n"


def test_numbers_that_json_lacks() -> None:
    assert finite({"a": [float("nan"), float("inf"), 1.5], 2: ("x",)}) == {
        "a": [None, None, 1.5],
        "2": ["x"],
    }


@pytest.mark.parametrize("words", [[], ["settings"], ["bench"]])
def test_a_group_alone_shows_its_help(words: list[str]) -> None:
    result = CliRunner().invoke(main, words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Usage: stripewise")


def test_a_missing_choice_is_one_line() -> None:
    result = CliRunner().invoke(main, ["settings", "convert", "best.toml"])
    assert result.exit_code == 2
    assert "Missing option '--to'. Choose from: toml, mpich-hints" in result.stderr
    assert result.stderr.count("\n") == 1
