# SPDX-License-Identifier: Apache-2.0
"""What puts the pure parts together and knows the world."""
