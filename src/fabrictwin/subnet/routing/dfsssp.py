# SPDX-License-Identifier: Apache-2.0
"""``dfsssp``: balanced shortest paths on any topology, free of deadlock by virtual lanes.

The paths are those of ``min_hop``. Then each path gets a service level, which is its virtual lane, such that
no lane has a credit loop (:mod:`fabrictwin.subnet.layers`). Trees need one lane, irregular fabrics a few.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fabrictwin.errors import InputError
from fabrictwin.subnet.forwarding import forwarding_of
from fabrictwin.subnet.layers import layer_paths
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.routing.min_hop import route_min_hop
from fabrictwin.subnet.routing.request import RoutingRequest


def route_dfsssp(request: RoutingRequest) -> Routes:
    """Routes a fabric along shortest paths on several virtual lanes.

    Raises:
        InputError: It takes more data VLs than there are.
    """
    routes = route_min_hop(request)
    forwarding = forwarding_of(routes)
    lanes = np.zeros(forwarding.onward.shape, np.uint8)
    vls = layer_paths(forwarding, request.graph.channels, lanes)
    if vls > request.data_vls:
        raise InputError.of(
            f"engine 'dfsssp' needs {vls} data VLs on this fabric, but {request.data_vls} are available; "
            "use 'up_down', or switches and HCAs with more VLs",
            field="routing.engine",
        )
    path_sl = np.zeros(routes.lft.shape, np.uint8)
    path_sl[:, forwarding.lid] = lanes.T
    return replace(routes, engine="dfsssp", deadlock_free=True, path_sl=path_sl, vls=vls)
