# SPDX-License-Identifier: Apache-2.0
"""One engine and one twin in containers for all tests of this folder: to bring it up takes minutes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from compose.composed import ComposedTwin, composed_twin_on
from compose.engine import Engine, running_engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    with running_engine() as engine:
        yield engine


@pytest.fixture(scope="session")
def composed_twin(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ComposedTwin]:
    with composed_twin_on(engine, tmp_path_factory.mktemp("composed")) as twin:
        yield twin
