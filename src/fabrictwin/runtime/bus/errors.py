# SPDX-License-Identifier: Apache-2.0
"""What can go wrong on the bus.

Each error stops the logical process that meets it: better no result than a wrong one.
"""

from __future__ import annotations

from fabrictwin.errors import FabricTwinError


class BusError(FabricTwinError):
    """Root of everything that the bus raises on purpose."""


class BusUnreachableError(BusError):
    """The server cannot be reached, went away, or does not answer in time."""


class BusRefusedError(BusError):
    """The server refuses us: wrong password, unknown user, or a command that the user may not use."""


class BusFullError(BusError):
    """The server's memory is full (``maxmemory`` with ``noeviction``)."""


class BusReadOnlyError(BusError):
    """The server refuses writes: its disk is full (MISCONF), it is a replica, or it is loading."""


class BusServerError(BusError):
    """The server answers with an error that none of the others covers, such as a version that is too old."""


class NotOursError(BusError):
    """The keys belong to another twin, schema, version, scenario or epoch, or they are gone."""


class TwinExistsError(BusError):
    """A twin of this name is on this server already."""


class ChannelGapError(BusError):
    """The entries of a channel do not follow one another: one is lost, repeated, or from somebody else."""


class ChannelTrimmedError(ChannelGapError):
    """Entries that were not read yet have been trimmed from a channel."""


class BadPayloadError(BusError):
    """An entry cannot be decoded: not a Window, or a record layout of another version."""
