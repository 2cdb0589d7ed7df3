#!/bin/sh
# Waits for the migration job: exits with 0 when it is complete, and with 1 and the end of its log as soon as it has failed.
# (`kubectl wait --for=condition=complete` would wait on for a job that failed.)
#   sh deploy/kubernetes/wait-for-migration.sh          NAMESPACE (model-gateway), TIMEOUT in seconds (1800)
set -eu
namespace=${NAMESPACE:-model-gateway}
deadline=$(($(date +%s) + ${TIMEOUT:-1800}))
while :; do
  state=$(kubectl --namespace "$namespace" get job migrate --output 'jsonpath={.status.conditions[?(@.status=="True")].type}')
  case " $state " in
    *' Complete '*) exit 0 ;;
    *' Failed '*)
      kubectl --namespace "$namespace" logs job/migrate --tail=20 >&2 || true
      echo 'The migration failed, and nothing was rolled out. Correct what its log says, delete the job, and apply again.' >&2
      exit 1
      ;;
  esac
  if [ "$(date +%s)" -ge "$deadline" ]; then
    echo "The migration has not ended. See: kubectl --namespace $namespace describe job/migrate" >&2
    exit 1
  fi
  sleep 1
done
