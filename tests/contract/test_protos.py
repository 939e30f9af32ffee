# SPDX-License-Identifier: Apache-2.0
"""The messages between processes: generated code agrees with ``protos/``, and every field is explained."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROTOS = Path(__file__).resolve().parents[2] / "protos"
FILES = sorted(PROTOS.rglob("*.proto"))
_DECLARATION = re.compile(r"(message|enum|service|rpc|oneof)\b|.+=\s*\d+(\s*\[.*\])?;")


def test_generated_code_is_what_the_protos_give() -> None:
    check = [sys.executable, PROTOS / "make_protos.py", "--check"]
    checked = subprocess.run(check, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_proto_explains_every_message_and_field(path: Path) -> None:
    lines = [line.strip() for line in path.read_text().splitlines()]
    unexplained = [
        f"{number}: {line}"
        for number, line in enumerate(lines, 1)
        if _DECLARATION.match(line) and not lines[number - 2].startswith("//")
    ]
    assert unexplained == []
