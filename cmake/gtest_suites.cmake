# SPDX-License-Identifier: BSD-3-Clause
# One CTest entry per GoogleTest suite. One per test, as from gtest_discover_tests, would start thousands of processes
# for the typed tests, each with a CUDA context of its own.

# The environment of every test. Passive waiting: suites that run in parallel share the cores. TSan understands OpenMP
# only if LLVM's libomp is not instrumented and its archer tool (which libomp finds) reports the synchronization.
set(quadrat_test_environment OMP_WAIT_POLICY=passive)
if(QUADRAT_SANITIZE MATCHES "thread")
  list(APPEND quadrat_test_environment TSAN_OPTIONS=ignore_noninstrumented_modules=1)
endif()

# quadrat_discover_suites(<executable> [LABELS <label>...] [OF_LANES <regular expression>])
#   OF_LANES  suites that run once more, with small sizes, under each of the narrower registers (QUADRAT_LANES)
function(quadrat_discover_suites target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OF_LANES" "LABELS")
  set(include_file "${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake")
  set(suites_file "${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake")
  # Read when CTest starts, so that the executable may be built later, or on another machine.
  file(
    GENERATE
    OUTPUT "${include_file}"
    CONTENT
      "set(executable [==[$<TARGET_FILE:${target}>]==])
set(emulator [==[$<TARGET_PROPERTY:${target},CROSSCOMPILING_EMULATOR>]==])
set(suites_file [==[${suites_file}]==])
set(labels [==[${arg_LABELS}]==])
set(of_lanes [==[${arg_OF_LANES}]==])
set(environment [==[${quadrat_test_environment}]==])
include([==[${PROJECT_SOURCE_DIR}/cmake/list_gtest_suites.cmake]==])
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include_file}")
endfunction()
