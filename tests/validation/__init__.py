# SPDX-License-Identifier: Apache-2.0
"""Laws and published results that the simulator must reproduce, one file for each."""
