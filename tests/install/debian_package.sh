#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# debian_package.sh PREFIX FOLDER: the Debian package of BUILD can be installed below FOLDER, its program and library work
# there, and removing it leaves nothing behind.
set -euo pipefail
folder=$2
# shellcheck source=tests/install/client.sh
source "$(dirname "$0")/client.sh"

rm -rf "$folder"
root=$folder/root
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
touch "$root/var/lib/dpkg/status"
cpack --config "$BUILD/CPackConfig.cmake" -G DEB -B "$folder" >/dev/null
package=$(echo "$folder"/quadrat_*.deb)
dpkg-deb --field "$package" Package Version Depends Homepage
dpkg() { command dpkg --root="$root" --force-depends,not-root,bad-path,script-chrootless --log=/dev/null "$@"; }
dpkg --install "$package" 2>/dev/null
"$root/usr/bin/quadrat" --version
compile_client "$root" "$folder"
dpkg --purge quadrat
left=$(find "$root" -not -path "$root/var*" -not -path "$root")
if [[ -n $left ]]; then
  echo "left behind: $left" >&2
  exit 1
fi
