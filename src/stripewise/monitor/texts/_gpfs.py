# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What `mmpmon -p` answers to `fs_io_s`: counters of GPFS file systems on this node.

One line for each mounted file system, of keywords and values: `_n_` and `_nn_` the node, `_rc_`
the status, `_cl_` and `_fs_` cluster and file system, `_d_` disks, `_br_` and `_bw_` bytes read
and written, `_oc_`, `_cc_`, `_rdc_`, `_wc_`, `_dir_`, `_iu_` calls.  The counters begin when the
file system is mounted, and at `reset`.  Lines of other keywords (`_ver_`, `_response_`,
`_mmpmon::`) are of other requests.

Source: IBM Storage Scale 6.0.1, "Display I/O statistics per mounted file system".
"""

from __future__ import annotations

from typing import NamedTuple

from stripewise.monitor.texts._numbers import once, shown, whole, whole_lines

_KEYWORD = "_fs_io_s_"
_OPERATIONS = {
    "_oc_": "open", "_cc_": "close", "_rdc_": "read", "_wc_": "write", "_dir_": "readdir",
    "_iu_": "inode_update",
}  # fmt: skip
_NONE = "-"
_OTHERS = ("_ver_", "_response_", "_mmpmon", "_io_s_", "_reset_", "_nlist_", "_rhist_", "_error_")


class GpfsLine(NamedTuple):
    """Counters of one file system.

    Attributes:
        cluster / fs: Whose, as GPFS names them; the name without "/dev/".
        read_bytes, write_bytes: Moved for programs, also from and to the cache.
        operations: By our names: open, close, read, write, readdir, inode_update.
    """

    cluster: str
    fs: str
    read_bytes: int
    write_bytes: int
    operations: dict[str, int]


def read_fs_io_s(text: str) -> tuple[list[GpfsLine], list[str]]:
    """Read the answer.

    Returns:
        File systems, and what was left out, a sentence each; without mounted ones, both are [].
    """
    found: list[GpfsLine] = []
    lines, problems = whole_lines(text)
    for number, line in enumerate(lines, 1):
        words = line.strip(" ").split(" ")
        if not words[0] or words[0].startswith(_OTHERS):
            continue
        try:
            if words[0] != _KEYWORD:
                raise ValueError(f"{shown(words[0])} is no answer to fs_io_s")
            if (one := _line(words[1:])) is not None:
                found.append(one)
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    kept, doubled = once(found, lambda one: f"{one.cluster}:{one.fs}")
    return kept, problems + doubled


def _line(words: list[str]) -> GpfsLine | None:
    """Return what one line tells; None: no file system is mounted."""
    values = dict(zip(words[::2], words[1::2], strict=False))
    if len(words) % 2 or len(values) < len(words) // 2:
        raise ValueError("keywords and values that are no pairs")
    if values.get("_fs_") == _NONE:
        return None
    if values.get("_rc_") != "0":
        raise ValueError(f"status {shown(values.get('_rc_', 'none'))}")
    fs = values.get("_fs_", "").removeprefix("/dev/")
    cluster = values.get("_cl_", "")
    if not (_is_name(fs) and _is_name(cluster)):
        raise ValueError(f"{shown(fs)} of {shown(cluster)} is no name of a file system")
    return GpfsLine(
        *(cluster, fs, whole(values.get("_br_", "")), whole(values.get("_bw_", ""))),
        {name: whole(values.get(key, "")) for key, name in _OPERATIONS.items()},
    )


def _is_name(word: str) -> bool:
    return 0 < len(word) <= 128 and "/" not in word and word.isprintable()
