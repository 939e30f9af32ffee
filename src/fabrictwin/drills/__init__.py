# SPDX-License-Identifier: Apache-2.0
"""Drills: faults with a hypothesis, a method, a rollback and a verdict. A black box to the twin: gRPC to its
director, HTTP to Prometheus and Alertmanager, the Docker API to its containers, signals to its processes.
"""
