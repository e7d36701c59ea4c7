#!/bin/sh
# Checks the files in deploy/ and the Dockerfile with the tools that are on the path, and names missing
# tools. Needs no root. test/deploy/proxies.long.ts runs nginx and Caddy, and
# test/deploy/monitoring.long.ts runs Prometheus.
cd "$(dirname "$0")" || exit 1
status=0

check() {
  if ! command -v "$1" >/dev/null; then
    echo "- not checked, because $1 is missing: $*"
  elif output=$("$@" 2>&1); then
    echo "✓ $*"
  else
    echo "✗ $*"
    echo "$output"
    status=1
  fi
}

check hadolint ../Dockerfile
for file in compose/*.yaml; do
  if docker compose version >/dev/null 2>&1; then
    check docker compose --file "$file" config --quiet
  else
    echo "- not checked, because docker compose is missing: $file"
  fi
done
check systemd-analyze verify ./rostrum.service
check caddy validate --adapter caddyfile --config Caddyfile
check promtool check config prometheus/prometheus.yml
check promtool test rules prometheus/rostrum.rules.test.yml
for variant in sqlite mongodb; do
  check kubectl kustomize "kubernetes/$variant"
  kubectl kustomize "kubernetes/$variant" >"/tmp/rostrum-$variant.$$.yaml" 2>/dev/null &&
    check kubernetes-validate --strict "/tmp/rostrum-$variant.$$.yaml"
  rm -f "/tmp/rostrum-$variant.$$.yaml"
done
exit $status
