# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Laws of scale: from how many nodes, or ranks of a node, a rate no longer grows."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from stripewise.bench._limit_cells import Cell
from stripewise.bench._limits import Law
from stripewise.bench._plateaus import saturation
from stripewise.machines import Storage
from stripewise.simulation import rate_text
from stripewise.text import plural

LINEAR = 0.85
"""Share of the proportional rate down to which more nodes are still worth their number."""


def per_process_saturates(cells: Sequence[Cell], storage: Storage) -> Law | None:
    """File per process saturates the storage from some number of nodes."""
    del storage
    best = _of_nodes([one for one in cells if _is_own(one) and one.operation == "write"])
    if len(best) < 2:
        return None
    first, most = saturation((n, one.best) for n, one in best.items()), max(best)
    if first is None:
        text = (
            f"A file per process still gets faster at {most} nodes, with "
            f"{rate_text(best[most].best)}."
        )
        return Law("per-process-saturates", text, False, float("nan"), _keys(list(best.values())))
    there = [one for n, one in best.items() if n >= first]
    plateau = median(one.best for one in there)
    error = median(abs(one.best / plateau - 1) for one in there)
    text = (
        f"A file per process saturates the storage from {plural(int(first), 'node')}, "
        f"with {rate_text(plateau)}."
    )
    return Law("per-process-saturates", text, True, error, _keys(there))


def proportional_to_nodes(cells: Sequence[Cell], storage: Storage) -> Law | None:
    """Bandwidth into one file is proportional to the nodes, up to some number."""
    del storage
    chosen = [
        one for one in cells
        if one.operation == "write" and not one.is_alone and one.stripe_count != 1
        and one.case.mode == "collective" and not one.case.settings
        and one.case.backend == "mpiio"
    ]  # fmt: skip
    best = _of_nodes(chosen)
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


def ranks_into_one_file(cells: Sequence[Cell], storage: Storage) -> Law | None:
    """A shared file does not profit from more than so many ranks of a node."""
    del storage
    chosen = [
        one for one in cells
        if one.operation == "write" and not one.is_alone and one.case.nodes == 1
        and one.case.mode == "independent" and one.stripe_count != 1
    ]  # fmt: skip
    best: dict[int, Cell] = {}
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


def metadata_of_node(cells: Sequence[Cell], storage: Storage) -> Law | None:
    """One node cannot load the metadata server."""
    del storage
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
        "metadata-of-node", text, holds, abs(1 - node.best / many.best), _keys([node, many])
    )


def _is_own(cell: Cell) -> bool:
    return cell.case.layout == "per-process" and cell.case.backend == "posix" and not cell.pinned


def _of_nodes(cells: Sequence[Cell]) -> dict[int, Cell]:
    """Return the best cell of each number of nodes, of the number of ranks that reaches most."""
    if not cells:
        return {}
    by_ranks: dict[int, dict[int, Cell]] = {}
    for one in cells:
        group = by_ranks.setdefault(one.case.ranks_per_node, {})
        if one.case.nodes not in group or group[one.case.nodes].best < one.best:
            group[one.case.nodes] = one
    return max(
        by_ranks.values(), key=lambda group: (len(group), max(c.best for c in group.values()))
    )


def _keys(cells: Sequence[Cell]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.key for one in cells))
