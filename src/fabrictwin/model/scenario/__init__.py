# SPDX-License-Identifier: Apache-2.0
"""Scenarios: one YAML file holds a fabric, its hardware, what it carries and what goes wrong."""

from fabrictwin.model.scenario.load import expand_document, load_scenario, parse_scenario
from fabrictwin.model.scenario.scenario import Deployment, Scenario

__all__ = ["Deployment", "Scenario", "expand_document", "load_scenario", "parse_scenario"]
