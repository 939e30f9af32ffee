# SPDX-License-Identifier: Apache-2.0
"""Hardware models as data: one file per family, one row per part."""

from fabrictwin.model.hardware.connectx import CONNECTX6, CONNECTX7, CONNECTX8
from fabrictwin.model.hardware.hardware_model import HardwareModel
from fabrictwin.model.hardware.hca_model import HcaModel, check_hca_model
from fabrictwin.model.hardware.infiniscale import INFINISCALE4
from fabrictwin.model.hardware.native import NATIVE_HCA, NATIVE_IB
from fabrictwin.model.hardware.quantum import QUANTUM2, QUANTUM_HDR, QUANTUM_X800
from fabrictwin.model.hardware.switch_model import SwitchModel, check_switch_model

SWITCH_MODELS: dict[str, SwitchModel] = {
    model.name: model for model in (QUANTUM_HDR, QUANTUM2, QUANTUM_X800, INFINISCALE4, NATIVE_IB)
}

HCA_MODELS: dict[str, HcaModel] = {
    model.name: model for model in (CONNECTX6, CONNECTX7, CONNECTX8, NATIVE_HCA)
}

__all__ = [
    "HCA_MODELS",
    "SWITCH_MODELS",
    "HardwareModel",
    "HcaModel",
    "SwitchModel",
    "check_hca_model",
    "check_switch_model",
]
