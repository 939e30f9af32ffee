# SPDX-License-Identifier: Apache-2.0
"""``python -m services.congestion_control``."""

from fabrictwin.runtime.service import main
from services.congestion_control.service import make_service

if __name__ == "__main__":
    main(make_service, "congestion_control")
