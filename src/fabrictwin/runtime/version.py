# SPDX-License-Identifier: Apache-2.0
"""Which version this is. Services of one twin must all be of the same one."""

from __future__ import annotations

from importlib.metadata import version

VERSION = version("fabrictwin")
