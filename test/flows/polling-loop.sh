#!/usr/bin/env bash
# The specification's own loop: start, poll the status, stop on failed, ask for the bundle, download it.
# Needs curl and jq. BASE_URL, ADMIN_API_KEY, DOMAIN, OUT; POLL_SECONDS is 10 unless said otherwise.
set -euo pipefail

auth="Authorization: Bearer $ADMIN_API_KEY"
job=$(curl -sS --fail-with-body -X POST "$BASE_URL/v1/static-export/jobs" -H "$auth" -H 'Content-Type: application/json' \
  -d "{\"domain\": \"$DOMAIN\"}" | jq -er .jobId)

for attempt in $(seq 1 60); do
  status=$(curl -sS --fail-with-body "$BASE_URL/v1/static-export/jobs/$job" -H "$auth" | jq -er .status)
  echo "attempt $attempt: $status" >&2
  case $status in
    completed) break ;;
    failed) exit 1 ;;
  esac
  sleep "${POLL_SECONDS:-10}"
done
[ "$status" = completed ] || { echo 'not completed in time' >&2; exit 1; }

bundle=$(curl -sS --fail-with-body -X POST "$BASE_URL/v1/static-export/jobs/$job/bundle" -H "$auth")
curl -sS --fail -o "$OUT" "$(jq -er .bundleUrl <<<"$bundle")"
jq -er .sha256 <<<"$bundle"
