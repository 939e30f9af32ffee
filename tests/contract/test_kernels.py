# SPDX-License-Identifier: Apache-2.0
"""Compiled code has one door: the decorators of ``fabrictwin.jit``, and kernels keep to their rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "fabrictwin"
DOORS = ("jit.py", "engine/state_type.py")
"""The decorators, and the type that a State has in compiled code."""
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).as_posix() not in DOORS)
DECORATORS = {"kernel", "inline_kernel", "seldom_kernel"}


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _kernels(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = {item.id for item in node.decorator_list if isinstance(item, ast.Name)}
            if names & DECORATORS:
                yield node


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def _every_kernel() -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in MODULES:
        for function in _kernels(ast.parse(path.read_text())):
            yield f"{_name(path)}: {function.name}", function


def _raises_or_prints(function: ast.FunctionDef) -> bool:
    for node in ast.walk(function):
        if isinstance(node, ast.Raise):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            return True
    return False


def test_modules_without_a_door_do_not_import_numba() -> None:
    guilty = [
        _name(path)
        for path in MODULES
        if any(name.split(".")[0] == "numba" for name in _imports(ast.parse(path.read_text())))
    ]
    assert guilty == []


def test_kernels_neither_raise_nor_print() -> None:
    assert [name for name, function in _every_kernel() if _raises_or_prints(function)] == []


def test_kernels_have_at_most_six_parameters() -> None:
    assert [name for name, function in _every_kernel() if len(function.args.args) > 6] == []
