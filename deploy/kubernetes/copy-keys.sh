#!/bin/sh
# Copies the keys that exist only in the cluster into a new folder: the three that production-secrets.sh makes (its KEYS takes the folder),
# and the previous one of each, where it is set.
#   sh deploy/kubernetes/copy-keys.sh keys          NAMESPACE (model-gateway)
set -eu
folder=${1:?a folder that does not exist yet}
namespace=${NAMESPACE:-model-gateway}
umask 077
if ! mkdir "$folder"; then
  echo 'Name a new folder: an earlier copy may be the only one of a key that was replaced.' >&2
  exit 1
fi
trap 'rm -r "$folder"' EXIT
trap 'exit 1' HUP INT TERM # dash runs no EXIT trap on a signal
for key in ledger-secrets/webhook-key console-secrets/second-factor-key console-secrets/capture-key; do
  for name in "${key#*/}" "${key#*/}-previous"; do
    template="{{with index .data \"$name\"}}{{base64decode .}}{{end}}"
    kubectl --namespace "$namespace" get secret "${key%/*}" --output "go-template=$template" >"$folder/$name"
    [ -s "$folder/$name" ] || rm "$folder/$name"
  done
  [ -e "$folder/${key#*/}" ] || { echo "Nothing was copied: ${key%/*} has no ${key#*/}." >&2; exit 1; }
done
trap - EXIT
