#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ends the twin of docker-compose.yml: containers, networks, volumes and secrets; its images stay.
set -eu
cd "$(dirname "$0")/.."
secrets=${SECRETS:-$(sed -n 's/^SECRETS=//p' .env)}

. deploy/compose.sh

COMPOSE_PROFILES=observability,drills compose down --volumes --remove-orphans
rm -rf "$secrets"
