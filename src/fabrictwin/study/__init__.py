# SPDX-License-Identifier: Apache-2.0
"""Many runs that answer one question: the same work on other technologies, parameters and sizes."""
