# SPDX-License-Identifier: Apache-2.0
"""``python -m services.director``."""

from fabrictwin.runtime.service import main
from services.director.service import make_service

if __name__ == "__main__":
    main(make_service, "director")
