# SPDX-License-Identifier: Apache-2.0
"""Hardware models as data: one file per family, one row per part."""

from fabrictwin.model.hardware.any_switch_model import AnySwitchModel
from fabrictwin.model.hardware.broadcom import TOMAHAWK5, TOMAHAWK_ULTRA, TRIDENT2
from fabrictwin.model.hardware.connectx import CONNECTX6, CONNECTX7, CONNECTX8
from fabrictwin.model.hardware.connectx_roce import CONNECTX6_ROCE, CONNECTX7_ROCE, CONNECTX8_ROCE
from fabrictwin.model.hardware.ethernet_switch_model import EthernetSwitchModel, check_ethernet_switch_model
from fabrictwin.model.hardware.hardware_model import HardwareModel
from fabrictwin.model.hardware.hca_model import HcaModel, check_hca_model
from fabrictwin.model.hardware.headroom import headroom_bytes, response_ps
from fabrictwin.model.hardware.infiniscale import INFINISCALE4
from fabrictwin.model.hardware.native import NATIVE_HCA, NATIVE_IB, NATIVE_ROCE
from fabrictwin.model.hardware.quantum import QUANTUM2, QUANTUM_HDR, QUANTUM_X800
from fabrictwin.model.hardware.spectrum import SPECTRUM4
from fabrictwin.model.hardware.switch_model import SwitchModel, check_switch_model

SWITCH_MODELS: dict[str, SwitchModel] = {
    model.name: model for model in (QUANTUM_HDR, QUANTUM2, QUANTUM_X800, INFINISCALE4, NATIVE_IB)
}
"""InfiniBand switches."""

ETHERNET_SWITCH_MODELS: dict[str, EthernetSwitchModel] = {
    model.name: model for model in (SPECTRUM4, TOMAHAWK5, TOMAHAWK_ULTRA, TRIDENT2, NATIVE_ROCE)
}

HCA_MODELS: dict[str, HcaModel] = {
    model.name: model for model in (CONNECTX6, CONNECTX7, CONNECTX8, NATIVE_HCA)
}
"""InfiniBand HCAs."""

ROCE_HCA_MODELS: dict[str, HcaModel] = {
    model.name: model for model in (CONNECTX6_ROCE, CONNECTX7_ROCE, CONNECTX8_ROCE)
}

__all__ = [
    "ETHERNET_SWITCH_MODELS",
    "HCA_MODELS",
    "ROCE_HCA_MODELS",
    "SWITCH_MODELS",
    "AnySwitchModel",
    "EthernetSwitchModel",
    "HardwareModel",
    "HcaModel",
    "SwitchModel",
    "check_ethernet_switch_model",
    "check_hca_model",
    "check_switch_model",
    "headroom_bytes",
    "response_ps",
]
