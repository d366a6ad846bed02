#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# moved.sh PREFIX FOLDER: a copy of the installation in PREFIX does not name it, and works without it, for CMake and
# pkg-config.
set -euo pipefail
prefix=$1 folder=$2
# shellcheck source=tests/install/client.sh
source "$(dirname "$0")/client.sh"

rm -rf "$folder"
mkdir -p "$folder"
cp -r "$prefix" "$folder/moved"
if grep -rlF "$prefix" "$folder/moved"; then
  echo "these files name the folder that they were installed in: $prefix" >&2
  exit 1
fi
compile_client "$folder/moved" "$folder"
cmake -S "$(dirname "$0")/component" -B "$folder/build" "-DCMAKE_PREFIX_PATH=$folder/moved" >/dev/null
grep -qF "quadrat_DIR:PATH=$folder/moved/" "$folder/build/CMakeCache.txt"
cmake --build "$folder/build"
"$folder/build/component"
