# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The agent with its own collectors and sinks on this host: scraped, ended, lean."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.monitor_parts import wait_until
from support.monitor_process import OWN, run, running
from support.ports import free_port

MOST_RESIDENT_KIB = 45 * 1024
HEAVY = {"numpy", "pandas", "rich", "jinja2", "sqlalchemy", "scipy", "fastapi", "psycopg"}
LOOK = (
    "from stripewise.centre.monitor.agent import _agent as service\n"
    "from stripewise.cli import main\n"
    "import sys\n"
    "real = service.Agent.run\n"
    "def run(agent):\n"
    "    print('\\n'.join(sorted(sys.modules)), flush=True)\n"
    "service.Agent.run = run\n"
    "main()\n"
)


class Agent:
    """A running one.

    Attributes:
        url: Of its metrics.
        number: Of its process.
        log: What it says.
    """

    def __init__(self, url: str, number: int, log: Path) -> None:
        self.url, self.number, self.log = url, number, log

    def values(self) -> dict[str, float]:
        try:
            with urllib.request.urlopen(self.url, timeout=60) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return {}
        return {
            name: float(value)
            for name, _, value in (line.rpartition(" ") for line in lines)
            if not line_is_comment(name)
        }


def line_is_comment(line: str) -> bool:
    return line.startswith("#")


def configuration(tmp_path: Path, port: int) -> Path:
    path = tmp_path / "monitor.toml"
    path.write_text(
        '[agent]\nserver = "oss1"\nuser = "root"\ninterval_seconds = 1\n'
        f'[sinks.prometheus]\nlisten = "127.0.0.1:{port}"\n'
    )
    return path


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    port, log = free_port(), tmp_path / "log"
    with running("--config", configuration(tmp_path, port), log=log, how=OWN) as process:
        found = Agent(f"http://127.0.0.1:{port}/metrics", process.pid, log)
        wait_until(lambda: 'stripewise_sink_ok{server="oss1",sink="prometheus"}' in found.values())
        yield found
        process.terminate()
        assert process.wait(60) == 0
    assert "the agent has ended" in log.read_text()


@pytest.mark.extended
def test_it_is_scraped(agent: Agent) -> None:
    for collector in ("host", "disks"):
        ok = f'stripewise_collector_ok{{server="oss1",collector="{collector}"}}'
        wait_until(lambda ok=ok: agent.values().get(ok) == 1)
    values = agent.values()
    assert values['host_cpu_seconds_total{server="oss1",mode="user"}'] > 0
    assert not [name for name in values if 'collector="gpfs"' in name]
    wait_until(lambda: processor_seconds(agent.values()) > processor_seconds(values))


def processor_seconds(values: dict[str, float]) -> float:
    return sum(
        value for name, value in values.items() if name.startswith("host_cpu_seconds_total{")
    )


@pytest.mark.extended
def test_it_is_lean(agent: Agent) -> None:
    for _ in range(20):
        agent.values()
    status = Path(f"/proc/{agent.number}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    assert int(found[1]) < MOST_RESIDENT_KIB


@pytest.mark.extended
def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        path = configuration(tmp_path, port)
        done = run("--config", path, how=OWN)
        checked = run("check", "--config", path, how=OWN)
    assert done.returncode == 8
    last = done.stderr.splitlines()[-1]
    assert last.startswith(
        f"stripewise: error: cannot listen on 127.0.0.1:{port} (Address already"
    )
    assert "in use" in checked.stdout
    assert "if the agent is already running here, this is it" in checked.stdout


@pytest.mark.extended
@pytest.mark.parametrize("words", [(), ("check",)], ids=["run", "check"])
def test_a_database_of_no_known_kind_is_a_setting_that_is_not_right(
    open_path: Path, words: tuple[str, ...]
) -> None:
    """The unit is not started again for it: RestartPreventExitStatus=2 3."""
    path = open_path / "monitor.toml"
    path.write_text('[sinks.store]\ndatabase = "mysql://me:s3cr3t@host/name"\n')
    done = run(*words, "--config", path, how=OWN)
    assert done.returncode == 3
    assert "s3cr3t" not in done.stderr
    errors = [line for line in done.stderr.splitlines() if "mysql" in line]
    assert errors == [
        f"stripewise: error: {path}: [sinks.store]: mysql is not a database that Stripewise uses: "
        "give the path of a file, or postgresql://USER@HOST/NAME"
    ]


def test_nothing_heavy_is_loaded(tmp_path: Path) -> None:
    done = run("--config", configuration(tmp_path, 0), how=["-c", LOOK])
    assert done.returncode == 0, done.stderr
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "stripewise" in loaded
    assert not loaded & HEAVY


@pytest.mark.extended
@pytest.mark.parametrize("form", ["prometheus", "openmetrics", "influx", "json"])
def test_one_round_in_each_form(tmp_path: Path, form: str) -> None:
    path = configuration(tmp_path, 0)
    done = run("once", "--config", path, "--format", form, "--collector", "host", how=OWN)
    assert (done.returncode, done.stderr) == (0, "")
    assert "host_cpu_seconds" in done.stdout
    assert "oss1" in done.stdout
    assert done.stdout.endswith("\n")
    assert done.stdout.endswith("# EOF\n") is (form == "openmetrics")


@pytest.mark.extended
def test_check_finds_the_disks_and_the_host(tmp_path: Path) -> None:
    done = run("check", "--config", configuration(tmp_path, 0), how=OWN)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^host +works +\d+ readings in ", done.stdout, re.MULTILINE)
    assert re.search(r"^to prometheus +works$", done.stdout, re.MULTILINE)


@pytest.mark.extended
def test_the_settings_in_deploy_are_those_of_the_members() -> None:
    """Each line that stands behind a # there is a setting, and the file itself is right."""
    text = (Path(__file__).parents[3] / "deploy/monitoring/monitor.toml").read_text()
    everything = re.sub(r"^# (?=\[sinks|[a-z_]+ = )", "", text, flags=re.MULTILINE)
    everything = everything.replace('user = ""  ', 'user = "root"')
    code = (
        "import sys\nfrom stripewise.centre.monitor.agent import make_collectors\n"
        "from stripewise.centre.monitor.agent._settings import settings_of\n"
        "from stripewise.centre.monitor.sinks._base import sink_class\nimport tomllib\n"
        "found = settings_of(tomllib.loads(sys.stdin.read()))\n"
        "print(len(make_collectors(found)), *found.sinks)\n"
        "for name, table in found.sinks.items():\n"
        "    sink_class(name).settings_class.model_validate(table)\n"
    )
    for given, sinks in ((text, "prometheus"), (everything, "prometheus influx store")):
        done = subprocess.run(
            [sys.executable, "-c", code], input=given, capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.split(" ", 1)[1].strip() == sinks
