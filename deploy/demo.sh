#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `make demo` shows: a live twin on this machine, a cable that dies under load, a subnet manager that routes
# around it, and the same again in one process. It leaves nothing behind but two files and a page in build/.
set -eu

fabrictwin=${FABRICTWIN:-.venv/bin/fabrictwin}
build=${BUILD:-build}
scenario=deploy/scenarios/live.yaml
twin=demo
cable=leaf1/5,spine0/3
watching=

say() {
    printf '\n== %s\n' "$*"
}

run() {
    printf '$ fabrictwin %s\n' "$*"
    "$fabrictwin" "$@"
}

# One value out of a JSON file of ours, which has a key a line.
value() {
    sed -n "s/^ \"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$2"
}

stop_watching() {
    if [ -n "$watching" ]; then
        kill -INT "$watching" 2>/dev/null || true
        wait "$watching" 2>/dev/null || true
        watching=
    fi
}

leave() {
    stop_watching
    "$fabrictwin" down --twin "$twin" >/dev/null 2>&1 || true
}

trap leave EXIT
trap 'exit 130' INT TERM
mkdir -p "$build"
rm -f "$build/demo.json"

say "Bring the twin up: every service is a process (the very first start compiles the kernels, about a minute)"
run up "$scenario" --twin "$twin"
run status --twin "$twin"

say "Watch it, a line a second; 'fabrictwin watch' in a terminal shows more"
printf '$ fabrictwin watch --twin %s &\n' "$twin"
"$fabrictwin" watch --twin "$twin" &
watching=$!
sleep 3

say "Break a cable under load, for a millisecond of fabric time"
run fault inject link_down --link "$cable" --duration 1ms --owner demo --json "$build/fault.json" --twin "$twin"
healed_ns=$(($(value end_ps "$build/fault.json") / 1000 + 600000))

say "See it heal: a trap reaches the subnet manager, it sweeps, it writes new tables, the first packet takes the new path; then the cable comes back"
run wait --until "${healed_ns}ns" --timeout 120 --twin "$twin" || true
stop_watching

say "Look at what has happened"
run pause --twin "$twin"
run result --json "$build/live.json" --commands "$build/live.commands" --twin "$twin"

say "Do the same again in one process: the twin's scenario, and what was done to it"
until=$(value fabric_time_ns "$build/live.json")
until=${until%.0}ns
run simulate "$scenario" --commands "$build/live.commands" --until "$until" \
    --json "$build/demo.json" --report "$build/demo.html" | sed -n '1,3p'
if [ "$(value digest "$build/live.json")" != "$(value digest "$build/demo.json")" ]; then
    echo "the live twin and its replay differ: that is a bug" >&2
    exit 1
fi
echo "the same digest: every packet went the same way at the same picosecond; charts are in $build/demo.html"

say "Take it down"
run down --twin "$twin"
