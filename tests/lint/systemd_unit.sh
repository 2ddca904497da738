#!/usr/bin/env bash
# usage: systemd_unit.sh DEPLOY_DIR
# What systemd says of the unit: nothing is misspelt, and it is exposed no more than the README tells.
set -euo pipefail
deploy=$1
if ! systemd-analyze security --help 2>/dev/null | grep -q -- --offline; then
  echo "skipped: there is no systemd-analyze that can look at files"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# It wants to see the program that is started; this is not about that.
sed 's|/usr/bin/plimsoll-controller|/bin/true|' "$deploy/plimsoll-controller.service" \
  >"$folder/plimsoll-controller.service"
complaints=$(systemd-analyze verify "$folder/plimsoll-controller.service" 2>&1 || true)
if grep -q plimsoll-controller <<<"$complaints"; then
  echo "$complaints"
  exit 1
fi
level=$(systemd-analyze security --offline=true "$folder/plimsoll-controller.service" |
  sed -n 's/.*Overall exposure level for plimsoll-controller.service: \([0-9.]*\) .*/\1/p')
told=$(sed -n 's/.*exposure level of \([0-9.]*\) .*/\1/p' "$deploy/README.md")
echo "exposure level $level, told $told"
# Another version of systemd may count another way, but not find more to complain about.
awk -v level="$level" -v told="$told" 'BEGIN { exit !(level != "" && told != "" && level <= told) }' || {
  echo "controller/deploy/README.md promises less"
  exit 1
}
for line in Type=notify WatchdogSec= DynamicUser=yes NoNewPrivileges=yes; do
  grep -q "^$line" "$deploy/plimsoll-controller.service" || { echo "no $line"; exit 1; }
done
