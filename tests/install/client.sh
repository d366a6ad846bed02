# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For the scripts beside it. compile_client PREFIX FOLDER: builds tests/install/component/main.cpp and an installed example
# in C against the installation below PREFIX, with what pkg-config says, and runs them.
compile_client() {
  local sources flags folder example
  sources=$(dirname "${BASH_SOURCE[0]}")
  folder=$(dirname "$(find "$1" -name quadrat.pc)")
  read -ra flags <<<"$(PKG_CONFIG_PATH="$folder" "$PKG_CONFIG" --cflags --libs quadrat)"
  # shellcheck disable=SC2086 # several flags
  "$CXX" ${CXXFLAGS:-} -std=c++20 "$sources/component/main.cpp" "${flags[@]}" -o "$2/client"
  "$2/client"

  example=$(find "$1" -path '*/share/quadrat/examples/c/ewald.c')
  read -ra flags <<<"$(PKG_CONFIG_PATH="$folder" "$PKG_CONFIG" --cflags --libs quadrat_c)"
  # shellcheck disable=SC2086
  "$CXX" ${CXXFLAGS:-} -x c "$example" -x none "${flags[@]}" -lm -o "$2/c_client"
  LD_LIBRARY_PATH="$(dirname "$folder")" "$2/c_client"
}
