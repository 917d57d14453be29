# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The documentation says what the program does."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from stripewise.cli import main as root

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    p.relative_to(ROOT)
    for p in [*DOCS.rglob("*.md"), ROOT / "CONTRIBUTING.md", ROOT / "examples/README.md"]
)


def generator():
    specification = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date():
    # In a process of its own: click keeps a command's help option as the first caller made it.
    check = [sys.executable, str(DOCS / "generate.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_command_is_in_the_reference():
    page = (DOCS / "reference/cli.md").read_text("utf-8")
    for path, _ in generator().helps(root, ("stripewise",)):
        assert f"`{' '.join(path)}`" in page


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    for page in DOCS.rglob("*.md"):
        assert f": {page.relative_to(DOCS)}" in navigation


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_between_pages_resolve(page):
    text = (ROOT / page).read_text("utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (ROOT / page).parent.joinpath(target).exists(), target


def shown_commands(text):
    for line in re.findall(r"`(?:\w+=\S+ )*stripewise ([a-z][^`\n]*)`", text):
        yield line
    for block in re.findall(r"```console\n(.*?)```", text, flags=re.S):
        for line in block.splitlines():
            match = re.match(r"\$ (?:\w+=\S+ )*stripewise (.*?)(?:\s{2,}#.*)?$", line)
            if match:
                yield match.group(1)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_commands_that_are_shown_have_these_options(page):
    for line in shown_commands((ROOT / page).read_text("utf-8")):
        words = shlex.split(line.partition(" -- ")[0])
        command = root
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            found = command.get_command(click.Context(command), words[0])
            assert found is not None, line
            command = found
            words = words[1:]
        if command.context_settings.get("ignore_unknown_options"):
            continue  # what it does not know is for another program
        known = {name for parameter in command.params for name in parameter.opts}
        for word in words:
            if word.startswith("-"):
                assert word.partition("=")[0] in {*known, "--help"}, line


def test_exit_codes_are_those_of_the_errors():
    from stripewise.core import errors

    page = (DOCS / "design/architecture.md").read_text("utf-8")
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", page, flags=re.M)}
    defined = {
        kind.exit_code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.StripewiseError)
    }
    assert defined <= documented


def test_configurations_that_are_shown_are_valid():
    from stripewise.settings.formats import get
    from stripewise.settings.tunables import check_configuration

    for page in PAGES:
        for block in re.findall(r"```toml\n(.*?)```", (ROOT / page).read_text(), flags=re.S):
            others = ("[caps]", "[[case]]", "kind  = ", "source = ", "[accounts]", "[login.",
                      "[server]", "[agent]", "[sinks.")  # fmt: skip
            if any(other in block for other in others):
                continue
            loaded = get("toml").read(block)
            assert check_configuration(loaded.configuration) == []


def test_the_settings_of_the_portal_that_are_shown_are_valid(monkeypatch):
    from stripewise.centre.portal import PortalSettings

    monkeypatch.setenv("A_SECRET", "x" * 40)
    text = (DOCS / "how-to/run-a-portal.md").read_text("utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", text, flags=re.S)
    blocks = [block for block in blocks if "[sinks." not in block]
    assert len(blocks) == 2
    for block in blocks:
        document = tomllib.loads(re.sub(r'"file:[^"]+"', '"env:A_SECRET"', block))
        settings = PortalSettings.model_validate(document, context={"is_open": False})
        assert settings.server.is_secure


def test_the_settings_of_the_agent_that_are_shown_are_valid(tmp_path):
    from stripewise.centre.monitor.agent import read_settings

    text = (DOCS / "how-to/monitor-storage.md").read_text("utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", text, flags=re.S)
    assert len(blocks) == 3
    blocks.append((ROOT / "deploy/monitoring/monitor.toml").read_text("utf-8"))
    for block in blocks:
        path = tmp_path / "monitor.toml"
        path.write_text(block)
        assert read_settings(path).sinks


def test_every_metric_is_in_the_reference():
    from stripewise.centre.monitor import METRICS

    page = (DOCS / "reference/monitor-metrics.md").read_text("utf-8")
    assert [one.name for one in METRICS if f"| `{one.prometheus_name}` |" not in page] == []


def test_the_settings_of_the_store_that_are_shown_are_valid():
    from stripewise.centre.monitor.sinks._store import StoreSettings

    text = (DOCS / "how-to/run-a-portal.md").read_text("utf-8")
    (block,) = re.findall(r"```toml\n(\[sinks.store\].*?)```", text, flags=re.S)
    assert StoreSettings(**tomllib.loads(block)["sinks"]["store"]).cluster == "alpha"


def test_the_cases_that_are_shown_are_valid(tmp_path):
    from stripewise.study.plan import read_cases

    page = (DOCS / "how-to/ensembles.md").read_text("utf-8")
    block = re.search(r"```toml\n(.*?)```", page, re.S)
    path = tmp_path / "cases.toml"
    path.write_text(block.group(1))
    assert [case.name for case in read_cases(path)] == ["checkpoint", "analysis"]


def test_the_policy_that_is_shown_is_valid(tmp_path):
    from stripewise.settings import load_policy

    text = (DOCS / "how-to/site-policy.md").read_text("utf-8")
    block = re.search(r"```toml\n(.*?)```", text, flags=re.S).group(1)
    path = tmp_path / "policy.toml"
    path.write_text(block)
    policy = load_policy(site=path, user=tmp_path / "none.toml")
    caps = tomllib.loads(block)["caps"]
    assert policy.max_trials == caps["max_trials"]
    assert policy.max_bytes == 2 * 2**40
    assert policy.lock_layout


def test_environment_variables_are_all_documented():
    page = (DOCS / "reference/environment.md").read_text("utf-8")
    header = (ROOT / "native/include/stripewise/environment.h").read_text("utf-8")
    for name in re.findall(r'"(STRIPEWISE_\w+)"', header):
        assert f"`{name}`" in page, name


def test_example_files_are_valid(tmp_path):
    from stripewise.settings import load_policy
    from stripewise.settings.formats import load_configuration
    from stripewise.settings.tunables import check_configuration

    loaded = load_configuration(ROOT / "examples/configuration.toml")
    assert loaded.warnings == ()
    assert check_configuration(loaded.configuration) == []
    policy = load_policy(site=ROOT / "examples/policy.toml", user=tmp_path / "none.toml")
    assert policy.lock_layout
