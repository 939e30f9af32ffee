# SPDX-License-Identifier: Apache-2.0
"""What a fabric and a scenario are: pure data and the rules that they obey."""
