# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Generates faults: in Python with the operators of cosmic-ray, in C from a list."""

from __future__ import annotations

import ast
import random
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Changes only to annotations, types or variable names do not affect behaviour.
_LEFT_OUT = ("VariableReplacer", "VariableInserter")


@dataclass(frozen=True)
class Fault:
    """A change of one place.

    Attributes:
        room: Package with the fault; "native" for C.
        path: Path of the file, relative to the checkout.
        line: Line at which it begins, from 1.
        what: Description of the fault.
        old: Original text of the whole file (Python) or of the place (C).
        new: Text with the fault.
        tests: Tests to run if there is no coverage (C).
    """

    room: str
    path: str
    line: int
    what: str
    old: str
    new: str
    tests: tuple[str, ...] = ()

    @property
    def native(self) -> bool:
        """Whether something must be built for the fault to take effect."""
        return self.room == "native"

    def apply(self, text: str) -> str:
        """Return a file's text with the fault.

        Raises:
            ValueError: The text is not the one for which the fault was made.
        """
        if text.count(self.old) != 1:
            raise ValueError(f"{self.path}: {self.old!r} is there {text.count(self.old)} times")
        return text.replace(self.old, self.new)


def native_faults(listed: Mapping[str, Any]) -> list[Fault]:
    """Read the list of faults in C: tables with path, what, old, new and tests."""
    return [
        Fault("native", f["path"], 0, f["what"], f["old"], f["new"], tuple(f["tests"]))
        for f in listed["fault"]
    ]


def sample(top: Path, n_faults: int, seed: int) -> list[Fault]:
    """Draw faults for each room in proportion to its lines of code, and at least one."""
    draw = random.Random(seed)
    modules: dict[str, list[tuple[Path, int]]] = defaultdict(list)
    source = top / "src/stripewise"
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).parts
        room = parts[0] if len(parts) > 1 else "(top)"
        modules[room].append((path, path.read_text().count("\n")))
    size = {room: sum(n for _, n in files) for room, files in modules.items()}
    total = sum(size.values())
    faults: list[Fault] = []
    for room, files in sorted(modules.items()):
        wanted = max(1, round(n_faults * size[room] / total))
        drawn = 0
        while drawn < wanted:
            (path,) = draw.choices([p for p, _ in files], weights=[n for _, n in files])
            fault = _draw(room, path, top, draw)
            if fault is not None and fault not in faults:
                faults.append(fault)
                drawn += 1
    return faults


def _draw(room: str, path: Path, top: Path, draw: random.Random) -> Fault | None:
    """Draw a place of a file, then one of the possible faults there."""
    import cosmic_ray.plugins as plugins
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code

    text = path.read_text()
    places: dict[tuple[int, int], list[tuple[str, int]]] = defaultdict(list)
    nodes = list(ast_nodes(get_ast(text)))
    for name in plugins.operator_names():
        if name.endswith(_LEFT_OUT):
            continue
        operator = plugins.get_operator(name)()
        occurrence = 0
        for node in nodes:
            for start, _ in operator.mutation_positions(node):
                places[start].append((name, occurrence))
                occurrence += 1
    unseen = sorted(places)
    draw.shuffle(unseen)
    for place in unseen[:20]:
        name, occurrence = draw.choice(places[place])
        mutated = mutate_code(text, plugins.get_operator(name)(), occurrence)
        if mutated is None or _same(text, mutated):
            continue
        what = f"{name.removeprefix('core/')} at column {place[1]}"
        return Fault(room, str(path.relative_to(top)), place[0], what, text, mutated)
    return None


class _Behaviour(ast.NodeTransformer):
    """Removes what no test can detect: annotations, and code only for type checkers."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return None
        return self.generic_visit(node)


def _same(one: str, other: str) -> bool:
    try:
        trees = [_Behaviour().visit(ast.parse(text)) for text in (one, other)]
    except SyntaxError:
        return True
    return ast.dump(trees[0]) == ast.dump(trees[1])
