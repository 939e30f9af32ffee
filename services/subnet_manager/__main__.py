# SPDX-License-Identifier: Apache-2.0
"""``python -m services.subnet_manager``."""

from fabrictwin.runtime.service import main
from services.subnet_manager.service import make_service

if __name__ == "__main__":
    main(make_service, "subnet_manager")
