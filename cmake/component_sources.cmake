# SPDX-License-Identifier: BSD-3-Clause
# Configures, in FOLDER, a project that has Quadrat as a part of itself, and asks what would be compiled for each module:
# only the modules that it uses. SOURCE_DIR: of Quadrat.

execute_process(
  COMMAND "${CMAKE_COMMAND}" -G Ninja -S "${SOURCE_DIR}/tests/install/component" -B "${FOLDER}" "-DQUADRAT=${SOURCE_DIR}"
          "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Debug -DQUADRAT_CUDA=OFF COMMAND_ERROR_IS_FATAL ANY
  OUTPUT_QUIET)

# require_modules(<target> <modules>...): what is compiled for the target is of these modules, and of each of them.
function(require_modules target)
  execute_process(COMMAND ninja -C "${FOLDER}" -t commands ${target} OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "quadrat_[a-z_]+\\.dir" found "${commands}")
  list(REMOVE_DUPLICATES found)
  list(TRANSFORM found REPLACE "quadrat_(.+)\\.dir" "\\1")
  set(wanted ${ARGN})
  list(SORT found)
  list(SORT wanted)
  if(NOT found STREQUAL wanted)
    message(SEND_ERROR "${target} compiles sources of ${found}; expected: ${wanted}")
  endif()
endfunction()

require_modules(quadrat_core core)
require_modules(quadrat_cells core parallel cells)
require_modules(quadrat_search core parallel tune cells search)
require_modules(component core parallel tune cells search)
require_modules(quadrat_contacts core parallel tune cells contacts)
require_modules(quadrat_mesh core parallel tune cells mesh)
require_modules(quadrat_keyed core parallel tune keyed)
require_modules(quadrat_spectral core parallel tune cells mesh spectral)
require_modules(quadrat_ewald core parallel tune cells search mesh spectral ewald)
require_modules(quadrat_granular core parallel tune cells search ranks model_ranks granular)
require_modules(all)
