#!/bin/sh
# Creates the namespace of a production stack with its labels, and in it the secrets, one for each service. NAMESPACE: another name.
#   OWNER_URL=postgres://owner:…@db.internal:5432/gateway REDIS_URL=rediss://:…@redis.internal:6379 sh production-secrets.sh
# The passwords of the two logins are made here; the migration job sets them. DATABASE_ADDRESS is where the services reach
# Postgres, or the pooler in front of it, if that is not the host of OWNER_URL: host:port, with database and parameters of OWNER_URL,
# or host:port/database?parameters. It makes all secrets, or none where one exists. Nothing is printed, and nothing stays on this machine.
# KEYS: the folder of copy-keys.sh, with the three keys that the database needs and any previous ones, for a stack that has had them before.
set -eu
: "${OWNER_URL:?the owner of the database, as postgres://user:password@host:port/database}"
: "${REDIS_URL:?Redis with its password, as rediss://:password@host:port}"
namespace=${NAMESPACE:-model-gateway}
kept=${KEYS:+$(cd "$KEYS" && pwd)}
keys='webhook-key second-factor-key capture-key'
for name in ${kept:+$keys}; do
  [ -s "$kept/$name" ] || { echo "Nothing was made: KEYS has no $name, or an empty one. Copy all three keys there." >&2; exit 1; }
done
labelled=$(sed "s/name: model-gateway/name: $namespace/" "$(dirname "$0")/base/namespace.yaml")
of_owner=${OWNER_URL##*@}
address=${DATABASE_ADDRESS:-$of_owner}
case $address in */*) ;; *) address=$address/${of_owner#*/} ;; esac
names='gateway-secrets worker-secrets ledger-secrets console-secrets migrate-secrets archive-secrets'
existing=$(kubectl --namespace "$namespace" get secret $names --ignore-not-found --output name)
if [ -n "$existing" ]; then
  cat >&2 <<EOF
Nothing was made: there are secrets of an earlier run. What is in them fits together, so delete all of them, or none:
kubectl --namespace $namespace delete $(echo $existing)
If the stack has run with them, copy its keys before (copy-keys.sh), and set KEYS to their folder.
EOF
  exit 1
fi
umask 077
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM # dash runs no EXIT trap on a signal
cd "$folder"

echo "$labelled" | kubectl apply --filename - >/dev/null

create() {
  name=$1
  shift
  mkdir "$name"
  for file in "$@"; do
    cp "${file#*=}" "$name/${file%%=*}"
    [ ! -e "${file#*=}-previous" ] || cp "${file#*=}-previous" "$name/${file%%=*}-previous"
  done
  kubectl --namespace "$namespace" create secret generic "$name" --from-file="$name"
}

for service in gateway worker console; do
  openssl genpkey -algorithm ed25519 -out "$service.pem"
  openssl pkey -in "$service.pem" -pubout -out "$service-public.pem"
done
for login in ledger console; do
  openssl rand -hex 24 | tr -d '\n' >"$login-password"
  printf 'postgres://svc_%s_login:%s@%s' "$login" "$(cat "$login-password")" "$address" >"$login-url"
done
for name in $keys; do
  if [ -z "$kept" ]; then openssl rand -hex 24 | tr -d '\n' >"$name"; continue; fi
  for key in "$name" "$name-previous"; do
    [ ! -s "$kept/$key" ] || tr -d '\n' <"$kept/$key" >"$key"
  done
done
printf %s "$OWNER_URL" >owner-url
printf %s "$REDIS_URL" >redis-url

create gateway-secrets private-key.pem=gateway.pem redis-url=redis-url
create worker-secrets private-key.pem=worker.pem redis-url=redis-url
create ledger-secrets database-url=ledger-url redis-url=redis-url webhook-key=webhook-key \
  gateway-public-keys.pem=gateway-public.pem worker-public-keys.pem=worker-public.pem console-public-keys.pem=console-public.pem
create console-secrets database-url=console-url private-key.pem=console.pem second-factor-key=second-factor-key \
  capture-key=capture-key
create migrate-secrets owner-url=owner-url ledger-password=ledger-password console-password=console-password
create archive-secrets owner-url=owner-url
