#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the secrets of a composed twin in the folder $1, unless they are there. The folder keeps others out; the files
# must be open, since each is mounted into a container whose user is another.
set -eu
folder=$1
if [ -e "$folder/redis_users" ]; then
    exit 0
fi
draw() {
    od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}
umask 077
mkdir -p "$folder"
password=$(draw)
hash=$(printf %s "$password" | sha256sum | cut -d ' ' -f 1)
printf 'redis://fabrictwin:%s@redis:6379/0\n' "$password" >"$folder/redis_url"
draw >"$folder/grafana_password"
# Two users: one that may do with the keys of twins what the bus does, and one that may ask whether Redis is there.
cat >"$folder/redis_users" <<USERS
user default off resetpass resetkeys resetchannels -@all
user fabrictwin on #$hash ~ft:* resetchannels +@all -@admin -@dangerous -@scripting -@pubsub +info
user health on nopass resetkeys resetchannels -@all +ping
USERS
chmod 0444 "$folder"/*
