# SPDX-License-Identifier: Apache-2.0
"""A scenario as it travels: its text and the files that it imports, so that nobody needs the user's disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from fabrictwin.errors import InputError
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.model.yaml_loader import LARGEST_FILE_BYTES, read_document, read_text

_FIELD = "fabric.topology.file"


@dataclass(frozen=True)
class ScenarioSource:
    """What a scenario is read from.

    Attributes:
        text: The YAML text.
        file: Its name, for messages.
        imported: Contents of imported files, by the name that the scenario gives them.
    """

    text: str = field(repr=False)
    file: str
    imported: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def parse(self) -> Scenario:
        """Reads the scenario.

        Raises:
            InputError: With every problem of it.
        """
        name = imported_name(self.text, self.file)
        if not name:
            return parse_scenario(self.text, file=self.file)
        if name not in self.imported:
            raise InputError.of(f"the file {name!r} was not sent along", file=self.file, field=_FIELD)
        with TemporaryDirectory(prefix="fabrictwin-") as folder:
            # Deep enough that the file may lie some folders above the scenario.
            base = Path(folder, "1", "2", "3", "4")
            base.mkdir(parents=True)
            target = (base / name).resolve()
            if not target.is_relative_to(Path(folder).resolve()):
                raise InputError.of(
                    f"expected a path near the folder of the scenario, got {name!r}",
                    file=self.file,
                    field=_FIELD,
                )
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(self.imported[name])
            return parse_scenario(self.text, file=self.file, base=base)


def read_source(path: Path) -> ScenarioSource:
    """Reads a scenario file and what it imports, without judging it.

    Raises:
        InputError: A file cannot be read, or the scenario is not YAML.
    """
    text = read_text(path, largest_bytes=LARGEST_FILE_BYTES)
    name = imported_name(text, str(path))
    file = path.parent / name
    imported = {name: file.read_bytes()} if name and file.is_file() else {}
    return ScenarioSource(text, str(path), imported)


def imported_name(text: str, file: str) -> str:
    """Name of the file that a scenario imports; empty if it imports none."""
    value = read_document(text, file).value
    for key in ("fabric", "topology"):
        value = value.get(key) if isinstance(value, dict) else None
    name = value.get("file") if isinstance(value, dict) and "import" in value else None
    return name if isinstance(name, str) else ""
