# SPDX-License-Identifier: Apache-2.0
"""What a subnet manager decides: LIDs, forwarding tables, virtual lanes, and its answers to link changes."""
