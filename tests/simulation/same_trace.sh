#!/usr/bin/env bash
# same_trace.sh PROGRAM SEEDS: fails unless two processes of a simulator agree on each trace.
set -euo pipefail
first=$("$1" --trace-hash "$2")
# Other addresses and another environment: nothing may depend on them.
second=$(env -i HUMMER_UNUSED="$(printf 'x%.0s' {1..500})" "$1" --trace-hash "$2")
if [[ $first != "$second" ]]; then
  diff <(echo "$first") <(echo "$second") || true
  exit 1
fi
echo "$(wc -l <<<"$first") traces agree"
