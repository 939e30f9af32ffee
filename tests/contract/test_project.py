# SPDX-License-Identifier: Apache-2.0
"""The rules that hold for every file of the project."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path for folder in ("src", "services", "tests") for path in (REPOSITORY / folder).rglob("*.py")
)
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}
TARGETS = (
    "help",
    "setup",
    "demo",
    "up",
    "down",
    "test",
    "test-slow",
    "drills",
    "test-drills",
    "test-compose",
    "test-all",
    "check",
    "lint",
    "types",
    "bench",
    "protos",
    "clean",
)


def _name(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def test_source_files_start_with_their_licence() -> None:
    line = "# SPDX-License-Identifier: Apache-2.0\n"
    assert [_name(path) for path in SOURCES if not path.read_text().startswith(line)] == []


def test_source_files_have_names_that_say_something() -> None:
    assert [_name(path) for path in SOURCES if path.stem in VAGUE_NAMES] == []


@pytest.mark.parametrize("target", TARGETS)
def test_make_target_has_one_line_of_help(target: str) -> None:
    assert re.search(rf"^{target}:.*## \S", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)


def test_architecture_names_every_package() -> None:
    text = (REPOSITORY / "ARCHITECTURE.md").read_text()
    packages = {path.parent.name for path in (REPOSITORY / "src" / "fabrictwin").glob("*/__init__.py")}
    assert {name for name in packages if f"`{name}/`" not in text} == set()


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = [int(path.name[:4]) for path in sorted((REPOSITORY / "docs" / "decisions").glob("*.md"))]
    assert numbers == list(range(1, len(numbers) + 1))


def test_documents_link_only_to_files_that_exist() -> None:
    broken = []
    for page in [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            if not (page.parent / target).exists():
                broken.append(f"{_name(page)}: {target}")
    assert broken == []
