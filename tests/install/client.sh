# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For the scripts beside it. compile_client PREFIX FOLDER: builds tests/install/component/main.cpp against the installation
# below PREFIX, with what pkg-config says, and runs it.
compile_client() {
  local sources flags folder
  sources=$(dirname "${BASH_SOURCE[0]}")
  folder=$(dirname "$(find "$1" -name quadrat.pc)")
  read -ra flags <<<"$(PKG_CONFIG_PATH="$folder" "$PKG_CONFIG" --cflags --libs quadrat)"
  # shellcheck disable=SC2086 # several flags
  "$CXX" ${CXXFLAGS:-} -std=c++20 "$sources/component/main.cpp" "${flags[@]}" -o "$2/client"
  "$2/client"
}
