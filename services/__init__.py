# SPDX-License-Identifier: Apache-2.0
"""The services of a live twin, one folder each: ``python -m services.<name>``."""
