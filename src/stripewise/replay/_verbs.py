# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a call of a trace becomes in a plan: a verb that the replay program knows."""

from __future__ import annotations

import re

from stripewise.model import EventFlag, IoLayer, Op

SKIPPED = ""
"""Verb of a call that moves nothing and is left out, such as a change of hints."""

_DATA = {
    Op.READ: "read",
    Op.READ_COLLECTIVE: "read",
    Op.WRITE: "write",
    Op.WRITE_COLLECTIVE: "write",
}
_PLAIN = {Op.OPEN: "open", Op.CLOSE: "close", Op.SYNC: "fsync"}
_POSIX_META = (
    (r"f?truncate(64)?", "truncate"),
    (r"(posix_)?fallocate(64)?", "fallocate"),
    (r"unlink(at)?|remove", "unlink"),
    (r"l?lseek(64)?|lseek64", "lseek"),
    (r"_*f?l?x?stat.*|fstatat.*|access|faccessat", "stat"),
)
_MPI_WAIT = re.compile(r"(Wait|Test)(all|any|some)?")
_MPI_NAME = re.compile(
    r"open|close|delete|set_view|set_size|preallocate|seek|seek_shared|get_size"
    r"|get_position_shared|sync|i?(read|write)(_shared|_all|_at|_at_all)?"
    r"|(read|write)(_ordered|_(all|ordered|at_all)_(begin|end))"
)
_HDF5_META = {
    "H5Dcreate": "dcreate",
    "H5Dopen": "dopen",
    "H5Dclose": "dclose",
    "H5Dset_extent": "dset_extent",
    "H5Gcreate": "gcreate",
    "H5Awrite": "awrite",
    "H5Aread": "aread",
    "H5Fflush": "fflush",
}
_PNETCDF_META = {
    "delete": "delete",
    "enddef": "enddef",
    "_enddef": "enddef",
    "redef": "redef",
    "begin_indep_data": "begin_indep",
    "end_indep_data": "end_indep",
    "wait": "wait",
    "wait_all": "wait_all",
    "sync": "sync",
    "flush": "flush",
    "sync_numrecs": "sync_numrecs",
}


def verb_of(layer: int, op: int, flags: int, name: str) -> str | None:
    """Return the verb, `SKIPPED`, or None for a call that cannot be replayed."""
    find = _FINDERS.get(IoLayer(layer))
    return find(Op(op), EventFlag(flags), name) if find else None


def _posix(op: Op, flags: EventFlag, name: str) -> str | None:
    if op in _DATA:
        at = not flags & (EventFlag.POINTER | EventFlag.NO_OFFSET)
        return f"posix.{'p' if at else ''}{_DATA[op]}"
    if op in _PLAIN:
        return f"posix.{_PLAIN[op]}"
    for pattern, verb in _POSIX_META:
        if re.fullmatch(pattern, name):
            return f"posix.{verb}"
    return SKIPPED


def _stdio(op: Op, flags: EventFlag, name: str) -> str | None:
    if op in _DATA:
        return f"stdio.{_DATA[op]}"
    if op in (Op.OPEN, Op.CLOSE):
        return f"stdio.{_PLAIN[op]}"
    if op == Op.SYNC or name.startswith("fflush"):
        return "stdio.flush"
    return SKIPPED


def _mpiio(op: Op, flags: EventFlag, name: str) -> str | None:
    plain = re.sub(r"^P?MPI_(File_)?|_c$", "", name)
    if _MPI_WAIT.fullmatch(plain):
        return "mpiio.waitall" if "all" in plain else "mpiio.wait"
    if _MPI_NAME.fullmatch(plain):
        return f"mpiio.{plain}"
    return None if op in _DATA else SKIPPED


def _hdf5(op: Op, flags: EventFlag, name: str) -> str | None:
    plain = re.sub(r"(_async|_multi|[12]|_anon)$", "", name)
    if op in _DATA and not flags & EventFlag.ATTRIBUTE:
        return f"hdf5.{_DATA[op]}"
    if op == Op.OPEN:
        return "hdf5.fcreate" if plain.startswith("H5Fcreate") else "hdf5.fopen"
    if op == Op.CLOSE:
        return "hdf5.fclose"
    verb = _HDF5_META.get(plain)
    return f"hdf5.{verb}" if verb else SKIPPED


def _pnetcdf(op: Op, flags: EventFlag, name: str) -> str | None:
    plain = re.sub(r"^ncmpi_", "", name)
    if op in _DATA and not flags & EventFlag.ATTRIBUTE:
        if re.search(r"var[dm]", plain):
            return None
        posted = "i" if re.match(r"[ib](put|get)", plain) else ""
        return f"pnetcdf.{posted}{'get' if _DATA[op] == 'read' else 'put'}"
    if op == Op.OPEN:
        return "pnetcdf.create" if plain == "create" else "pnetcdf.open"
    if op == Op.CLOSE:
        return "pnetcdf.close"
    verb = _PNETCDF_META.get(plain)
    return f"pnetcdf.{verb}" if verb else SKIPPED


_FINDERS = {
    IoLayer.POSIX: _posix,
    IoLayer.STDIO: _stdio,
    IoLayer.MPIIO: _mpiio,
    IoLayer.HDF5: _hdf5,
    IoLayer.PNETCDF: _pnetcdf,
}
COLLECTIVE = frozenset(
    "mpiio.close mpiio.set_view mpiio.set_size mpiio.preallocate mpiio.sync mpiio.seek_shared "
    "hdf5.fclose hdf5.fflush hdf5.dcreate hdf5.dset_extent hdf5.gcreate hdf5.awrite "
    "pnetcdf.close pnetcdf.enddef pnetcdf.redef pnetcdf.begin_indep pnetcdf.end_indep "
    "pnetcdf.wait_all pnetcdf.sync".split()
)
"""All that opened a file together make these calls together, whatever they move."""
JOINT = frozenset(("hdf5.dopen", "hdf5.dclose"))
"""All ranks make these calls as a rule, but no one has to."""
CREATING = frozenset(("hdf5.fcreate", "pnetcdf.create"))
REMOVING = frozenset(("posix.unlink", "mpiio.delete", "pnetcdf.delete"))
