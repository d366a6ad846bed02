# SPDX-License-Identifier: BSD-3-Clause
# Installs this build into a folder of its own, then configures, builds and runs tests/install against it.

set(prefix "${CMAKE_CURRENT_BINARY_DIR}/install/prefix")
add_test(NAME install/install_tree COMMAND "${CMAKE_COMMAND}" --install "${PROJECT_BINARY_DIR}" --config "$<CONFIG>" --prefix
                                           "${prefix}")
set_tests_properties(install/install_tree PROPERTIES FIXTURES_SETUP quadrat_installed LABELS install)

set(sanitize_flags "")
if(QUADRAT_SANITIZE)
  set(sanitize_flags "-fsanitize=${QUADRAT_SANITIZE}")
endif()
add_test(
  NAME install/downstream
  COMMAND
    "${CMAKE_CTEST_COMMAND}" --build-and-test "${PROJECT_SOURCE_DIR}/tests/install"
    "${CMAKE_CURRENT_BINARY_DIR}/install/downstream" --build-generator "${CMAKE_GENERATOR}" --build-options
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}" "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
    "-DCMAKE_CXX_FLAGS=${sanitize_flags}" --test-command downstream)
set_tests_properties(install/downstream PROPERTIES FIXTURES_REQUIRED quadrat_installed LABELS install)
