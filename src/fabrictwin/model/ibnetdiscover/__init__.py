# SPDX-License-Identifier: Apache-2.0
"""Imports real fabrics from the output of ``ibnetdiscover``."""

from fabrictwin.model.ibnetdiscover.reader import MAX_BYTES, parse, read_file
from fabrictwin.model.ibnetdiscover.result import ImportedLink, ImportedNode, ImportResult
from fabrictwin.model.ibnetdiscover.scenario import count_rates, models_of, scenario_yaml

__all__ = [
    "MAX_BYTES",
    "ImportResult",
    "ImportedLink",
    "ImportedNode",
    "count_rates",
    "models_of",
    "parse",
    "read_file",
    "scenario_yaml",
]
