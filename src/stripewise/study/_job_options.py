# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a user asks of a study of a job script; plain data, kept in the study's journal."""

from __future__ import annotations

from dataclasses import dataclass

from stripewise.errors import UsageError

HYBRIDS = ("auto", "redirect", "links")
TIERS = ("auto", "none", "datawarp", "lua", "rabbit", "directory")


@dataclass(frozen=True)
class JobOptions:
    """How the jobs of a study are made from a job script.

    Attributes:
        script: The job script, relative to the directory in which the study was begun.
        step: Number of the launch line that is tuned, from 1; None: there is only one.
        words: That the script is called with.
        tier: Kind of burst buffer; "auto": what the script or Slurm says.
        pool: Of the burst buffer; "": the default one.
        access: Of a burst buffer: "striped" or "private".
        granularity_bytes / free_nodes: Override what Slurm says of the pool; 0: as it says.
        capacity_bytes: That the job needs on the burst buffer: it decides on the least nodes.
        persistent: Name of an existing persistent burst buffer that runs work on; "": none.
        bb_nodes: Numbers of burst-buffer nodes to try; empty: 1x, 2x, 4x ... of the least.
        stage_in / stage_out: Directories that run.tuned.sh copies to and from the burst buffer;
            "": the directory of the job.
        template: Of tiers that a site writes itself (lua): file with its directives.
        place: Of the tier `directory`: where it is in the job, as $TMPDIR or /flash/$USER; of
            `lua`: the variable that names it.
        per_run: Submit a job for each run, not many runs in one allocation.
        allocation_seconds: Time limit of an allocation; None: what the runs ahead may take, as
            far as the partition allows.
        resources: Try fewer ranks and more threads too, down to min_nodes.
        min_nodes: Least compute nodes that fewer ranks may leave; 0: one.
        hybrid: How large files alone get onto the burst buffer: "redirect" by the library, "links"
            in the job's directory; "auto": what the site prefers, else by the library.
        digest: Of the script as it was when the study was begun.
    """

    script: str
    step: int | None = None
    words: tuple[str, ...] = ()
    tier: str = "auto"
    pool: str = ""
    access: str = "striped"
    granularity_bytes: int = 0
    free_nodes: int | None = None
    capacity_bytes: int = 0
    persistent: str = ""
    bb_nodes: tuple[int, ...] = ()
    stage_in: str = ""
    stage_out: str = ""
    template: str = ""
    place: str = ""
    per_run: bool = False
    allocation_seconds: float | None = None
    resources: bool = False
    min_nodes: int = 0
    hybrid: str = "auto"
    digest: str = ""

    def __post_init__(self) -> None:
        if self.tier not in TIERS:
            raise UsageError(f"--tier {self.tier}: use one of {', '.join(TIERS)}")
        if self.hybrid not in HYBRIDS:
            raise UsageError(f"--hybrid {self.hybrid}: use one of {', '.join(HYBRIDS)}")
        if self.access not in ("striped", "private"):
            raise UsageError(f"--access {self.access}: use striped or private")
        if any(nodes < 1 for nodes in self.bb_nodes):
            raise UsageError("--bb-nodes 0: each run without a burst buffer is a baseline anyway")
