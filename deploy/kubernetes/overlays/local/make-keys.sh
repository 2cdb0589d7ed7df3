#!/bin/sh
# Makes the keys with which the services of this overlay sign their requests to the ledger. Keys that exist are kept.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p keys
for service in gateway worker console; do
  [ -e "keys/$service-public.pem" ] && continue
  openssl genpkey -algorithm ed25519 -out "keys/$service.pem"
  openssl pkey -in "keys/$service.pem" -pubout -out "keys/$service-public.pem"
done
