#!/usr/bin/env bash
# usage: check_debian.sh CPACK BUILD_DIR WORK_DIR
# Makes the packages plimsoll-controller and plimsoll-dashboards from what is built, looks at what they hold,
# and runs the controller out of the first. Installs nothing.
set -euo pipefail
cpack=$1
build=$2
work=$3
for tool in dpkg-deb dpkg-shlibdeps; do
  command -v "$tool" >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
rm -rf "$work"
mkdir -p "$work"
fail() { echo "FAILED: $*"; exit 1; }

cmake --build "$build" --target plimsoll_package_files
(cd "$build" && "$cpack" -B "$work" -D "CPACK_COMPONENTS_ALL=controller;controller-etc;dashboards") \
  >"$work/cpack.log" 2>&1 || { cat "$work/cpack.log"; fail "cpack"; }

controller=$(echo "$work"/plimsoll-controller_*.deb)
contents=$(dpkg-deb -c "$controller")
for file in usr/bin/plimsoll-controller lib/systemd/system/plimsoll-controller.service \
  etc/plimsoll/plimsoll-controller.yaml usr/share/doc/plimsoll-controller/copyright \
  usr/share/doc/plimsoll-controller/runbooks/Upgrading.md; do
  grep -q " \./.*$file\$" <<<"$contents" || fail "no $file in $controller"
done
grep -E "^.{10} +[^ ]+" <<<"$contents" | grep -qv " root/root " && fail "not all of it is root's"
depends=$(dpkg-deb -f "$controller" Depends)
for library in libc6 libsqlite3-0 libssl3; do
  grep -q "$library" <<<"$depends" || fail "it does not depend on $library, but on: $depends"
done
dpkg-deb -e "$controller" "$work/control"
grep -qxF /etc/plimsoll/plimsoll-controller.yaml "$work/control/conffiles" || fail "no conffile"
for script in postinst prerm postrm; do
  sh -n "$work/control/$script" || fail "$script"
  [[ -x $work/control/$script ]] || fail "$script cannot be run"
done
# What only a person may do.
grep -q -- "plimsoll-controller --init" "$work/control/postinst" && fail "postinst makes a store"

dpkg-deb -x "$controller" "$work/files"
"$work/files/usr/bin/plimsoll-controller" --check-config --strict \
  --config "$work/files/etc/plimsoll/plimsoll-controller.yaml" || fail "its own configuration"
print() {
  "$work/files/usr/bin/plimsoll-controller" config print \
    --config "$work/files/etc/plimsoll/plimsoll-controller.yaml"
}
print | grep -q "127.0.0.1:7480" || fail "it does not listen on loopback"
print | grep -q "/var/lib/plimsoll" || fail "its state is elsewhere"

dashboards=$(dpkg-deb -c "$(echo "$work"/plimsoll-dashboards_*_all.deb)")
for file in grafana/plimsoll-overview.json prometheus/plimsoll.rules.yml runbooks/PlimsollControllerDown.md; do
  grep -q "/usr/share/plimsoll/$file\$" <<<"$dashboards" || fail "no $file in plimsoll-dashboards"
done
echo "plimsoll-controller and plimsoll-dashboards hold what they should"
