# SPDX-License-Identifier: Apache-2.0
"""Prints what pyproject.toml, here, requires, with the extras that are named, one requirement a line."""

import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = [line for extra in sys.argv[1:] for line in PROJECT["optional-dependencies"][extra]]
print(*PROJECT["dependencies"], *EXTRAS, sep="\n")
