# SPDX-License-Identifier: BSD-3-Clause
# Installs this build into a separate folder, then configures, builds and runs user projects with it: tests/install,
# tests/install/threads, tests/install/frame, examples/contacts, radial_image, spectrum and ranks; examples/visitor,
# list_kernel, lennard_jones, sph_dam_break, molten_salt and water, which have device code; examples/c and fortran, without C++.
# Then builds Quadrat as part of another project, tests/install/subproject: it must not leak anything, or install
# anything unless requested.

set(prefix "${CMAKE_CURRENT_BINARY_DIR}/install/prefix")
add_test(NAME install/install_tree COMMAND "${CMAKE_COMMAND}" --install "${PROJECT_BINARY_DIR}" --config "$<CONFIG>" --prefix
                                           "${prefix}")
set_tests_properties(install/install_tree PROPERTIES FIXTURES_SETUP quadrat_installed LABELS install)

set(sanitize_flags "")
if(QUADRAT_SANITIZE)
  set(sanitize_flags "-fsanitize=${QUADRAT_SANITIZE}")
endif()
function(quadrat_downstream_test name source program)
  add_test(
    NAME install/${name}
    COMMAND
      "${CMAKE_CTEST_COMMAND}" --build-and-test "${source}" "${CMAKE_CURRENT_BINARY_DIR}/install/${name}"
      --build-generator "${CMAKE_GENERATOR}" --build-options "-DCMAKE_PREFIX_PATH=${prefix}"
      "-DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}" "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
      "-DCMAKE_CXX_FLAGS=${sanitize_flags}" ${ARGN} --test-command ${program})
  set_tests_properties(install/${name} PROPERTIES FIXTURES_REQUIRED quadrat_installed LABELS install)
endfunction()

set(cuda_options "")
if(QUADRAT_HAS_CUDA)
  set(cuda_options "-DCMAKE_CUDA_COMPILER=${CMAKE_CUDA_COMPILER}" "-DCMAKE_CUDA_ARCHITECTURES=${CMAKE_CUDA_ARCHITECTURES}")
endif()
quadrat_downstream_test(downstream "${PROJECT_SOURCE_DIR}/tests/install" downstream ${cuda_options})
quadrat_downstream_test(component "${PROJECT_SOURCE_DIR}/tests/install/component" component)
quadrat_downstream_test(contacts "${PROJECT_SOURCE_DIR}/examples/contacts" contacts)
if(NOT QUADRAT_SANITIZE)
  foreach(program IN ITEMS neighbors ewald)
    quadrat_downstream_test(c_${program} "${PROJECT_SOURCE_DIR}/examples/c" ${program}
                            "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror")
  endforeach()
  find_program(QUADRAT_FORTRAN NAMES gfortran)
  mark_as_advanced(QUADRAT_FORTRAN)
  if(QUADRAT_FORTRAN)
    foreach(program IN ITEMS neighbors ewald)
      quadrat_downstream_test(fortran_${program} "${PROJECT_SOURCE_DIR}/examples/fortran" ${program}
                              "-DCMAKE_Fortran_COMPILER=${QUADRAT_FORTRAN}")
    endforeach()
  endif()
endif()
if(TARGET quadrat_io)
  quadrat_downstream_test(frame "${PROJECT_SOURCE_DIR}/tests/install/frame" frame)
  foreach(example IN ITEMS radial_image spectrum)
    quadrat_downstream_test(${example} "${PROJECT_SOURCE_DIR}/examples/${example}" ${example})
  endforeach()
  # 512 particles of water
  quadrat_downstream_test(sph_dam_break "${PROJECT_SOURCE_DIR}/examples/sph_dam_break" "sph_dam_break;16"
                          ${cuda_options})
endif()
foreach(example IN ITEMS visitor list_kernel lennard_jones)
  quadrat_downstream_test(${example} "${PROJECT_SOURCE_DIR}/examples/${example}" ${example} ${cuda_options})
endforeach()
quadrat_downstream_test(ranks "${PROJECT_SOURCE_DIR}/examples/ranks" ranks)
if(TARGET quadrat_mpi)
  foreach(example IN ITEMS mpi_slabs ranks)
    quadrat_downstream_test(mpirun_${example} "${PROJECT_SOURCE_DIR}/examples/${example}"
                            "${MPIEXEC_EXECUTABLE};${MPIEXEC_NUMPROC_FLAG};3;./${example}")
    set_tests_properties(install/mpirun_${example} PROPERTIES ENVIRONMENT "${quadrat_mpi_environment}")
  endforeach()
endif()
# 512 ions, 100 steps
quadrat_downstream_test(molten_salt "${PROJECT_SOURCE_DIR}/examples/molten_salt" "molten_salt;8;100" ${cuda_options})
# 512 molecules, 100 steps
quadrat_downstream_test(water "${PROJECT_SOURCE_DIR}/examples/water" "water;8;100" ${cuda_options})
if(NOT QUADRAT_SANITIZE) # the sanitizer's flags are unknown to nvcc's link step
  quadrat_downstream_test(threads "${PROJECT_SOURCE_DIR}/tests/install/threads" threads ${cuda_options})
endif()

# The installation still works after it was moved, for CMake and pkg-config. So does the Debian package; its removal
# leaves nothing behind.
find_program(QUADRAT_PKG_CONFIG NAMES pkgconf pkg-config)
find_program(QUADRAT_DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(QUADRAT_PKG_CONFIG QUADRAT_DPKG_SHLIBDEPS)
set(clients "")
if(QUADRAT_PKG_CONFIG)
  list(APPEND clients moved)
  if(QUADRAT_DPKG_SHLIBDEPS AND QUADRAT_BUILD_PROGRAM AND NOT QUADRAT_SANITIZE)
    list(APPEND clients debian_package)
  endif()
endif()
foreach(client IN LISTS clients)
  add_test(NAME install/${client} COMMAND "${PROJECT_SOURCE_DIR}/tests/install/${client}.sh" "${prefix}"
                                          "${CMAKE_CURRENT_BINARY_DIR}/install/${client}")
  set_tests_properties(
    install/${client}
    PROPERTIES ENVIRONMENT
               "CXX=${CMAKE_CXX_COMPILER};CXXFLAGS=${sanitize_flags};PKG_CONFIG=${QUADRAT_PKG_CONFIG};BUILD=${PROJECT_BINARY_DIR}"
               FIXTURES_REQUIRED quadrat_installed LABELS install)
endforeach()

# Another minor version is not accepted.
add_test(
  NAME install/other_version
  COMMAND "${CMAKE_COMMAND}" -S "${PROJECT_SOURCE_DIR}/tests/install/component" -B "${CMAKE_CURRENT_BINARY_DIR}/install/other_version"
          "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" -DVERSION=0.2)
set_tests_properties(
  install/other_version PROPERTIES FIXTURES_REQUIRED quadrat_installed LABELS install PASS_REGULAR_EXPRESSION
                                   "quadratConfig.cmake, version: ${PROJECT_VERSION}")

# So is a project without C++ that does not ask for the C interface alone.
add_test(NAME install/without_cpp
         COMMAND "${CMAKE_COMMAND}" -S "${PROJECT_SOURCE_DIR}/tests/install/component" -B
                 "${CMAKE_CURRENT_BINARY_DIR}/install/without_cpp" "-DCMAKE_PREFIX_PATH=${prefix}" -DLANGUAGES=C)
set_tests_properties(install/without_cpp PROPERTIES FIXTURES_REQUIRED quadrat_installed LABELS install
                                                    PASS_REGULAR_EXPRESSION "add CXX to its LANGUAGES")

# A missing component is rejected with the reason.
function(quadrat_component_test component reason)
  add_test(NAME install/component_${component}
           COMMAND "${CMAKE_COMMAND}" -S "${PROJECT_SOURCE_DIR}/tests/install/component" -B
                   "${CMAKE_CURRENT_BINARY_DIR}/install/component_${component}" "-DCMAKE_PREFIX_PATH=${prefix}"
                   "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" "-DCOMPONENT=${component}")
  set_tests_properties(install/component_${component} PROPERTIES FIXTURES_REQUIRED quadrat_installed LABELS install
                                                      PASS_REGULAR_EXPRESSION "component ${component}:[ \n]+${reason}")
endfunction()
quadrat_component_test(abacus "there is no such component; there are[ \n]+quadrat,[ \n]+models,[ \n]+core")
if(NOT TARGET quadrat_mpi)
  quadrat_component_test(mpi "this installation was built without MPI")
endif()

# Only Ninja can compile the sources of a target without building the libraries that it links.
if(CMAKE_GENERATOR MATCHES "Ninja")
  foreach(way IN ITEMS add_subdirectory FetchContent)
    set(parent "${CMAKE_CURRENT_BINARY_DIR}/install/${way}")
    add_test(
      NAME install/${way}
      COMMAND
        "${CMAKE_CTEST_COMMAND}" --build-and-test "${PROJECT_SOURCE_DIR}/tests/install/subproject" "${parent}"
        --build-generator "${CMAKE_GENERATOR}" --build-target first_lines --build-options "-DWAY=${way}"
        "-DQUADRAT=${PROJECT_SOURCE_DIR}" -DQUADRAT_CUDA=OFF "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}")
    set_tests_properties(install/${way} PROPERTIES FIXTURES_SETUP quadrat_part_${way} LABELS install)
    add_test(NAME install/${way}_installs_nothing COMMAND "${CMAKE_COMMAND}" --install "${parent}" --prefix "${parent}/prefix")
    set_tests_properties(
      install/${way}_installs_nothing PROPERTIES FIXTURES_REQUIRED quadrat_part_${way} FAIL_REGULAR_EXPRESSION
                                                 "Installing:|Up-to-date:" LABELS install)
  endforeach()

  # One module as part of another project: only it and the modules that it uses are compiled.
  set(parent "${CMAKE_CURRENT_BINARY_DIR}/install/fetched_component")
  add_test(
    NAME install/component_sources
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DFOLDER=${parent}"
            "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DPROGRAM=${QUADRAT_BUILD_PROGRAM}" -P
            "${quadrat_cmake}/component_sources.cmake")
  add_test(NAME install/fetched_component_builds COMMAND "${CMAKE_COMMAND}" --build "${parent}" --target component)
  add_test(NAME install/fetched_component_runs COMMAND "${parent}/component")
  set_tests_properties(install/component_sources PROPERTIES FIXTURES_SETUP quadrat_component_configured LABELS install)
  set_tests_properties(
    install/fetched_component_builds PROPERTIES FIXTURES_REQUIRED quadrat_component_configured
                                                FIXTURES_SETUP quadrat_component_built PROCESSORS 2 LABELS install)
  set_tests_properties(install/fetched_component_runs PROPERTIES FIXTURES_REQUIRED quadrat_component_built LABELS install)
endif()
