# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stripewise.centre.monitor.agent import make_collectors, read_settings
from stripewise.centre.monitor.collectors import (
    Collector,
    _registry,
    collector_names,
    collector_problems,
    create_collector,
)
from stripewise.centre.monitor.collectors._registry import collector_class
from stripewise.core.errors import ConfigurationError
from stripewise.testing.collector_suite import CollectorSuite, FakeHost, take

EXAMPLE = Path(__file__).parents[4] / "examples/collector"
OURS = _registry.OWN
READY = OURS

Install = Callable[..., None]

GOOD = """
from stripewise.centre.monitor.collectors import Collector
from stripewise.centre.monitor import Reading, counter

READS = counter("{name}_read_bytes", "bytes", "Read.")

class Mine(Collector):
    name = "{name}"
    summary = "one of a test"
    metrics = (READS,)

    def missing(self, host):
        return ""

    def collect(self, host):
        yield Reading(READS, (), 1)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return what installs a package with a module and an entry point, as pip does."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(_registry, "_loaded", None)
    before = set(sys.modules)

    def put(package: str, points: dict[str, str], source: str) -> None:
        module = package.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = "".join(f"{name} = {place}\n" for name, place in points.items())
        (info / "entry_points.txt").write_text(f"[stripewise.collectors]\n{lines}")

    yield put
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(
            sys.modules[name].__file__
        ):
            del sys.modules[name]


def test_our_own_are_there() -> None:
    assert collector_names()[: len(OURS)] == OURS


@pytest.mark.parametrize("name", READY)
def test_each_is_what_its_name_says(name: str) -> None:
    kind = collector_class(name)
    assert issubclass(kind, Collector)
    assert kind.name == name
    assert kind.__doc__


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigurationError, match="no collector 'disk'; there are beegfs, disks"):
        create_collector("disk")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"interval_second": 3}, r"\[collectors.disks\] no key is called 'interval_second'"),
        ({"interval_seconds": -3}, r"\[collectors.disks\] interval_seconds = -3: .*greater than"),
        ({"interval_seconds": "a\nb"}, r"\[collectors.disks\] interval_seconds = 'a.nb': "),
        ({"devices": "sda"}, r"\[collectors.disks\] devices = 'sda': "),
    ],
)
def test_a_wrong_setting_is_one_line(settings: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as caught:
        create_collector("disks", settings)
    assert "\n" not in str(caught.value)


def test_a_plug_in_is_found(install: Install) -> None:
    install("acme", {"acme": "acme:Mine"}, GOOD.format(name="acme"))
    assert collector_names() == (*OURS, "acme")
    assert collector_problems() == ()
    assert take(create_collector("acme"), FakeHost()).values == {("acme_read_bytes", ()): 1}


def with_metric(line: str) -> str:
    before = 'READS = counter("bad_read_bytes", "bytes", "Read.")'
    return GOOD.format(name="bad").replace(before, f"READS = {line}")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import nowhere_at_all", "ModuleNotFoundError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("1 /", "SyntaxError"),
        ("class Other: pass", "AttributeError"),
        ("Mine = 3", "not a class derived from Collector"),
        ("raise ValueError('a\\nb\\x1b[2J')", "ValueError"),
        (GOOD.format(name="bad").replace("def collect", "def other"), "lacks collect"),
        (GOOD.format(name="good"), "calls itself 'good'"),
        (GOOD.format(name="bad").replace("(READS,)", "()"), "declares no metrics"),
        (GOOD.format(name="bad").replace("(READS,)", "(READS, READS)"), "is there already"),
        (with_metric('counter("disk_read_bytes", "bytes", "Read.")'), "is there already"),
        (with_metric('counter("bad_read_kbytes", "kbytes", "Read.")'), "has the unit kbytes"),
        (with_metric('counter("bad_time", "seconds", "Time.")'), "name it ..._seconds"),
        (with_metric('counter("bad_reads_total", "operations", "Reads.")'), "leave the ending"),
        (with_metric('counter("Bad", "operations", "Reads.")'), "has an invalid name"),
        (with_metric('counter("bad", "operations", "Reads.", ("jobid",))'), "not bounded"),
        (with_metric('counter("bad", "operations", "Reads.", ("server",))'), "another name"),
        (with_metric('counter("bad", "operations", "Reads.", ("a", "a"))'), "each once"),
        (with_metric('counter("bad", "operations", "")'), "no summary"),
    ],
)
def test_one_that_cannot_be_used_is_named_and_the_rest_stay(
    install: Install, source: str, why: str
) -> None:
    install("bad-one", {"bad": "bad_one:Mine"}, source)
    install("fine", {"fine": "fine:Mine"}, GOOD.format(name="fine"))
    assert collector_names() == (*OURS, "fine")
    (problem,) = collector_problems()
    assert problem.startswith("the collector 'bad' of the package bad-one: ")
    assert why in problem
    assert problem.isprintable()
    with pytest.raises(ConfigurationError, match="package bad-one"):
        create_collector("bad")


@pytest.mark.parametrize("raised", ["RuntimeError('no licence\\x1b[2J')", "SystemExit(3)"])
def test_one_that_cannot_be_made_is_named_and_the_rest_stay(install: Install, raised: str) -> None:
    made = f"    def __init__(self, settings):\n        raise {raised}\n\n    def missing"
    source = GOOD.format(name="bad").replace("    def missing", made)
    install("bad-one", {"bad": "bad_one:Mine"}, source)
    install("fine", {"fine": "fine:Mine"}, GOOD.format(name="fine"))
    chosen = make_collectors(read_settings(None))
    assert [one.collector.name for one in chosen] == [*OURS, "fine"]
    assert collector_names() == (*OURS, "fine")
    (problem,) = collector_problems()
    assert problem.startswith("the collector 'bad' of the package bad-one: cannot be made (")
    assert raised.partition("(")[0] in problem
    assert problem.isprintable()
    with pytest.raises(ConfigurationError, match="package bad-one"):
        create_collector("bad")


@pytest.mark.parametrize("name", ["disks", "lustre-server", "Bad", "a b"])
def test_a_name_that_is_taken_or_none_is_refused(install: Install, name: str) -> None:
    install("thief", {name: "thief:Mine"}, GOOD.format(name=name))
    assert collector_names() == OURS
    assert len(collector_problems()) == 1


def test_of_two_packages_with_one_name_the_first_is_used(install: Install) -> None:
    install("alpha", {"mine": "alpha:Mine"}, GOOD.format(name="mine"))
    install("beta", {"mine": "beta:Mine"}, GOOD.format(name="mine"))
    assert collector_class("mine").__module__ == "alpha"
    assert ["beta" in problem for problem in collector_problems()] == [True]


class TestExample(CollectorSuite):
    """The package in examples/, through its entry point."""

    collector_name = "scatefs"

    @pytest.fixture(autouse=True)
    def _installed(self, install: Install) -> None:
        project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
        source = (EXAMPLE / "stripewise_scatefs.py").read_text("utf-8")
        install(project["name"], project["entry-points"]["stripewise.collectors"], source)

    def host(self, reads: int = 120) -> FakeHost:
        command = "/opt/scatefs/bin/scatefs_iostat"
        text = f"iot-0 reads={reads} writes=7 read_kb=4096 write_kb=512\n"
        return FakeHost({command: ""}, {(command,): text.encode()})

    def grown(self) -> FakeHost:
        return self.host(121)

    def test_its_figures(self) -> None:
        found = take(self.make(), self.host()).values
        assert found["scatefs_read_bytes", ("scatefs", "iot-0")] == 4 << 20
        assert found["scatefs_operations", ("scatefs", "iot-0", "read")] == 120
