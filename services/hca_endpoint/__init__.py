# SPDX-License-Identifier: Apache-2.0
"""The service ``hca_endpoint``: a shard of HCAs."""
