# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests laws about stripes, writers, lock modes and scale on the cells of a campaign."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from stripewise.bench.limits._cells import Law, LimitCell
from stripewise.bench.limits._plateaus import saturation
from stripewise.present import plural, rate_text, ratio_text
from stripewise.storage.machines import Storage

# Laws of scale: from how many nodes, or ranks per node, a rate no longer grows.

LINEAR = 0.85
"""Share of the proportional rate down to which more nodes are still considered worthwhile."""


def per_process_saturates(cells: Sequence[LimitCell]) -> Law | None:
    """Test whether a file per process saturates the storage from some number of nodes."""
    best = _best_by_nodes([one for one in cells if _is_own(one) and one.operation == "write"])
    if len(best) < 2:
        return None
    first, most = saturation((n, one.best) for n, one in best.items()), max(best)
    if first is None:
        text = (
            f"A file per process still gets faster at {most} nodes, with "
            f"{rate_text(best[most].best)}."
        )
        return Law(
            "per-process-saturates",
            text,
            False,
            float("nan"),
            _keys(list(best.values())),
        )
    there = [one for n, one in best.items() if n >= first]
    plateau = median(one.best for one in there)
    error = median(abs(one.best / plateau - 1) for one in there)
    text = (
        f"A file per process saturates the storage from {plural(int(first), 'node')}, "
        f"with {rate_text(plateau)}."
    )
    return Law("per-process-saturates", text, True, error, _keys(there))


def proportional_to_nodes(cells: Sequence[LimitCell]) -> Law | None:
    """Test whether bandwidth into one file is proportional to the nodes, up to some number."""
    chosen = [
        one for one in cells
        if one.operation == "write" and not one.is_alone and one.stripe_count != 1
        and one.case.mode == "collective" and not one.case.settings
        and one.case.backend == "mpiio"
    ]  # fmt: skip
    best = _best_by_nodes(chosen)
    if len(best) < 3 or 1 not in best:
        return None
    one_node = best[1].best
    shares = {n: one.best / (n * one_node) for n, one in sorted(best.items()) if n > 1}
    upto = 1
    for n, share in shares.items():
        if share < LINEAR:
            break
        upto = n
    inside = [share for n, share in shares.items() if n <= upto]
    error = median(abs(1 - one) for one in inside) if inside else abs(1 - min(shares.values()))
    most = max(best)
    text = f"Collective writes into one file are proportional to the nodes up to {upto}"
    if upto == most:
        text += ", the most that were measured."
    else:
        text += f"; {most} nodes reach {shares[most]:.0%} of that."
    return Law("linear", text, upto > 1, error, _keys(list(best.values())))


def ranks_into_one_file(cells: Sequence[LimitCell]) -> Law | None:
    """Test from how many ranks per node a shared file no longer gets faster."""
    chosen = [
        one for one in cells
        if one.operation == "write" and not one.is_alone and one.case.nodes == 1
        and one.case.mode == "independent" and one.stripe_count != 1
    ]  # fmt: skip
    best: dict[int, LimitCell] = {}
    for one in chosen:
        ranks = one.case.ranks_per_node
        if ranks not in best or best[ranks].best < one.best:
            best[ranks] = one
    first = saturation((ranks, one.best) for ranks, one in best.items())
    if first is None:
        return None
    there = [one for ranks, one in best.items() if ranks >= first]
    plateau = median(one.best for one in there)
    error = median(abs(one.best / plateau - 1) for one in there)
    text = (
        f"A node writes one shared file no faster with more than {plural(int(first), 'rank')}: "
        f"{rate_text(plateau)}."
    )
    return Law("shared-ranks", text, True, error, _keys(there))


def metadata_of_node(cells: Sequence[LimitCell]) -> Law | None:
    """Test whether one node can load the metadata server."""
    chosen = [one for one in cells if one.operation == "create" and not one.case.file_bytes]
    by_one = [one for one in chosen if one.case.nodes == 1]
    by_many = [one for one in chosen if one.case.nodes > 1]
    if not by_one or not by_many:
        return None
    node, many = (max(group, key=lambda one: one.best) for group in (by_one, by_many))
    first = saturation((one.case.ranks_per_node, one.best) for one in by_one)
    holds = first is not None and many.best > 1.5 * node.best
    text = (
        f"One node creates {node.best:,.0f} files a second with {node.case.ranks_per_node} "
        f"ranks, and {many.case.nodes} nodes create {many.best:,.0f}"
    )
    text += ": a node has a limit of its own." if holds else "."
    return Law(
        "metadata-of-node",
        text,
        holds,
        abs(1 - node.best / many.best),
        _keys([node, many]),
    )


def _is_own(cell: LimitCell) -> bool:
    return cell.case.layout == "per-process" and cell.case.backend == "posix" and not cell.pinned


def _best_by_nodes(cells: Sequence[LimitCell]) -> dict[int, LimitCell]:
    """Return the best cell for each number of nodes, at the number of ranks with most of them."""
    if not cells:
        return {}
    by_ranks: dict[int, dict[int, LimitCell]] = {}
    for one in cells:
        group = by_ranks.setdefault(one.case.ranks_per_node, {})
        if one.case.nodes not in group or group[one.case.nodes].best < one.best:
            group[one.case.nodes] = one
    return max(
        by_ranks.values(), key=lambda group: (len(group), max(c.best for c in group.values()))
    )


# Common laws about storage, tested on the cells of a campaign.

HOLDS = 0.25
"""Median relative distance up to which cells are considered to follow a law."""
AGGREGATORS, MODE = "mpiio.cray_cb_nodes_multiplier", "mpiio.cray_cb_write_lock_mode"
_CHANGED = (AGGREGATORS, MODE, "mpiio.cb_nodes", "mpiio.romio_lustre_co_ratio")


def laws_of(cells: Sequence[LimitCell], storage: Storage) -> tuple[Law, ...]:
    """Test every law for which there are cells.

    Args:
        cells: Cells of campaigns; those in doubt are ignored.
        storage: Description fitted to them.
    """
    sure = [one for one in cells if not one.doubt]
    found = (
        _stripes_and_nodes(sure, storage),
        _writer_per_stripe(sure, storage),
        per_process_saturates(sure),
        proportional_to_nodes(sure),
        ranks_into_one_file(sure),
        _lock_modes(sure),
        _libraries(sure),
        metadata_of_node(sure),
    )
    return tuple(one for one in found if one is not None)


def _collective(cells: Sequence[LimitCell]) -> list[LimitCell]:
    """Return collective MPI-IO writes into one file with the default number of aggregators."""
    return [
        one for one in cells
        if one.case.backend == "mpiio" and one.case.mode == "collective" and not one.is_alone
        and one.operation == "write" and not any(name in _CHANGED for name, _ in one.case.settings)
    ]  # fmt: skip


def _stripes(cell: LimitCell, storage: Storage) -> int:
    targets = int(storage.value("servers.targets"))
    return targets if cell.stripe_count == -1 else max(cell.stripe_count, 1)


def _stripes_and_nodes(cells: Sequence[LimitCell], storage: Storage) -> Law | None:
    """Test whether parallel bandwidth = serial bandwidth x min(stripes, nodes)."""
    chosen = _collective(cells)
    serial = [one for one in chosen if one.case.nodes == 1 and _stripes(one, storage) == 1]
    sizes = {one.stripe_bytes for one in serial}
    several = [
        one for one in chosen
        if min(one.case.nodes, _stripes(one, storage)) > 1 and one.stripe_bytes in sizes
    ]  # fmt: skip
    if not several:
        return None
    one_writer = max(one.best for one in serial)
    ratios = [
        one.best / (one_writer * min(one.case.nodes, _stripes(one, storage))) for one in several
    ]
    error = median(abs(1 - ratio) for ratio in ratios)
    holds = error <= HOLDS
    text = (
        "Collective writes into one file: parallel bandwidth = serial bandwidth "
        f"({rate_text(one_writer)}) x min(stripes, nodes)"
    )
    if holds:
        text += f"; the cases reach {min(ratios):.0%} to {max(ratios):.0%} of that."
    else:
        text += f" does not hold: the cases reach {min(ratios):.0%} to {max(ratios):.0%} of that."
    return Law("stripes", text, holds, error, _keys(several))


def _writer_per_stripe(cells: Sequence[LimitCell], storage: Storage) -> Law | None:
    """Test whether a shared file is written as fast as one process per stripe can write."""
    chosen = [one for one in _collective(cells) if one.case.nodes >= _stripes(one, storage)]
    process = storage.value("client.process_write")
    if not chosen or process == float("inf"):
        return None
    ratios = [one.best / (process * _stripes(one, storage)) for one in chosen]
    error = median(abs(1 - ratio) for ratio in ratios)
    most = max(chosen, key=lambda one: one.best)
    # An aggregator also takes part in the exchange, unlike a single writer.
    holds = max(ratios) <= 1 + HOLDS and median(ratios) >= 0.5
    text = (
        f"Collective calls have one writer for each stripe: {_stripes(most, storage)} stripes "
        f"reach {rate_text(most.best)}, and a process by itself writes {rate_text(process)}."
    )
    if not holds:
        text = (
            "Collective calls are not limited to one writer for each stripe: the cases reach "
            f"{min(ratios):.0%} to {max(ratios):.0%} of one process for each stripe."
        )
    return Law("writer-per-stripe", text, holds, error, _keys(chosen))


def _lock_modes(cells: Sequence[LimitCell]) -> Law | None:
    """Test whether relaxed locks multiply the gain of further aggregators."""
    chosen = [one for one in cells if one.operation == "write" and one.case.backend == "mpiio"]
    most = max((one.case.nodes for one in chosen), default=0)
    best: dict[int, tuple[float, int]] = {}
    plain: dict[int, float] = {}
    for one in chosen:
        settings = dict(one.case.settings)
        if one.case.nodes != most or not (AGGREGATORS in settings or MODE in settings):
            continue
        mode, times = _number(settings.get(MODE, 0)), _number(settings.get(AGGREGATORS, 1))
        best[mode] = max(best.get(mode, (0.0, 0)), (one.best, times))
        if times == 1:
            plain[mode] = max(plain.get(mode, 0.0), one.best)
    relaxed = {mode: found for mode, found in best.items() if mode}
    if 0 not in best or not relaxed or 0 not in plain:
        return None
    mode, (rate, times) = max(relaxed.items(), key=lambda one: one[1])
    without, gain = best[0][0], rate / best[0][0]
    holds = gain > 1 + HOLDS
    text = (
        f"Relaxed locks (lock mode {mode}) with {times} aggregators for each stripe write "
        f"{rate_text(rate)} on {most} nodes, {ratio_text(gain)}x the best with lock mode 0; "
        f"there, more aggregators bring {ratio_text(without / plain[0])}x."
    )
    if not holds:
        text = (
            f"Relaxed locks do not pay: {rate_text(rate)} on {most} nodes, and "
            f"{rate_text(without)} with lock mode 0."
        )
    keys = _keys([one for one in chosen if one.case.nodes == most])
    return Law("lock-modes", text, holds, abs(1 - 1 / gain), keys)


def _libraries(cells: Sequence[LimitCell]) -> Law | None:
    """Test whether HDF5 and NetCDF largely follow MPI-IO."""
    direct = {_place(one): one.best for one in cells if one.case.backend == "mpiio"}
    above = [one for one in cells if one.case.backend in ("hdf5", "netcdf4", "pnetcdf")]
    pairs = [(one, one.best / direct[_place(one)]) for one in above if _place(one) in direct]
    if not pairs:
        return None
    ratios = [ratio for _, ratio in pairs]
    error = median(abs(1 - ratio) for ratio in ratios)
    names = ", ".join(dict.fromkeys(_LIBRARIES[one.case.backend] for one, _ in pairs))
    holds = error <= HOLDS
    follow = "follows" if len({one.case.backend for one, _ in pairs}) == 1 else "follow"
    text = f"{names} largely {follow} MPI-IO" if holds else f"{names}: not as fast as MPI-IO"
    text += f": the median is {median(ratios):.0%} of its bandwidth in the same cases."
    return Law("libraries", text, holds, error, _keys([one for one, _ in pairs]))


_LIBRARIES = {"hdf5": "HDF5", "netcdf4": "NetCDF", "pnetcdf": "PnetCDF"}


def _place(cell: LimitCell) -> tuple[object, ...]:
    case = cell.case
    return (
        case.nodes, case.ranks_per_node, case.directory, case.pattern, case.local, case.size,
        case.mode, case.settings, cell.operation,
    )  # fmt: skip


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _keys(cells: Sequence[LimitCell]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.key for one in cells))
