#!/bin/sh
# usage: run.sh PLIMSOLL-CONTROLLER WORK-FOLDER: fetches what package-lock.json names into the folder,
# unless it is there, and runs the test. Exit status 77: npm cannot fetch it.
set -eu
here=$(dirname "$0")
mkdir -p "$2"
cp "$here/contract.mjs" "$here/package.json" "$2"
if ! cmp -s "$here/package-lock.json" "$2/package-lock.json"; then
  cp "$here/package-lock.json" "$2"
  (cd "$2" && npm ci --silent --no-audit --no-fund) || {
    rm -f "$2/package-lock.json"
    echo "skipped: npm cannot install what tests/contract/package-lock.json names"
    exit 77
  }
fi
exec node "$2/contract.mjs" "$1" "$here/not_merged.json"
