# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Text of descriptions, whole and with one line changed."""

WHOLE = """\
version = 1
name = "site"
title = "Scratch of a site"
kind = "lustre"
stack = "cray"

[machine]
nodes = { value = 100, kind = "documented", source = "guide" }
ranks_per_node = { value = 64, kind = "documented", source = "guide" }

[client.process_write]
value = "1.5 GiB/s"
kind = "measured"
source = "IOR"
interval = ["1 GiB/s", "2 GiB/s"]
[client.request]
value = "50 us"
kind = "assumed"
source = "a guess"

[servers]
targets = { value = 12, kind = "documented", source = "guide" }
target_write = { value = "3000 MB/s", kind = "documented", source = "guide" }
target_read = { value = "3000 MB/s", kind = "documented", source = "guide" }

[layout]
stripe_count = { value = 4, kind = "documented", source = "guide" }
stripe_size = { value = "4 MiB", kind = "documented", source = "guide" }

[noise]
cv = { value = 0.1, kind = "measured", source = "IOR" }

[transport.slow]
when = {}
figures = { "exchange.bandwidth" = { value = "10 MiB/s", kind = "assumed", source = "a guess" } }

[transport.fast]
when = { NET = "fast" }
hangs_from_nodes = 32
"""


def changed(old: str, new: str) -> str:
    """Return the text with one part replaced; the part must be there."""
    assert old in WHOLE
    return WHOLE.replace(old, new, 1)
