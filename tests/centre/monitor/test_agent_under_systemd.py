# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The agent's unit under a real systemd, installed with the commands of the how-to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.systemd_machine import boot, why_not

HOW_TO = Path(__file__).parents[3] / "docs" / "how-to" / "monitor-storage.md"
HUNG = r"""
install -m 755 /dev/stdin /usr/sbin/lctl <<'END'
#!/bin/sh
trap '' TERM INT HUP
id -u >/var/lib/stripewise-monitor/user
ls /sys/kernel/debug >/var/lib/stripewise-monitor/debug
echo $$ >/var/lib/stripewise-monitor/hung
while :; do sleep 1; done
END
mkdir -p /home/users /home/late
"""
TRY = r"""
answer() { echo "@$1"; shift; "$@"; }
told() { systemctl show stripewise-monitor --value -p "$1"; }
state=/var/lib/stripewise-monitor
mount -t tmpfs server:/users /home/users
answer begun START
mount -t tmpfs server:/late /home/late
main=$(told MainPID)
for n in $(seq 60); do [ -s $state/hung ] && break; sleep 1; done
answer state told ActiveState
answer status cat /proc/$main/status
answer mounts cat /proc/$main/mountstats
answer user cat $state/user
answer debug cat $state/debug
answer metrics /usr/bin/python3 -c 'if True:
    from urllib.request import urlopen
    print(urlopen("http://127.0.0.1:9823/metrics", timeout=30).read().decode())'
hung=$(cat $state/hung)
answer waits cat /proc/$hung/comm
systemctl kill --kill-whom=main -s KILL stripewise-monitor
for n in $(seq 60); do
    sleep 1
    [ "$(told NRestarts)" = 1 ] && [ "$(told ActiveState)" = active ] && break
done
answer again told ActiveState
answer waits-no-more sh -c "[ -d /proc/$hung ] || echo gone"
before=$(date +%s)
systemctl stop stripewise-monitor
answer seconds-to-stop expr $(date +%s) - $before
answer stopped told Result
echo 'oops = 3' >/etc/stripewise/monitor.toml
answer refused systemctl start stripewise-monitor
sleep 12
answer restarts told NRestarts
answer failed told ActiveState
answer code told ExecMainStatus
answer journal journalctl --no-pager -o cat -u stripewise-monitor
"""


@pytest.mark.long
@pytest.mark.skipif(bool(why_not()), reason=why_not() or "it can")
def test_the_unit_does_what_the_how_to_says(tmp_path: Path) -> None:
    text = HOW_TO.read_text()
    commands = re.findall(r"^# (.*)$", text.partition("\n## Install\n")[2].partition("\n## ")[0],
                          re.MULTILINE)  # fmt: skip
    install = [one for one in commands if not one.startswith("systemctl")]
    (start,) = set(commands) - set(install)
    said = boot(tmp_path, "\n".join([*install, HUNG]), TRY.replace("START", start))
    found = {
        key: value.strip()
        for key, _, value in (part.partition("\n") for part in ("\n" + said).split("\n@")[1:])
    }
    assert found["state"] == "active", said
    assert "\nCapEff:\t0000000000000004\n" in found["status"], "CAP_DAC_READ_SEARCH alone"
    assert "\nNoNewPrivs:\t1\n" in found["status"]
    assert "\nSeccomp:\t2\n" in found["status"]
    assert int(found["user"]) > 0
    assert "mounted on /home/users with" in found["mounts"], "homes are what NFS is most used for"
    assert "mounted on /home/late with" in found["mounts"], "also if they are mounted later"
    assert "bdi" in found["debug"].split(), "parameters in debugfs can be read"
    assert "\nhost_network_sent_bytes_total{" in found["metrics"]

    assert found["waits"] == "lctl"
    assert found["again"] == "active"
    assert found["waits-no-more"] == "gone", "what a killed agent waited for ends with it"
    assert int(found["seconds-to-stop"]) <= 15
    assert found["stopped"] == "success"
    assert (found["failed"], found["restarts"], found["code"]) == ("failed", "0", "3")
    assert "/etc/stripewise/monitor.toml: " in found["journal"].splitlines()[-1]
