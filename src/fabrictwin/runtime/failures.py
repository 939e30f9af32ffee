# SPDX-License-Identifier: Apache-2.0
"""Why a service cannot go on (exit code 3), or cannot answer a call: each has its own type."""

from __future__ import annotations

from fabrictwin.errors import FabricTwinError


class ServiceError(FabricTwinError):
    """Root of what stops a service on purpose."""


class PortInUseError(ServiceError):
    """An address cannot be bound."""

    def __init__(self, address: str, purpose: str, reason: str) -> None:
        super().__init__(
            f"cannot listen on {address} for {purpose}: {reason}; choose another port, or 0 for any"
        )


class DeploymentError(ServiceError):
    """The scenario wants other services than those that were started."""


class StateError(FabricTwinError):
    """The call makes sense, but not in the state that the twin is in."""


class UnknownNameError(FabricTwinError):
    """A call names something that does not exist."""


class NotReadyError(FabricTwinError):
    """The service has no scenario yet, or is going away."""
