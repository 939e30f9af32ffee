# SPDX-License-Identifier: Apache-2.0
"""Images under their upstream names where no registry is: Debian with its packages, made on this machine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import docker
from docker.errors import APIError, ContainerError, DockerException, ImageNotFound

from compose.engine import Engine, skip_loudly
from integration.patience import PATIENCE_S

REPOSITORY = Path(__file__).resolve().parents[2]
KEPT = REPOSITORY / "build" / "compose"
"""Where the root of the stand-ins is kept: to make it takes a minute."""
MIRROR = "http://deb.debian.org/debian"
INDEX = ("pypi.org", 443)
PACKAGES = ("ca-certificates", "python3", "python3-venv", "redis-server", "wget")
COPIED = {"prometheus": "prometheus", "prometheus-alertmanager": "alertmanager"}
"""Programs that stand alone and come with hundreds of megabytes of packages: this machine's are taken."""
TEMPLATES = "usr/share/prometheus/alertmanager"
"""What Debian's Alertmanager reads at its start."""
NOBODY = 65534
LEFT_OUT = ("usr/share/doc", "usr/share/man", "usr/share/locale", "var/cache/apt", "var/lib/apt/lists")
CHANGES = {
    "PYTHON_IMAGE": (),
    "REDIS_IMAGE": (),
    "PROMETHEUS_IMAGE": ('ENTRYPOINT ["/bin/prometheus"]',),
    "ALERTMANAGER_IMAGE": ('ENTRYPOINT ["/bin/alertmanager"]',),
}
"""What makes an image of the root, by the name that .env gives it."""


@contextmanager
def images_at_hand(engine: Engine, names: Mapping[str, str]) -> Iterator[None]:
    """Makes sure that the images are there that the twin is made of; takes stand-ins away again.

    Args:
        engine: The engine.
        names: The names of the images, by their names in .env.
    """
    missing = {key: names[key] for key in CHANGES if not _is_there(engine, names[key])}
    made: list[str] = []
    try:
        if missing:
            base = _import(engine.client, _root())
            made.append(base)
            _check_that_it_runs(engine.client, base)
        for key, name in missing.items():
            container = engine.client.containers.create(base, ["true"])
            repository, _, tag = name.partition(":")
            container.commit(repository, tag, changes=list(CHANGES[key]))
            container.remove()
            made.append(name)
        yield
    finally:
        for name in reversed(made):
            engine.client.images.remove(name, force=True)


def _is_there(engine: Engine, name: str) -> bool:
    """Whether an engine has an image, or gets it from a registry; a private one does not wait for that."""
    try:
        engine.client.images.get(name)
    except ImageNotFound:
        if engine.is_private:
            return False
        try:
            engine.client.images.pull(name)
        except DockerException:
            return False
    return True


def _import(client: docker.DockerClient, root: Path) -> str:
    client.api.import_image_from_file(str(root), repository="fabrictwin-stand-in", tag="1")
    return "fabrictwin-stand-in:1"


def _check_that_it_runs(client: docker.DockerClient, image: str) -> None:
    """Skips where containers do not run, or cannot reach what an image is built from."""
    connect = f"import socket; socket.create_connection({INDEX}, {PATIENCE_S})"
    for command, what in (
        (["true"], "no container does"),
        (["python3", "-c", connect], "a container reaches no package index"),
    ):
        try:
            client.containers.run(image, command, remove=True)
        except (APIError, ContainerError) as error:
            skip_loudly(f"the engine runs, but {what}: {error}")


def _root() -> Path:
    """A tar file with the root of the stand-ins."""
    release = platform.freedesktop_os_release()
    missing = [name for name in ("debootstrap", *COPIED) if shutil.which(name) is None]
    if release["ID"] != "debian" or os.getuid() != 0 or missing:
        skip_loudly(
            f"stand-ins for images are made by root on Debian, with {', '.join(('debootstrap', *COPIED))}"
        )
    suite = release["VERSION_CODENAME"]
    target = KEPT / f"root-{suite}.tar"
    if not target.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="ft-root-") as folder:
            _make_root(Path(folder), suite)
            partial = target.with_suffix(".partial")
            excluded = [f"--exclude=./{path}/*" for path in LEFT_OUT]
            subprocess.run(["tar", "-C", folder, *excluded, "-cf", partial, "."], check=True)
            partial.replace(target)
    return target


def _make_root(folder: Path, suite: str) -> None:
    command = ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", suite, folder, MIRROR]
    told = subprocess.run(command, capture_output=True, text=True)
    if told.returncode:
        skip_loudly(f"debootstrap fails: {told.stdout.strip().splitlines()[-1]}")
    for program, name in COPIED.items():
        shutil.copy(str(shutil.which(program)), folder / "usr" / "bin" / name)
    shutil.copytree(Path("/", TEMPLATES), folder / TEMPLATES)
    # The upstream image has it, and a volume that is mounted there takes its owner over.
    data = folder / "prometheus"
    data.mkdir()
    os.chown(data, NOBODY, NOBODY)
