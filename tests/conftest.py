# SPDX-License-Identifier: Apache-2.0
"""Fixtures that every level of tests shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).resolve().parent.parent

# The same random fabrics every time, so that only a change can break a test; profile `default`: new ones.
settings.register_profile("same", derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real cluster files; tests over it are skipped where it is absent."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("real cluster files are not here: no folder ../shared/data beside the repository")
    return folder
