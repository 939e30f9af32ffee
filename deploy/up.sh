#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Brings the twin of docker-compose.yml up and waits until its fabric time goes on. Profiles: COMPOSE_PROFILES.
set -eu
cd "$(dirname "$0")/.."
patience_s=${PATIENCE_S:-300}
# docker-compose reads .env by itself; what the environment says goes before it, there as here.
secrets=${SECRETS:-$(sed -n 's/^SECRETS=//p' .env)}

. deploy/compose.sh

fail() {
    printf '%s\n' "$*" >&2
    compose ps >&2
    exit 3
}

# A line for each container that is not as it should be.
not_ready() {
    docker inspect --format \
        '{{.Name}} {{.State.Status}}{{with .State.Health}} {{.Status}}{{end}}' $(compose ps -q) \
        | grep -v -e ' running healthy$' -e ' running$' || true
}

address() {
    compose port "$1" "$2" 2>/dev/null || true
}

sh deploy/secrets.sh "$secrets"
started_s=$(date +%s)
compose build director
built_s=$(date +%s)
compose up -d --no-build
while left=$(not_ready) && [ -n "$left" ]; do
    case $left in
        *exited* | *dead*) fail "A container has ended: see 'docker logs'
$left" ;;
    esac
    if [ $(($(date +%s) - built_s)) -gt "$patience_s" ]; then
        fail "Not ready after $patience_s s:
$left"
    fi
    sleep 1
done
compose exec -T director fabrictwin wait --director 127.0.0.1:7000 --until 1us --timeout "$patience_s" \
    || fail "The twin does not run."

printf 'The twin runs in containers: built in %s s, up and healthy in %s s.\n' \
    $((built_s - started_s)) $(($(date +%s) - built_s))
director=$(address director 7000)
printf '  director      %s   fabrictwin watch --director %s\n' "$director" "$director"
for line in 'Prometheus    prometheus 9090' 'Alertmanager  alertmanager 9093' 'Grafana       grafana 3000'; do
    set -- $line
    where=$(address "$2" "$3")
    if [ -n "$where" ]; then
        printf '  %-12s  http://%s\n' "$1" "$where"
    fi
done
printf '  to end it     make down\n'
