#!/bin/sh
# Says what a cluster lacks for an overlay, before anything is created in it: exits with 1 and a line for each.
#   sh deploy/kubernetes/check-cluster.sh deploy/kubernetes/overlays/production
set -eu
overlay=${1:?the folder of the overlay, such as deploy/kubernetes/overlays/production}
# The pods stop by lifecycle.preStop.sleep, which older servers refuse.
oldest=30
lacking=0
minor=$(kubectl get --raw /version | sed -n 's/.*"minor": *"\([0-9]*\).*/\1/p')
if [ "${minor:-0}" -lt "$oldest" ]; then
  echo "Kubernetes 1.$oldest or later is needed; the server has 1.${minor:-?}."
  lacking=1
fi
known=$(kubectl api-versions)
rendered=$(kubectl kustomize "$overlay")
for version in $(echo "$rendered" | sed -n 's/^apiVersion: //p' | sort -u); do
  echo "$known" | grep -qxF "$version" && continue
  lacking=1
  case $version in
    keda.sh/*) echo "$version: install KEDA, or leave out the component keda." ;;
    monitoring.coreos.com/*) echo "$version: install the Prometheus operator, or leave out the component prometheus-operator." ;;
    *) echo "$version: the server does not know it." ;;
  esac
done
if echo "$rendered" | grep -q '^kind: HorizontalPodAutoscaler' && ! echo "$known" | grep -q '^metrics\.k8s\.io/'; then
  lacking=1
  echo "metrics.k8s.io: install metrics-server: gateway and ledger are scaled by their processors."
fi
exit $lacking
