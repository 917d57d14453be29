# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from stripewise.cli import main
from stripewise.core.errors import UsageError
from stripewise.run import CommandResult
from stripewise.run.site import (
    Host,
    LocalHost,
    Probe,
    SiteReport,
    all_probes,
    check_site,
    site_lines,
    write_site,
)
from support.site_hosts import (
    BURST,
    CRAY_CONFIG,
    HOSTS,
    SECRET_NAMES,
    FakeHost,
    cluster,
    cray,
    laptop,
)

PROBES = {probe.name: probe for probe in all_probes()}
ADDRESSES = ("10.1.2.3", "10.9.8.7", "nid000")


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> FakeHost:
    return HOSTS[request.param]()


@pytest.mark.parametrize("name", PROBES)
def test_a_probe_gives_plain_data_wherever_it_is(host: FakeHost, name: str) -> None:
    section = PROBES[name].run(host)
    assert json.loads(json.dumps(section)) == section
    assert PROBES[name].summary


def test_no_name_of_a_person_or_a_host_is_in_a_report(host: FakeHost) -> None:
    text = json.dumps(check_site(host).document())
    for name in (*SECRET_NAMES, *ADDRESSES):
        assert name not in text
    assert "hush" not in text
    assert "/var/run/secret" not in text


def test_names_are_left_in_on_request() -> None:
    report = check_site(cray(), keeps_names=True)
    assert report.host == "login7.example.org"
    assert "/lustre/mustermann" in json.dumps(report.document())
    assert check_site(cray()).host == check_site(laptop()).host != report.host


def test_nothing_is_submitted_or_allocated(host: FakeHost) -> None:
    check_site(host)
    for command in host.asked:
        assert command[0] not in ("salloc", "scancel", "sacctmgr")
        assert command[0] != "sbatch" or command[1] in ("--test-only", "--version")
        assert command[0] != "srun" or command[1] == "--mpi=list"
        assert command[0] != "scontrol" or "show" in command


def lines(host: FakeHost) -> str:
    return "\n".join(site_lines(check_site(host)))


def test_a_cray_with_datawarp() -> None:
    text = lines(cray())
    assert "Slurm: slurm 17.02.10; a test job would start in workq" in text
    assert "datawarp: pool wlm_pool: 244 of 268 nodes of 368 GiB free, 4 drained" in text
    assert "mpich 3.2 (Cray MPICH 7.7.0): /opt/cray/pe/craype/bin/cc" in text
    assert "lustre, stripe_count 1, stripe_size 1 MiB, 4 OSTs, 2 inactive" in text
    assert "logs in /project/logs/darshan" in text
    assert "->" not in text


def test_the_job_that_is_tried_asks_for_one_node_of_the_burst_buffer() -> None:
    host = cray()
    host.batch_options = ("--account=k01",)
    section = check_site(host).sections["burst_buffers"]
    assert section["test_job"]["accepted"]
    (script,) = [text for text in host.texts if "#DW" in text]
    assert script == (
        "#!/bin/sh\n#DW jobdw type=scratch access_mode=striped capacity=367GiB pool=wlm_pool\n"
        "true\n"
    )
    assert all("--account=k01" in one for one in host.asked if "--test-only" in one)


def test_what_is_kept_of_slurm_is_selected() -> None:
    sections = check_site(cray()).sections
    config = sections["slurm"]["config"]
    assert config["TaskPlugin"] == "task/cray,task/affinity"
    assert "SlurmUser" in CRAY_CONFIG
    assert not {"SlurmUser", "SlurmctldHost", "AuthInfo"} & set(config)
    (partition,) = sections["queue"]["partitions"]["list"]
    assert partition["MaxTime"] == "1-00:00:00"
    assert not {"Nodes", "AllowAccounts"} & set(partition)
    assert sections["queue"]["nodes"]["states"][0]["state"] == "allocated"


def test_buffers_are_counted_without_their_owners() -> None:
    (plugin,) = check_site(cray()).sections["burst_buffers"]["plugins"]
    assert "alpha" in BURST
    assert (plugin["buffers"], plugin["persistent"]) == ({"running": 1, "allocated": 1}, 1)
    assert "alpha" not in json.dumps(plugin)


def test_a_cluster_where_things_are_missing() -> None:
    text = lines(cluster())
    assert "takes no test job: allocation failure: Invalid account" in text
    assert "-> give --account and --partition" in text
    assert "forgets a job 20 s after its end" in text
    assert "none known to Slurm" in text
    assert "no compiler wrapper works" in text
    assert "directory /beegfs: the clock of its file server is 7.4 s ahead" in text
    assert "directory /lustre: lustre, striping not shown: not on PATH" in text
    assert "directory /gone: not on PATH" in text
    assert "runtime library: not built" in text
    sections = check_site(cluster()).sections
    assert sections["queue"]["nodes"]["problem"] == "no answer within 10 s"
    assert sections["directories"]["list"][0]["striping"]["text"].startswith("EntryID")


def test_a_laptop() -> None:
    text = lines(laptop())
    assert "local: there is no Slurm here" in text
    assert "sacct" not in text
    assert check_site(laptop()).sections["queue"] == {}


def test_empty_pools_and_silent_slurm() -> None:
    host = cray()
    empty = BURST.replace("98624GiB", "0GiB").replace("89792GiB", "0GiB")
    host.answers = {**host.answers, "scontrol show burst": CommandResult(0, empty)}
    assert "datawarp, whose pools are empty" in lines(host)
    host.answers = {**host.answers, "scontrol show burst": CommandResult(0, "")}
    assert "burst_buffer/datawarp is set, but" in lines(host)
    down = CommandResult(1, "", "slurm_load: Unable to contact slurm controller\n")
    host.answers = {**host.answers, "scontrol": down, "scontrol show config": down}
    host.answers = {**host.answers, "sbatch --test-only": down}
    assert "commands are here but do not work: slurm_load: Unable" in lines(host)


def test_a_probe_that_fails_stops_no_other() -> None:
    class Bad(Probe):
        name = "bad"
        summary = "fails"

        def run(self, host: Host) -> dict[str, object]:
            raise RuntimeError("oh")

    report = check_site(laptop(), probes=[Bad(), PROBES["machine"]])
    assert report.sections["bad"] == {"probe_failed": "RuntimeError: oh"}
    assert report.sections["machine"]["python"]
    assert "warn  bad: not checked: RuntimeError: oh" in "\n".join(site_lines(report))


def test_a_report_is_private_and_replaces_nothing(tmp_path: Path) -> None:
    report = check_site(laptop())
    path = tmp_path / "site.json"
    write_site(report, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text()) == report.document()
    with pytest.raises(UsageError, match="--force"):
        write_site(report, path)
    path.write_text("")
    write_site(report, path, force=True)
    assert json.loads(path.read_text())["stripewise_site"] == 1


# The host itself.


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_command_that_does_not_end_is_ended(tmp_path: Path) -> None:
    """Also where it left a child behind that holds its output open."""
    slow = script(tmp_path / "slow", f"sleep 600 & echo $! > {tmp_path}/pid; sleep 600")
    began = time.monotonic()
    answer = LocalHost(limit_seconds=2).ask(slow)
    assert time.monotonic() - began < 300
    assert (answer.exit_code, answer.problem) == (None, "no answer within 2 s")
    child = int((tmp_path / "pid").read_text())
    for _ in range(1200):
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text():
            return
        time.sleep(0.05)
    raise AssertionError(child)


def test_what_is_left_in_the_background_holds_nobody_up(tmp_path: Path) -> None:
    leaves = script(tmp_path / "leaves", "sleep 600 & echo done")
    began = time.monotonic()
    assert LocalHost().ask(leaves).text == "done\n"
    assert time.monotonic() - began < 300


def test_absence_and_failure_are_facts(tmp_path: Path) -> None:
    host = LocalHost()
    assert host.ask("there-is-no-such-program").failure() == {"problem": "not on PATH"}
    bad = script(tmp_path / "bad", "echo why >&2; exit 3")
    assert host.ask(bad).failure() == {"exit_code": 3, "problem": "why"}
    empty = tmp_path / "empty"
    empty.write_bytes(b"\x7fELF")
    empty.chmod(0o755)
    assert "cannot be run" in host.ask(str(empty)).problem
    assert host.ask("cat", text="words").text == "words"


def test_a_real_directory(tmp_path: Path) -> None:
    """Looked at by a real process; nothing stays in it."""
    host = LocalHost([tmp_path, tmp_path / "gone"])
    there, gone = PROBES["directories"].run(host)["list"]
    assert abs(there["clock_offset_seconds"]) < 1
    assert there["free_bytes"] > 0
    assert there["file_system"]
    assert gone["problem"] == "No such file or directory"
    assert list(tmp_path.iterdir()) == []


def test_preloading_is_tried() -> None:
    found = PROBES["preload"].run(LocalHost())
    assert found["works"] is True


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    (found,) = PROBES["directories"].run(LocalHost([tmp_path]))["list"]
    assert found["problem"] == "Permission denied"


# The command.


def run(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], FakeHost], *arguments: str
) -> tuple[str, int, list[tuple[object, ...]]]:
    from stripewise.run import site

    made: list[tuple[object, ...]] = []

    def local(*given: object) -> FakeHost:
        made.append(given)
        return make()

    monkeypatch.setattr(site, "LocalHost", local)
    result = CliRunner().invoke(main, ["doctor", "site", *arguments])
    return result.output, result.exit_code, made


def test_the_command_writes_one_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCRATCH", "/scratch/x")
    output, code, made = run(monkeypatch, cray, "--account", "k01")
    assert code == 0
    assert "Written to stripewise-site.json; nothing was sent." in output
    assert made == [((tmp_path, Path("/scratch/x")), ["--account=k01"])]
    assert [path.name for path in tmp_path.iterdir()] == ["stripewise-site.json"]
    output, code, made = run(monkeypatch, cray)
    assert (code, made) == (2, [])
    assert run(monkeypatch, cray, "--force", "/a")[2] == [((Path("/a"),), [])]


def test_json_writes_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    output, code, _ = run(monkeypatch, laptop, "--json")
    assert code == 0
    assert json.loads(output)["sections"]["machine"]["python"] == sys.version.split()[0]
    assert list(tmp_path.iterdir()) == []


def test_a_report_has_its_time_and_form() -> None:
    report = check_site(laptop())
    assert isinstance(report, SiteReport)
    assert report.taken.endswith("+00:00")
    assert not report.keeps_names
