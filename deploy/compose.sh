# SPDX-License-Identifier: Apache-2.0
# For scripts that include it: `compose` is Compose 2 where the engine's client has it, else docker-compose.
if docker compose version >/dev/null 2>&1; then
    compose() { docker compose "$@"; }
elif command -v docker-compose >/dev/null; then
    compose() { docker-compose "$@"; }
else
    echo "Neither 'docker compose' nor 'docker-compose' is installed (Debian: docker.io and docker-compose)." >&2
    exit 3
fi
