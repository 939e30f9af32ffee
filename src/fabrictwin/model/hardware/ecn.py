# SPDX-License-Identifier: Apache-2.0
"""When a switch marks packets for congestion: RED on the queue, and the published parameter sets.

Sources: models.md section 3.4. Where a set scales with the rate C of the cables, ``scaled_from_bps`` says for
which rate its thresholds are given.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

PROBABILITY_UNIT = 1 << 16
_KB = 1_000
_KIB = 1_024
_GBPS = 10**9


@dataclass(frozen=True, slots=True)
class EcnProfile:
    """The marking of one egress queue.

    Attributes:
        kmin_bytes: Up to here nothing is marked.
        kmax_bytes: Above this everything is; equal to ``kmin_bytes`` for a step.
        pmax_q16: Probability at ``kmax_bytes``, in units of 2**-16.
    """

    kmin_bytes: int
    kmax_bytes: int
    pmax_q16: int


@dataclass(frozen=True, slots=True)
class EcnSet:
    """A named set of marking parameters.

    Attributes:
        name: Value of ``ecn.profile``.
        source: Where it comes from, with grade.
        kmin_bytes: As in :class:`EcnProfile`.
        kmax_bytes: Likewise.
        pmax: Probability at ``kmax_bytes``.
        scaled_from_bps: Rate that the thresholds are given for, where they grow with it; 0: at every rate.
    """

    name: str
    source: str
    kmin_bytes: int
    kmax_bytes: int
    pmax: Fraction
    scaled_from_bps: int = 0

    def at(self, rate_bps: int) -> EcnProfile:
        """The parameters for cables of a rate."""
        up, down = (rate_bps, self.scaled_from_bps) if self.scaled_from_bps else (1, 1)
        return EcnProfile(
            self.kmin_bytes * up // down, self.kmax_bytes * up // down, round(self.pmax * PROBABILITY_UNIT)
        )


_FIVE_PERCENT = Fraction(1, 20)

ECN_SETS: dict[str, EcnSet] = {
    row.name: row
    for row in (
        EcnSet(
            "dcqcn_paper",
            "DCQCN, SIGCOMM'15 section 5.3, tuned at 40 Gb/s (A)",
            5 * _KB,
            200 * _KB,
            Fraction(1, 100),
        ),
        EcnSet(
            "hpcc",
            "HPCC's simulator: 100 and 400 KB at 25 Gb/s, growing with the rate (P)",
            100 * _KB,
            400 * _KB,
            Fraction(1, 5),
            25 * _GBPS,
        ),
        EcnSet("conweave", "ConWeave's simulator, at every rate (P)", 100 * _KB, 400 * _KB, Fraction(1, 5)),
        EcnSet(
            "dctcp",
            "DCTCP's step in HPCC's simulator: 30 KB at 10 Gb/s, growing with the rate (P)",
            30 * _KB,
            30 * _KB,
            Fraction(1),
            10 * _GBPS,
        ),
        EcnSet("sonic_azure", "SONiC, AZURE_LOSSLESS (P)", 1024 * _KIB, 2048 * _KIB, _FIVE_PERCENT),
        EcnSet("sonic_sn5600_tor", "SONiC, SN5600 for AI, as ToR (P)", 166_912, 282_624, _FIVE_PERCENT),
        EcnSet("sonic_sn5600_leaf", "SONiC, SN5600 for AI, as leaf (P)", 166_912, 239_616, _FIVE_PERCENT),
    )
}
"""Every named set."""
