# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Creates the file of Prometheus' rules."""

from __future__ import annotations

import yaml

from boards._alerts_load import LOAD
from boards._alerts_monitoring import MONITORING
from boards._alerts_targets import TARGETS
from boards._recorded import RECORDED
from boards._rules import Alert, group

ALERTS: tuple[Alert, ...] = (*TARGETS, *LOAD, *MONITORING)
_HEAD = """\
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# Made by python tools/boards: change it there.  Set the addresses of Grafana and of the portal:
#   sed -i 's,https://grafana.example.org,https://YOURS,; s,https://portal.example.org,https://YOURS,'
"""


class _Writer(yaml.SafeDumper):
    """Writes multi-line texts as blocks, so that expressions are readable."""


def _text(writer: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return writer.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Writer.add_representer(str, _text)


def rules_text() -> str:
    """Return the text of the file of rules."""
    groups = [
        group("stripewise-recorded", RECORDED), group("stripewise-targets", TARGETS),
        group("stripewise-load", LOAD), group("stripewise-monitoring", MONITORING),
    ]  # fmt: skip
    return _HEAD + yaml.dump({"groups": groups}, Dumper=_Writer, sort_keys=False, width=95)
