# SPDX-License-Identifier: BSD-3-Clause
# Included by CTest (see gtest_suites.cmake): adds one test for each suite of ${executable}, run by
# ${emulator} if there is one. CTest supports only a small subset of CMake here: add_test(name command...), set_tests_properties.

get_filename_component(name "${executable}" NAME)
if(NOT EXISTS "${executable}")
  add_test("${name}_not_built" "${executable}")
  return()
endif()

execute_process(COMMAND ${emulator} "${executable}" --gtest_list_tests OUTPUT_VARIABLE listing RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  add_test("${name}_cannot_list_its_tests" "${executable}" --gtest_list_tests)
  return()
endif()

string(REGEX MATCHALL "(^|\n)[^ \n][^ \n]*\\.[ \n]" suites "${listing}\n")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "[ \n]" "" suite "${suite}")
  string(REGEX REPLACE "\\.$" "" suite "${suite}")
  set(test "${name}/${suite}")
  add_test("${test}" ${emulator} "${executable}" "--gtest_filter=${suite}.*")
  # 77: all tests were skipped (tests/main.cpp).
  set_tests_properties("${test}" PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT "${environment}" LABELS "${labels}")
  if(NOT of_lanes OR NOT suite MATCHES "${of_lanes}")
    continue()
  endif()
  foreach(lanes plain avx2)
    add_test("${test}/${lanes}" ${emulator} "${executable}" "--gtest_filter=${suite}.*")
    set_tests_properties(
      "${test}/${lanes}"
      PROPERTIES SKIP_RETURN_CODE 77
                 SKIP_REGULAR_EXPRESSION "QUADRAT_LANES is ${lanes}, which this CPU lacks"
                 ENVIRONMENT "${environment};QUADRAT_LANES=${lanes};QUADRAT_TEST_SMALL=1"
                 LABELS "${labels}")
  endforeach()
endforeach()
