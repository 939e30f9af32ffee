# SPDX-License-Identifier: Apache-2.0
"""``python -m services.hca_endpoint``."""

from fabrictwin.runtime.service import main
from services.hca_endpoint.service import make_service

if __name__ == "__main__":
    main(make_service, "hca_endpoint")
