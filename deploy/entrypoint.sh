#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Numba reads compiled kernels only from a folder that it may write to. The root of a container is read-only, so the
# folder is a temporary one, whose files are links to those of the image.
set -eu
mkdir -p "$FABRICTWIN_CACHE"
cp -rsn /opt/fabrictwin/cache/. "$FABRICTWIN_CACHE"
exec "$@"
