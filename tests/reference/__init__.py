# SPDX-License-Identifier: Apache-2.0
"""The oracle: InfiniBand in slow, plain Python, written from the model's page, not from the kernels."""
