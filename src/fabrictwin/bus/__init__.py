# SPDX-License-Identifier: Apache-2.0
"""Generated from ``protos/``: what logical processes say to each other."""
