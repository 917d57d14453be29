# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Output of a program as Cray MPICH adds to it; the layout is that of published outputs."""

from __future__ import annotations


def cray_output(
    path: str,
    *,
    system_writes: int = 4,
    stripe: int = 4194304,
    total_bytes: int = 262144,
    slower: int = 1,
) -> str:
    """Return version, hints, statistics and timers of one file that was written."""
    return f"""\
MPI VERSION    : CRAY MPICH version 8.1.27.26 (ANL base 3.4a2)
MPI BUILD INFO : Fri Aug 11  0:25 2023 (git hash 55e934a)
PE 0: MPICH MPIIO statistics environment settings:
PE 0:   MPICH_MPIIO_STATS                         = 1
PE 0: MPIIO hints for {path}:
          cb_buffer_size           = 16777216
          cb_nodes                 = 4
          striping_factor          = 1
          striping_unit            = {stripe}
          cb_config_list           = *:*
          romio_filesystem_type    = CRAY ADIO:
step = 3
+--------------------------------------------------------+
| MPIIO write access patterns for {path}
|   independent writes      = 2
|   collective writes       = 16
|   independent writers     = 1
|   aggregators             = 4
|   stripe count            = 1
|   stripe size             = {stripe}
|   system writes           = {system_writes}
|   stripe sized writes     = {system_writes // 2}
|   aggregators active      = 0,0,0,16 (1, <= 2, > 2, 4)
|   total bytes for writes  = {total_bytes}
|   ave system write size   = {total_bytes // system_writes}
|   read-modify-write count = 1
|   read-modify-write bytes = 4096
|   number of write gaps    = 0
|   ave write gap size      = NA
| See "Optimizing MPI I/O on Cray XE Systems" S-0013-20 for explanations.
+--------------------------------------------------------+
+--------------------------------------------------------------------------+
| MPIIO write by phases, all ranks, for {path}
|   number of ranks writing        =     4
|   number of ranks not writing    =    12
|                                          min         max         ave
|                                    ----------  ----------  ----------
|   open/close/trunc  time         =       0.00        0.00        0.00
|
|   time scale: 1 = 2**4     clock ticks    min         max         ave
|                                    ----------  ----------  ---------- ---
|   total                          =                            {slower * 4_047_000}
|
|   imbalance                      =       1923        2566        2346  0%
|   wait for coll                  =      14746   752303980   398433146 12%
|   data send (*)                  =    7189592   759376475   357649987 {40 + slower}%
|   file write                     =          0   656363834   656363834 {80 + slower}%
|   other                          =       5582       48380       47134  0%
|
|   data send BW (MiB/s)           =                             {1000 / slower:.3f}
|   raw write BW (MiB/s)           =                             {800 / slower:.3f}
|   net write BW (MiB/s)           =                             {500 / slower:.3f}
|
| (*) send and write overlap when number ranks != number of writers
+--------------------------------------------------------------------------+
"""
