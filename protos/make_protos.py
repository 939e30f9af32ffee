# SPDX-License-Identifier: Apache-2.0
"""Writes the Python code of every ``.proto`` file here into ``src``, or checks that it is up to date.

Run it after a change of a ``.proto`` file: ``python protos/make_protos.py``; with ``--check`` nothing is
written, and the exit code is 1 if a file differs, is missing or should not be there.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

PROTOS = Path(__file__).resolve().parent
SOURCES = PROTOS.parent / "src"
SPDX = "# SPDX-License-Identifier: Apache-2.0\n"
PLUGINS = Path(sys.executable).parent
PATTERNS = ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")


def _compile(names: list[str], options: list[str]) -> None:
    if not names:
        return
    plugins = [f"--plugin={PLUGINS / name}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")]
    command = [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        f"--proto_path={PROTOS}",
        *plugins,
        *options,
        *names,
    ]
    subprocess.run(command, check=True, cwd=PROTOS)


def generate(folder: Path) -> None:
    """Writes the code of every ``.proto`` file into a folder, and the gRPC code of those with a service."""
    paths = sorted(PROTOS.rglob("*.proto"))
    texts = {path.relative_to(PROTOS).as_posix(): path.read_text() for path in paths}
    served = [name for name, text in texts.items() if "\nservice " in text]
    _compile(list(texts), [f"--python_out={folder}", f"--mypy_out=quiet:{folder}"])
    _compile(served, [f"--grpc_python_out={folder}", f"--mypy_grpc_out=quiet:{folder}"])
    for path in _generated(folder):
        path.write_text(SPDX + path.read_text())


def _generated(folder: Path) -> Iterator[Path]:
    for pattern in PATTERNS:
        yield from sorted(folder.rglob(pattern))


def _by_name(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in _generated(folder)}


def find_drift() -> list[str]:
    """Generated files below ``src`` that differ from what ``protos/`` gives, are missing or left over."""
    with TemporaryDirectory() as name:
        generate(Path(name))
        wanted = _by_name(Path(name))
    present = _by_name(SOURCES)
    return sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))


def write() -> None:
    """Brings the generated files below ``src`` up to date; removes those without a ``.proto`` file."""
    for path in _generated(SOURCES):
        path.unlink()
    generate(SOURCES)


def main(arguments: list[str]) -> int:
    """The command; returns its exit code."""
    if arguments != ["--check"]:
        write()
        return 0
    drift = find_drift()
    if drift:
        message = "generated code is not what protos/ gives; run `make protos`:"
        print(message, *drift, sep="\n  ", file=sys.stderr)
    return 1 if drift else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
