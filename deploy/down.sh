#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ends the twin of docker-compose.yml: containers, networks, volumes and secrets; its images stay.
set -eu
cd "$(dirname "$0")/.."
secrets=${SECRETS:-$(sed -n 's/^SECRETS=//p' .env)}

. deploy/compose.sh

COMPOSE_PROFILES=observability,drills compose down --volumes --remove-orphans
if [ -d "$secrets" ]; then
    rm -f "$secrets/redis_url" "$secrets/redis_users" "$secrets/grafana_password"
    rmdir "$secrets"
fi
