# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records of jobs from what Slurm keeps of them: sacct, its REST interface."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.fleet.scheduler._fetch import Sacct as Sacct
    from stripewise.fleet.scheduler._parsed import Parsed as Parsed
    from stripewise.fleet.scheduler._rest import parse_rest as parse_rest
    from stripewise.fleet.scheduler._rest import recognises_rest as recognises_rest
    from stripewise.fleet.scheduler._sacct import parse_sacct as parse_sacct
    from stripewise.fleet.scheduler._sacct import recognises_sacct as recognises_sacct
    from stripewise.fleet.scheduler._window import Window as Window
    from stripewise.fleet.scheduler._window import window as window
else:
    __getattr__, __all__ = lazy_exports(__name__)
