# SPDX-License-Identifier: BSD-3-Clause
# Configures, in FOLDER, a project that has Quadrat as a part. For each module, checks that only the modules that it
# uses would be compiled. With PROGRAM, also checks a program of one command and one model. SOURCE_DIR: that of Quadrat.

function(configure source folder)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -G Ninja -S "${source}" -B "${folder}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
            -DCMAKE_BUILD_TYPE=Debug -DQUADRAT_CUDA=OFF ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()

# require_modules(<folder> <target> <modules>...): the sources compiled for the target must be of these modules, and
# include some of each.
function(require_modules folder target)
  execute_process(COMMAND ninja -C "${folder}" -t commands ${target} OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
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

configure("${SOURCE_DIR}/tests/install/component" "${FOLDER}" "-DQUADRAT=${SOURCE_DIR}")
require_modules("${FOLDER}" quadrat_core core)
require_modules("${FOLDER}" quadrat_cells core parallel cells)
require_modules("${FOLDER}" quadrat_search core parallel tune cells search)
require_modules("${FOLDER}" component core parallel tune cells search)
require_modules("${FOLDER}" quadrat_contacts core parallel tune cells contacts)
require_modules("${FOLDER}" quadrat_mesh core parallel tune cells mesh)
require_modules("${FOLDER}" quadrat_keyed core parallel tune keyed)
require_modules("${FOLDER}" quadrat_spectral core parallel tune cells mesh spectral)
require_modules("${FOLDER}" quadrat_ewald core parallel tune cells search mesh spectral ewald)
require_modules("${FOLDER}" quadrat_hydro core parallel tune cells search mesh spectral hydro)
require_modules("${FOLDER}" quadrat_c core parallel tune cells search contacts mesh keyed spectral ewald hydro choice c)
require_modules("${FOLDER}" quadrat_granular core parallel tune cells search ranks model_ranks granular)
require_modules("${FOLDER}" all core parallel tune cells search)
if(PROGRAM)
  configure("${SOURCE_DIR}" "${FOLDER}/program" -DQUADRAT_TESTS=OFF -DQUADRAT_MPI=OFF -DQUADRAT_COMMANDS=run
            -DQUADRAT_MODELS=granular)
  require_modules("${FOLDER}/program" quadrat_program core parallel tune cells search ranks model_ranks granular io scenes run
                  program)
endif()
