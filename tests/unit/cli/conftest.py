# SPDX-License-Identifier: Apache-2.0
"""The example run, and a console that writes into a string."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from unit.cli.example_run import ExampleSamples, example_result, example_samples


@pytest.fixture
def result() -> dict[str, Any]:
    return example_result()


@pytest.fixture(scope="session")
def samples() -> ExampleSamples:
    return example_samples()


@pytest.fixture
def console() -> Console:
    return Console(file=StringIO(), width=140, highlight=False)
