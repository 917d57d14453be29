# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Generate the pages of the reference that come from the program itself.

python docs/generate.py           write docs/reference/{cli,tunables,machines,suites}.md,
                                  monitor-metrics.md, campaign.schema.json, portal-api.md and
                                  portal-api.json
python docs/generate.py --check   exit 1 if they are out of date
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from stripewise.bench.campaign import exchange_schema, find_suite, suite_names
from stripewise.centre.database import create_engine
from stripewise.centre.monitor.collectors._registry import OWN, collector_class
from stripewise.centre.monitor.metrics import metrics_named
from stripewise.centre.portal import create_app
from stripewise.cli import main as root
from stripewise.cli._help import help_all
from stripewise.present import size_text
from stripewise.settings.tunables import Layer, Tunable, all_tunables
from stripewise.storage.machines import FIGURES, KINDS, find_storage, preset_names

REFERENCE = Path(__file__).parent / "reference"
WIDTH = 92
_HELP = ("  -h, --help", "  --help-all")


def cli_markdown() -> str:
    """Return the page of all commands: the text of each `--help-all`."""
    lines = [
        "# Commands",
        "",
        "Generated from the program: usage, purpose and options of each command.",
        "`stripewise COMMAND --help-all` prints the whole description, with examples.",
    ]
    for path, text in helps(root, ("stripewise",)):
        lines += ["", f"{'#' * min(len(path) + 1, 3)} `{' '.join(path)}`", ""]
        lines += ["```text", _tight(text), "```"]
    return "\n".join(lines) + "\n"


def _tight(text: str) -> str:
    """Return purpose, options and, if there are arguments, usage of a help text."""
    usage, purpose, *others = text.rstrip().split("\n\n")
    plain = usage.endswith(("[OPTIONS]", "[OPTIONS] COMMAND [ARGS]..."))
    kept = [purpose] if plain else [usage, purpose]
    for part in others:
        lines = [line for line in part.split("\n") if not line.startswith(_HELP)]
        if any(line.startswith("  -") for line in lines):
            kept.append("\n".join(lines))
    return "\n\n".join(kept)


def helps(
    command: click.Command, path: tuple[str, ...], parent: click.Context | None = None
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each command's path and help text, groups before their members."""
    context = command.context_class(
        command,
        info_name=path[-1],
        parent=parent,
        terminal_width=WIDTH,
        **{k: v for k, v in command.context_settings.items() if k == "help_option_names"},
    )
    yield path, help_all(command, context)
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
        "Generated from the definitions; `stripewise settings tunables` prints the same.",
        "",
        "Classes: *safe* cannot change what is written; *layout* gives the same content in other",
        "bytes of the file; *contract* is right only if the program meets a condition, and is",
        "tried only on request. A tunable that can act on a program is searched only if there is",
        "a value worth trying. `stripewise settings tunables NAME` prints where a description "
        "comes from.",
    ]
    for layer in Layer:
        lines += ["", f"## {layer.settings} (`{layer}`)", ""]
        lines += ["| tunable | what it does | values; default | class, acts at, stacks |"]
        lines += ["|---|---|---|---|"]
        lines += [row(tunable) for tunable in all_tunables() if tunable.layer is layer]
    return "\n".join(lines) + "\n"


def row(tunable: Tunable) -> str:
    """Return a tunable's row of its table."""
    cells = (
        f"`{tunable.key}`",
        tunable.summary,
        f"{tunable.domain.words}; {tunable.domain.default}",
        ", ".join((tunable.safety.value, tunable.acts_at.value, *tunable.stacks)),
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |"


_MACHINES = """\
# Descriptions of storage

Generated from the definitions that `stripewise machine list`, `show` and `check` read.
[Describe your storage](../how-to/describe-a-storage.md) shows how to write a description, and
[Storage machines](../design/machines.md) has the laws that use these figures.

A description is a TOML file of at most 1 MiB:

| key | what it is |
|---|---|
| `version` | 1 |
| `name` | at most 64 letters, digits, `-`, `_` and `.` |
| `title` | one line for people |
| `kind` | KINDS |
| `stack` | MPI-IO that its users have, such as `cray`; may be left out |
| `mounts` | absolute paths of mount points: it stands for what is mounted there; may be left out |
| `slowdown` | 1, or how many times as long the figures make everything take |
| `[TABLE]` | figures, see below |
| `[transport.NAME]` | variants, see below |

A figure is a table `{ value = ..., kind = ..., source = ..., interval = [lowest, highest] }`.
`kind` is `measured`, `documented` or `assumed`; `source` says who measured, wrote or assumes it,
and cannot be empty; `interval`, of 95 %, may be left out.

Bandwidths, times and sizes are text with a unit: `"1.1 GiB/s"`, `"0.5 ms"`, `"4 MiB"`.
Units are B, KiB, MiB, GiB, TiB (powers of 1024), KB, MB, GB, TB (powers of 1000), each also with
`/s`, and ns, us, ms, s. Counts and ratios are plain numbers.

## Figures
"""
_TRANSPORTS = """
## Transports

The network below MPI can be set up in several ways, and some make the storage useless.
`[transport.NAME]` describes one of them:

| key | what it is |
|---|---|
| `when` | environment variables and their values that choose it; `{}` for the default |
| `figures` | the figures that it replaces, by their full names: `"exchange.bandwidth" = { ... }` |
| `from_nodes` | its figures hold for jobs of so many nodes or more; 1 if left out |
| `hangs_from_nodes` | jobs of so many nodes or more hang; 0 or left out: none |

The variant whose variables all have their values is in use, of several the one with the most
variables; without any, the first.

## What was measured here

`local`, which `stripewise machine probe` writes, has two tables more. `[mount]` says what is
mounted. `[costs]` has what requests cost through the system's cache: times as three texts, the
lower quartile, the median and the upper quartile.

## Descriptions that come with Stripewise

| name | kind | nodes | targets | what it is |
|---|---|---|---|---|
"""


def machines_markdown() -> str:
    """Return the page of descriptions: the form, all figures, the presets."""
    kinds = ", ".join(f"`{kind}`" for kind in KINDS)
    lines = [_MACHINES.replace("KINDS", kinds)]
    lines += ["| figure | what it is | unit; left out |", "|---|---|---|"]
    for spec in FIGURES:
        meaning = spec.meaning.replace("*", "\\*")
        lines.append(f"| `{spec.name}` | {meaning} | {spec.dimension}; {spec.absence} |")
    lines += [_TRANSPORTS.rstrip()]
    for name in preset_names():
        one = find_storage(name)
        nodes, targets = one.value("machine.nodes"), one.value("servers.targets")
        lines.append(f"| `{name}` | {one.kind} | {nodes:.0f} | {targets:.0f} | {one.title} |")
    return "\n".join(lines) + "\n"


_SUITES = """\
# Suites of benchmarks

Generated from the suites themselves. `stripewise bench list` prints the same table, and
`stripewise bench show SUITE` prints the purpose of a suite and all its cases. A suite is a file:
`stripewise bench show SUITE --toml > mine.toml` writes one that you can change, and
[Write a suite](../how-to/write-a-suite.md) describes what it can contain.

*Runs* counts all cases with their repeats. *Written* is the largest total that they write, one
after another; the files of each run are removed before the next. `--nodes`, `--ranks-per-node` and
`--repeat` fit a suite to a machine, and `--quick` takes its short run instead.

| suite | what it is | cases | runs | nodes | written | short run |
|---|---|---|---|---|---|---|
"""


def suites_markdown() -> str:
    """Return the page of the suites: a table."""
    suites = [find_suite(name) for name in suite_names()]
    rows = []
    for one in suites:
        short = one.shortened()
        cells = (
            f"`{one.name}`",
            one.title,
            f"{len(one.cases):,}",
            f"{one.n_runs:,}",
            "-".join(map(str, sorted({min(case.nodes for case in one.cases), one.most_nodes}))),
            size_text(one.bytes),
            f"{short.n_runs} runs, {size_text(short.bytes)}",
        )
        rows.append(f"| {' | '.join(cells)} |")
    return _SUITES + "\n".join(rows) + "\n"


_API = """# The portal's API

Generated from the program. `/api/v1/openapi.json` of a portal and
[portal-api.json](portal-api.json) have the same content for code generators.
[Query the portal from a program](../how-to/ask-the-portal.md) has examples. Within version 1
fields may be added, but none is changed or removed. Times are in seconds since 1970, sizes in
bytes; an unknown value is `null`, never zero.
"""


def openapi() -> dict[str, Any]:
    """Return what a portal says of its API."""
    return create_app(create_engine("none.sqlite")).openapi()


def api_markdown() -> str:
    """Return the page of the API: its addresses with their parameters, and its answers."""
    api = openapi()
    lines = [_API]
    for path, methods in sorted(api["paths"].items()):
        for method, call in methods.items():
            answer = call["responses"]["200"]["content"]["application/json"]["schema"]
            name = answer.get("$ref", "").rpartition("/")[2]
            lines += [f"## `{method.upper()} {path}`", "", call["description"]]
            lines += [f"Answers [{name}](#{name.lower()}).", ""] if name else [""]
            lines += _parameters(call.get("parameters", []))
    for name, model in sorted(api["components"]["schemas"].items()):
        if not name.startswith(("HTTP", "Validation")):
            lines += [f"## {name}", "", model.get("description", ""), ""]
            lines += [_item(field, of, of) for field, of in model["properties"].items()]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _parameters(given: list[dict[str, Any]]) -> list[str]:
    return [*(_item(one["name"], one["schema"], one) for one in given), ""] if given else []


def _item(name: str, schema: dict[str, Any], told: dict[str, Any]) -> str:
    """Return the line of a parameter or a field."""
    line = f"* `{name}` ({_kind(schema)})"
    return f"{line}: {told['description']}" if told.get("description") else line


def _kind(schema: dict[str, Any]) -> str:
    """Return the type of a value in words."""
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


_METRICS = """# Metrics of the monitoring

Generated from the definitions; `stripewise centre monitor metrics` prints the same.
[Monitor storage](../how-to/monitor-storage.md) shows how to collect them.

Names are those in Prometheus; InfluxDB has the same without `_total`. Every series also has the
label `server`. A *counter* grows, and starts again at zero when the server or client restarts; a
*level* goes up and down; a *histogram* is a set of counters by upper bound (`_bucket`, `_count`,
and `_sum` if the source has a sum). Values are in base units. *Series* is the name of a metric in
the statistics database; metrics without one are not stored there. A value that cannot be read is
left out; nothing replaces it.
"""


def metrics_markdown() -> str:
    """Return the page of all metrics: a table for each collector, and one for the agent."""
    lines = [_METRICS.rstrip()]
    groups = {f"Collector `{name}`": collector_class(name).metrics for name in OWN}
    groups["The monitoring itself"] = metrics_named("stripewise_")
    for title, members in groups.items():
        lines += ["", f"## {title}", "", "| metric | what it is | kind, unit, labels, series |"]
        lines += ["|---|---|---|"]
        for one in members:
            told = [one.kind, one.unit, " ".join(f"`{label}`" for label in one.labels)]
            told += [f"series `{one.series}`"] if one.series else []
            cells = (f"`{one.prometheus_name}`", one.summary, "; ".join(filter(None, told)))
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """Return every generated page."""
    return {
        REFERENCE / "cli.md": cli_markdown(),
        REFERENCE / "tunables.md": tunables_markdown(),
        REFERENCE / "machines.md": machines_markdown(),
        REFERENCE / "suites.md": suites_markdown(),
        REFERENCE / "monitor-metrics.md": metrics_markdown(),
        REFERENCE / "portal-api.md": api_markdown(),
        REFERENCE / "portal-api.json": json.dumps(openapi(), indent=1) + "\n",
        REFERENCE / "campaign.schema.json": json.dumps(exchange_schema(), indent=2) + "\n",
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
