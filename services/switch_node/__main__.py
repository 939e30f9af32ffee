# SPDX-License-Identifier: Apache-2.0
"""``python -m services.switch_node``."""

from fabrictwin.runtime.service import main
from services.switch_node.service import make_service

if __name__ == "__main__":
    main(make_service, "switch_node")
