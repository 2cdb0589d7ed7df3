#!/bin/sh
# Makes what the services of docker-compose.yml share, once: one file a secret, in a volume that only they mount. What is
# there already stays, so that the data of an earlier start still opens.
set -eu
folder=${1:-/secrets}
umask 022

secret() {
  [ -s "$folder/$1" ] || od -An -N24 -tx1 /dev/urandom | tr -d ' \n' >"$folder/$1"
}
url() {
  printf 'postgres://%s:%s@postgres:5432/gateway' "$2" "$(cat "$folder/$3")" >"$folder/$1"
}

for name in owner-password ledger-password console-password; do secret "$name"; done
for service in gateway worker console; do secret "$service-secret"; done
secret webhook-key
url owner-url postgres owner-password
url ledger-url svc_ledger_login ledger-password
url console-url svc_console_login console-password
