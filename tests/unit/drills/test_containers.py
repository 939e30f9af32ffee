# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from pathlib import Path

import pytest

from fabrictwin.drills.containers import Containers
from fabrictwin.errors import InputError


def test_docker_socket_that_is_absent_is_an_error_of_the_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    with pytest.raises(InputError, match="no Docker engine answers"):
        Containers("composed")
